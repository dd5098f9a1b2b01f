#pragma once
#include "tilewright/program/Grid.h"
#include "tilewright/program/Program.h"

#include <array>
#include <string>
#include <vector>

namespace tilewright {

/// Why we believe something: a place in the user's source and what it shows.
struct Evidence {
  uint32_t line = 0;
  std::string text; ///< the source expression or a short sentence with it
};

enum class Confidence : uint8_t { Proved, Likely, Guess };
std::string_view name(Confidence confidence); ///< "proved", "likely", "guess"

/// What an open parameter does. Several roles may meet in one.
enum class Role : uint8_t {
  Split,       ///< work per program: the grid shrinks when it grows
  Tile,        ///< step of a loop inside the program
  OneShot,     ///< one tile must cover a whole extent
  Schedule,    ///< changes only the order of programs or iterations (GROUP_M)
  Chunk,       ///< fixed by the algorithm; changing it changes what is computed
  HostCoupled, ///< the caller computes another argument from it
  Flag,        ///< selects between code paths
  Unused,
};
std::string_view
name(Role role); ///< "split", "tile", "one-shot", "schedule", "chunk", "host-coupled", "flag", "unused"

/// A direction in which the kernel walks over data: rows, columns, the contraction, ...
struct Axis {
  std::string name;                    ///< the extent's text when it is a parameter ("n_cols"), else "axis0"
  SymInt extent;                       ///< over runtime scalars; invalid when not found
  bool reduction = false;              ///< combined over (tl.sum, dot's K, an accumulator over a loop)
  bool contiguous = false;             ///< unit stride in at least one access
  std::vector<std::string> parameters; ///< open parameters that tile it
  std::vector<Evidence> evidence;
};

struct ParameterFacts {
  std::string name;
  std::vector<Role> roles;
  std::vector<uint32_t> axes; ///< indices into KernelFacts::axes
  Confidence confidence = Confidence::Proved;
  std::vector<Evidence> evidence;
  bool hasRole(Role role) const;
};

/// One term of an access: coefficient (elements) times an index.
struct AccessTerm {
  enum class Kind : uint8_t { ProgramId, Loop, Lane } kind = Kind::Lane;
  uint32_t index = 0; ///< program-id axis, loop number (by OpId), or tile axis
  SymInt coefficient; ///< elements per lane, per iteration (not per unit of the loop's index), per program
  /// How many values the index takes: tile size along the axis; the loop's trip count; for a program id the
  /// number of programs (or, where the id is decoded by `//` and `%`, of tiles) along this direction. Invalid
  /// if unknown.
  SymInt trip;
};

/// address = base + Σ coefficient·index + constant, in elements. `indirect` when an index was itself loaded
/// (or is otherwise not affine): the affine part is kept, for contiguous run lengths.
struct AccessMap {
  OpId op = kNone;
  std::string buffer; ///< the pointer parameter; empty if unknown
  DType dtype = DType::Void;
  bool write = false;
  bool atomic = false;
  bool indirect = false;
  bool modular = false; ///< some index goes through a modulo or division (wrapped or grouped addressing)
  std::vector<uint32_t>
      indirectAxes; ///< tile axes along which a loaded index differs; empty: the same for the tile
  SymInt constant;
  std::vector<AccessTerm> terms; ///< a program id that is decoded into several numbers has one term for each
  std::vector<SymInt> tileShape;
  int32_t contiguousAxis = -1; ///< tile axis with |coefficient| 1, or -1
  std::vector<OpId> loops;     ///< enclosing `for` and `while` ops, outermost first
  /// Per tile axis: the extent that the mask checks against, if the mask bounds it (invalid if not).
  std::vector<SymInt> maskExtent;
  Evidence evidence;
};

/// A rule on open parameters (with runtime scalars) without which the result would be wrong.
struct Constraint {
  std::string code; ///< "divide.tail", "divide.floor", "order.tile", "oneshot.short", "shape.pow2",
                    ///< "shape.numel", "static_assert", "path.condition"
  SymInt condition; ///< 0/1-valued; must be 1
  std::string text; ///< "BLOCK >= n_cols"
  uint32_t line = 0;
};

struct Effects {
  std::vector<std::string> reads;       ///< pointer parameters that are read
  std::vector<std::string> writes;      ///< that are written
  std::vector<std::string> accumulates; ///< read and then written in a way that depends on what was there
  std::vector<std::string> atomics;     ///< updated atomically
};

/// What the tile program does per program instance; what a cost model needs beyond accesses.
struct WorkItem {
  OpId op = kNone;
  enum class Kind : uint8_t {
    Elementwise,
    Transcendental,
    Reduce,
    Dot,
    Scan,
    Other
  } kind = Kind::Elementwise;
  DType dtype = DType::Float32;
  std::vector<SymInt> shape; ///< iteration space of one execution; Dot: [M, N, K]
  std::vector<OpId> loops;   ///< enclosing `for` ops
};

struct LoopFacts {
  OpId op = kNone;
  /// Invalid when unknown (`while` loops have at most a trip). May mention program ids and outer iterations;
  /// a trip below 1 means that the body never runs.
  SymInt lower, upper, step, trip;
  SymInt iteration;  ///< the symbol that counts this loop's iterations from 0, as used in other trips
  int32_t axis = -1; ///< the axis it walks along
};

struct HostCoupling {
  std::string parameter; ///< the open parameter
  std::string argument;  ///< the argument that seems derived from it
  std::string text;      ///< why
  uint32_t line = 0;
  std::string companion; ///< what the argument seems to be: "cdiv(n, BLOCK)"; empty when not known
};

/// Everything that generation, ranking and `tilewright analyze` know of a kernel. Facts with evidence, never
/// an exception: what could not be understood is in `diagnostics` and lowers `status`.
struct KernelFacts {
  enum class Status : uint8_t { Ok, Partial, Refused } status = Status::Ok;
  std::string kernel;
  std::vector<Axis> axes;
  std::vector<ParameterFacts> parameters; ///< the open ones, in the kernel's order
  std::vector<Constraint> constraints;    ///< incl. path conditions and static requirements of the Program
  std::vector<AccessMap> accesses;
  std::vector<WorkItem> work;
  std::vector<LoopFacts> loops;
  Effects effects;
  std::vector<HostCoupling> hostCoupled;
  std::vector<Diagnostic> diagnostics;
  /// Per program-id axis: the number of programs that covers the work, where the accesses tell (cdiv(extent,
  /// BLOCK), an extent for one-row-per-program axes); invalid where not. Used when the caller gives no grid.
  std::vector<SymInt> inferredGrid;
  /// Symbols of tl.program_id and tl.num_programs per axis, where trips and bounds mention them; invalid when
  /// unused.
  std::array<SymInt, 3> programIds, programCounts;

  const ParameterFacts *find(std::string_view parameter) const;
};

/// What a kernel does, from its Program alone (and the grid, where it is known; null: unknown). Adds symbols
/// for lanes and iterations to the Program's context, so results of two calls compare by text, not by
/// pointer.
KernelFacts analyze(const Program &program, const Grid *grid = nullptr);

/// The facts as stable text, one a line, evidence indented below.
std::string print(const KernelFacts &facts);

} // namespace tilewright
