#include "UnicodeNames.h"

#include <charconv>
#include <string>

namespace tilewright::lang {

namespace {

struct NameRun {
  uint32_t first;
  uint32_t count;
};
struct NameAlias {
  std::string_view name;
  uint32_t codePoint;
};
#include "UnicodeNames.inc"

std::optional<uint32_t> ideographNamed(std::string_view hex) {
  constexpr NameRun kIdeographs[] = {
      {0x3400, 0x19c0},  {0x4e00, 0x5200},  {0x20000, 0xa6e0}, {0x2a700, 0x103a}, {0x2b740, 0xde},
      {0x2b820, 0x1682}, {0x2ceb0, 0x1d31}, {0x2ebf0, 0x26e},  {0x30000, 0x134b}, {0x31350, 0x1060}};
  uint32_t value = 0;
  const auto read = std::from_chars(hex.data(), hex.data() + hex.size(), value, 16);
  if (read.ec != std::errc() || read.ptr != hex.data() + hex.size())
    return std::nullopt;
  for (const NameRun &run : kIdeographs)
    if (value >= run.first && value - run.first < run.count)
      return value;
  return std::nullopt;
}

/// The Unicode standard, section 3.12: a syllable is a leading consonant, a vowel and perhaps a trailing
/// consonant.
std::optional<uint32_t> syllableNamed(std::string_view name) {
  constexpr std::string_view kLeading[] = {"G",  "GG", "N", "D",  "DD", "R", "M", "B", "BB", "S",
                                           "SS", "",   "J", "JJ", "C",  "K", "T", "P", "H"};
  constexpr std::string_view kVowels[] = {"A",  "AE", "YA", "YAE", "EO", "E",  "YEO", "YE", "O",  "WA", "WAE",
                                          "OE", "YO", "U",  "WEO", "WE", "WI", "YU",  "EU", "YI", "I"};
  constexpr std::string_view kTrailing[] = {"",   "G",  "GG", "GS", "N",  "NJ", "NH", "D", "L",  "LG",
                                            "LM", "LB", "LS", "LT", "LP", "LH", "M",  "B", "BS", "S",
                                            "SS", "NG", "J",  "C",  "K",  "T",  "P",  "H"};
  for (uint32_t l = 0; l < std::size(kLeading); ++l)
    if (name.starts_with(kLeading[l]))
      for (uint32_t v = 0; v < std::size(kVowels); ++v)
        if (const std::string_view rest = name.substr(kLeading[l].size()); rest.starts_with(kVowels[v]))
          for (uint32_t t = 0; t < std::size(kTrailing); ++t)
            if (rest.substr(kVowels[v].size()) == kTrailing[t])
              return 0xac00 + (l * 21 + v) * 28 + t;
  return std::nullopt;
}

} // namespace

std::optional<uint32_t> characterNamed(std::string_view name) {
  std::string upper;
  uint32_t hash = kNameSeed;
  for (const char c : name) {
    upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    hash = (hash ^ static_cast<unsigned char>(upper.back())) * 0x01000193u;
  }
  constexpr std::string_view kIdeograph = "CJK UNIFIED IDEOGRAPH-", kSyllable = "HANGUL SYLLABLE ";
  if (upper.starts_with(kIdeograph))
    return ideographNamed(std::string_view(upper).substr(kIdeograph.size()));
  if (upper.starts_with(kSyllable))
    return syllableNamed(std::string_view(upper).substr(kSyllable.size()));
  size_t index = 0;
  for (const NameRun &run : kNameRuns)
    for (uint32_t i = 0; i < run.count; ++i, ++index)
      if (kNameHashes[index] == hash)
        return run.first + i;
  for (const NameAlias &alias : kNameAliases)
    if (alias.name == upper)
      return alias.codePoint;
  return std::nullopt;
}

} // namespace tilewright::lang
