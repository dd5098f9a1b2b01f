"""Reductions the way they are written for vector cores: a share of the rows or columns a program, a tile of the rest
a step, a two-dimensional accumulator that is folded once at the end."""
import triton
import triton.language as tl


@triton.jit
def row_max(src, dst, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    best = tl.full((BM, BN), -1e30, tl.float32)
    for first in range(0, N, BN):
        cols = first + tl.arange(0, BN)
        inside = (rows < M)[:, None] & (cols < N)[None, :]
        best = tl.maximum(best, tl.load(src + rows[:, None] * N + cols[None, :], mask=inside, other=-1e30))
    tl.store(dst + rows, tl.max(best, axis=1), mask=rows < M)


@triton.jit
def row_sum(src, dst, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, N, BN):
        cols = first + tl.arange(0, BN)
        inside = (rows < M)[:, None] & (cols < N)[None, :]
        total += tl.load(src + rows[:, None] * N + cols[None, :], mask=inside, other=0.0)
    tl.store(dst + rows, tl.sum(total, axis=1), mask=rows < M)


@triton.jit
def column_mean(src, dst, M, N, BM: tl.constexpr, BN: tl.constexpr):
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, M, BM):
        rows = first + tl.arange(0, BM)
        inside = (rows < M)[:, None] & (cols < N)[None, :]
        total += tl.load(src + rows[:, None] * N + cols[None, :], mask=inside, other=0.0)
    tl.store(dst + cols, tl.sum(total, axis=0) / M, mask=cols < N)


@triton.jit
def smallest(src, dst, n, BLOCK: tl.constexpr, SUB: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    best = tl.full((SUB,), 1e30, tl.float32)
    for first in range(0, BLOCK, SUB):
        lane = first + tl.arange(0, SUB)
        inside = (lane < BLOCK) & (start + lane < n)
        best = tl.minimum(best, tl.load(src + start + lane, mask=inside, other=1e30))
    tl.atomic_min(dst, tl.min(best, axis=0))
