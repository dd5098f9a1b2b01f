#include "tilewright/support/Source.h"

#include <algorithm>

namespace tilewright {

SourceFile::SourceFile(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
  lineStarts_.push_back(0);
  for (uint32_t i = 0; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == '\n' || (c == '\r' && (i + 1 == text_.size() || text_[i + 1] != '\n')))
      lineStarts_.push_back(i + 1);
  }
}

SourceFile::Position SourceFile::position(uint32_t offset) const {
  const auto next = std::upper_bound(lineStarts_.begin(), lineStarts_.end(), offset);
  const auto index = static_cast<uint32_t>(next - lineStarts_.begin()) - 1;
  return {index + 1, offset - lineStarts_[index]};
}

std::string_view SourceFile::line(uint32_t number) const {
  if (number == 0 || number > lineStarts_.size())
    return {};
  const uint32_t begin = lineStarts_[number - 1];
  uint32_t end = number < lineStarts_.size() ? lineStarts_[number] : static_cast<uint32_t>(text_.size());
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r'))
    --end;
  return std::string_view(text_).substr(begin, end - begin);
}

} // namespace tilewright
