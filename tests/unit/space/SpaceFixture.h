#pragma once
#include "tilewright/program/Text.h"
#include "tilewright/space/CandidateSpace.h"

#include <gmock/gmock.h>
#include <set>

namespace tilewright {

/// A kernel in the Program's text form with everything a SpaceRequest refers to. The request's parts may be
/// changed before `generated()`.
struct SpaceFixture {
  Program program;
  KernelFacts facts;
  Target target;
  LaunchArguments arguments;
  std::optional<Grid> grid;
  Hints hints;
  std::vector<Config> userConfigs;
  bool onlyUserConfigs = false;
  int64_t maxCandidates = 4096;

  SpaceFixture(const std::string &text, const std::string &targetName, const std::vector<std::string> &launch,
               const std::string &gridText) {
    auto read = readProgram(std::make_shared<const SourceFile>("kernel.tile", text));
    if (!read) {
      ADD_FAILURE() << render(read.error());
      return;
    }
    program = *std::move(read);
    for (const std::string &each : launch) {
      auto argument = parseArgument(each);
      EXPECT_TRUE(argument) << each;
      arguments.set(argument->name, argument->value);
    }
    auto found = findTarget(targetName);
    EXPECT_TRUE(found) << targetName;
    target = *std::move(found);
    setGrid(gridText);
  }

  void setGrid(const std::string &gridText) {
    auto parsed = parseGrid(gridText, program, arguments);
    if (!parsed)
      ADD_FAILURE() << render(parsed.error());
    else
      grid = *std::move(parsed);
    facts = analyze(program, &*grid);
  }
  void setGrid(Grid given) {
    grid = std::move(given);
    facts = analyze(program, &*grid);
  }

  SpaceRequest request() const {
    return {program, facts, target, arguments, *grid, hints, userConfigs, onlyUserConfigs, maxCandidates};
  }
  CandidateSpace generated() const { return generate(request()); }

  std::vector<int64_t> values(const std::string &parameter) const { return valuesIn(generated(), parameter); }
  static std::vector<int64_t> valuesIn(const CandidateSpace &space, const std::string &parameter) {
    std::set<int64_t> out;
    for (const Candidate &candidate : space.candidates)
      if (const auto value = candidate.config.integer(parameter))
        out.insert(*value);
    return {out.begin(), out.end()};
  }
};

/// z[i] = x[i] + y[i], one tile of BLOCK a program.
inline std::string vectorAdd(const std::string &dtype) {
  std::string text =
      R"(kernel @add(%x: ptr<T>, %y: ptr<T>, %z: ptr<T>, %n: i32 = n in 0.., open BLOCK = 1024 in 1..1048576) {
  symbol pid0: program_id in 0..2147483647
  %pid = program_id {axis = 0} : i32 = pid0 @2
  %0 = constant {value = BLOCK} : i32 @2
  %1 = mul %pid, %0 : i32 = BLOCK*pid0 @2
  %2 = iota {end = BLOCK, start = 0} : tile<BLOCK x i32> @2
  %3 = splat %1 : tile<BLOCK x i32> @2
  %offs = add %3, %2 : tile<BLOCK x i32> @2
  %4 = splat %n : tile<BLOCK x i32> @3
  %mask = compare %offs, %4 {predicate = "lt"} : tile<BLOCK x i1> @3
  %5 = splat %x : tile<BLOCK x ptr<T>> @4
  %6 = addptr %5, %offs : tile<BLOCK x ptr<T>> @4
  %a = load %6, %mask : tile<BLOCK x T> @4
  %7 = splat %y : tile<BLOCK x ptr<T>> @5
  %8 = addptr %7, %offs : tile<BLOCK x ptr<T>> @5
  %b = load %8, %mask : tile<BLOCK x T> @5
  %c = add %a, %b : tile<BLOCK x T> @6
  %9 = splat %z : tile<BLOCK x ptr<T>> @6
  %10 = addptr %9, %offs : tile<BLOCK x ptr<T>> @6
  store %10, %c, %mask @6
}
)";
  for (size_t at = 0; (at = text.find("ptr<T>", at)) != std::string::npos;)
    text.replace(at, 6, "ptr<" + dtype + ">");
  for (size_t at = 0; (at = text.find("x T>", at)) != std::string::npos;)
    text.replace(at, 4, "x " + dtype + ">");
  return text;
}

/// The same with an outer BLOCK a program, walked in steps of SUB; masked by the end of the block and of the
/// array.
inline std::string steppedAdd(const std::string &dtype) {
  std::string text =
      R"(kernel @stepped(%x: ptr<T>, %y: ptr<T>, %z: ptr<T>, %n: i32 = n in 0.., open BLOCK = 1024 in 1..1048576, open SUB = 128 in 1..1048576) {
  symbol pid0: program_id in 0..2147483647
  symbol i: loop in 0..
  %pid = program_id {axis = 0} : i32 = pid0 @2
  %0 = constant {value = BLOCK} : i32 = BLOCK @2
  %1 = mul %pid, %0 : i32 = BLOCK*pid0 @2
  %zero = constant {value = 0} : i32 = 0 @3
  %sub = constant {value = SUB} : i32 = SUB @3
  %end = add %1, %0 : i32 = BLOCK*pid0 + BLOCK @3
  for %zero, %0, %sub { (%i: i32 = i)
    %2 = iota {end = SUB, start = 0} : tile<SUB x i32> @4
    %base = add %1, %i : i32 = BLOCK*pid0 + i @4
    %3 = splat %base : tile<SUB x i32> @4
    %offs = add %3, %2 : tile<SUB x i32> @4
    %4 = splat %n : tile<SUB x i32> @5
    %m1 = compare %offs, %4 {predicate = "lt"} : tile<SUB x i1> @5
    %41 = splat %end : tile<SUB x i32> @5
    %m2 = compare %offs, %41 {predicate = "lt"} : tile<SUB x i1> @5
    %mask = and %m1, %m2 : tile<SUB x i1> @5
    %5 = splat %x : tile<SUB x ptr<T>> @6
    %6 = addptr %5, %offs : tile<SUB x ptr<T>> @6
    %a = load %6, %mask : tile<SUB x T> @6
    %7 = splat %y : tile<SUB x ptr<T>> @7
    %8 = addptr %7, %offs : tile<SUB x ptr<T>> @7
    %b = load %8, %mask : tile<SUB x T> @7
    %c = add %a, %b : tile<SUB x T> @8
    %9 = splat %z : tile<SUB x ptr<T>> @8
    %10 = addptr %9, %offs : tile<SUB x ptr<T>> @8
    store %10, %c, %mask @8
    yield @3
  } @3
}
)";
  for (size_t at = 0; (at = text.find("ptr<T>", at)) != std::string::npos;)
    text.replace(at, 6, "ptr<" + dtype + ">");
  for (size_t at = 0; (at = text.find("x T>", at)) != std::string::npos;)
    text.replace(at, 4, "x " + dtype + ">");
  return text;
}

} // namespace tilewright
