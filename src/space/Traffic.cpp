#include "Traffic.h"

#include <algorithm>

namespace tilewright {

namespace {

/// A program or an iteration that moves next to nothing still costs something: as much as this many bytes.
constexpr double kLeastBytes = 256;

} // namespace

Traffic::Traffic(const SpaceRequest &request, const LaunchSymbols &symbols) {
  std::map<OpId, SymInt> trips;
  for (const LoopFacts &loop : request.facts.loops)
    trips[loop.op] = loop.trip;
  for (const AccessMap &access : request.facts.accesses) {
    Access out{{}, static_cast<double>(std::max<uint32_t>(1, byteSize(access.dtype)))};
    for (const SymInt length : access.tileShape)
      out.lengths.emplace_back(length, symbols);
    for (const OpId loop : access.loops)
      if (const auto found = trips.find(loop); found != trips.end())
        out.lengths.emplace_back(found->second, symbols);
    accesses_.push_back(std::move(out));
  }
}

double Traffic::bytes(std::span<const int64_t> values, const std::array<int64_t, 3> &grid) const {
  double perProgram = kLeastBytes;
  for (const Access &access : accesses_) {
    double total = access.elementBytes;
    for (const Formula &length : access.lengths)
      total *= static_cast<double>(std::max<int64_t>(1, length(values).value_or(1)));
    perProgram += total;
  }
  return perProgram * static_cast<double>(grid[0]) * static_cast<double>(grid[1]) *
         static_cast<double>(grid[2]);
}

} // namespace tilewright
