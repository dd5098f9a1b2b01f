"""Gated activation on a matrix: gelu(gate) * up, one tile a program."""
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M"])
def gelu_mul(gate, up, out, M, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows < M)[:, None] & (cols < N)[None, :]
    offsets = rows[:, None] * stride + cols[None, :]
    g = tl.load(gate + offsets, mask=inside).to(tl.float32)
    u = tl.load(up + offsets, mask=inside).to(tl.float32)
    cubic = 1.5957691216057308 * (g + 0.044715 * g * g * g)
    result = g * tl.sigmoid(cubic) * u
    tl.store(out + offsets, result.to(tl.bfloat16), mask=inside)
