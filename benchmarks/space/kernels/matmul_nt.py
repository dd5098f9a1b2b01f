"""activation(A B^T + bias): both operands contiguous along the contraction, a two-dimensional grid, no grouping."""
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def matmul_nt(a, b, bias, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    row_inside = rows < M
    col_inside = cols < N
    sum = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for first in range(0, K, BLOCK_K):
        depth = first + tl.arange(0, BLOCK_K)
        deep = depth < K
        x = tl.load(a + rows[:, None] * K + depth[None, :], mask=row_inside[:, None] & deep[None, :], other=0.0)
        y = tl.load(b + cols[None, :] * K + depth[:, None], mask=col_inside[None, :] & deep[:, None], other=0.0)
        sum = tl.dot(x, y, sum)
    sum += tl.load(bias + cols, mask=col_inside, other=0.0).to(tl.float32)[None, :]
    sum = sum * tl.sigmoid(sum)
    tl.store(c + rows[:, None] * N + cols[None, :], sum.to(tl.bfloat16), mask=row_inside[:, None] & col_inside[None, :])
