"""Matrix product with a one-dimensional grid whose programs are taken in groups of GROUP_SIZE_M rows of tiles.

    tilewright tune examples/matmul.py:matmul --target cpu \
        -a a=f32[512,512] -a b=f32[512,512] -a c=f32[512,512] -a M=512 -a N=512 -a K=512 \
        -a stride_am=512 -a stride_ak=1 -a stride_bk=512 -a stride_bn=1 -a stride_cm=512 -a stride_cn=1 \
        -g "(cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N),)"
"""
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr):
    pid = tl.program_id(axis=0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    tiles_in_group = GROUP_SIZE_M * tiles_n
    first_tile_m = (pid // tiles_in_group) * GROUP_SIZE_M
    group_rows = min(tiles_m - first_tile_m, GROUP_SIZE_M)
    tile_m = first_tile_m + (pid % tiles_in_group) % group_rows
    tile_n = (pid % tiles_in_group) // group_rows

    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    a_tile = a + rows[:, None] * stride_am + depth[None, :] * stride_ak
    b_tile = b + depth[:, None] * stride_bk + cols[None, :] * stride_bn

    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        x = tl.load(a_tile, mask=(rows[:, None] < M) & (depth[None, :] < left), other=0.0)
        y = tl.load(b_tile, mask=(depth[:, None] < left) & (cols[None, :] < N), other=0.0)
        accumulator = tl.dot(x, y, accumulator)
        a_tile += BLOCK_K * stride_ak
        b_tile += BLOCK_K * stride_bk

    c_tile = c + rows[:, None] * stride_cm + cols[None, :] * stride_cn
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c_tile, accumulator.to(c.dtype.element_ty), mask=inside)
