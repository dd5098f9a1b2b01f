#pragma once
#include "tilewright/space/AccessAlignment.h"
#include "tilewright/space/CandidateSpace.h"
#include "tilewright/space/LaunchSymbols.h"

namespace tilewright::model {

/// What one access does under a candidate. A program executes it `executions` times; each time it moves
/// `rows` runs of `runElements` neighbouring elements (masked-off lanes are not moved).
struct AccessLoad {
  double executions = 1;
  double rows = 1, runElements = 1;
  double fullRows = 1, fullRun = 1; ///< the same with the lanes that the mask turns off
  double elementBytes = 4;
  bool write = false, atomic = false;
  bool scattered = false; ///< no unit stride along any axis, or an index that was loaded
  double bytes() const { return rows * runElements * elementBytes; } ///< of one execution
  std::vector<double> loopTrips;                                     ///< enclosing loops, innermost first
  std::vector<bool> movesWithLoop;
  double distinct = 1;                          ///< different places among all programs
  std::array<double, 3> distinctAlong{1, 1, 1}; ///< different places along each grid axis
  double programBytes = 0;                      ///< touched by one program
  int32_t loop = -1;                            ///< innermost loop around it: index into Workload::loops
  int32_t contiguousAxis = -1;                  ///< of the tile
  double knownAlignment = 1; ///< divisor of every run's start that a compiler can prove, elements
  double knownLength = 1;    ///< the same of every run's valid length
  double alignmentBytes = 1; ///< divisor of every run's start, bytes, up to a cache line
  bool indirect = false;
  uint32_t rank = 0;  ///< of the tile
  bool dense = false; ///< its runs follow each other without a gap: one long run
  uint32_t group = 0; ///< accesses of one group touch the same memory within a program
  bool firstOfGroup = true;
};

/// What one operation on tiles does under a candidate.
struct WorkLoad {
  WorkItem::Kind kind = WorkItem::Kind::Elementwise;
  DType dtype = DType::Float32;
  double executions = 1;
  double rows = 1, runElements = 1; ///< the iteration space, its last axis apart
  double fullRows = 1, fullRun = 1; ///< the same with the lanes that a mask turns off
  double m = 1, n = 1, k = 1;       ///< Dot
  double fullM = 1, fullN = 1, fullK = 1;
  bool leftComputed = false;  ///< Dot: the left operand was computed here, not loaded
  bool rightComputed = false; ///< Dot: the same of the right one
  int32_t loop = -1;          ///< innermost loop around it: index into Workload::loops
  double reduced = 1;         ///< Reduce, Scan: length of the combined axis
  int32_t reducedAxis = -1;
  double elements() const { return rows * runElements; }
};

/// One loop of the program.
struct LoopLoad {
  double trips = 1;          ///< iterations each time it is entered, on average over programs
  double iterations = 1;     ///< in one program, with the loops around it
  double mostIterations = 1; ///< in the program that has the most
  int32_t parent = -1;
  std::optional<double> stages; ///< `num_stages` of the loop itself
  double carriedBytes = 0;      ///< tiles that live from one iteration to the next
  bool carriesPointers = false; ///< tiles of pointers among them
};

/// A kernel under one candidate, in numbers: what each target's time is made of.
struct Workload {
  double programs = 1;
  std::array<double, 3> grid{1, 1, 1};
  double trips = 0;        ///< loop iterations of one program, all loops together
  double fullShare = 1;    ///< the largest program's work over the average one's
  double longestShare = 1; ///< the longest program's iterations over the average one's
  std::vector<AccessLoad> accesses;
  std::vector<WorkLoad> work;
  std::vector<LoopLoad> loops;
  bool hasDot = false, hasVectorWork = false, inLoop = false;
};

/// Turns facts into Workloads: expressions are compiled once, each candidate costs some microseconds.
class WorkloadModel {
public:
  explicit WorkloadModel(const SpaceRequest &request);
  Workload of(const Candidate &candidate) const;
  /// The same into a Workload whose memory is used again.
  void fill(const Candidate &candidate, Workload &out);

  /// Open parameters that do nothing but give loops their `num_stages`.
  const std::vector<std::string> &stageParameters() const { return stageParameters_; }

private:
  struct Axis {
    Formula length;
    Formula extent; ///< what the mask checks against, if anything
  };
  struct Loop {
    Formula trip;
    int32_t parent = -1;
    std::vector<uint32_t> programSymbols; ///< program ids that the trip count depends on, with their axes
    std::vector<uint32_t> programAxes;
    Formula stages;
    std::vector<std::pair<std::vector<Formula>, double>> carried; ///< tile shape, bytes an element
    bool carriesPointers = false;
  };
  struct Trips {
    double average = 1, most = 1;
  };
  struct Access {
    const AccessMap *map;
    std::vector<Axis> axes;
    std::vector<size_t> loops; ///< innermost first
    std::vector<bool> movesWithLoop;
    struct ProgramTerm {
      uint32_t axis;
      Formula trip;
    };
    std::vector<ProgramTerm> programTerms;
    AccessAlignment alignment;
    Formula pitch; ///< elements from one run to the next, of two-dimensional tiles
    uint32_t group = 0;
    bool firstOfGroup = true;
  };
  struct Work {
    const WorkItem *item;
    std::vector<Axis> axes;
    std::vector<size_t> loops; ///< innermost first
    int32_t reducedAxis = -1;
    bool leftComputed = false, rightComputed = false;
  };

  double lanes(const Axis &axis, std::span<const int64_t> values) const;
  std::vector<size_t> loopsOf(const std::vector<OpId> &loops) const;
  Trips tripsOf(const Loop &loop, std::vector<int64_t> &values, const std::array<double, 3> &grid) const;
  void describeLoops(const SpaceRequest &request);

  void fill(const Candidate &candidate, std::vector<int64_t> &values, std::vector<int64_t> &seen,
            Workload &out) const;

  std::vector<int64_t> values_, seenOfCandidate_; ///< of the candidate that is filled
  LaunchSymbols symbols_;
  std::vector<std::string> stageParameters_;
  std::array<std::optional<uint32_t>, 3> programCounts_; ///< symbols of tl.num_programs
  std::vector<Loop> loops_;
  std::map<OpId, size_t> loopIndex_;
  std::vector<int64_t> seen_; ///< AccessAlignment::seenValues
  std::vector<Access> accesses_;
  std::vector<Work> work_;
};

} // namespace tilewright::model
