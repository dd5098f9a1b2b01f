"""Kernels that unit tests of automatic tiling use elsewhere, written anew: the same structure, other names."""

import triton
import triton.language as tl


@triton.jit
def add_by_variable(a, b, c, n, B: tl.constexpr):
    me = tl.program_id(axis=0)
    first = me * B
    at = first + tl.arange(0, B)
    inside = at < n
    tl.store(c + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


@triton.jit
def add_inline(a, b, c, n, B: tl.constexpr):
    first = tl.program_id(axis=0) * B
    at = first + tl.arange(0, B)
    inside = at < n
    tl.store(c + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


@triton.jit
def add_in_one_expression(a, b, c, n, B: tl.constexpr):
    at = tl.program_id(axis=0) * B + tl.arange(0, B)
    tl.store(c + at, tl.load(a + at, mask=at < n) + tl.load(b + at, mask=at < n), mask=at < n)


@triton.jit
def copy_in_two_grids(x, index, y, columns, index_length, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    of_row = tl.program_id(0)
    of_column = tl.program_id(1)
    row_programs = tl.num_programs(0)
    column_programs = tl.num_programs(1)
    for first_row in range(of_row * ROWS, index_length, row_programs * ROWS):
        row = first_row + tl.arange(0, ROWS)
        row_inside = row < index_length
        i = tl.load(index + row, mask=row_inside)
        for first in range(of_column * COLUMNS, columns, column_programs * COLUMNS):
            column = first + tl.arange(0, COLUMNS)
            inside = row_inside[:, None] & (column < columns)[None, :]
            v = tl.load(x + i[:, None] * columns + column[None, :], mask=inside)
            tl.store(y + row[:, None] * columns + column[None, :], v, mask=inside)


@triton.jit
def blocks_in_parts(x, y, n, B: tl.constexpr, S: tl.constexpr):
    base = tl.program_id(0) * B
    loops = (B + S - 1) // S
    for i in range(loops):
        at = base + i * S + tl.arange(0, S)
        inside = at < min(B + base, n)
        tl.store(y + at, tl.load(x + at, mask=inside) * 2, mask=inside)


@triton.jit
def blocks_in_sliced_parts(x, y, n, B: tl.constexpr, S: tl.constexpr):
    base = tl.program_id(0) * B
    part = tl.arange(0, S)
    loops = (B + S - 1) // S
    for i in range(loops):
        at = base + i * S + part[:]
        inside = at < min(base + B, n)
        tl.store(y + at, tl.load(x + at, mask=inside) * 2, mask=inside)


@triton.jit
def blocks_in_ranged_parts(x, y, n, B: tl.constexpr, S: tl.constexpr):
    base = tl.program_id(0) * B
    for first in range(0, B, S):
        at = base + first + tl.arange(0, S)
        inside = at < min(base + B, n)
        tl.store(y + at, tl.load(x + at, mask=inside) * 2, mask=inside)


@triton.jit
def scalar_offset(x, y, n, B: tl.constexpr):
    first = tl.program_id(0) * B
    if first < n:
        tl.store(y + first, tl.load(x + first))


@triton.jit
def product_in_parts(a, b, c, m, n, k, A: tl.constexpr, B: tl.constexpr, AS: tl.constexpr, BS: tl.constexpr, KS: tl.constexpr):
    row_base = tl.program_id(0) * A
    column_base = tl.program_id(1) * B
    for i in range((A + AS - 1) // AS):
        row = row_base + i * AS + tl.arange(0, AS)
        row_inside = row < min(row_base + A, m)
        for j in range((B + BS - 1) // BS):
            column = column_base + j * BS + tl.arange(0, BS)
            column_inside = column < min(column_base + B, n)
            total = tl.zeros((AS, BS), dtype=tl.float32)
            for l in range((k + KS - 1) // KS):
                inner = l * KS + tl.arange(0, KS)
                inner_inside = inner < k
                u = tl.load(a + row[:, None] * k + inner[None, :], mask=row_inside[:, None] & inner_inside[None, :], other=0.0)
                v = tl.load(b + inner[:, None] * n + column[None, :], mask=inner_inside[:, None] & column_inside[None, :], other=0.0)
                total += tl.dot(u, v)
            tl.store(c + row[:, None] * n + column[None, :], total, mask=row_inside[:, None] & column_inside[None, :])


@triton.jit
def product_with_inline_masks(a, b, c, m, n, k, A: tl.constexpr, B: tl.constexpr, KS: tl.constexpr):
    row = tl.program_id(0) * A + tl.arange(0, A)
    column = tl.program_id(1) * B + tl.arange(0, B)
    total = tl.zeros((A, B), dtype=tl.float32)
    for first in range(0, k, KS):
        inner = first + tl.arange(0, KS)
        u = tl.load(a + row[:, None] * k + inner[None, :], mask=(row[:, None] < m) & (inner[None, :] < k), other=0.0)
        v = tl.load(b + inner[:, None] * n + column[None, :], mask=(inner[:, None] < k) & (column[None, :] < n), other=0.0)
        total = tl.dot(u, v, total)
    tl.store(c + row[:, None] * n + column[None, :], total, mask=(row[:, None] < m) & (column[None, :] < n))


@triton.jit
def largest_by_keyword(x, y, rows, columns, R: tl.constexpr, RS: tl.constexpr, CS: tl.constexpr):
    base = tl.program_id(0) * R
    for i in range((R + RS - 1) // RS):
        row = base + i * RS + tl.arange(0, RS)
        row_inside = row < min(base + R, rows)
        best = tl.full((RS,), float("-inf"), tl.float32)
        for j in range((columns + CS - 1) // CS):
            column = j * CS + tl.arange(0, CS)
            v = tl.load(x + row[:, None] * columns + column[None, :], mask=row_inside[:, None] & (column < columns)[None, :], other=float("-inf"))
            best = tl.maximum(best, tl.max(v, axis=1))
        tl.store(y + row, best, mask=row_inside)


@triton.jit
def largest_by_negative_axis(x, y, rows, columns, R: tl.constexpr, RS: tl.constexpr, CS: tl.constexpr):
    base = tl.program_id(0) * R
    for i in range((R + RS - 1) // RS):
        row = base + i * RS + tl.arange(0, RS)
        row_inside = row < min(base + R, rows)
        best = tl.full((RS,), float("-inf"), tl.float32)
        for j in range((columns + CS - 1) // CS):
            column = j * CS + tl.arange(0, CS)
            v = tl.load(x + row[:, None] * columns + column[None, :], mask=row_inside[:, None] & (column < columns)[None, :], other=float("-inf"))
            best = tl.maximum(best, tl.max(v, axis=-1))
        tl.store(y + row, best, mask=row_inside)


@triton.jit
def largest_by_position(x, y, rows, columns, R: tl.constexpr, RS: tl.constexpr, CS: tl.constexpr):
    base = tl.program_id(0) * R
    for i in range((R + RS - 1) // RS):
        row = base + i * RS + tl.arange(0, RS)
        row_inside = row < min(base + R, rows)
        best = tl.full((RS,), float("-inf"), tl.float32)
        for j in range((columns + CS - 1) // CS):
            column = j * CS + tl.arange(0, CS)
            v = tl.load(x + row[:, None] * columns + column[None, :], mask=row_inside[:, None] & (column < columns)[None, :], other=float("-inf"))
            best = tl.maximum(best, tl.max(v, 1))
        tl.store(y + row, best, mask=row_inside)


@triton.jit
def swap_axes(x, y, rows, columns, R: tl.constexpr, C: tl.constexpr):
    row = tl.program_id(0) * R + tl.arange(0, R)
    column = tl.program_id(1) * C + tl.arange(0, C)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    v = tl.load(x + row[:, None] * columns + column[None, :], mask=inside)
    tl.store(y + column[:, None] * rows + row[None, :], tl.trans(v), mask=(column < columns)[:, None] & (row < rows)[None, :])


@triton.jit
def softmax_in_parts(y, x, rows, columns, R: tl.constexpr, RS: tl.constexpr, C: tl.constexpr):
    base = tl.program_id(0) * R
    column = tl.arange(0, C)
    for i in range((R + RS - 1) // RS):
        row = base + i * RS + tl.arange(0, RS)
        inside = (row < min(base + R, rows))[:, None] & (column < columns)[None, :]
        v = tl.load(x + row[:, None] * columns + column[None, :], mask=inside, other=-float("inf"))
        e = tl.exp(v - tl.max(v, axis=1)[:, None])
        tl.store(y + row[:, None] * columns + column[None, :], e / tl.sum(e, axis=1)[:, None], mask=inside)


@triton.jit
def smooth_gate(x, y, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    me = tl.program_id(0)
    programs = tl.num_programs(0)
    tasks = (rows + ROWS - 1) // ROWS
    for task in range(me, tasks, programs):
        row = task * ROWS + tl.arange(0, ROWS)
        for first in range(0, columns, COLUMNS):
            column = first + tl.arange(0, COLUMNS)
            inside = (row < rows)[:, None] & (column < columns)[None, :]
            v = tl.load(x + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
            tl.store(y + row[:, None] * columns + column[None, :], v * tl.sigmoid(v), mask=inside)


@triton.jit
def weigh_copies(x, gradient, weight, order, bins, padded_bins, experts, columns, TOP: tl.constexpr, C: tl.constexpr):
    me = tl.program_id(0)
    expert = tl.load(order + me)
    first = 0
    if expert > 0:
        first = tl.load(bins + expert - 1)
    if first + me > tl.load(bins + expert):
        return
    row = tl.load(padded_bins + expert) + me
    gradient += row * columns
    x += (expert // TOP) * columns
    column = tl.max_contiguous(tl.arange(0, C), C)
    total = tl.zeros((C,), dtype=tl.float32)
    steps = tl.cdiv(columns, C)
    for i in range(steps):
        inside = column < columns
        total += tl.load(gradient + column, mask=inside).to(tl.float32) * tl.load(x + column, mask=inside).to(tl.float32)
        column += C
    tl.store(weight + row, tl.sum(total))


@triton.jit
def packed_weight_product(a, b, c, m, n, k, a_row, a_inner, b_inner, b_column, c_row, c_column, A: tl.constexpr,
                          B: tl.constexpr, KS: tl.constexpr, BAND: tl.constexpr):
    me = tl.program_id(0)
    row_tiles = tl.cdiv(m, A)
    column_tiles = tl.cdiv(n, B)
    band = me // (BAND * column_tiles)
    height = min(row_tiles - band * BAND, BAND)
    row_tile = band * BAND + (me % height)
    column_tile = (me % (BAND * column_tiles)) // height
    row = (row_tile * A + tl.arange(0, A)) % m
    column = (column_tile * B + tl.arange(0, B)) % n
    inner = tl.arange(0, KS)
    at_a = a + (row[:, None] * a_row + inner[None, :] * a_inner)
    at_b = b + (inner[:, None] * b_inner + column[None, :] * b_column)
    total = tl.zeros((A, B), dtype=tl.int32)
    for i in range(4):
        at_b = b + (inner[:, None] * b_inner + column[None, :] * b_column)
        for j in range(0, tl.cdiv(k // 4, KS)):
            step = i * tl.cdiv(k // 4, KS) + j
            u = tl.load(at_a, mask=inner[None, :] < k - step * KS, other=0)
            packed = tl.load(at_b, mask=inner[:, None] < k // 4 - j * KS, other=0)
            v = (packed & (3 << (2 * i))) >> (2 * i)
            total += tl.dot(u, v.to(tl.int8) - 1, out_dtype=tl.int32)
            at_a += KS * a_inner
            at_b += KS * b_inner
    out_row = row_tile * A + tl.arange(0, A)
    out_column = column_tile * B + tl.arange(0, B)
    tl.store(c + out_row[:, None] * c_row + out_column[None, :] * c_column, total,
             mask=(out_row[:, None] < m) & (out_column[None, :] < n))


@triton.jit
def product_with_current_inner(a, b, c, m, n, k, A: tl.constexpr, B: tl.constexpr, KS: tl.constexpr):
    row = tl.program_id(0) * A + tl.arange(0, A)
    column = tl.program_id(1) * B + tl.arange(0, B)
    lanes = tl.arange(0, KS)
    total = tl.zeros((A, B), dtype=tl.float32)
    for first in range(0, k, KS):
        current = first + lanes
        u = tl.load(a + row[:, None] * k + current[None, :], mask=(row[:, None] < m) & (current[None, :] < k), other=0.0)
        v = tl.load(b + current[:, None] * n + column[None, :], mask=(current[:, None] < k) & (column[None, :] < n), other=0.0)
        total += tl.dot(u, v)
    tl.store(c + row[:, None] * n + column[None, :], total, mask=(row[:, None] < m) & (column[None, :] < n))
