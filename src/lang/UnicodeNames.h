#pragma once
#include <string>
#include <string_view>

namespace tilewright::lang {

/// The character (UTF-8) that "\N{name}" stands for; empty when there is none of that name. Names compare without
/// regard to case. Limitation: no name table is built in, so every other name yields U+FFFD.
std::string characterNamed(std::string_view name);

} // namespace tilewright::lang
