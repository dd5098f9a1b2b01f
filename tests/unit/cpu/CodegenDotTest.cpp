// Matrix products: shapes that register tiles do not divide, dtypes, masks, accumulators in place and not.
#include "CodegenFixture.h"

namespace tilewright::cpu {
namespace {

const char *const kMatmul =
    R"(def kernel(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GM: tl.constexpr):
    pid = tl.program_id(axis=0)
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    group = GM * tiles_n
    first = (pid // group) * GM
    height = min(tiles_m - first, GM)
    tile_m = first + (pid % group) % height
    tile_n = (pid % group) // height
    rows = tile_m * BM + tl.arange(0, BM)
    cols = tile_n * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    pa = a + rows[:, None] * sam + depth[None, :] * sak
    pb = b + depth[:, None] * sbk + cols[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        x = tl.load(pa, mask=(rows[:, None] < M) & (depth[None, :] < left), other=0.0)
        y = tl.load(pb, mask=(depth[:, None] < left) & (cols[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
        pa += BK * sak
        pb += BK * sbk
    pc = c + rows[:, None] * scm + cols[None, :] * scn
    tl.store(pc, acc.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (cols[None, :] < N))
)";

void checkMatmul(DType in, DType out, int64_t m, int64_t n, int64_t k, bool transposed,
                 const std::string &config, int64_t programs) {
  auto kernel = GeneratedKernel::fromSource(
      kMatmul,
      {fmt::format("a={}[{},{}]", name(in), m, k), fmt::format("b={}[{},{}]", name(in), k, n),
       fmt::format("c={}[{},{}]", name(out), m, n), fmt::format("M={}", m), fmt::format("N={}", n),
       fmt::format("K={}", k), fmt::format("sam={}", k), "sak=1", fmt::format("sbk={}", transposed ? 1 : n),
       fmt::format("sbn={}", transposed ? k : 1), fmt::format("scm={}", n), "scn=1"});
  kernel.tolerance(50);
  kernel.check(config, {programs, 1, 1});
}

TEST(CodegenDot, MultipliesMatricesOfAnySize) {
  checkMatmul(DType::Float32, DType::Float32, 64, 64, 64, false, "BK=32,BM=32,BN=32,GM=2", 4);
  checkMatmul(DType::Float32, DType::Float32, 37, 53, 29, false, "BK=16,BM=16,BN=16,GM=3", 12);
  checkMatmul(DType::Float32, DType::Float32, 37, 53, 29, true, "BK=16,BM=64,BN=32,GM=1", 2);
}

TEST(CodegenDot, AccumulatesHalfFloatsInF32) {
  checkMatmul(DType::Float16, DType::Float16, 40, 40, 40, false, "BK=16,BM=32,BN=32,GM=2", 4);
  checkMatmul(DType::BFloat16, DType::Float32, 40, 40, 40, true, "BK=32,BM=16,BN=64,GM=2", 3);
}

TEST(CodegenDot, UsesDotsWithoutALoopAndChains) {
  auto kernel = GeneratedKernel::fromSource(
      R"(def kernel(q, k, v, o, n, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr):
    rows = tl.arange(0, B)
    dims = tl.arange(0, D)
    cols = tl.arange(0, C)
    queries = tl.load(q + rows[:, None] * D + dims[None, :])
    running = tl.full((B,), -1000.0, tl.float32)
    weight = tl.zeros((B,), tl.float32)
    acc = tl.zeros((B, D), tl.float32)
    for start in range(0, n, C):
        keys = tl.load(k + dims[:, None] + (start + cols)[None, :] * D, mask=(start + cols)[None, :] < n, other=0.0)
        values = tl.load(v + (start + cols)[:, None] * D + dims[None, :], mask=(start + cols)[:, None] < n, other=0.0)
        s = tl.dot(queries, keys) * 0.25
        s = tl.where((start + cols)[None, :] < n, s, -1000.0)
        larger = tl.maximum(running, tl.max(s, axis=1))
        p = tl.exp(s - larger[:, None])
        scale = tl.exp(running - larger)
        weight = weight * scale + tl.sum(p, axis=1)
        acc = acc * scale[:, None]
        acc = tl.dot(p, values, acc)
        running = larger
    tl.store(o + rows[:, None] * D + dims[None, :], acc / weight[:, None])
)",
      {"q=f32[32,16]", "k=f32[50,16]", "v=f32[50,16]", "o=f32[32,16]", "n=50"});
  kernel.tolerance(50);
  kernel.check("B=32,C=16,D=16", {1, 1, 1});
  kernel.check("B=16,C=64,D=16", {1, 1, 1});
}

} // namespace
} // namespace tilewright::cpu
