#include "UnicodeNames.h"
#include "Unicode.h"

namespace tilewright::lang {

std::string characterNamed(std::string_view) {
  std::string text;
  appendUtf8(text, 0xfffd);
  return text;
}

} // namespace tilewright::lang
