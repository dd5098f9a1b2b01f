#pragma once
#include "tilewright/lang/Ast.h"

#include <optional>
#include <string>

namespace tilewright::lang {

/// What is wrong with a literal, at an offset into the text that was given.
struct LiteralError {
  std::string message;
  size_t begin = 0;
  size_t end = 0;
};

/// The value of a number token ("0x_ff", "1e3", "2j"). Fails only for integers too long to convert.
std::optional<LiteralError> readNumber(std::string_view text, AstArena &arena, Constant::Value &value);

/// The parts of a string token: prefix letters, and where the text between the quotes is.
struct StringShape {
  bool raw = false;
  bool bytes = false;
  bool unicode = false;    ///< u"..."
  bool formatted = false;  ///< f"..."
  bool isTemplate = false; ///< t"..."
  size_t contentBegin = 0;
  size_t contentEnd = 0; ///< meaningless for the start token of an f-string
};
StringShape shapeOf(std::string_view token);

/// Appends the value of literal text: escapes resolved unless `raw`, line breaks as "\n". Lone surrogates are
/// encoded in three bytes.
std::optional<LiteralError> decodeText(std::string_view text, bool raw, bool bytes, std::string &out);

} // namespace tilewright::lang
