// Elementwise kernels: dtypes, sizes that no vector divides, masks, forms of access.
#include "CodegenFixture.h"

namespace tilewright::cpu {
namespace {

/// out[offs] = <body of %a, %c> with masked loads and a masked store, in the given dtype.
std::string streaming(std::string_view dtype, std::string_view body, std::string_view outType = {}) {
  const std::string out(outType.empty() ? dtype : outType);
  return fmt::format(
      R"(kernel @streaming(%x: ptr<{0}>, %y: ptr<{0}>, %out: ptr<{2}>, %n: i32 = n, open BLOCK = 1024) {{
  symbol pid: program_id
  %p = program_id {{axis = 0}} : i32 = pid
  %b = constant {{value = BLOCK}} : i32
  %s = mul %p, %b : i32
  %i = iota {{end = BLOCK, start = 0}} : tile<BLOCK x i32>
  %st = splat %s : tile<BLOCK x i32>
  %o = add %st, %i : tile<BLOCK x i32>
  %nt = splat %n : tile<BLOCK x i32>
  %m = compare %o, %nt {{predicate = "lt"}} : tile<BLOCK x i1>
  %xp = splat %x : tile<BLOCK x ptr<{0}>>
  %xq = addptr %xp, %o : tile<BLOCK x ptr<{0}>>
  %a = load %xq, %m : tile<BLOCK x {0}>
  %yp = splat %y : tile<BLOCK x ptr<{0}>>
  %yq = addptr %yp, %o : tile<BLOCK x ptr<{0}>>
  %m2 = compare %o, %nt {{predicate = "lt"}} : tile<BLOCK x i1>
  %c = load %yq, %m2 : tile<BLOCK x {0}>
{1}
  %op = splat %out : tile<BLOCK x ptr<{2}>>
  %oq = addptr %op, %o : tile<BLOCK x ptr<{2}>>
  store %oq, %r, %m
}}
)",
      dtype, body, out);
}

void checkStreaming(const std::string &text, DType dtype, DType out, double tolerance = 1) {
  for (const int64_t n : {1, 63, 1000}) {
    GeneratedKernel kernel(text);
    kernel.buffer("x", dtype, n)
        .buffer("y", dtype, n)
        .buffer("out", out, n)
        .scalar("n", n)
        .tolerance(tolerance);
    kernel.check("BLOCK=64", {(n + 63) / 64, 1, 1});
    kernel.check("BLOCK=1024", {1, 1, 1});
  }
}

TEST(CodegenElementwise, AddsInEveryType) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16, DType::Int64,
                            DType::Int32, DType::Int16, DType::Int8, DType::UInt8, DType::UInt32}) {
    SCOPED_TRACE(name(dtype));
    const std::string text(name(dtype));
    checkStreaming(streaming(text, fmt::format("  %r = add %a, %c : tile<BLOCK x {}>", text)), dtype, dtype);
  }
}

TEST(CodegenElementwise, ComputesFloatFunctions) {
  for (const std::string function :
       {"exp", "exp2", "log", "sqrt", "rsqrt", "sigmoid", "tanh", "erf", "abs", "neg", "floor", "sin"}) {
    SCOPED_TRACE(function);
    const std::string body = fmt::format(
        "  %q = mul %a, %a : tile<BLOCK x f32>\n  %r = unary %q {{function = \"{}\"}} : tile<BLOCK x f32>",
        function);
    checkStreaming(streaming("f32", body), DType::Float32, DType::Float32, 4);
  }
}

TEST(CodegenElementwise, RoundsHalfArithmeticAfterEachOp) {
  const std::string body = "  %q = mul %a, %c : tile<BLOCK x {0}>\n  %w = add %q, %c : tile<BLOCK x {0}>\n  "
                           "%r = div %w, %a : tile<BLOCK x {0}>";
  for (const DType dtype : {DType::Float16, DType::BFloat16}) {
    std::string text(name(dtype)), filled = body;
    for (size_t at; (at = filled.find("{0}")) != std::string::npos;)
      filled.replace(at, 3, text);
    checkStreaming(streaming(text, filled), dtype, dtype);
  }
}

TEST(CodegenElementwise, DividesIntegersWithoutTrapping) {
  for (const std::string op : {"div", "rem"}) {
    GeneratedKernel kernel(streaming("i32", fmt::format("  %r = {} %a, %c : tile<BLOCK x i32>", op)));
    kernel.buffer("x", DType::Int32, 100)
        .buffer("y", DType::Int32, 100)
        .buffer("out", DType::Int32, 100)
        .scalar("n", 100);
    for (int64_t index = 0; index < 100; ++index)
      kernel.set("y", index, (index % 7 - 3.5) / 10); // -3.5 .. 2.5 in steps of 1, scaled by 20: never 0
    kernel.check("BLOCK=64", {2, 1, 1});
  }
}

TEST(CodegenElementwise, ConvertsBetweenTypes) {
  const std::pair<DType, DType> pairs[] = {
      {DType::Float32, DType::Float16},  {DType::Float16, DType::Float32}, {DType::Float32, DType::BFloat16},
      {DType::BFloat16, DType::Float16}, {DType::Float32, DType::Int32},   {DType::Int8, DType::Float32},
      {DType::Int16, DType::Int64},      {DType::Int64, DType::Int8},      {DType::Float64, DType::Float32}};
  for (const auto &[from, to] : pairs) {
    SCOPED_TRACE(fmt::format("{} to {}", name(from), name(to)));
    checkStreaming(
        streaming(name(from), fmt::format("  %r = cast %a : tile<BLOCK x {}>", name(to)), name(to)), from,
        to);
  }
}

TEST(CodegenElementwise, RunsOnLesserMachines) {
  for (const char *isa : {"avx2", "sse2"}) {
    SCOPED_TRACE(isa);
    setenv("TILEWRIGHT_CPU_ISA", isa, 1);
    for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16, DType::Int8}) {
      const std::string text(name(dtype));
      checkStreaming(streaming(text, fmt::format("  %r = add %a, %c : tile<BLOCK x {}>", text)), dtype,
                     dtype);
    }
    unsetenv("TILEWRIGHT_CPU_ISA");
  }
}

TEST(CodegenElementwise, StoresBooleans) {
  GeneratedKernel kernel(
      streaming("f32", "  %r = compare %a, %c {predicate = \"gt\"} : tile<BLOCK x i1>", "i1"));
  kernel.buffer("x", DType::Float32, 77)
      .buffer("y", DType::Float32, 77)
      .buffer("out", DType::Int1, 77)
      .scalar("n", 77);
  kernel.check("BLOCK=32", {3, 1, 1});
}

TEST(CodegenElementwise, HandlesTilesOfAnySize) {
  for (const char *config : {"BLOCK=1", "BLOCK=3", "BLOCK=24", "BLOCK=100", "BLOCK=4096"}) {
    GeneratedKernel kernel(streaming("f32", "  %r = sub %a, %c : tile<BLOCK x f32>"));
    kernel.buffer("x", DType::Float32, 150)
        .buffer("y", DType::Float32, 150)
        .buffer("out", DType::Float32, 150)
        .scalar("n", 150);
    kernel.check(config, {150, 1, 1});
  }
}

/// Two-dimensional copies with a row and a column mask; `in` and `out` are index expressions in text.
std::string copy2d(std::string_view rowStrideIn, std::string_view columnStrideIn,
                   std::string_view transposeOut) {
  return fmt::format(
      R"(kernel @copy(%x: ptr<f32>, %y: ptr<f32>, %rows: i32 = rows, %cols: i32 = cols, %sr: i32 = sr, %sc: i32 = sc, open R = 8, open C = 32) {{
  %ir = iota {{end = R, start = 0}} : tile<R x i32>
  %ic = iota {{end = C, start = 0}} : tile<C x i32>
  %r1 = expand_dims %ir {{axis = 1}} : tile<R x 1 x i32>
  %c1 = expand_dims %ic {{axis = 0}} : tile<1 x C x i32>
  %rt = splat %rows : tile<R x 1 x i32>
  %ct = splat %cols : tile<1 x C x i32>
  %rm = compare %r1, %rt {{predicate = "lt"}} : tile<R x 1 x i1>
  %cm = compare %ct, %c1 {{predicate = "gt"}} : tile<1 x C x i1>
  %rmb = broadcast %rm : tile<R x C x i1>
  %cmb = broadcast %cm : tile<R x C x i1>
  %m = and %rmb, %cmb : tile<R x C x i1>
  %rb = broadcast %r1 : tile<R x C x i32>
  %cb = broadcast %c1 : tile<R x C x i32>
  %srt = splat {0} : tile<R x C x i32>
  %sct = splat {1} : tile<R x C x i32>
  %a = mul %rb, %srt : tile<R x C x i32>
  %b = mul %cb, %sct : tile<R x C x i32>
  %o = add %a, %b : tile<R x C x i32>
  %xt = splat %x : tile<R x C x ptr<f32>>
  %xp = addptr %xt, %o : tile<R x C x ptr<f32>>
  %v = load %xp, %m : tile<R x C x f32>
  {2}
}}
)",
      rowStrideIn, columnStrideIn, transposeOut);
}

TEST(CodegenElementwise, CopiesRowsAndColumns) {
  const std::string store = "%yt = splat %y : tile<R x C x ptr<f32>>\n  %yp = addptr %yt, %o : tile<R x C x "
                            "ptr<f32>>\n  store %yp, %v, %m";
  for (const bool columnMajor : {false, true}) {
    GeneratedKernel kernel(copy2d("%sr", "%sc", store));
    kernel.buffer("x", DType::Float32, 4000)
        .buffer("y", DType::Float32, 4000)
        .scalar("rows", 7)
        .scalar("cols", 45);
    kernel.scalar("sr", columnMajor ? 1 : 50).scalar("sc", columnMajor ? 50 : 1);
    kernel.check("C=64,R=8", {1, 1, 1});
    kernel.check("C=64,R=1", {1, 1, 1});
    kernel.check("C=16,R=16", {1, 1, 1});
  }
}

TEST(CodegenElementwise, TransposesThroughPermute) {
  const std::string store = R"(%t = permute %v {order = [1, 0]} : tile<C x R x f32>
  %d1 = expand_dims %ic {axis = 1} : tile<C x 1 x i32>
  %d0 = expand_dims %ir {axis = 0} : tile<1 x R x i32>
  %db = broadcast %d1 : tile<C x R x i32>
  %eb = broadcast %d0 : tile<C x R x i32>
  %rt2 = splat %rows : tile<C x R x i32>
  %f = mul %db, %rt2 : tile<C x R x i32>
  %g = add %f, %eb : tile<C x R x i32>
  %mt = permute %m {order = [1, 0]} : tile<C x R x i1>
  %yt = splat %y : tile<C x R x ptr<f32>>
  %yp = addptr %yt, %g : tile<C x R x ptr<f32>>
  store %yp, %t, %mt)";
  GeneratedKernel kernel(copy2d("%sr", "%sc", store));
  kernel.buffer("x", DType::Float32, 4000)
      .buffer("y", DType::Float32, 4000)
      .scalar("rows", 13)
      .scalar("cols", 45);
  kernel.scalar("sr", 50).scalar("sc", 1);
  kernel.check("C=64,R=16", {1, 1, 1});
}

TEST(CodegenElementwise, ReshapesJoinsAndSplits) {
  const std::string body = R"(  %j = join %a, %c : tile<BLOCK x 2 x f32>
  %w = reshape %j : tile<2*BLOCK x f32>
  %h = reshape %w : tile<BLOCK x 2 x f32>
  %s0, %s1 = split %h : tile<BLOCK x f32>, tile<BLOCK x f32>
  %r = sub %s0, %s1 : tile<BLOCK x f32>)";
  checkStreaming(streaming("f32", body), DType::Float32, DType::Float32);
}

} // namespace
} // namespace tilewright::cpu
