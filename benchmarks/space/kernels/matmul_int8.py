"""A times 8-bit weights that carry one scale a column: the weights are widened in the loop."""
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def matmul_int8(a, weights, scales, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    row_inside = rows < M
    col_inside = cols < N
    sum = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for first in range(0, K, BLOCK_K):
        depth = first + tl.arange(0, BLOCK_K)
        deep = depth < K
        x = tl.load(a + rows[:, None] * K + depth[None, :], mask=row_inside[:, None] & deep[None, :], other=0.0)
        y = tl.load(weights + depth[:, None] * N + cols[None, :], mask=deep[:, None] & col_inside[None, :], other=0)
        sum = tl.dot(x, y.to(tl.float16), sum)
    s = tl.load(scales + cols, mask=col_inside, other=0.0)
    out = (sum * s[None, :]).to(tl.float16)
    tl.store(c + rows[:, None] * N + cols[None, :], out, mask=row_inside[:, None] & col_inside[None, :])
