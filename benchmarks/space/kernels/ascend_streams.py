"""Streams over memory the way they are written for vector cores: a share of the data a program, a tile a step."""
import triton
import triton.language as tl


@triton.jit
def divide_by_row(src, divisor, dst, M, N: tl.constexpr, SUB_M: tl.constexpr):
    share = tl.cdiv(M, tl.num_programs(0))
    start = tl.program_id(0) * share
    cols = tl.arange(0, N)
    by = tl.load(divisor + cols)
    for first in range(0, share, SUB_M):
        rows = first + tl.arange(0, SUB_M)
        inside = ((rows < share) & (start + rows < M))[:, None]
        at = (start + rows)[:, None] * N + cols[None, :]
        tl.store(dst + at, tl.load(src + at, mask=inside, other=0.0) / by[None, :], mask=inside)


@triton.jit
def add_shares(left, right, total, n, TILE: tl.constexpr):
    share = tl.cdiv(n, tl.num_programs(0))
    start = tl.program_id(0) * share
    for first in range(0, share, TILE):
        lane = first + tl.arange(0, TILE)
        inside = (lane < share) & (start + lane < n)
        sum = tl.load(left + start + lane, mask=inside) + tl.load(right + start + lane, mask=inside)
        tl.store(total + start + lane, sum, mask=inside)


@triton.jit
def read_tiles(src, dst, M, N, BM: tl.constexpr, BN: tl.constexpr):
    share = tl.cdiv(M, tl.num_programs(0))
    start = tl.program_id(0) * share
    seen = tl.zeros((BN,), tl.float32)
    for top in range(0, share, BM):
        rows = start + top + tl.arange(0, BM)
        for first in range(0, N, BN):
            cols = first + tl.arange(0, BN)
            inside = (rows < M)[:, None] & (cols < N)[None, :]
            tile = tl.load(src + rows[:, None] * N + cols[None, :], mask=inside, other=0.0)
            seen = tl.maximum(seen, tl.max(tile, axis=0))
    tl.store(dst + tl.arange(0, BN), seen)
