"""Layer normalisation of rows: moments in one pass over the columns, scale and shift in another."""
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def layer_norm(src, weight, bias, dst, M, N, stride, eps, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    starts = rows[:, None] * stride
    row_inside = (rows < M)[:, None]
    first_moment = tl.zeros((BLOCK_M,), tl.float32)
    second_moment = tl.zeros((BLOCK_M,), tl.float32)
    for first in range(0, N, BLOCK_N):
        cols = first + tl.arange(0, BLOCK_N)
        inside = row_inside & (cols < N)[None, :]
        v = tl.load(src + starts + cols[None, :], mask=inside, other=0.0).to(tl.float32)
        first_moment += tl.sum(v, axis=1)
        second_moment += tl.sum(v * v, axis=1)
    mean = first_moment / N
    scale = tl.rsqrt(second_moment / N - mean * mean + eps)
    for first in range(0, N, BLOCK_N):
        cols = first + tl.arange(0, BLOCK_N)
        col_inside = cols < N
        inside = row_inside & col_inside[None, :]
        w = tl.load(weight + cols, mask=col_inside).to(tl.float32)
        b = tl.load(bias + cols, mask=col_inside).to(tl.float32)
        v = tl.load(src + starts + cols[None, :], mask=inside, other=0.0).to(tl.float32)
        normal = (v - mean[:, None]) * scale[:, None]
        tl.store(dst + starts + cols[None, :], (normal * w[None, :] + b[None, :]).to(tl.bfloat16), mask=inside)
