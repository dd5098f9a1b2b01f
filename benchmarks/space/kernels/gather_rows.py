"""Copies chosen rows of a table, as an embedding lookup does."""
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["T"])
def gather_rows(table, chosen, dst, T, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    row_inside = rows < T
    source = tl.load(chosen + rows, mask=row_inside, other=0)
    inside = row_inside[:, None] & (cols < N)[None, :]
    v = tl.load(table + source[:, None] * stride + cols[None, :], mask=inside)
    tl.store(dst + rows[:, None].to(tl.int64) * N + cols[None, :], v, mask=inside)
