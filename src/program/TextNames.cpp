#include "TextNames.h"

namespace tilewright {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWord(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

} // namespace

std::string UniqueNames::unique(std::string_view wanted, std::string_view otherwise) {
  std::string base;
  for (char c : wanted)
    base += isWord(c) ? c : '_';
  if (base.empty() || isDigit(base[0]))
    base = std::string(otherwise) + base;
  std::string text = base;
  for (int suffix = 2; !taken_.insert(text).second; ++suffix)
    text = base + "." + std::to_string(suffix);
  return text;
}

std::string UniqueNames::number() { return std::to_string(next_++); }

std::string_view UniqueNames::stem(std::string_view text) {
  if (!text.empty() && isDigit(text[0]))
    return {};
  return text.substr(0, text.find('.'));
}

} // namespace tilewright
