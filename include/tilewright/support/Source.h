#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// A text file that was read once and never changes. Offsets into it are byte offsets; lines count from 1 and
/// columns are byte offsets within the line, from 0 (as CPython's `ast` counts them).
class SourceFile {
public:
  SourceFile(std::string path, std::string text);

  const std::string &path() const { return path_; }
  std::string_view text() const { return text_; }

  struct Position {
    uint32_t line = 1;   ///< from 1
    uint32_t column = 0; ///< bytes from the start of the line, from 0
  };
  Position position(uint32_t offset) const;
  /// The text of a line without its line break; empty when there is no such line.
  std::string_view line(uint32_t number) const;
  uint32_t lineCount() const { return static_cast<uint32_t>(lineStarts_.size()); }
  uint32_t lineStart(uint32_t number) const { return lineStarts_[number - 1]; }

private:
  std::string path_;
  std::string text_;
  std::vector<uint32_t> lineStarts_;
};

using SourceFilePtr = std::shared_ptr<const SourceFile>;

/// A half-open byte range of one file. Whoever stores ranges keeps the file alive.
struct SourceRange {
  const SourceFile *file = nullptr;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool valid() const { return file != nullptr; }
  std::string_view text() const {
    return file ? file->text().substr(begin, end - begin) : std::string_view{};
  }
  uint32_t line() const { return file ? file->position(begin).line : 0; }
};

} // namespace tilewright
