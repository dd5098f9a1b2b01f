#include "Traffic.h"

#include <algorithm>
#include <cmath>

namespace tilewright::model {

namespace {

/// What one iteration of the loop `depth` (counted from the innermost) touches. Accesses at other places of
/// the program count with what they touch per program: they are few and outside.
double iterationBytes(const Workload &load, size_t depth) {
  double sum = 0;
  for (const AccessLoad &access : load.accesses) {
    if (access.loopTrips.size() <= depth)
      continue;
    double bytes = access.bytes();
    for (size_t inner = 0; inner < depth; ++inner)
      if (access.movesWithLoop[inner])
        bytes *= std::max(1.0, access.loopTrips[inner]);
    sum += bytes;
  }
  return sum;
}

} // namespace

double programBytes(const Workload &load) {
  double sum = 0;
  for (const AccessLoad &access : load.accesses)
    if (access.firstOfGroup)
      sum += access.programBytes;
  return sum;
}

double uniqueBytes(const Workload &load) {
  double sum = 0;
  for (const AccessLoad &access : load.accesses)
    if (access.firstOfGroup)
      sum += access.programBytes * access.distinct;
  return sum;
}

double bytesBeyond(double cacheBytes, const Workload &load, const AccessLoad &access) {
  // All of it stays between launches.
  if (uniqueBytes(load) <= cacheBytes)
    return 0;
  const double perProgram = programBytes(load);
  if (!access.firstOfGroup && perProgram <= cacheBytes)
    return 0;
  double bytes = access.bytes();
  for (size_t depth = 0; depth < access.loopTrips.size(); ++depth)
    if (access.movesWithLoop[depth] || iterationBytes(load, depth) > cacheBytes)
      bytes *= std::max(1.0, access.loopTrips[depth]);

  double sweep = perProgram; // what all programs up to here touch
  for (size_t axis = 0; axis < 3; ++axis) {
    const double size = load.grid[axis], distinct = access.distinctAlong[axis];
    if (size <= 1)
      continue;
    double next = 0;
    for (const AccessLoad &each : load.accesses) {
      double touched = each.firstOfGroup ? each.programBytes : 0;
      for (size_t below = 0; below <= axis; ++below)
        touched *= each.distinctAlong[below];
      next += touched;
    }
    if (distinct <= 1) {
      bytes *= sweep <= cacheBytes ? 1 : size;
    } else if (distinct < size) {
      // Several tile numbers share this axis of the grid. Some neighbours reuse the tile and some don't;
      // which, is the kernel's own order.
      bytes *= next <= cacheBytes ? distinct : sweep <= cacheBytes ? std::sqrt(distinct * size) : size;
    } else {
      bytes *= size;
    }
    sweep = next;
  }
  return bytes;
}

} // namespace tilewright::model
