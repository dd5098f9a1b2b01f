"""Sums of the columns of a matrix: a strip of columns a program, a loop over tiles of rows."""
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def col_sum(src, sums, M, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGES: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    col_inside = cols < N
    partial = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for first in tl.range(0, M, BLOCK_M, num_stages=STAGES):
        rows = first + tl.arange(0, BLOCK_M)
        inside = (rows < M)[:, None] & col_inside[None, :]
        v = tl.load(src + rows[:, None] * stride + cols[None, :], mask=inside, other=0.0)
        partial += v.to(tl.float32)
    tl.store(sums + cols, tl.sum(partial, axis=0), mask=col_inside)
