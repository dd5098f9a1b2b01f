"""One small kernel for each way of writing an index, a mask, a loop or a reduction."""

import triton
import triton.language
import triton.language as tl
import triton.language as tle
from toolbox.kernels import language_extension as ext


@triton.jit
def mask_assigned(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    inside = at < n
    tl.store(x + at, 1.0, mask=inside)


@triton.jit
def mask_inline(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def product_cast(x, n, B: tl.constexpr):
    pid = tl.program_id(0)
    at = (pid * B).to(tl.int64) + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def three_masks(x, m, n, k, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i = tl.program_id(0) * A + tl.arange(0, A)[:, None, None]
    j = tl.program_id(1) * B + tl.arange(0, B)[None, :, None]
    l = tl.program_id(2) * C + tl.arange(0, C)[None, None, :]
    tl.store(x + i * n * k + j * k + l, 1.0, mask=(i < m) & (j < n) & (l < k))


@triton.jit
def stride_in_range(x, n, B: tl.constexpr):
    pid = tl.program_id(0)
    for i in range(pid * B, n, tl.num_programs(0) * B):
        at = i + tl.arange(0, B)
        tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def stepped_loop(x, n, B: tl.constexpr):
    for i in range(0, n, B):
        at = i + tl.arange(0, B)
        tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def counted_loop(x, n, B: tl.constexpr):
    loops = (n + B - 1) // B
    for i in range(loops):
        at = i * B + tl.arange(0, B)
        tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def sum_by_keyword(x, y, m, n, A: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * A + tl.arange(0, A)
    j = tl.arange(0, B)
    v = tl.load(x + i[:, None] * n + j[None, :], mask=(i < m)[:, None] & (j < n)[None, :], other=0.0)
    tl.store(y + i, tl.sum(v, axis=1), mask=i < m)


@triton.jit
def sum_by_negative_axis(x, y, m, n, A: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * A + tl.arange(0, A)
    j = tl.arange(0, B)
    v = tl.load(x + i[:, None] * n + j[None, :], mask=(i < m)[:, None] & (j < n)[None, :], other=0.0)
    tl.store(y + i, tl.sum(v, axis=-1), mask=i < m)


@triton.jit
def sum_by_position(x, y, m, n, A: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * A + tl.arange(0, A)
    j = tl.arange(0, B)
    v = tl.load(x + i[:, None] * n + j[None, :], mask=(i < m)[:, None] & (j < n)[None, :], other=0.0)
    tl.store(y + i, tl.sum(v, 1), mask=i < m)


@triton.jit
def maximum_with_index(x, y, z, m, n, A: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * A + tl.arange(0, A)
    j = tl.arange(0, B)
    v = tl.load(x + i[:, None] * n + j[None, :], mask=(i < m)[:, None] & (j < n)[None, :], other=0.0)
    best, where = tl.max(v, 1, return_indices=True)
    tl.store(y + i, best, mask=i < m)
    tl.store(z + i, where, mask=i < m)


@triton.jit
def sum_with_type(x, y, m, n, A: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * A + tl.arange(0, A)
    j = tl.arange(0, B)
    v = tl.load(x + i[:, None] * n + j[None, :], mask=(i < m)[:, None] & (j < n)[None, :], other=0.0)
    tl.store(y + i, tl.sum(v, 1, dtype=tl.float32), mask=i < m)


@triton.jit
def program_cast(x, n, B: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    at = pid * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def programs_in_a_tuple(x, m, n, A: tl.constexpr, B: tl.constexpr):
    a, b = tl.program_id(0), tl.program_id(1)
    i = a * A + tl.arange(0, A)
    j = b * B + tl.arange(0, B)
    tl.store(x + i[:, None] * n + j[None, :], 1.0, mask=(i < m)[:, None] & (j < n)[None, :])


@triton.jit
def program_plus_one(x, n, B: tl.constexpr):
    pid = tl.program_id(0)
    at = (pid + 1) * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def full_module_name(x, n, B: tl.constexpr):
    at = triton.language.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def other_module_alias(x, n, B: tl.constexpr):
    at = tle.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def extension_alias(x, n, B: tl.constexpr):
    at = ext.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def flipped_mask(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=n > at)


@triton.jit
def at_most_mask(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at <= n)


@triton.jit
def mask_less_one(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < n - 1)


@triton.jit
def mask_of_smaller(x, n, m, B: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < tl.minimum(n, (pid + 1) * B))


@triton.jit
def no_mask(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 1.0)


@triton.jit
def chained_mask(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=(0 <= at) & (at < n))


@triton.jit
def sliced_mask(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at[:, None], tl.full([B, 1], 1.0, tl.float32), mask=at[:, None] < n)


@triton.jit
def doubled_bound(x, n, B: tl.constexpr):
    n2 = n * 2
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < n2)


@triton.jit
def annotated(x, n, B: tl.constexpr):
    at: tl.tensor = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def augmented(x, n, B: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * B
    at += tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def turns_over_blocks(x, n, B: tl.constexpr):
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    for b in range(pid, tl.cdiv(n, B), programs):
        at = b * B + tl.arange(0, B)
        tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def blocks_counted_inline(x, n, B: tl.constexpr):
    for b in range(tl.cdiv(n, B)):
        at = b * B + tl.arange(0, B)
        tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def blocks_counted_before(x, n, B: tl.constexpr):
    l = tl.cdiv(n, B)
    for b in range(l):
        at = b * B + tl.arange(0, B)
        tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def one_shot_columns(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, B)
    tl.store(y + row * n + j, tl.load(x + row * n + j, mask=j < n), mask=j < n)


@triton.jit
def sum_inside_store(x, y, m, n, A: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * A + tl.arange(0, A)
    j = tl.arange(0, B)
    v = tl.load(x + i[:, None] * n + j[None, :], mask=(i < m)[:, None] & (j < n)[None, :], other=0.0)
    tl.store(y + i, tl.where(i < m, tl.max(v, axis=1), 0.0), mask=i < m)


@triton.jit
def sum_as_method(x, y, m, n, A: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * A + tl.arange(0, A)
    j = tl.arange(0, B)
    v = tl.load(x + i[:, None] * n + j[None, :], mask=(i < m)[:, None] & (j < n)[None, :], other=0.0)
    tl.store(y + i, v.sum(1), mask=i < m)


@triton.jit
def larger(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def reduce_with_function(x, y, m, n, A: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * A + tl.arange(0, A)
    j = tl.arange(0, B)
    v = tl.load(x + i[:, None] * n + j[None, :], mask=(i < m)[:, None] & (j < n)[None, :], other=0.0)
    tl.store(y + i, tl.reduce(v, 1, larger), mask=i < m)


@triton.jit
def sum_of_everything(x, y, n, B: tl.constexpr):
    total = 0.0
    for start in range(0, n, B):
        j = start + tl.arange(0, B)
        total += tl.sum(tl.load(x + j, mask=j < n, other=0.0))
    tl.store(y, total)


@triton.jit
def sum_without_axis(x, y, n, B: tl.constexpr):
    total = 0.0
    for start in range(0, n, B):
        j = start + tl.arange(0, B)
        total += tl.sum(tl.load(x + j, mask=j < n, other=0.0), axis=None)
    tl.store(y, total)


@triton.jit
def sum_by_named_axis(x, y, m, n, A: tl.constexpr, B: tl.constexpr):
    WHERE: tl.constexpr = 1
    i = tl.program_id(0) * A + tl.arange(0, A)
    j = tl.arange(0, B)
    v = tl.load(x + i[:, None] * n + j[None, :], mask=(i < m)[:, None] & (j < n)[None, :], other=0.0)
    tl.store(y + i, tl.sum(v, axis=WHERE), mask=i < m)


@triton.jit
def sum_keeping_axes(x, y, m, n, A: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * A + tl.arange(0, A)[:, None]
    j = tl.arange(0, B)[None, :]
    v = tl.load(x + i * n + j, mask=(i < m) & (j < n), other=0.0)
    tl.store(y + i, tl.sum(v, 1, True), mask=i < m)


@triton.jit
def sum_cast_then_scaled(x, n, B: tl.constexpr):
    pid = tl.program_id(0)
    at = (pid + 1).to(tl.int64) * B - B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def function_times_block(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    tl.store(y + at, tl.math.exp(v) * B, mask=at < n)


@triton.jit
def call_cast_times_block(x, n, B: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def python_chain(x, n, B: tl.constexpr):
    for i in range(0, n, B):
        if 0 <= i < n:
            at = i + tl.arange(0, B)
            tl.store(x + at, 1.0, mask=at < n)
