"""Matrix product, programs grouped in bands of GROUP_M tile rows so that neighbours share operands in cache."""
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def matmul(a, b, c, M, N, K, stride_a, stride_b, stride_c, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
           BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    program = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    in_band = GROUP_M * tiles_n
    top = program // in_band * GROUP_M
    height = min(tiles_m - top, GROUP_M)
    tile_m = top + program % in_band % height
    tile_n = program % in_band // height
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    row_inside = (rows < M)[:, None]
    col_inside = (cols < N)[None, :]
    at_a = a + rows[:, None] * stride_a + depth[None, :]
    at_b = b + depth[:, None] * stride_b + cols[None, :]
    sum = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        x = tl.load(at_a, mask=row_inside & (depth < left)[None, :], other=0.0)
        y = tl.load(at_b, mask=(depth < left)[:, None] & col_inside, other=0.0)
        sum = tl.dot(x, y, sum)
        at_a += BLOCK_K
        at_b += BLOCK_K * stride_b
    tl.store(c + rows[:, None] * stride_c + cols[None, :], sum.to(tl.float16), mask=row_inside & col_inside)
