"""Small kernels of the kinds that users write, for the tests. Undecorated by a tuner."""

import triton
import triton.language as tl

FACTOR: tl.constexpr = 3


@triton.jit
def scale(x, out, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=inside) * factor, mask=inside)


@triton.jit
def add_2d(x, y, out, M, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    offsets = rows[:, None] * stride + cols[None, :]
    tl.store(out + offsets, tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside), mask=inside)


@triton.jit
def increment(x, n, BLOCK: tl.constexpr):
    """In place: running it twice on the same memory shows."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(x + offsets, tl.load(x + offsets, mask=inside) + 1, mask=inside)


@triton.jit
def accumulate(x, total, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=0)
    tl.atomic_add(total, tl.sum(values, axis=0))


@triton.jit
def scale_default(x, out, n, factor, BLOCK: tl.constexpr = 128):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=inside) * factor, mask=inside)


@triton.jit
def triple(value):
    return value * FACTOR


@triton.jit
def scale_by_helper(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(out + offsets, triple(tl.load(x + offsets, mask=inside)), mask=inside)


@triton.jit
def copy_even(x, out, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out + offsets, tl.load(x + offsets))
    else:
        inside = offsets < n
        tl.store(out + offsets, tl.load(x + offsets, mask=inside), mask=inside)


@triton.jit
def row_sum(x, out, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    values = tl.load(x + row * n_cols + cols, mask=cols < n_cols, other=0.0)
    tl.store(out + row, tl.sum(values, axis=0))


@triton.jit
def scale_grouped(x, out, n, factor, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """GROUP only decides the order of programs."""
    pid = tl.program_id(0)
    count = tl.num_programs(0)
    first = pid // GROUP * GROUP
    size = min(count - first, GROUP)
    pid = first + (size - 1 - (pid - first))
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=inside) * factor, mask=inside)


@triton.jit
def signed(x, out, n, NEGATIVE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n)
    if NEGATIVE:
        values = -values
    tl.store(out + offsets, values, mask=offsets < n)
