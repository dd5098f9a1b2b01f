// Reductions and scans: kinds, axes, masks, shapes, and what lanes beyond a mask contribute.
#include "CodegenFixture.h"

namespace tilewright::cpu {
namespace {

/// Loads a masked R x C tile with a given `other`, reduces it along an axis and stores the vector.
std::string rowwise(std::string_view dtype, std::string_view other, int axis, std::string_view kind,
                    std::string_view extra = {},
                    std::string_view between = "  %w = add %v, %v : tile<R x C x {0}>") {
  const std::string kept = axis == 0 ? "C" : "R", keptBound = axis == 0 ? "%cols" : "%rows",
                    keptIota = axis == 0 ? "%ic" : "%ir";
  std::string middle(between);
  for (size_t at; (at = middle.find("{0}")) != std::string::npos;)
    middle.replace(at, 3, dtype);
  return fmt::format(
      R"(kernel @rowwise(%x: ptr<{0}>, %y: ptr<{0}>, %rows: i32 = rows, %cols: i32 = cols, open R = 8, open C = 32) {{
  %ir = iota {{end = R, start = 0}} : tile<R x i32>
  %ic = iota {{end = C, start = 0}} : tile<C x i32>
  %r1 = expand_dims %ir {{axis = 1}} : tile<R x 1 x i32>
  %c1 = expand_dims %ic {{axis = 0}} : tile<1 x C x i32>
  %rt = splat %rows : tile<R x 1 x i32>
  %ct = splat %cols : tile<1 x C x i32>
  %rm = compare %r1, %rt {{predicate = "lt"}} : tile<R x 1 x i1>
  %cm = compare %c1, %ct {{predicate = "lt"}} : tile<1 x C x i1>
  %rmb = broadcast %rm : tile<R x C x i1>
  %cmb = broadcast %cm : tile<R x C x i1>
  %m = and %rmb, %cmb : tile<R x C x i1>
  %st = splat %cols : tile<R x 1 x i32>
  %ro = mul %r1, %st : tile<R x 1 x i32>
  %rb = broadcast %ro : tile<R x C x i32>
  %cb = broadcast %c1 : tile<R x C x i32>
  %o = add %rb, %cb : tile<R x C x i32>
  %xt = splat %x : tile<R x C x ptr<{0}>>
  %xp = addptr %xt, %o : tile<R x C x ptr<{0}>>
  %ov = constant {{value = {1}}} : {0}
  %ot = splat %ov : tile<R x C x {0}>
  %v = load %xp, %m, %ot : tile<R x C x {0}>
{8}
  %s = reduce %w {{axis = {2}, kind = "{3}"{4}}} : tile<{5} x {0}>
  %yt = splat %y : tile<{5} x ptr<{0}>>
  %yp = addptr %yt, {7} : tile<{5} x ptr<{0}>>
  %kt = splat {6} : tile<{5} x i32>
  %km = compare {7}, %kt {{predicate = "lt"}} : tile<{5} x i1>
  store %yp, %s, %km
}}
)",
      dtype, other, axis, kind, extra, kept, keptBound, keptIota, middle);
}

void checkRowwise(const std::string &text, DType dtype, double scale = 1, double tolerance = 20) {
  for (const auto &[rows, cols] : {std::pair<int64_t, int64_t>{5, 29}, {8, 64}, {1, 3}, {3, 100}}) {
    GeneratedKernel kernel(text);
    kernel.buffer("x", dtype, rows * cols, scale)
        .buffer("y", dtype, 200)
        .scalar("rows", rows)
        .scalar("cols", cols)
        .tolerance(tolerance);
    kernel.check("C=128,R=8", {1, 1, 1});
    kernel.check("C=16,R=4", {1, 1, 1}); // tiles smaller than the matrix
  }
}

TEST(CodegenReduce, SumsAndExtremaAlongBothAxes) {
  for (const int axis : {0, 1})
    for (const std::string kind : {"sum", "max", "min"}) {
      SCOPED_TRACE(fmt::format("{} axis {}", kind, axis));
      checkRowwise(rowwise("f32", "0.5", axis, kind), DType::Float32);
    }
}

TEST(CodegenReduce, CountsMaskedLanes) {
  // The masked-off lanes hold 2*other each and belong to the sum.
  checkRowwise(rowwise("f32", "3.0", 1, "sum"), DType::Float32);
  checkRowwise(rowwise("i32", "3", 1, "sum"), DType::Int32);
  checkRowwise(rowwise("i32", "100000", 1, "max"), DType::Int32);
  checkRowwise(rowwise("f32", "-inf", 1, "max"), DType::Float32);
  checkRowwise(
      rowwise("f32", "inf", 0, "sum", "", "  %w = unary %v {function = \"neg\"} : tile<R x C x {0}>"),
      DType::Float32);
}

TEST(CodegenReduce, ReducesEveryType) {
  for (const auto &[dtype, kind] : {std::pair<DType, std::string>{DType::Float64, "sum"},
                                    {DType::Float16, "max"},
                                    {DType::BFloat16, "min"},
                                    {DType::Int64, "sum"},
                                    {DType::Int8, "max"},
                                    {DType::UInt8, "min"},
                                    {DType::Int32, "xor"},
                                    {DType::Int32, "and"},
                                    {DType::Int16, "or"},
                                    {DType::Float32, "prod"}}) {
    SCOPED_TRACE(fmt::format("{} of {}", kind, name(dtype)));
    checkRowwise(rowwise(name(dtype), isFloat(dtype) ? "0.0" : "0", 1, kind), dtype);
  }
}

TEST(CodegenReduce, KeepsNaNOnlyWhenAsked) {
  for (const std::string extra : {"", ", propagate_nan = true"}) {
    GeneratedKernel kernel(rowwise("f32", "-inf", 1, "max", extra));
    kernel.buffer("x", DType::Float32, 4 * 40)
        .buffer("y", DType::Float32, 200)
        .scalar("rows", 4)
        .scalar("cols", 40);
    kernel.set("x", 45, NAN);
    for (int64_t column = 0; column < 40; ++column)
      kernel.set("x", 120 + column, NAN);
    kernel.check("C=64,R=4", {1, 1, 1});
  }
}

TEST(CodegenReduce, CombinesByARegion) {
  const std::string text = R"(kernel @moments(%x: ptr<f32>, %y: ptr<f32>, %n: i32 = n, open BLOCK = 64) {
  %i = iota {end = BLOCK, start = 0} : tile<BLOCK x i32>
  %nt = splat %n : tile<BLOCK x i32>
  %m = compare %i, %nt {predicate = "lt"} : tile<BLOCK x i1>
  %xt = splat %x : tile<BLOCK x ptr<f32>>
  %xp = addptr %xt, %i : tile<BLOCK x ptr<f32>>
  %v = load %xp, %m : tile<BLOCK x f32>
  %q = mul %v, %v : tile<BLOCK x f32>
  %a, %b = reduce %v, %q {axis = 0, kind = ""} : f32, f32 { (%1: f32, %2: f32, %3: f32, %4: f32)
    %half = constant {value = 0.5} : f32
    %5 = add %1, %3 : f32
    %6 = max %2, %4 : f32
    %7 = mul %6, %half : f32
    %8 = add %7, %7 : f32
    yield %5, %8
  }
  %j, %k = reduce %v, %i {axis = 0, kind = "argmax", tie_left = true} : f32, i32
  store %y, %a
  %one = constant {value = 1} : i32
  %y1 = addptr %y, %one : ptr<f32>
  store %y1, %b
  %y2 = addptr %y1, %one : ptr<f32>
  %kf = cast %k : f32
  store %y2, %kf
}
)";
  for (const int64_t n : {1, 17, 64, 200}) {
    GeneratedKernel kernel(text);
    kernel.buffer("x", DType::Float32, n).buffer("y", DType::Float32, 3).scalar("n", n).tolerance(20);
    kernel.check("BLOCK=64", {1, 1, 1});
    kernel.check("BLOCK=256", {1, 1, 1});
    kernel.check("BLOCK=2", {1, 1, 1});
    kernel.check("BLOCK=24", {1, 1, 1});
  }
}

TEST(CodegenReduce, ScansInBothDirections) {
  for (const std::string reverse : {"false", "true"}) {
    GeneratedKernel kernel(fmt::format(R"(kernel @scan(%x: ptr<f32>, %y: ptr<f32>, open R = 4, open C = 32) {{
  %ir = iota {{end = R, start = 0}} : tile<R x i32>
  %ic = iota {{end = C, start = 0}} : tile<C x i32>
  %r1 = expand_dims %ir {{axis = 1}} : tile<R x 1 x i32>
  %c1 = expand_dims %ic {{axis = 0}} : tile<1 x C x i32>
  %c = constant {{value = C}} : i32
  %ct = splat %c : tile<R x 1 x i32>
  %ro = mul %r1, %ct : tile<R x 1 x i32>
  %rb = broadcast %ro : tile<R x C x i32>
  %cb = broadcast %c1 : tile<R x C x i32>
  %o = add %rb, %cb : tile<R x C x i32>
  %xt = splat %x : tile<R x C x ptr<f32>>
  %xp = addptr %xt, %o : tile<R x C x ptr<f32>>
  %v = load %xp : tile<R x C x f32>
  %s = scan %v {{axis = 1, kind = "sum", reverse = {0}}} : tile<R x C x f32>
  %t = scan %s {{axis = 0, kind = "sum", reverse = false}} : tile<R x C x f32>
  %yt = splat %y : tile<R x C x ptr<f32>>
  %yp = addptr %yt, %o : tile<R x C x ptr<f32>>
  store %yp, %t
}}
)",
                                       reverse));
    kernel.buffer("x", DType::Float32, 128).buffer("y", DType::Float32, 128).tolerance(20);
    kernel.check("C=32,R=4", {1, 1, 1});
  }
}

TEST(CodegenReduce, NormalisesRows) {
  const std::string text =
      R"(kernel @softmax(%x: ptr<f32>, %y: ptr<f32>, %stride: i32 = stride, %n: i32 = n, open BLOCK = 1024) {
  symbol pid: program_id
  %p = program_id {axis = 0} : i32 = pid
  %i = iota {end = BLOCK, start = 0} : tile<BLOCK x i32>
  %nt = splat %n : tile<BLOCK x i32>
  %m = compare %i, %nt {predicate = "lt"} : tile<BLOCK x i1>
  %ro = mul %p, %stride : i32
  %rp = addptr %x, %ro : ptr<f32>
  %xp = splat %rp : tile<BLOCK x ptr<f32>>
  %xq = addptr %xp, %i : tile<BLOCK x ptr<f32>>
  %inf = constant {value = -inf} : f32
  %inft = splat %inf : tile<BLOCK x f32>
  %a = load %xq, %m, %inft : tile<BLOCK x f32>
  %mx = reduce %a {axis = 0, kind = "max"} : f32
  %mxt = splat %mx : tile<BLOCK x f32>
  %d = sub %a, %mxt : tile<BLOCK x f32>
  %e = unary %d {function = "exp"} : tile<BLOCK x f32>
  %su = reduce %e {axis = 0, kind = "sum"} : f32
  %sut = splat %su : tile<BLOCK x f32>
  %q = div %e, %sut : tile<BLOCK x f32>
  %yrp = addptr %y, %ro : ptr<f32>
  %yp = splat %yrp : tile<BLOCK x ptr<f32>>
  %yq = addptr %yp, %i : tile<BLOCK x ptr<f32>>
  store %yq, %q, %m
}
)";
  for (const int64_t n : {1, 15, 16, 781, 1024}) {
    GeneratedKernel kernel(text);
    kernel.buffer("x", DType::Float32, 5 * n, 3)
        .buffer("y", DType::Float32, 5 * n)
        .scalar("stride", n)
        .scalar("n", n)
        .tolerance(4);
    kernel.check("BLOCK=1024", {5, 1, 1});
    kernel.sameBuffer("y", "x"); // in place
    kernel.check("BLOCK=4096", {5, 1, 1});
  }
}

} // namespace
} // namespace tilewright::cpu
