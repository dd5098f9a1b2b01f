#pragma once
#include "Workload.h"

namespace tilewright::model {

/// How Triton spreads a tile over the threads of a program: each thread holds `vector` neighbours along the
/// contiguous axis, a warp's lanes and then the warps fill that axis first and go on across it.
///
///     64 x 128 halves, 4 warps, vector 8:  16 lanes along, 2 across; 1 warp along, 4 across;
///     a pass covers 8 x 128, and a thread holds 64 elements in 8 vectors
///
/// A tile smaller than one pass is held several times: all threads load, and nothing is gained.
struct ThreadLayout {
  double vector = 1;
  double lanesAlong = 1, lanesAcross = 32;
  double warpsAlong = 1, warpsAcross = 1;
  double elementsOfThread = 1; ///< copies included
  double rowsOfThread = 1;     ///< runs that a thread has a part of
  double copies = 1;           ///< threads that hold the same element
};

/// `rows` runs of `run` elements over `warps` warps.
ThreadLayout threadLayout(double rows, double run, double vector, double warps);

/// The layout of an access, and how its lanes go to memory.
struct AccessLayout {
  ThreadLayout layout;
  double instructionElements =
      1;                   ///< of one thread in one instruction; less than the vector under an odd mask
  double instructions = 1; ///< of one thread, one execution
  double sectorBytes = 0;  ///< moved by one execution, whole 32-byte sectors, copies not counted
};
AccessLayout accessLayout(const AccessLoad &access, double warps);

/// Layouts of all accesses of a workload. A vector that belongs to the rows or columns of a tile is held the
/// way the tile needs it: every thread has the part of its own rows or columns.
std::vector<AccessLayout> accessLayouts(const Workload &load, double warps);

} // namespace tilewright::model
