"""Matrix times vector: a strip of rows a program, a loop over tiles of columns."""
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def gemv(matrix, vector, out, M, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    row_inside = rows < M
    partial = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for first in range(0, N, BLOCK_N):
        cols = first + tl.arange(0, BLOCK_N)
        col_inside = cols < N
        v = tl.load(vector + cols, mask=col_inside, other=0.0).to(tl.float32)
        m = tl.load(matrix + rows[:, None] * stride + cols[None, :], mask=row_inside[:, None] & col_inside[None, :], other=0.0)
        partial += m.to(tl.float32) * v[None, :]
    tl.store(out + rows, tl.sum(partial, axis=1).to(tl.bfloat16), mask=row_inside)
