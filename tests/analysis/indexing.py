"""Gathers, copies and scatters: loaded indices and lengths, rows by tasks and by ranges, windows, results in place."""

import triton
import triton.language as tl


@triton.jit
def take_flat(x, index, start, out, stride, count, WIDTH: tl.constexpr):
    at = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    inside = at < count
    i = tl.load(index + at, mask=inside, other=0)
    first = tl.load(start + at, mask=inside, other=0)
    tl.store(out + at, tl.load(x + first + i * stride, mask=inside, other=0), mask=inside)


@triton.jit
def take_columns(x, out, rows, columns, index, wanted, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    of_row = tl.program_id(axis=0)
    of_column = tl.program_id(axis=1)
    rounds = tl.cdiv(rows, tl.num_programs(axis=0))
    for i in range(0, rounds):
        row = (of_row * rounds + i) * ROWS + tl.arange(0, ROWS)[:, None]
        row_inside = row < rows
        column = of_column * COLUMNS + tl.arange(0, COLUMNS)
        inside = row_inside and (column < wanted)
        source = tl.load(index + column, mask=(column < wanted), other=0)
        v = tl.load(x + row * columns + source[None, :], mask=row_inside, other=0.0)
        tl.store(out + row * wanted + column[None, :], v, mask=inside)


@triton.jit
def look_up_rows(table, index, out, count, width: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    me = tl.program_id(0)
    programs = tl.num_programs(0)
    row_tiles = tl.cdiv(count, ROWS)
    column_tiles = tl.cdiv(width, COLUMNS)
    for tile in tl.range(me, row_tiles * column_tiles, programs):
        row = tile // column_tiles * ROWS + tl.arange(0, ROWS)
        row = tl.max_contiguous(row, ROWS)
        row_inside = row < count
        i = tl.load(index + row, mask=row_inside, other=0)
        column = tile % column_tiles * COLUMNS + tl.arange(0, COLUMNS)
        column = tl.max_contiguous(column, COLUMNS)
        inside = row_inside[:, None] & (column < width)[None, :]
        v = tl.load(table + i[:, None] * width + column[None, :], mask=inside, other=0.0)
        tl.store(out + row[:, None] * width + column[None, :], v, mask=inside)


@triton.jit
def keep_lower(x, y, rows, columns, diagonal, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    row_inside = row < rows
    x += row * columns
    y += row * columns
    for start in range(0, columns, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        inside = row_inside and column < columns
        tl.store(y + column, tl.where(row + diagonal >= column, tl.load(x + column, inside, other=0.0), 0.0), mask=inside)


@triton.jit
def bucket_values(table, out, times, count: tl.constexpr, table_width: tl.constexpr, highest: tl.constexpr,
                  divisor: tl.constexpr, PART: tl.constexpr, STEP: tl.constexpr):
    part = tl.program_id(axis=0)
    head = tl.program_id(axis=1)
    steps = tl.cdiv(PART, STEP)
    for i in tl.range(0, steps):
        at = part * PART + i * STEP + tl.arange(0, STEP)
        inside = at < count
        v = tl.log(tl.minimum(tl.maximum(tl.abs(tl.load(times + at, mask=inside, other=0.0)), 1.0), highest)) / divisor
        row = tl.load(table + head * table_width + tl.arange(0, table_width))
        tl.store(out + head * count + at, tl.gather(row, v.to(tl.int64), 0), mask=inside)


@triton.jit
def take_rows_unevenly(table, index, out, rows, columns, fallback: tl.constexpr, MORE_CORES: tl.constexpr,
                       MORE_ROWS: tl.constexpr, PART: tl.constexpr, STEP: tl.constexpr):
    FEWER_ROWS = MORE_ROWS - 1
    core = tl.program_id(0)
    own = MORE_ROWS if (core < MORE_CORES) else FEWER_ROWS
    first = (core * MORE_ROWS) if (core < MORE_CORES) else (MORE_CORES * MORE_ROWS + (core - MORE_CORES) * FEWER_ROWS)
    empty = tl.full((STEP, ), fallback, dtype=table.type.element_ty)
    for start in tl.range(0, PART, STEP):
        column = start + tl.arange(0, STEP)
        inside = column < columns
        for row in tl.range(first, min(first + own, rows)):
            i = tl.load(index + row)
            if i >= 0:
                v = tl.load(table + i * columns + column, mask=inside)
                tl.store(out + row * columns + column, v, inside)
            else:
                tl.store(out + row * columns + column, empty, inside)


@triton.jit
def penalize_in_place(logits, seen, used, counts, repeat, frequency, samples, words, logits_stride, word_stride,
                      seen_stride, counts_stride, WORDS: tl.constexpr):
    me = tl.program_id(axis=0)
    programs = tl.num_programs(axis=0)
    each = (samples + programs - 1) // programs
    begin = me * each
    end = tl.minimum(begin + each, samples)
    for sample in range(begin, end):
        factor = tl.load(repeat + sample)
        price = tl.load(frequency + sample)
        for start in range(0, words, WORDS):
            word = start + tl.arange(0, WORDS)
            inside = word < words
            at = sample * logits_stride + word * word_stride
            v = tl.load(logits + at, mask=inside, other=0.0)
            was = tl.load(seen + sample * seen_stride + word, mask=inside, other=0)
            n = tl.load(counts + sample * counts_stride + word, mask=inside, other=0).to(tl.float32)
            scale = tl.where(was > 0, factor, 1.0)
            v = tl.where(v > 0, v / scale, v * scale) - price * n
            tl.store(logits + at, v, mask=inside)


@triton.jit
def count_words(words, batch_stride, word_stride, batches, length, vocabulary, counts, rank, counts_stride, tasks,
                WORDS: tl.constexpr):
    me = tl.program_id(axis=0)
    programs = tl.num_programs(axis=0)
    lowest = rank * vocabulary
    parts = tl.cdiv(length, WORDS)
    for task in tl.range(me, tasks, programs):
        batch = task // parts
        part = task - batch * parts
        at = part * WORDS + tl.arange(0, WORDS)
        inside = at < length
        word = tl.load(words + batch * batch_stride + at * word_stride, mask=inside, other=vocabulary + lowest)
        own = inside & (word >= lowest) & (word - lowest < vocabulary)
        tl.atomic_add(counts + batch * counts_stride + tl.where(own, word - lowest, 0), 1, mask=own)


@triton.jit
def copy_many(sources, targets, sizes, WIDTH: tl.constexpr):
    me = tl.program_id(0)
    source = tl.load(sources + me).to(tl.pointer_type(tl.uint8))
    target = tl.load(targets + me).to(tl.pointer_type(tl.uint8))
    size = tl.load(sizes + me)
    lanes = tl.arange(0, WIDTH)
    for first in range(0, size, WIDTH):
        inside = (first + lanes) < size
        tl.store(target + first + lanes, tl.load(source + first + lanes, mask=inside), mask=inside)


@triton.jit
def map_slots(tokens, most_tokens, starts, positions, table, table_stride, page, slots, PAD: tl.constexpr,
              TOKENS: tl.constexpr, WINDOW: tl.constexpr):
    request = tl.program_id(0)
    if request == tl.num_programs(0) - 1:
        for first in range(tokens, most_tokens, TOKENS):
            at = first + tl.arange(0, TOKENS)
            tl.store(slots + at, PAD, mask=at < most_tokens)
        return
    begin = tl.load(starts + request).to(tl.int64)
    end = tl.load(starts + request + 1).to(tl.int64)
    row = request * table_stride
    lanes = tl.arange(0, WINDOW)
    for first in range(begin, end, TOKENS):
        at = first + tl.arange(0, TOKENS)
        inside = at < end
        position = tl.load(positions + at, mask=inside, other=0).to(tl.int32)
        page_number = position // page
        lowest = tl.min(tl.where(inside, page_number, 2147483647), axis=0)
        known = tl.load(table + row + lowest + lanes, mask=lowest + lanes < table_stride, other=0).to(tl.float32)
        found = tl.gather(known, tl.where(inside, page_number - lowest, 0), 0).to(tl.int32)
        tl.store(slots + at, found * page + position % page, mask=inside)


@triton.jit
def rotate_in_place(x, row_stride, cosines, cosine_stride, sines, sine_stride, tokens, heads: tl.constexpr,
                    width: tl.constexpr, rotated: tl.constexpr, HEADS: tl.constexpr, ROTATED: tl.constexpr,
                    WIDTH: tl.constexpr, HALVES: tl.constexpr):
    me = tl.program_id(0).to(tl.int64)
    programs = tl.num_programs(0)
    for row in tl.range(me, tokens, programs):
        here = x + row * row_stride
        column = tl.arange(0, ROTATED // 2)
        inside = column < (rotated // 2)
        c = tl.load(cosines + row * cosine_stride + column, mask=inside, other=0).to(tl.float32)
        s = tl.load(sines + row * sine_stride + column, mask=inside, other=0).to(tl.float32)
        if HALVES:
            first = tl.arange(0, HEADS)[:, None] * width + tl.arange(0, ROTATED // 2)[None, :]
            second = first + rotated // 2
        else:
            first = tl.arange(0, HEADS)[:, None] * width + 2 * tl.arange(0, ROTATED // 2)[None, :]
            second = first + 1
        both = (tl.arange(0, HEADS)[:, None] < heads) & (tl.arange(0, ROTATED // 2)[None, :] < (rotated // 2))
        u = tl.load(here + first, mask=both, other=0).to(tl.float32)
        v = tl.load(here + second, mask=both, other=0).to(tl.float32)
        tl.store(here + first, u * c - v * s, mask=both)
        tl.store(here + second, v * c + u * s, mask=both)
