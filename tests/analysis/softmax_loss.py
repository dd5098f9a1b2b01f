"""Softmax and losses: a row at once, in steps with running maxima, along an outer axis, in partial results."""

import triton
import triton.language as tl


@triton.jit
def softmax_rows_in_turns(out, x, x_stride, out_stride, rows, columns, WIDTH: tl.constexpr):
    first = tl.program_id(0)
    jump = tl.num_programs(0)
    for row in tl.range(first, rows, jump):
        column = tl.arange(0, WIDTH)
        inside = column < columns
        v = tl.load(x + row * x_stride + column, mask=inside, other=-float("inf"))
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(out + row * out_stride + column, e / tl.sum(e, axis=0), mask=inside)


@triton.jit
def softmax_gradient(result, result_gradient, x_gradient, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
                     AT_ONCE: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    if AT_ONCE:
        column = tl.arange(0, COLUMNS)
        at = row[:, None] * columns + column
        inside = (row[:, None] < rows) & (column < columns)
        r = tl.load(result + at, mask=inside)
        g = tl.load(result_gradient + at, mask=inside)
        common = tl.sum(r * g, 1)
        tl.store(x_gradient + at, r * (g - common[:, None]), mask=inside)
    else:
        common = tl.zeros([ROWS], dtype=tl.float32)
        for start in range(0, columns, COLUMNS):
            column = tl.arange(0, COLUMNS) + start
            at = row[:, None] * columns + column
            inside = (row[:, None] < rows) & (column < columns)
            common += tl.sum(tl.load(result + at, mask=inside) * tl.load(result_gradient + at, mask=inside), axis=1)
        for start in range(0, columns, COLUMNS):
            column = tl.arange(0, COLUMNS) + start
            at = row[:, None] * columns + column
            inside = (row[:, None] < rows) & (column < columns)
            r = tl.load(result + at, mask=inside)
            g = tl.load(result_gradient + at, mask=inside)
            tl.store(x_gradient + at, r * (g - common[:, None]), mask=inside)


@triton.jit
def softmax_in_steps(y, y_stride, x, x_stride, rows: tl.constexpr, columns: tl.constexpr, STEP: tl.constexpr):
    first = tl.program_id(0)
    programs = tl.num_programs(0)
    lanes = tl.arange(0, STEP)
    for row in tl.range(first, rows, programs):
        source = x + row * x_stride
        top = tl.float32(float("-inf"))
        total = tl.float32(0.0)
        for start in tl.range(0, columns, STEP):
            column = start + lanes
            v = tl.load(source + column, mask=column < columns, other=float("-inf"))
            higher = tl.maximum(top, tl.max(v, axis=0))
            total = total * tl.exp(top - higher) + tl.sum(tl.exp(v - higher), axis=0)
            top = higher
        for start in tl.range(0, columns, STEP):
            column = start + lanes
            v = tl.load(source + column, mask=column < columns, other=float("-inf"))
            tl.store(y + row * y_stride + column, tl.exp(v - top) / total, mask=column < columns)


@triton.jit
def class_loss_along_outer(x, target, class_weight, out, weight_out, ignored, classes, inner, CLASSES: tl.constexpr,
                           INNER: tl.constexpr):
    tile = tl.program_id(0)
    sample = tl.program_id(1)
    at = tile * INNER + tl.arange(0, INNER)
    inside = at < inner
    wanted = tl.load(target + sample * inner + at, mask=inside, other=0)
    counts = not (wanted == ignored) and inside
    top = tl.zeros([CLASSES, INNER], dtype=tl.float32)
    total = tl.zeros([CLASSES, INNER], dtype=tl.float32)
    for start in range(0, classes, CLASSES):
        c = start + tl.arange(0, CLASSES)
        both = c[:, None] < classes and at[None, :] < inner
        v = tl.load(x + sample * classes * inner + c[:, None] * inner + at[None, :], both, other=-float("inf"))
        v = v.to(tl.float32)
        higher = tl.maximum(top, v)
        total = total * tl.exp(top - higher) + tl.exp(v - higher)
        top = higher
    highest = tl.max(top, axis=0)
    logarithm = tl.log(tl.sum(total * tl.exp(top - highest[None, :]), axis=0)) + highest
    hit = tl.load(x + sample * classes * inner + wanted * inner + at, mask=inside, other=-float("inf")).to(tl.float32)
    w = tl.where(counts, tl.load(class_weight + wanted, mask=inside, other=0).to(tl.float32), 0)
    tl.store(weight_out + sample * inner + at, w, mask=inside)
    tl.store(out + sample * inner + at, (logarithm - hit) * w, mask=inside)


@triton.jit
def partial_log_sums(x, out, factor, width: tl.constexpr, WIDTH: tl.constexpr, SCALED: tl.constexpr):
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    column = part * WIDTH + tl.arange(0, WIDTH)
    v = tl.load(x + row * width + column, mask=column < width, other=-float("inf"))
    if SCALED:
        v = v * factor
    top = tl.max(v, 0)
    tl.store(out + row * tl.cdiv(width, WIDTH) + part, tl.log(tl.sum(tl.exp(v - top), 0)) + top)


@triton.jit
def row_loss(x, x_stride, target, loss, columns, rows, statistics, ignored, MODE: tl.constexpr, STEP: tl.constexpr):
    row = tl.program_id(0)
    if row >= rows:
        return
    wide = row.to(tl.int64)
    wanted = tl.load(target + wide)
    share = tl.load(statistics + 0).cast(tl.float32)
    if wanted == ignored:
        tl.store(loss + wide, 0.0)
        return
    source = x + wide * x_stride
    top = float("-inf")
    total = 0.0
    hit = tl.load(source + wanted).cast(tl.float32)
    for start in range(0, columns, STEP):
        column = start + tl.arange(0, STEP)
        v = tl.load(source + column, mask=column < columns, other=float("-inf")).cast(tl.float32)
        higher = tl.maximum(top, tl.max(v))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(v - higher))
        top = higher
    result = top + tl.log(total) - hit
    if MODE == "mean":
        result = result * share
    tl.store(loss + wide, result)
