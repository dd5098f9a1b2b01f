"""Elementwise kernels: one program a block, blocks within blocks, programs that take turns, tasks that are taken apart."""

import triton
import triton.language as tl
from triton.language import program_id as which


@triton.jit
def multiply(a, b, out, count, WIDTH: tl.constexpr):
    first = tl.program_id(axis=0) * WIDTH
    at = first + tl.arange(0, WIDTH)
    inside = at < count
    tl.store(out + at, tl.load(a + at, mask=inside) * tl.load(b + at, mask=inside), mask=inside)


@triton.jit
def select_in_place(data, chosen, replacement, out, count, PART: tl.constexpr, STEP: tl.constexpr):
    start = which(axis=0) * PART
    steps = PART // STEP
    for step in range(steps):
        at = start + step * STEP + tl.arange(0, STEP)
        inside = at < count
        value = tl.load(data + at, mask=inside, other=0)
        take = tl.load(chosen + at, mask=inside, other=0).to(tl.int1)
        tl.store(out + at, value, mask=inside)
        before = tl.load(out + at, mask=inside, other=0)
        tl.store(out + at, tl.where(take, tl.full([STEP], replacement, dtype=value.dtype), before), mask=inside)


@triton.jit
def fill_with_one(out, count, PART: tl.constexpr, STEP: tl.constexpr):
    me = tl.program_id(0)
    for step in range(0, PART, STEP):
        at = me * PART + step + tl.arange(0, STEP)
        tl.store(out + at, 1.0, mask=at < count)


@triton.jit
def weighted_difference(a, b, out, weight, count, block_count, WIDTH: tl.constexpr):
    me = tl.program_id(axis=0)
    programs = tl.num_programs(axis=0)
    for block in range(me, block_count, programs):
        at = block * WIDTH + tl.arange(0, WIDTH)
        inside = at < count
        tl.store(out + at, tl.load(a + at, mask=inside) - weight * tl.load(b + at, mask=inside), mask=inside)


@triton.jit
def gate_in_turns(gate, value, out, total, WIDTH: tl.constexpr):
    me = tl.program_id(0)
    programs = tl.num_programs(0)
    begin = me * WIDTH
    jump = programs * WIDTH
    for at_first in tl.range(begin, total, jump):
        at = at_first + tl.arange(0, WIDTH)
        inside = at < total
        g = tl.load(gate + at, mask=inside, other=0.0).to(tl.float32)
        v = tl.load(value + at, mask=inside, other=0.0)
        tl.store(out + at, tl.sigmoid(g).cast(v.dtype) * v, mask=inside)


@triton.jit
def gate_in_rows(gate, value, out, gate_stride, value_stride, out_stride, total, COLUMNS: tl.constexpr, WIDTH: tl.constexpr):
    me = tl.program_id(0).to(tl.int64)
    at = me * WIDTH + tl.arange(0, WIDTH)
    inside = at < total
    row, column = at // COLUMNS, at % COLUMNS
    g = tl.load(gate + row * gate_stride + column, mask=inside, other=0.0).to(tl.float32)
    v = tl.load(value + row * value_stride + column, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row * out_stride + column, (g * tl.sigmoid(g) * v).to(out.dtype.element_ty), mask=inside)


@triton.jit
def decay_gates(decay, strength, log_a, a, b, bias, positions, heads, batches, beta, limit,
                HEADS: tl.constexpr, BATCHES: tl.constexpr, rounds):
    of_batch, of_position = tl.program_id(0), tl.program_id(1)
    columns = tl.cdiv(heads, HEADS)
    for i in range(0, rounds):
        batch = of_batch * rounds * BATCHES + i * BATCHES + tl.arange(0, BATCHES)
        for j in range(0, columns):
            head = j * HEADS + tl.arange(0, HEADS)
            at = batch[:, None] * positions * heads + of_position * heads + head[None, :]
            head_inside = head < heads
            inside = head_inside[None, :] & (batch[:, None] < batches)
            x = tl.load(a + at, mask=inside).to(tl.float32) + tl.load(bias + head, mask=head_inside).to(tl.float32)[None, :]
            soft = tl.where(beta * x <= limit, tl.log(1 + tl.exp(beta * x)) / beta, x)
            tl.store(decay + at, -tl.exp(tl.load(log_a + head, mask=head_inside).to(tl.float32)) * soft, mask=inside)
            tl.store(strength + at, tl.sigmoid(tl.load(b + at, mask=inside).to(tl.float32)), mask=inside)


@triton.jit
def affine_rows(x, scale, shift, out, tokens, width, SCALES: tl.constexpr, SHIFTS: tl.constexpr,
                rows_each: tl.constexpr, columns_each: tl.constexpr, workers: tl.constexpr):
    me = tl.program_id(0)
    row_tiles = tl.cdiv(tokens, rows_each)
    column_tiles = tl.cdiv(width, columns_each)
    for task in range(me, row_tiles * column_tiles, workers):
        row_tile = task // column_tiles
        column_tile = task % column_tiles
        row = row_tile * rows_each + tl.arange(0, rows_each)
        column = column_tile * columns_each + tl.arange(0, columns_each)
        inside = (row[:, None] < tokens) & (column[None, :] < width)
        at = row[:, None] * width + column[None, :]
        v = tl.load(x + at, mask=inside, other=0.0)
        if SCALES == 1:
            s = tl.load(scale)
        else:
            s = tl.load(scale + column[None, :], mask=column[None, :] < width, other=0.0)
        if SHIFTS == 1:
            t = tl.load(shift)
        else:
            t = tl.load(shift + column[None, :], mask=column[None, :] < width, other=0.0).to(tl.float32)
        tl.store(out + at, (v * (1.0 + s) + t).to(out.dtype.element_ty), mask=inside)
