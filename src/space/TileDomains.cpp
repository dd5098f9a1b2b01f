#include "Domains.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <set>

namespace tilewright {

namespace {

constexpr int64_t kUnknownExtent = int64_t{1}
                                   << 20; ///< taken for an extent that only the running kernel knows
constexpr int64_t kLeastDotTile = 16;     ///< smallest tile of tl.dot along any axis
constexpr size_t kMostValues = 12;        ///< per domain, before the product is looked at

int64_t nextPowerOfTwo(int64_t value) {
  return value <= 1
             ? 1
             : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::min(value, int64_t{1} << 61))));
}
int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }
int64_t alignUp(int64_t value, int64_t unit) { return ceilDiv(value, unit) * unit; }

std::string extentText(const ParameterUse &use) {
  return use.extent ? fmt::format("{} = {}", use.extentText, *use.extent)
                    : std::string("an extent that is not known before the launch");
}

Domain domainOf(const ParameterUse &use, const std::set<int64_t> &values, std::string reason) {
  Domain out{use.parameter->name, {}, std::move(reason)};
  for (const int64_t value : values)
    out.values.emplace_back(value);
  return out;
}

std::set<int64_t> powersOfTwo(int64_t from, int64_t to) {
  std::set<int64_t> out;
  for (int64_t value = nextPowerOfTwo(from); value <= to && value > 0; value *= 2)
    out.insert(value);
  return out;
}

/// Powers of two up to the first that covers the extent.
Domain powerOfTwoDomain(const ParameterUse &use, int64_t least, int64_t most, const char *why) {
  const int64_t cover = nextPowerOfTwo(use.extent.value_or(kUnknownExtent));
  const int64_t high = std::max(int64_t{1}, std::min(most, cover));
  return domainOf(use, powersOfTwo(std::min(least, high), high),
                  fmt::format("{} over {}: powers of two from {} to {}", why, extentText(use),
                              std::min(least, high), high));
}

/// Tiles of tl.dot never go below 16, and small ones are pointless where the extent has room.
Domain dotDomain(const ParameterUse &use, int64_t most) {
  const int64_t extent = use.extent.value_or(kUnknownExtent);
  const int64_t high = std::clamp(nextPowerOfTwo(extent), kLeastDotTile, most);
  const int64_t low = extent >= 128 ? 2 * kLeastDotTile : kLeastDotTile;
  return domainOf(use, powersOfTwo(std::min(low, high), high),
                  fmt::format("{} of tl.dot over {}",
                              use.dotDepth  ? "depth"
                              : use.dotRows ? "rows"
                                            : "columns",
                              extentText(use)));
}

const char *roleText(const ParameterUse &use) {
  return use.hasRole(Role::Split) ? "work per program" : "step of a loop";
}

} // namespace

Domain cpuDomain(const ParameterUse &use, const Target &) {
  constexpr int64_t kMostRows = 64, kMostLanes = 65536, kMostDot = 256, kMostDepth = 512,
                    kMostPrograms = 65536;
  if (use.inDot())
    return dotDomain(use, use.dotDepth && !use.dotRows && !use.dotColumns ? kMostDepth : kMostDot);
  if (use.isTileLength && !use.isContiguous)
    return powerOfTwoDomain(use, 1, kMostRows, roleText(use));
  const int64_t extent = use.extent.value_or(kUnknownExtent);
  if (!use.isTileLength) {
    // An outer block: from a few inner tiles to one block per core.
    const int64_t least = std::max<int64_t>(use.isContiguous ? 64 : 1, nextPowerOfTwo(extent) / 1024);
    return powerOfTwoDomain(use, least, nextPowerOfTwo(extent), roleText(use));
  }
  // Short runs drown in loop overhead, and a million programs in program overhead.
  int64_t least = extent < 1024 ? 16 : 64;
  if (use.hasRole(Role::Split))
    least = std::min(kMostLanes, std::max(least, nextPowerOfTwo(ceilDiv(extent, kMostPrograms))));
  return powerOfTwoDomain(use, least, kMostLanes, roleText(use));
}

Domain cudaDomain(const ParameterUse &use, const Target &) {
  constexpr int64_t kMostRows = 64, kMostLanes = 16384, kLeastLanes = 32, kMostDot = 256, kMostDepth = 128;
  if (use.inDot())
    return dotDomain(use, use.dotDepth && !use.dotRows && !use.dotColumns ? kMostDepth : kMostDot);
  if (use.isTileLength && !use.isContiguous)
    return powerOfTwoDomain(use, 1, kMostRows, roleText(use));
  if (!use.isTileLength) {
    const int64_t cover = nextPowerOfTwo(use.extent.value_or(kUnknownExtent));
    return powerOfTwoDomain(use, std::max<int64_t>(use.isContiguous ? 128 : 1, cover / 4096), cover,
                            roleText(use));
  }
  return powerOfTwoDomain(use, kLeastLanes, kMostLanes, roleText(use));
}

Domain ascendDomain(const ParameterUse &use, const Target &target, bool usesCube) {
  const int64_t extent = std::max<int64_t>(1, use.extent.value_or(kUnknownExtent));
  const MemorySpace *ub = target.space("ub");
  const int64_t alignmentBytes = ub ? ub->alignmentBytes : 32;
  if (use.inDot()) {
    const int64_t most = use.dotDepth && !use.dotRows && !use.dotColumns ? 512 : 256;
    std::set<int64_t> values;
    for (const int64_t value : {16, 32, 64, 96, 128, 192, 256, 384, 512})
      if (value <= most && (value <= alignUp(extent, kLeastDotTile) || values.empty()) &&
          (value >= 32 || extent < 128))
        values.insert(value);
    return domainOf(use, values,
                    fmt::format("{} of tl.dot over {}: multiples of 16",
                                use.dotDepth  ? "depth"
                                : use.dotRows ? "rows"
                                              : "columns",
                                extentText(use)));
  }

  // A unit keeps both the length in memory and each program's first address aligned.
  const int64_t unit = use.isContiguous ? std::max<int64_t>(1, alignmentBytes / use.leastBytes) : 1;
  // At least two tiles are alive in any kernel that stores what it computes from what it loads.
  const int64_t roomBytes = ub && ub->bytes > 0 ? ub->bytes / 2 : int64_t{96} << 10;
  const int64_t high =
      use.isTileLength ? std::max(unit, roomBytes / use.mostBytes / unit * unit) : alignUp(extent, unit);
  const int64_t cover = std::min(high, alignUp(extent, unit));
  const int64_t cores = std::max<int64_t>(1, usesCube && target.cubeCores ? target.cubeCores : target.cores);

  std::set<int64_t> values;
  const auto keep = [&](int64_t value) {
    if (value >= 1 && value <= cover)
      values.insert(value);
  };
  std::string reason;
  if (use.hasRole(Role::Split)) {
    // ceil(extent / (cores * rounds)): every round fills all cores.
    for (const int64_t rounds :
         {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024})
      if (values.size() < 8)
        keep(alignUp(ceilDiv(extent, cores * rounds), unit));
    // Few programs win where the work is tiny; more work per program than a core's share never does
    // otherwise.
    const int64_t shareBytes = ceilDiv(extent, cores) * use.mostBytes;
    if (shareBytes < (16 << 10) || values.size() < 4)
      for (const int64_t part : {2, 4, 8, 48})
        keep(alignUp(ceilDiv(extent, std::max<int64_t>(1, cores / part)), unit));
    if (values.size() < 8 && cover < alignUp(extent, unit))
      for (const int64_t part : {1, 2, 4, 8})
        keep(std::max(unit, cover / part / unit * unit));
    if (!use.isContiguous)
      for (const int64_t rows : {1, 2, 4, 8, 16})
        if (values.size() < kMostValues)
          keep(rows);
    reason = fmt::format("work per program over {}, balanced over {} cores", extentText(use), cores);
  } else {
    for (const int64_t parts : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64})
      if (values.size() < 8 &&
          (parts == 1 || ceilDiv(extent, parts) * use.mostBytes >= 256 || !use.isContiguous))
        keep(alignUp(ceilDiv(extent, parts), unit));
    for (const int64_t part : {1, 2, 4, 8})
      if (values.size() < kMostValues && cover / part >= unit)
        keep(cover / part / unit * unit);
    if (!use.isContiguous)
      for (const int64_t rows : {1, 2, 4, 8, 16})
        if (values.size() < kMostValues)
          keep(rows);
    reason = fmt::format("step of a loop over {}, in equal parts", extentText(use));
  }
  // Where several parameters share a tile, one of them can be large only while the others are small.
  if (use.isTileLength && use.sharesTile) {
    if (use.isContiguous)
      for (const int64_t bytes : {1, 512, 2048, 8192})
        keep(std::max(unit, bytes / use.mostBytes / unit * unit));
    else
      for (const int64_t rows : {1, 4, 16, 64})
        keep(rows);
    std::vector<ConfigValue> kept(values.begin(), values.end());
    thinDomain(kept, kMostValues);
    values.clear();
    for (const ConfigValue &value : kept)
      values.insert(std::get<int64_t>(value));
    reason += "; down to small ones, because other parameters share its tile";
  }
  if (values.empty())
    values.insert(cover);
  if (unit > 1)
    reason += fmt::format(", multiples of {} ({} bytes)", unit, alignmentBytes);
  if (use.powerOfTwo) {
    std::set<int64_t> rounded;
    for (const int64_t value : values)
      rounded.insert(nextPowerOfTwo(value));
    values = std::move(rounded);
  }
  return domainOf(use, values, std::move(reason));
}

Domain oneShotDomain(const ParameterUse &use, const Target &target) {
  const int64_t extent = std::max<int64_t>(1, use.extent.value_or(1));
  int64_t cover = nextPowerOfTwo(extent);
  if (!target.powerOfTwoTiles) {
    const MemorySpace *ub = target.space("ub");
    const int64_t alignment = ub ? ub->alignmentBytes : 32;
    cover = alignUp(extent, use.isContiguous ? std::max<int64_t>(1, alignment / use.leastBytes) : 1);
  }
  if (use.inDot())
    cover = std::max(cover, kLeastDotTile);
  return domainOf(use, {cover}, fmt::format("one tile must cover all of {}", extentText(use)));
}

} // namespace tilewright
