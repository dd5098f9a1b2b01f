#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tilewright::lang {

/// The character that "\N{name}" stands for (Unicode 15.1), in any case. Aliases: those of control characters
/// and the common abbreviations (NBSP, ZWJ, BOM, ...).
std::optional<uint32_t> characterNamed(std::string_view name);

} // namespace tilewright::lang
