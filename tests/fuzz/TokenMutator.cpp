// A mutator that keeps text looking like text: beside libFuzzer's own byte changes it repeats, drops and
// moves whole lines, changes the indentation of a line, and replaces a word or a number by another of the
// same input or of a small table. Without it, most mutations of a kernel are syntax errors and never reach
// lowering.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t capacity);

namespace {

using Random = std::minstd_rand;

constexpr std::string_view kWords[] = {"0",
                                       "1",
                                       "2",
                                       "-1",
                                       "7",
                                       "16",
                                       "64",
                                       "4096",
                                       "2**31",
                                       "1e9",
                                       "nan",
                                       "None",
                                       "True",
                                       "x",
                                       "[:, None]",
                                       "()",
                                       "(x,)",
                                       "f32",
                                       "i1",
                                       "*",
                                       "%",
                                       "//",
                                       "9223372036854775807",
                                       ">>",
                                       "is",
                                       "not",
                                       "in",
                                       "and",
                                       "else",
                                       "tl.float8e5"};

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

bool isWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

std::vector<std::string_view> wordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && isWordByte(text[end]))
      ++end;
    if (end > at)
      words.push_back(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return words;
}

std::string mutateLines(std::string_view text, Random &random) {
  auto lines = linesOf(text);
  const size_t at = random() % lines.size(), other = random() % lines.size();
  std::string changed(lines[at]);
  switch (random() % 5) {
  case 0: // drop
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
    break;
  case 1: // repeat elsewhere
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(other), lines[at]);
    break;
  case 2: // swap
    std::swap(lines[at], lines[other]);
    break;
  case 3: // indent
    changed.insert(0, "    ");
    lines[at] = changed;
    break;
  default: // dedent
    if (changed.starts_with("    "))
      changed.erase(0, 4);
    lines[at] = changed;
    break;
  }
  std::string out;
  for (std::string_view line : lines)
    out += line;
  return out;
}

std::string mutateWord(std::string_view text, Random &random) {
  const auto words = wordsOf(text);
  if (words.empty())
    return std::string(text);
  const std::string_view victim = words[random() % words.size()];
  const std::string_view substitute =
      random() % 3 ? words[random() % words.size()] : kWords[random() % std::size(kWords)];
  std::string out(text.substr(0, static_cast<size_t>(victim.data() - text.data())));
  out += substitute;
  out += text.substr(static_cast<size_t>(victim.data() - text.data()) + victim.size());
  return out;
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t capacity, unsigned seed) {
  Random random(seed);
  if (size == 0 || random() % 4 == 0)
    return LLVMFuzzerMutate(bytes, size, capacity);
  std::string text(reinterpret_cast<const char *>(bytes), size);
  for (size_t changes = 1 + random() % 3; changes-- > 0 && !text.empty();)
    text = random() % 2 ? mutateWord(text, random) : mutateLines(text, random);
  text.resize(std::min(text.size(), capacity));
  std::memcpy(bytes, text.data(), text.size());
  return text.size();
}
