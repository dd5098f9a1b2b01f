"""Transposed copy of a matrix, one tile a program."""
import triton
import triton.language as tl


@triton.jit
def transpose(src, dst, M, N, stride_src, stride_dst, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    row_inside = rows < M
    col_inside = cols < N
    v = tl.load(src + rows[:, None] * stride_src + cols[None, :], mask=row_inside[:, None] & col_inside[None, :])
    tl.store(dst + cols[:, None] * stride_dst + rows[None, :], tl.trans(v),
             mask=col_inside[:, None] & row_inside[None, :])
