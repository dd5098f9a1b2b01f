#pragma once
#include "FunctionLowerer.h"

#include <span>

namespace tilewright::lowering {

/// One call of a builtin with its arguments bound to the parameters that its table row lists.
class BuiltinCall {
public:
  BuiltinCall(FunctionLowerer &function, std::string name, SourceRange range, SourceRange nameRange)
      : function(function), c(function.context()), emit(function.emitter()), name(std::move(name)),
        range(range), nameRange(nameRange) {}

  FunctionLowerer &function;
  LoweringContext &c;
  Emitter &emit;
  std::string name; ///< as the table has it
  SourceRange range, nameRange;
  std::vector<std::string_view> parameters;
  std::vector<std::optional<FrontValue>> bound; ///< by parameter
  std::vector<SourceRange> ranges;
  std::vector<FrontValue> rest; ///< what `*rest` took

  /// Given, and not None.
  bool has(size_t i) const { return bound[i] && !bound[i]->isNone(); }
  const FrontValue &at(size_t i) const { return *bound[i]; }
  SourceRange where(size_t i) const { return bound[i] && ranges[i].valid() ? ranges[i] : range; }
  /// As an SSA value; numbers become scalars.
  ValueId tensor(size_t i);
  /// As an SSA value of a floating dtype that the function takes.
  ValueId floating(size_t i);
  bool flag(size_t i, bool otherwise);
  int64_t integer(size_t i, int64_t otherwise);
  SymInt extent(const FrontValue &value, const SourceRange &where);
  std::string text(size_t i, const std::string &otherwise);
  DType dtype(size_t i);
  Type typeArgument(size_t i);
  /// An axis, negative ones counted from the end.
  int64_t axis(size_t i, size_t rank);
  /// `(2, BLOCK)`, `[2, BLOCK]`, `BLOCK`, or the rest arguments `2, BLOCK`.
  std::vector<FrontValue> sequence(size_t i);
  Emitter::Shape shape(const std::vector<FrontValue> &extents, const SourceRange &where);
  [[noreturn]] void failArgument(size_t i, const std::string &expected);
};

/// A row of the tables: a function of triton.language, triton or Python.
/// `parameters`: names in order; `x=` may be left out; `*rest` takes what remains; behind a lone `*` only
/// keywords.
struct Builtin {
  std::string_view name;
  std::string_view parameters;
  FrontValue (*lower)(BuiltinCall &call);
  bool method = false; ///< also `x.name(...)`, with x as the first argument
};

// The tables, one file each.
std::span<const Builtin>
programBuiltins(); // BuiltinsProgram.cpp: program ids, ranges, constexpr functions, assertions
std::span<const Builtin> shapeBuiltins();   // BuiltinsShape.cpp
std::span<const Builtin> memoryBuiltins();  // BuiltinsMemory.cpp: load, store, atomics
std::span<const Builtin> blockBuiltins();   // BuiltinsBlock.cpp: block pointers, descriptors
std::span<const Builtin> mathBuiltins();    // BuiltinsMath.cpp
std::span<const Builtin> combineBuiltins(); // BuiltinsCombine.cpp: reductions, scans, histogram
std::span<const Builtin> dotBuiltins();     // BuiltinsDot.cpp
std::span<const Builtin> sortBuiltins();    // BuiltinsSort.cpp: sort, top k, flip
std::span<const Builtin> randomBuiltins();  // BuiltinsRandom.cpp
std::span<const Builtin> libraryBuiltins(); // BuiltinsLibrary.cpp: libdevice
std::span<const Builtin>
scalarBuiltins(); // BuiltinsScalar.cpp: scalar functions, assembly and libraries over tiles
std::span<const Builtin> indexedBuiltins(); // BuiltinsIndexed.cpp: Ascend's transfers through index tiles
std::span<const Builtin> targetBuiltins();  // BuiltinsTarget.cpp: what only one kind of target has
std::span<const Builtin> pythonBuiltins();  // BuiltinsPython.cpp: min, max, len, int, float, ...

/// The row for a name as `valueOfPath` gives it, or null.
const Builtin *findBuiltin(std::string_view name);
/// The row for a method of a value of this type, or null.
const Builtin *findMethod(const Type &type, std::string_view name);
/// Why a known name is not supported (Unsupported.def); empty for names that nobody knows.
std::string_view unsupportedReason(std::string_view name);

FrontValue callBuiltin(FunctionLowerer &function, const Builtin &row,
                       const FunctionLowerer::CallArguments &arguments);
std::optional<FrontValue> callTypeMethod(LoweringContext &c, const FrontValue &self, std::string_view name);

// Shared between tables.
/// Refuses what is not a tile of values as argument 0.
void checkTile(BuiltinCall &call, ValueId value);
FrontValue reduceByKind(BuiltinCall &call, ValueId input, std::optional<int64_t> axis, std::string_view kind,
                        bool keepDims);
/// `reduceByKind`'s pair form: the value and where it stands along the axis.
std::pair<ValueId, ValueId> reduceWithIndex(BuiltinCall &call, ValueId input, int64_t axis, bool wantMax,
                                            bool tieLeft, bool keepDims);

} // namespace tilewright::lowering
