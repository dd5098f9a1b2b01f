"""Sums, norms and means: rows by program, by turns, by ranges; columns in steps or at once; accumulators of every shape."""

import triton
import triton.language as tl


@triton.jit
def row_minimum(x, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    workers = tl.num_programs(0)
    me = tl.program_id(0)
    tiles = tl.cdiv(rows, ROWS)
    rounds = tl.cdiv(tiles, workers)
    for i in range(rounds):
        tile = me + i * workers
        row = tile * ROWS + tl.arange(0, ROWS)[:, None]
        source = x + row * columns
        row_inside = row < rows
        least = tl.full([ROWS, COLUMNS], value=float("inf"), dtype=tl.float32)
        for start in range(0, columns, COLUMNS):
            column = start + tl.arange(0, COLUMNS)[None, :]
            inside = row_inside and column < columns
            least = tl.minimum(least, tl.load(source + column, inside, other=float("inf")))
        tl.store(out + row, tl.min(least, axis=1)[:, None], row_inside)


@triton.jit
def row_mean(x, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    x = x + row * columns
    out = out + row
    row_inside = row < rows
    total = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    for start in range(0, columns, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        inside = row_inside and column < columns
        total += tl.load(x + column, inside, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=1) / columns
    tl.store(out, mean[:, None], row_inside)


@triton.jit
def row_length(x, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    x = x + row * columns
    row_inside = row < rows
    squares = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    for start in range(0, columns, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        v = tl.load(x + column, row_inside and column < columns, other=0.0).to(tl.float32)
        squares += v * v
    tl.store(out + row, tl.sqrt(tl.sum(squares, axis=1))[:, None], row_inside)


@triton.jit
def count_positive(x, out, columns, elements, WIDTH: tl.constexpr):
    workers = tl.num_programs(0)
    me = tl.program_id(0)
    tasks = tl.cdiv(elements, columns)
    each = tl.cdiv(tasks, workers)
    for i in range(each):
        task = me + i * workers
        found = tl.full((), value=0, dtype=tl.int64)
        for start in range(0, columns, WIDTH):
            column = start + tl.arange(0, WIDTH)
            at = task * columns + column
            inside = at < elements and column < columns
            found += tl.sum((tl.load(x + at, mask=inside, other=0) > 0).to(tl.int64))
        tl.store(out + task, found)


@triton.jit
def moments(x, variance_out, mean_out, rows, columns, correction, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    x = x + row * columns
    variance_out = variance_out + row
    mean_out = mean_out + row
    row_inside = row < rows
    means = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    spread = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    counts = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    for start in range(0, columns, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        inside = row_inside and column < columns
        v = tl.load(x + column, inside, other=0.0).to(tl.float32)
        now = counts + inside
        next_means = (means * counts + v) / tl.maximum(now, 1)
        spread += (v - next_means) * (v - means) * inside
        means = next_means
        counts = now
    number = tl.sum(counts, axis=1)
    mean = tl.sum(means * counts, axis=1) / tl.maximum(number, 1)
    away = means - mean[:, None]
    variance = tl.sum(spread + counts * away * away, axis=1) / (columns - correction)
    tl.store(mean_out, mean[:, None], row_inside)
    tl.store(variance_out, variance[:, None], row_inside)


@triton.jit
def normalize_groups(x, y, weight, bias, mean_out, scale_out, group_channels, channels, pixels, groups, eps,
                     MOST_CHANNELS: tl.constexpr, STEP: tl.constexpr):
    me = tl.program_id(0)
    image = me // groups
    group = me % groups
    image_start = image * channels * pixels
    first_channel = group * group_channels
    elements = group_channels * pixels
    total = 0.0
    for start in range(0, pixels, STEP):
        pixel = start + tl.arange(0, STEP)
        inside = pixel < pixels
        for c in range(MOST_CHANNELS):
            if c < group_channels and (first_channel + c) < channels:
                at = image_start + (first_channel + c) * pixels + pixel
                total += tl.sum(tl.load(x + at, mask=inside, other=0.0).to(tl.float32))
    mean = total / elements
    squares = 0.0
    for start in range(0, pixels, STEP):
        pixel = start + tl.arange(0, STEP)
        inside = pixel < pixels
        for c in range(MOST_CHANNELS):
            if c < group_channels and (first_channel + c) < channels:
                at = image_start + (first_channel + c) * pixels + pixel
                v = tl.load(x + at, mask=inside, other=mean).to(tl.float32) - mean
                squares += tl.sum(v * v)
    scale = tl.rsqrt(squares / elements + eps)
    for start in range(0, pixels, STEP):
        pixel = start + tl.arange(0, STEP)
        inside = pixel < pixels
        for c in range(MOST_CHANNELS):
            if c < group_channels and (first_channel + c) < channels:
                at = image_start + (first_channel + c) * pixels + pixel
                v = (tl.load(x + at, mask=inside, other=0.0).to(tl.float32) - mean) * scale
                if weight is not None:
                    v = v * tl.load(weight + first_channel + c)
                if bias is not None:
                    v = v + tl.load(bias + first_channel + c)
                tl.store(y + at, v, mask=inside)
    tl.store(mean_out + image * groups + group, mean)
    tl.store(scale_out + image * groups + group, scale)


@triton.jit
def scale_own_range(x, x_stride, y, eps, batch, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    each = tl.cdiv(batch, cores)
    begin = core * each
    end = tl.minimum(begin + each, batch)
    column = tl.arange(0, WIDTH)
    for first in tl.range(begin, end, ROWS):
        row = first + tl.arange(0, ROWS)
        row_inside = (row < batch)[:, None]
        at = row[:, None] * x_stride + column[None, :]
        v = tl.load(x + at, mask=row_inside)
        squares = tl.sum(v * v, axis=-1) / WIDTH
        tl.store(y + at, v * tl.rsqrt(squares[:, None] + eps), mask=row_inside)


@triton.jit
def gated_layer_norm(x, y, weight, bias, gate, mean_out, scale_out, x_stride, y_stride, gate_stride, rows, columns, eps,
                     ROWS: tl.constexpr, COLUMNS: tl.constexpr, HAS_BIAS: tl.constexpr, HAS_GATE: tl.constexpr):
    tile = tl.program_id(0)
    group = tl.program_id(1)
    mean_out += group * rows
    scale_out += group * rows
    weight += group * columns
    if HAS_BIAS:
        bias += group * columns
    row = tile * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    row_inside = row < rows
    column_inside = column < columns
    w = tl.load(weight + column, mask=column_inside).to(tl.float32)
    v = tl.load(x + row[:, None] * x_stride + column[None, :] + group * columns,
                mask=row_inside[:, None] & column_inside[None, :]).to(tl.float32)
    if HAS_GATE:
        z = tl.load(gate + row[:, None] * gate_stride + column[None, :] + group * columns,
                    mask=row_inside[:, None] & column_inside[None, :]).to(tl.float32)
        v *= z * tl.sigmoid(z)
    mean = tl.sum(v, axis=1) / columns
    away = tl.where(column_inside[None, :], v - mean[:, None], 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(away * away, axis=1) / columns + eps)
    tl.store(mean_out + row, mean, mask=row_inside)
    tl.store(scale_out + row, scale, mask=row_inside)
    result = (v - mean[:, None]) * scale[:, None] * w[None, :]
    if HAS_BIAS:
        result += tl.load(bias + column, mask=column_inside).to(tl.float32)[None, :]
    tl.store(y + row[:, None] * y_stride + column[None, :] + group * columns, result,
             mask=row_inside[:, None] & column_inside[None, :])


@triton.jit
def unit_rows(x, y, eps, rows, WIDTH: tl.constexpr, ROWS: tl.constexpr, rounds):
    first = tl.program_id(0) * (rounds * ROWS)
    column = tl.arange(0, WIDTH)[None, :]
    for i in range(rounds):
        row = first + i * ROWS + tl.arange(0, ROWS)[:, None]
        inside = row < rows
        v = tl.load(x + (column + WIDTH * row), mask=inside, other=0.0).to(tl.float32)
        length = tl.sum(v * v, 1)[:, None]
        tl.store(y + (column + WIDTH * row), v * tl.rsqrt(length + eps), inside)


@triton.jit
def middle_mean(x, y, stride0, stride1, stride2, out_stride0, out_stride1, outer, middle, inner, STEP: tl.constexpr):
    me = tl.program_id(0)
    i = me // inner
    k = me % inner
    if i >= outer or k >= inner:
        return
    total = 0.0
    for start in range(0, middle, STEP):
        j = start + tl.arange(0, STEP)
        total += tl.sum(tl.load(x + i * stride0 + j * stride1 + k * stride2, mask=j < middle, other=0.0))
    tl.store(y + i * out_stride0 + k * out_stride1, total / middle)


@triton.jit
def split_and_measure(packed, first_out, second_out, spread_out, tokens, first_width: tl.constexpr,
                      second_width: tl.constexpr, FIRST: tl.constexpr, SECOND: tl.constexpr, stride: tl.constexpr,
                      TOKENS: tl.constexpr):
    me = tl.program_id(0)
    programs = tl.num_programs(0)
    lanes = tl.arange(0, TOKENS)
    jump = programs * TOKENS
    begin = me * TOKENS
    for start in tl.range(begin, tokens, jump):
        token = start + lanes
        token_inside = (token < tokens)[:, None]
        i = tl.arange(0, FIRST)[None, :]
        a = tl.load(packed + token[:, None] * stride + i, mask=token_inside & (i < first_width), other=0.0)
        j = tl.arange(0, SECOND)[None, :]
        b = tl.load(packed + token[:, None] * stride + first_width + j, mask=token_inside & (j < second_width), other=0.0)
        spread_a = tl.sum(a.to(tl.float32) * a.to(tl.float32), axis=-1)
        spread_b = tl.sum(b.to(tl.float32) * b.to(tl.float32), axis=-1)
        tl.store(first_out + token[:, None] * first_width + i, a, mask=token_inside & (i < first_width))
        tl.store(second_out + token[:, None] * second_width + j, b, mask=token_inside & (j < second_width))
        tl.store(spread_out + token * 2, spread_a, mask=token < tokens)
        tl.store(spread_out + token * 2 + 1, spread_b, mask=token < tokens)


@triton.jit
def spread_by_tasks(x, out, tokens, width: tl.constexpr, rows_each: tl.constexpr, workers: tl.constexpr):
    me = tl.program_id(0)
    tasks = tl.cdiv(tokens, rows_each)
    for task in range(me, tasks, workers):
        row = task * rows_each + tl.arange(0, rows_each)
        column = tl.arange(0, width)
        row_inside = row[:, None] < tokens
        inside = row_inside & (column[None, :] < width)
        v = tl.load(x + row[:, None] * width + column[None, :], mask=inside, other=0.0)
        tl.store(out + row[:, None], (tl.sum(v * v, axis=1) / width)[:, None], mask=row_inside)


@triton.jit
def grouped_layer_norm(x, y, weight, bias, extra, extra_out, mean_out, scale_out, eps, tokens, GROUPS: tl.constexpr,
                       width: tl.constexpr, TOKENS: tl.constexpr, WIDTH: tl.constexpr, WITH_EXTRA: tl.constexpr,
                       ONLY_SCALE: tl.constexpr, WITH_BIAS: tl.constexpr):
    token = tl.program_id(0).to(tl.int64) * TOKENS + tl.arange(0, TOKENS)
    group = token % GROUPS
    column = tl.arange(0, WIDTH)
    column_inside = column < width
    token_inside = token < tokens
    inside = token_inside[:, None] & column_inside[None, :]
    v = tl.load(x + token[:, None] * width + column[None, :], mask=inside, other=0.0).to(tl.float32)
    if WITH_EXTRA:
        v += tl.load(extra + token[:, None] * width + column[None, :], mask=inside, other=0.0).to(tl.float32)
        tl.store(extra_out + token[:, None] * width + column[None, :], v, mask=inside)
    if not ONLY_SCALE:
        mean = tl.sum(v, axis=1) / width
        tl.store(mean_out + token, mean, mask=token_inside)
        away = tl.where(column_inside[None, :], v - mean[:, None], 0.0)
    else:
        away = tl.where(column_inside[None, :], v, 0.0)
    scale = 1 / tl.sqrt(tl.sum(away * away, axis=1) / width + eps)
    tl.store(scale_out + token, scale, mask=token_inside)
    w = tl.load(weight + group[:, None] * width + column[None, :], mask=column_inside[None, :]).to(tl.float32)
    hat = (v - mean[:, None]) * scale[:, None] if not ONLY_SCALE else v * scale[:, None]
    result = hat * w
    if WITH_BIAS:
        result = result + tl.load(bias + group[:, None] * width + column[None, :], mask=column_inside[None, :])
    tl.store(y + token[:, None] * width + column[None, :], result.to(y.dtype.element_ty), mask=inside)
