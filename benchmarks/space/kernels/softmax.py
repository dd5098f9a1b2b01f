"""Row softmax in two passes over column tiles, with a running maximum."""
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def softmax(src, dst, M, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGES: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    starts = rows[:, None] * stride
    row_inside = (rows < M)[:, None]
    peak = tl.full((BLOCK_M,), -1e30, tl.float32)
    norm = tl.zeros((BLOCK_M,), tl.float32)
    for first in tl.range(0, N, BLOCK_N, num_stages=STAGES):
        cols = first + tl.arange(0, BLOCK_N)
        inside = row_inside & (cols < N)[None, :]
        v = tl.load(src + starts + cols[None, :], mask=inside, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(peak, tl.max(v, axis=1))
        norm = norm * tl.exp(peak - higher) + tl.sum(tl.exp(v - higher[:, None]), axis=1)
        peak = higher
    scale = 1.0 / norm
    for first in tl.range(0, N, BLOCK_N, num_stages=STAGES):
        cols = first + tl.arange(0, BLOCK_N)
        inside = row_inside & (cols < N)[None, :]
        v = tl.load(src + starts + cols[None, :], mask=inside, other=-float("inf")).to(tl.float32)
        p = tl.exp(v - peak[:, None]) * scale[:, None]
        tl.store(dst + starts + cols[None, :], p.to(tl.float16), mask=inside)
