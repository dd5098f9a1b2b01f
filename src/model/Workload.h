#pragma once
#include "tilewright/space/CandidateSpace.h"
#include "tilewright/space/LaunchSymbols.h"

namespace tilewright::model {

/// What one access does under a candidate. A program executes it `executions` times; each time it moves
/// `rows` runs of `runElements` neighbouring elements (masked-off lanes are not moved).
struct AccessLoad {
  double executions = 1;
  double rows = 1, runElements = 1;
  double elementBytes = 4;
  bool write = false, atomic = false;
  bool scattered = false; ///< no unit stride along any axis, or an index that was loaded
  double bytes() const { return rows * runElements * elementBytes; } ///< of one execution
  std::vector<double> loopTrips;                                     ///< enclosing loops, innermost first
  std::vector<bool> movesWithLoop;
  double distinct = 1;                          ///< different places among all programs
  std::array<double, 3> distinctAlong{1, 1, 1}; ///< different places along each grid axis
  double programBytes = 0;                      ///< touched by one program
  uint32_t group = 0; ///< accesses of one group touch the same memory within a program
  bool firstOfGroup = true;
};

/// What one operation on tiles does under a candidate.
struct WorkLoad {
  WorkItem::Kind kind = WorkItem::Kind::Elementwise;
  DType dtype = DType::Float32;
  double executions = 1;
  double rows = 1, runElements = 1; ///< the iteration space, its last axis apart
  double m = 1, n = 1, k = 1;       ///< Dot
  double elements() const { return rows * runElements; }
};

/// A kernel under one candidate, in numbers: what each target's time is made of.
struct Workload {
  double programs = 1;
  std::array<double, 3> grid{1, 1, 1};
  double trips = 0;     ///< loop iterations of one program, all loops together
  double fullShare = 1; ///< the largest program's work over the average one's
  std::vector<AccessLoad> accesses;
  std::vector<WorkLoad> work;
  bool hasDot = false, hasVectorWork = false, inLoop = false;
};

/// Turns facts into Workloads: expressions are compiled once, each candidate costs some microseconds.
class WorkloadModel {
public:
  explicit WorkloadModel(const SpaceRequest &request);
  Workload of(const Candidate &candidate) const;

private:
  struct Axis {
    Formula length;
    Formula extent; ///< what the mask checks against, if anything
  };
  struct Access {
    const AccessMap *map;
    std::vector<Axis> axes;
    std::vector<Formula> trips; ///< innermost first
    std::vector<bool> movesWithLoop;
    struct ProgramTerm {
      uint32_t axis;
      Formula trip;
    };
    std::vector<ProgramTerm> programTerms;
    uint32_t group = 0;
    bool firstOfGroup = true;
  };
  struct Work {
    const WorkItem *item;
    std::vector<Axis> axes;
    std::vector<Formula> trips;
  };

  double lanes(const Axis &axis, std::span<const int64_t> values) const;
  std::vector<Formula> tripsOf(const std::vector<OpId> &loops) const;

  LaunchSymbols symbols_;
  std::map<OpId, Formula> loopTrips_;
  std::vector<OpId> outermostFirst_;
  std::map<OpId, std::vector<OpId>> loopChain_;
  std::vector<Access> accesses_;
  std::vector<Work> work_;
};

} // namespace tilewright::model
