// Whole kernels in the forms that production code uses, written for this test: what an expert would say of
// each.
#include "KernelUnderTest.h"

namespace tilewright {

TEST(Forms, TokensByTaskLoopWithAFixedNumberOfPrograms) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, tokens, hidden, programs, BL: tl.constexpr, BC: tl.constexpr):
    pid = tl.program_id(0)
    blocks_l = tl.cdiv(tokens, BL)
    blocks_c = tl.cdiv(hidden, BC)
    for task in range(pid, blocks_l * blocks_c, programs):
        rows = task // blocks_c * BL + tl.arange(0, BL)
        cols = task % blocks_c * BC + tl.arange(0, BC)
        inside = (rows < tokens)[:, None] & (cols < hidden)[None, :]
        offs = rows[:, None] * hidden + cols[None, :]
        tl.store(y + offs, tl.load(x + offs, mask=inside) * 2.0, mask=inside)
)");
  EXPECT_EQ(kernel.roles(), "BL tile tokens, BC tile hidden") << kernel.text();
  EXPECT_EQ(kernel.couplings(), "");
}

TEST(Forms, PersistentRowBlocksWithAReduction) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    workers = tl.num_programs(0)
    pid = tl.program_id(0)
    tasks = tl.cdiv(M, BM)
    per_worker = tl.cdiv(tasks, workers)
    for w in range(per_worker):
        task = pid + w * workers
        rows = task * BM + tl.arange(0, BM)[:, None]
        row_in = rows < M
        best = tl.full([BM, BN], -float("inf"), tl.float32)
        for off in range(0, N, BN):
            cols = off + tl.arange(0, BN)[None, :]
            v = tl.load(x + rows * N + cols, row_in & (cols < N), other=-float("inf"))
            best = tl.maximum(v, best)
        tl.store(out + rows, tl.max(best, axis=1)[:, None], row_in)
)");
  EXPECT_EQ(kernel.roles(), "BM tile M, BN tile N") << kernel.text();
  EXPECT_EQ(kernel.axes(), "M contiguous, N reduction contiguous") << kernel.text();
}

TEST(Forms, RowsInAPerCoreRangeWithAOneShotRow) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, batch, per_core, dim, BM: tl.constexpr, BD: tl.constexpr):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, batch)
    cols = tl.arange(0, BD)
    col_in = cols < dim
    for start in range(first, last, BM):
        rows = start + tl.arange(0, BM)
        inside = (rows < last)[:, None] & col_in[None, :]
        v = tl.load(x + rows[:, None] * dim + cols[None, :], mask=inside, other=0.0)
        scale = tl.sum(v * v, axis=1) / dim
        tl.store(y + rows[:, None] * dim + cols[None, :], v / scale[:, None], mask=inside)
)");
  EXPECT_EQ(kernel.roles(), "BM tile batch, BD one-shot dim") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "oneshot.short: BD >= dim");
}

TEST(Forms, ChunksCountedByAnArgument) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, M, chunks, D, MB: tl.constexpr, BD: tl.constexpr):
    base = tl.program_id(0) * (chunks * MB)
    cols = tl.arange(0, BD)
    for c in range(chunks):
        rows = base + c * MB + tl.arange(0, MB)
        inside = (rows < M)[:, None] & (cols < D)[None, :]
        v = tl.load(x + rows[:, None] * D + cols[None, :], mask=inside, other=0.0)
        tl.store(y + rows[:, None] * D + cols[None, :], v / tl.sum(v * v, 1)[:, None], mask=inside)
)");
  EXPECT_EQ(kernel.roles(), "MB tile+host-coupled M, BD one-shot D") << kernel.text();
  EXPECT_EQ(kernel.couplings(), "MB->chunks");
}

TEST(Forms, TasksFromTwoLengths) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, out, N, numel, B: tl.constexpr):
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    tasks = numel // N
    for task in range(pid, tasks, programs):
        count = tl.zeros([B], tl.int32)
        for start in range(0, N, B):
            cols = start + tl.arange(0, B)
            v = tl.load(x + task * N + cols, mask=cols < N, other=0.0)
            count += (v != 0.0).to(tl.int32)
        tl.store(out + task, tl.sum(count))
)",
                         {"out=i32[64]"});
  EXPECT_EQ(kernel.roles(), "B tile N") << kernel.text();
  EXPECT_EQ(kernel.facts.axes[0].name, "N");
  EXPECT_TRUE(kernel.facts.axes[0].reduction) << kernel.text();
}

TEST(Forms, CrossEntropyRow) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, index, out, n_rows, n_cols, B: tl.constexpr):
    row = tl.program_id(0)
    if row >= n_rows:
        return
    target = tl.load(index + row)
    picked = tl.load(x + row * n_cols + target)
    m = -float("inf")
    d = 0.0
    for start in range(0, n_cols, B):
        cols = start + tl.arange(0, B)
        v = tl.load(x + row * n_cols + cols, mask=cols < n_cols, other=-float("inf"))
        new = tl.maximum(m, tl.max(v))
        d = d * tl.exp(m - new) + tl.sum(tl.exp(v - new))
        m = new
    tl.store(out + row, m + tl.log(d) - picked)
)",
                         {"index=i64[64]"});
  EXPECT_EQ(kernel.roles(), "B tile n_cols") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "n_rows");
  EXPECT_TRUE(kernel.facts.accesses[1].indirect);
}

TEST(Forms, AttentionRowsAndColumns) {
  KernelUnderTest kernel(R"(
@triton.jit
def inner(acc, q, k_block, v_block, n_ctx, BN: tl.constexpr):
    for start in range(0, n_ctx, BN):
        kk = tl.load(k_block)
        p = tl.exp(tl.dot(q, kk))
        acc = tl.dot(p, tl.load(v_block), acc)
        v_block = tl.advance(v_block, (BN, 0))
        k_block = tl.advance(k_block, (0, BN))
    return acc

@triton.jit
def k(x, y, z, out, n_ctx, heads, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    tiles = n_ctx // BM
    for task in range(tl.program_id(0), tiles * heads, 20):
        head = task // tiles
        tile = task % tiles
        base = head * n_ctx * D
        q_block = tl.make_block_ptr(x + base, (n_ctx, D), (D, 1), (tile * BM, 0), (BM, D), (1, 0))
        k_block = tl.make_block_ptr(y + base, (D, n_ctx), (1, D), (0, 0), (D, BN), (0, 1))
        v_block = tl.make_block_ptr(z + base, (n_ctx, D), (D, 1), (0, 0), (BN, D), (1, 0))
        o_block = tl.make_block_ptr(out + base, (n_ctx, D), (D, 1), (tile * BM, 0), (BM, D), (1, 0))
        acc = tl.zeros([BM, D], tl.float32)
        acc = inner(acc, tl.load(q_block), k_block, v_block, n_ctx, BN)
        tl.store(o_block, acc)
)",
                         {"D=64"});
  EXPECT_EQ(kernel.roles(), "BM tile n_ctx, BN tile n_ctx") << kernel.text();
  EXPECT_THAT(kernel.constraints(), testing::HasSubstr("n_ctx % BM == 0")) << kernel.text();
  EXPECT_THAT(kernel.constraints(), testing::HasSubstr("n_ctx % BN == 0")) << kernel.text();
}

TEST(Forms, JaggedSequences) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, index, D, BM: tl.constexpr, BD: tl.constexpr):
    seq = tl.program_id(1)
    first = tl.load(index + seq)
    last = tl.load(index + seq + 1)
    start = tl.program_id(0) * BM
    if start >= last - first:
        return
    rows = first + start + tl.arange(0, BM)
    cols = tl.arange(0, BD)
    inside = (rows < last)[:, None] & (cols < D)[None, :]
    tl.store(y + rows[:, None] * D + cols[None, :], tl.load(x + rows[:, None] * D + cols[None, :], mask=inside), mask=inside)
)",
                         {"index=i32[64]"});
  EXPECT_THAT(kernel.roles(), testing::StartsWith("BM split")) << kernel.text();
  EXPECT_THAT(kernel.roles(), testing::EndsWith("BD one-shot D"));
  EXPECT_EQ(kernel.inferredGrid(), "?, ?");
}

TEST(Forms, LinearTasksWithAtomics) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, bins, batch, seq_len, vocab, B: tl.constexpr):
    blocks = tl.cdiv(seq_len, B)
    for task in range(tl.program_id(0), batch * blocks, tl.num_programs(0)):
        row = task // blocks
        offs = task % blocks * B + tl.arange(0, B)
        tokens = tl.load(x + row * seq_len + offs, mask=offs < seq_len, other=0)
        tl.atomic_add(bins + row * vocab + tokens, 1, mask=offs < seq_len)
)",
                         {"x=i32[64]", "bins=i32[64]"});
  EXPECT_EQ(kernel.roles(), "B tile seq_len") << kernel.text();
  EXPECT_THAT(kernel.facts.effects.atomics, testing::ElementsAre("bins"));
}

TEST(Forms, NeighbourRead) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    here = tl.load(x + offs, mask=offs < n)
    there = tl.load(x + offs + 1, mask=offs + 1 < n)
    tl.store(y + offs, there - here, mask=offs < n)
)");
  EXPECT_EQ(kernel.roles(), "B split n") << kernel.text();
  EXPECT_EQ(kernel.axes(), "n contiguous");
}

TEST(Forms, UnrolledPieces) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr, S: tl.constexpr):
    base = tl.program_id(0) * B
    for piece in tl.static_range(0, 2):
        offs = base + piece * S + tl.arange(0, S)
        tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)");
  EXPECT_EQ(kernel.roles(), "B split n, S tile n") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "oneshot.short: 2*S >= B");
}

TEST(Forms, RowsOneByOneInABlockOfRows) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n_rows, n_cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    first = tl.program_id(0) * ROWS
    cols = tl.arange(0, COLS)
    for i in range(ROWS):
        row = first + i
        if row < n_rows:
            v = tl.load(x + row * n_cols + cols, mask=cols < n_cols, other=0.0)
            tl.store(y + row * n_cols + cols, v / tl.sum(v, 0), mask=cols < n_cols)
)");
  EXPECT_EQ(kernel.roles(), "ROWS split n_rows, COLS one-shot n_cols") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(n_rows, ROWS)");
}

TEST(Forms, LinearNumberOfATwoDimensionalGrid) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    pid = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
    offs = pid * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)");
  EXPECT_EQ(kernel.roles(), "B split n") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(n, B), 1");
}

TEST(Forms, PackedWeightsWithWrappedRows) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BN)
    rows = (pid // tiles_n * BM + tl.arange(0, BM)) % M
    cols = (pid % tiles_n * BN + tl.arange(0, BN)) % N
    depth = tl.arange(0, BK)
    a_tile = a + rows[:, None] * K + depth[None, :]
    b_tile = b + depth[:, None] * N + cols[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for part in range(4):
        b_tile = b + depth[:, None] * N + cols[None, :]
        for k in range(0, tl.cdiv(K // 4, BK)):
            x = tl.load(a_tile, mask=depth[None, :] < K - k * BK, other=0.0)
            w = tl.load(b_tile)
            acc += tl.dot(x, w)
            a_tile += BK
            b_tile += BK * N
    out = c + rows[:, None] * N + cols[None, :]
    tl.store(out, acc, mask=(rows[:, None] < M) & (cols[None, :] < N))
)");
  EXPECT_THAT(kernel.roles(), testing::HasSubstr("BM split M, BN split N, BK tile")) << kernel.text();
}

TEST(Forms, MergeOfTwoStates) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, T, D, stride_t, BT: tl.constexpr, BD: tl.constexpr):
    block_d = tl.program_id(0)
    state = tl.zeros([BT, BD], tl.float32)
    for i in range(tl.cdiv(T, BT)):
        src = tl.make_block_ptr(x, (T, D), (stride_t, 1), (i * BT, block_d * BD), (BT, BD), (1, 0))
        dst = tl.make_block_ptr(y, (T, D), (stride_t, 1), (i * BT, block_d * BD), (BT, BD), (1, 0))
        tl.store(dst, state, boundary_check=(0, 1))
        state = state * 0.5 + tl.load(src, boundary_check=(0, 1))
)");
  EXPECT_EQ(kernel.roles(), "BT tile T, BD split D") << kernel.text();
  EXPECT_TRUE(kernel.facts.axes[0].reduction)
      << kernel.text(); // carried along T: cannot be split over programs
  EXPECT_FALSE(kernel.facts.axes[1].reduction) << kernel.text();
}

} // namespace tilewright
