"""Sum of two vectors, one tile a program."""
import triton
import triton.language as tl


@triton.jit
def vec_add(left, right, total, n, BLOCK: tl.constexpr):
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lane < n
    sum = tl.load(left + lane, mask=inside) + tl.load(right + lane, mask=inside)
    tl.store(total + lane, sum, mask=inside)
