// Contractions, grouped program ids, and the order of programs.
#include "KernelUnderTest.h"

namespace tilewright {

constexpr std::string_view kGrouped = R"(
@triton.jit
def k(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn,
      BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(axis=0)
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    in_group = GROUP * tiles_n
    first_m = (pid // in_group) * GROUP
    rows_in_group = min(tiles_m - first_m, GROUP)
    tile_m = first_m + (pid % in_group) % rows_in_group
    tile_n = (pid % in_group) // rows_in_group
    rows = tile_m * BM + tl.arange(0, BM)
    cols = tile_n * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_tile = a + rows[:, None] * sam + depth[None, :] * sak
    b_tile = b + depth[:, None] * sbk + cols[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        x = tl.load(a_tile, mask=(rows[:, None] < M) & (depth[None, :] < left), other=0.0)
        y = tl.load(b_tile, mask=(depth[:, None] < left) & (cols[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
        a_tile += BK * sak
        b_tile += BK * sbk
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c + rows[:, None] * scm + cols[None, :] * scn, acc, mask=inside)
)";

TEST(Matmul, GroupedGrid) {
  KernelUnderTest kernel(kGrouped, {"sak=1", "sbn=1", "scn=1"});
  EXPECT_EQ(kernel.roles(), "BM split M, BN split N, BK tile K, GROUP schedule") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(M, BM)*cdiv(N, BN)");
  EXPECT_EQ(kernel.constraints(), "");
  EXPECT_TRUE(kernel.ok());
  for (const Axis &axis : kernel.facts.axes)
    EXPECT_EQ(axis.reduction, axis.name == "K") << axis.name;
  // A is walked by rows of programs, lanes of both axes and the loop.
  const AccessMap &a = kernel.facts.accesses[0];
  EXPECT_EQ(a.buffer, "a");
  EXPECT_EQ(a.contiguousAxis, 1);
  EXPECT_TRUE(a.modular);
  EXPECT_FALSE(a.indirect);
  ASSERT_EQ(a.terms.size(), 4u) << kernel.text();
  EXPECT_EQ(toString(a.terms[0].coefficient), "BM*sam");
  EXPECT_EQ(toString(a.terms[0].trip), "cdiv(M, BM)");
  EXPECT_EQ(a.terms[1].kind, AccessTerm::Kind::Loop);
  EXPECT_EQ(toString(a.terms[1].coefficient), "BK");
  EXPECT_EQ(toString(a.terms[1].trip), "cdiv(K, BK)");
  ASSERT_EQ(a.maskExtent.size(), 2u);
  EXPECT_EQ(toString(a.maskExtent[0]), "M");
  EXPECT_EQ(toString(a.maskExtent[1]), "K");
}

TEST(Matmul, WrappedRowsAndColumns) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BN)
    tile_m = pid // tiles_n
    tile_n = pid % tiles_n
    rows = (tile_m * BM + tl.arange(0, BM)) % M
    cols = (tile_n * BN + tl.arange(0, BN)) % N
    depth = tl.arange(0, BK)
    a_tile = a + rows[:, None] * K + depth[None, :]
    b_tile = b + depth[:, None] * N + cols[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(a_tile, mask=depth[None, :] < K - k * BK, other=0.0)
        y = tl.load(b_tile, mask=depth[:, None] < K - k * BK, other=0.0)
        acc += tl.dot(x, y)
        a_tile += BK
        b_tile += BK * N
    out_rows = tile_m * BM + tl.arange(0, BM)
    out_cols = tile_n * BN + tl.arange(0, BN)
    tl.store(c + out_rows[:, None] * N + out_cols[None, :], acc,
             mask=(out_rows[:, None] < M) & (out_cols[None, :] < N))
)");
  EXPECT_EQ(kernel.roles(), "BM split M, BN split N, BK tile K") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "");
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(M, BM)*cdiv(N, BN)");
}

TEST(Matmul, TwoDimensionalGridAndStartPlusLanes) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        depth = k + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * K + depth[None, :], mask=(rows[:, None] < M) & (depth[None, :] < K), other=0.0)
        y = tl.load(b + depth[:, None] * N + cols[None, :], mask=(depth[:, None] < K) & (cols[None, :] < N), other=0.0)
        acc += tl.dot(x, y)
    tl.store(c + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))
)");
  EXPECT_EQ(kernel.roles(), "BM split M, BN split N, BK tile K") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(M, BM), cdiv(N, BN)");
}

TEST(Matmul, UnmaskedContractionNeedsWholeTiles) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_tile = a + rows[:, None] * K + depth[None, :]
    b_tile = b + depth[:, None] * N + cols[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        acc += tl.dot(tl.load(a_tile, mask=rows[:, None] < M), tl.load(b_tile, mask=cols[None, :] < N))
        a_tile += BK
        b_tile += BK * N
    tl.store(c + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))
)");
  EXPECT_EQ(kernel.roles(), "BM split M, BN split N, BK tile K") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "divide.tail: K % BK == 0") << kernel.text();
}

TEST(Matmul, SubTilesOfEveryAxis) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(a, b, c, M, N, K, MB: tl.constexpr, NB: tl.constexpr, MS: tl.constexpr, NS: tl.constexpr, KS: tl.constexpr):
    m0 = tl.program_id(0) * MB
    n0 = tl.program_id(1) * NB
    for mi in range(0, (MB + MS - 1) // MS):
        for ni in range(0, (NB + NS - 1) // NS):
            acc = tl.zeros((MS, NS), dtype=tl.float32)
            rows = m0 + mi * MS + tl.arange(0, MS)[:, None]
            cols = n0 + ni * NS + tl.arange(0, NS)[None, :]
            row_in = rows < min(m0 + MB, M)
            col_in = cols < min(n0 + NB, N)
            for ki in range(0, (K + KS - 1) // KS):
                dep = ki * KS + tl.arange(0, KS)
                x = tl.load(a + rows * K + dep[None, :], mask=row_in & (dep[None, :] < K), other=0.0)
                y = tl.load(b + dep[:, None] * N + cols, mask=(dep[:, None] < K) & col_in, other=0.0)
                acc += tl.dot(x, y)
            tl.store(c + rows * N + cols, acc, mask=row_in & col_in)
)");
  EXPECT_EQ(kernel.roles(), "MB split M, NB split N, MS tile M, NS tile N, KS tile K") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(M, MB), cdiv(N, NB)");
}

TEST(Matmul, BatchOnAThirdAxis) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(a, b, c, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, GROUP_M: tl.constexpr):
    batch = tl.program_id(2)
    a += batch * M * K
    b += batch * K * N
    c += batch * M * N
    pid_x = tl.program_id(0)
    pid_y = tl.program_id(1)
    if GROUP_M == 1:
        tile_m, tile_n = pid_x, pid_y
    else:
        grid_x = tl.num_programs(0)
        grid_y = tl.num_programs(1)
        pid = pid_x + pid_y * grid_x
        per_group = grid_y * GROUP_M
        group = pid // per_group
        inner = pid % per_group
        size = tl.where((group * GROUP_M + GROUP_M) > grid_x, grid_x % GROUP_M, GROUP_M)
        tile_m = group * GROUP_M + inner % size
        tile_n = inner // size
    rows = tile_m * TM + tl.arange(0, TM)
    cols = tile_n * TN + tl.arange(0, TN)
    acc = tl.zeros((TM, TN), tl.float32)
    for k in range(0, tl.cdiv(K, TK)):
        dep = k * TK + tl.arange(0, TK)
        x = tl.load(a + rows[:, None] * K + dep[None, :], mask=(rows < M)[:, None] & (dep < K)[None, :])
        y = tl.load(b + dep[:, None] * N + cols[None, :], mask=(dep < K)[:, None] & (cols < N)[None, :])
        acc += tl.dot(x, y)
    tl.store(c + rows[:, None] * N + cols[None, :], acc, mask=(rows < M)[:, None] & (cols < N)[None, :])
)");
  EXPECT_EQ(kernel.roles(), "TM split M, TN split N, TK tile K, GROUP_M schedule") << kernel.text();
}

TEST(Matmul, SplitContraction) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT_K: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    dep = tl.program_id(2) * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK * SPLIT_K)):
        left = K - k * (BK * SPLIT_K)
        x = tl.load(a + rows[:, None] * K + dep[None, :], mask=(rows < M)[:, None] & (dep < left)[None, :], other=0.0)
        y = tl.load(b + dep[:, None] * N + cols[None, :], mask=(dep < left)[:, None] & (cols < N)[None, :], other=0.0)
        acc += tl.dot(x, y)
        a += BK * SPLIT_K
        b += BK * SPLIT_K * N
    tl.atomic_add(c + rows[:, None] * N + cols[None, :], acc, mask=(rows < M)[:, None] & (cols < N)[None, :])
)");
  EXPECT_EQ(kernel.roles(), "BM split M, BN split N, BK tile K, SPLIT_K split K") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(M, BM), cdiv(N, BN), SPLIT_K");
  EXPECT_THAT(kernel.facts.effects.atomics, testing::ElementsAre("c"));
}

} // namespace tilewright
