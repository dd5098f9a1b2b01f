"""Scans and searches: partial results, carries, chunks of fixed size, neighbours, many passes over one row."""

import triton
import triton.language as tl


@triton.jit
def scan_parts(x, out, sums, count, parts, WIDTH: tl.constexpr):
    me = tl.program_id(0)
    at = me * WIDTH + tl.arange(0, WIDTH)
    inside = at < count
    v = tl.load(x + at, mask=inside)
    if (tl.constexpr(v.dtype.is_int64()) or tl.constexpr(v.dtype.is_uint64())) or tl.constexpr(v.dtype.is_fp64()):
        v = v
    elif tl.constexpr(v.dtype.is_int()):
        v = v.to(tl.int32)
    else:
        v = v.to(tl.float32)
    tl.store(out + at, tl.cumsum(v, axis=0), mask=inside)
    tl.store(sums + me, tl.sum(v))


@triton.jit
def scan_with_carry(x, out, factor, lengths, T, batches: tl.constexpr, heads: tl.constexpr, width: tl.constexpr,
                    STEP: tl.constexpr, WIDTH: tl.constexpr, BACKWARD: tl.constexpr, SCALED: tl.constexpr,
                    JAGGED: tl.constexpr):
    of_column, of_head = tl.program_id(0), tl.program_id(1).to(tl.int64)
    batch, head = of_head // heads, of_head % heads
    if JAGGED:
        begin, end = tl.load(lengths + batch).to(tl.int64), tl.load(lengths + batch + 1).to(tl.int64)
    else:
        begin, end = batch * T, batch * T + T
    T = end - begin
    carry = tl.zeros([WIDTH], dtype=tl.float32)
    steps = tl.cdiv(T, STEP)
    for i in range(steps):
        step = steps - 1 - i if BACKWARD else i
        t = step * STEP + tl.arange(0, STEP)
        j = of_column * WIDTH + tl.arange(0, WIDTH)
        inside = (t[:, None] < T) & (j[None, :] < width)
        at = (begin * heads + head) * width + t[:, None] * (heads * width) + j[None, :]
        v = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        if BACKWARD:
            c = carry[None, :] + tl.cumsum(v, axis=0, reverse=True)
        else:
            c = carry[None, :] + tl.cumsum(v, axis=0)
        if SCALED:
            c *= factor
        tl.store(out + at, c.to(out.dtype.element_ty), mask=inside)
        carry += tl.sum(v, 0)


@triton.jit
def scan_chunk_by_product(x, out, lengths, chunks, T, batches: tl.constexpr, heads: tl.constexpr, width: tl.constexpr,
                          CHUNK: tl.constexpr, WIDTH: tl.constexpr, BACKWARD: tl.constexpr, JAGGED: tl.constexpr,
                          HEADS_FIRST: tl.constexpr):
    of_column, of_t, of_head = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    batch, head = of_head // heads, of_head % heads
    if JAGGED:
        sample, of_t = tl.load(chunks + of_t * 2).to(tl.int32), tl.load(chunks + of_t * 2 + 1).to(tl.int32)
        begin, end = tl.load(lengths + sample).to(tl.int32), tl.load(lengths + sample + 1).to(tl.int32)
        T = end - begin
    else:
        begin, end = batch * T, batch * T + T
    i = tl.arange(0, CHUNK)
    if BACKWARD:
        weights = tl.where(i[:, None] <= i[None, :], 1.0, 0.0)
    else:
        weights = tl.where(i[:, None] >= i[None, :], 1.0, 0.0)
    if HEADS_FIRST:
        source = tl.make_block_ptr(x + (begin * heads + head * T) * width, (T, width), (width, 1), (of_t * CHUNK, of_column * WIDTH), (CHUNK, WIDTH), (1, 0))
        target = tl.make_block_ptr(out + (begin * heads + head * T) * width, (T, width), (width, 1), (of_t * CHUNK, of_column * WIDTH), (CHUNK, WIDTH), (1, 0))
    else:
        source = tl.make_block_ptr(x + (begin * heads + head) * width, (T, width), (heads * width, 1), (of_t * CHUNK, of_column * WIDTH), (CHUNK, WIDTH), (1, 0))
        target = tl.make_block_ptr(out + (begin * heads + head) * width, (T, width), (heads * width, 1), (of_t * CHUNK, of_column * WIDTH), (CHUNK, WIDTH), (1, 0))
    v = tl.load(source, boundary_check=(0, 1)).to(tl.float32)
    tl.store(target, tl.dot(weights, v, allow_tf32=False).to(target.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def scan_chunks_in_block(x, out, factor, lengths, chunks, T, heads: tl.constexpr, PART: tl.constexpr,
                         BACKWARD: tl.constexpr, SCALED: tl.constexpr, JAGGED: tl.constexpr,
                         HEADS_FIRST: tl.constexpr, CHUNK: tl.constexpr = 64):
    part, batch = tl.program_id(0), tl.program_id(1)
    CHUNKS: tl.constexpr = PART // CHUNK
    if JAGGED:
        sample, part = tl.load(chunks + part * 2).to(tl.int32), tl.load(chunks + part * 2 + 1).to(tl.int32)
        begin, end = tl.load(lengths + sample).to(tl.int32), tl.load(lengths + sample + 1).to(tl.int32)
        T = end - begin
    else:
        begin, end = batch * T, batch * T + T
    if HEADS_FIRST:
        source = tl.make_block_ptr(x + begin * heads, (heads, T), (T, 1), (0, part * PART), (heads, PART), (1, 0))
        target = tl.make_block_ptr(out + begin * heads, (heads, T), (T, 1), (0, part * PART), (heads, PART), (1, 0))
        v = tl.reshape(tl.load(source, boundary_check=(0,)).to(tl.float32), (heads, CHUNKS, CHUNK))
        v = tl.cumsum(tl.trans(v, (2, 0, 1)), axis=0, reverse=BACKWARD)
        if SCALED:
            v *= factor
        v = tl.reshape(tl.trans(v, (1, 2, 0)), (heads, PART))
    else:
        source = tl.make_block_ptr(x + begin * heads, (T, heads), (heads, 1), (part * PART, 0), (PART, heads), (1, 0))
        target = tl.make_block_ptr(out + begin * heads, (T, heads), (heads, 1), (part * PART, 0), (PART, heads), (1, 0))
        v = tl.reshape(tl.load(source, boundary_check=(0,)).to(tl.float32), (CHUNKS, CHUNK, heads))
        v = tl.cumsum(tl.trans(v, (1, 0, 2)), axis=0, reverse=BACKWARD)
        if SCALED:
            v *= factor
        v = tl.reshape(tl.trans(v, (1, 0, 2)), (PART, heads))
    tl.store(target, v.to(x.dtype.element_ty), boundary_check=(0,))
    return


@triton.jit
def gaps_of_tile(tile, starts, whole: int, gaps, count: int, width: tl.constexpr):
    at = tile * width + tl.arange(0, width)
    here = tl.load(starts + at, mask=at < count)
    after = at + 1
    there = tl.load(starts + after, mask=after < count)
    tl.store(gaps + at, tl.where(after < count, there - here, whole - here), mask=at < count)


@triton.jit
def gaps_between(starts: tl.tensor, whole: int, gaps: tl.tensor, count: int, rounds: int, width: tl.constexpr):
    me = tl.program_id(0)
    programs = tl.num_programs(0)
    for i in range(0, rounds):
        gaps_of_tile(me + i * programs, starts, whole, gaps, count, width)


@triton.jit
def nearest_above(v, above, nearest, number, none):
    least = tl.min(tl.where(above, v, none))
    same = above & (tl.abs(v - least) < 1e-9)
    found = tl.sum(tl.where(same, 1, 0).to(tl.int32))
    number = tl.where(least < nearest, found, number + tl.where(tl.abs(least - nearest) < 1e-9, found, 0))
    return tl.minimum(nearest, least), number


@triton.jit
def cut_rows_in_place(logits, logits_stride, scratch, table, wanted, batch, words: tl.constexpr,
                      cut_value: tl.constexpr, STEP: tl.constexpr, SMALL_STEP: tl.constexpr):
    STEPS: tl.constexpr = (words + STEP - 1) // STEP
    me = tl.program_id(0)
    programs = tl.num_programs(0)
    for row in tl.range(me, batch, programs):
        here = logits + row * logits_stride
        own = scratch + me * words
        pivot = -float("inf")
        highest = -float("inf")
        lowest = float("inf")
        k = tl.load(wanted + row)
        if k < words:
            at = tl.arange(0, STEP)
            sample = tl.load(here + at, mask=at < words, other=-float("inf"))
            finite = (sample > -float("inf")) & (at < words)
            number = tl.sum(tl.where(finite, 1, 0).to(tl.int32))
            mean = tl.sum(tl.where(finite, sample, 0.0)) / number
            entry = tl.arange(0, 256)
            sigma = tl.sum(tl.where(entry == (k * 200) // words, tl.load(table + entry, mask=entry < 200, other=0.0), 0.0))
            limit = mean + sigma
            outliers = tl.zeros((), dtype=tl.int32)
            for i in range(0, STEPS):
                at = i * STEP + tl.arange(0, STEP)
                inside = at < words
                v = tl.load(here + at, mask=inside, other=-float("inf"))
                highest = tl.maximum(highest, tl.max(v))
                lowest = tl.minimum(lowest, tl.min(tl.where(v > -float("inf"), v, float("inf"))))
                far = (v > limit) & inside
                outliers += tl.sum(tl.where(far, 1, 0).to(tl.int32))
                tl.store(own + at, tl.where(far, v, -float("inf")), mask=inside)
            top = highest
            if outliers > k:
                bottom = limit
                small_steps = tl.cast((words + SMALL_STEP - 1) // SMALL_STEP, tl.int32)
                done = 0
                rounds = 0
                while done == 0:
                    middle = (top - bottom) * 0.5 + bottom
                    number = tl.zeros((), dtype=tl.int32)
                    nearest = float("inf")
                    equal = tl.zeros((), dtype=tl.int32)
                    for i in range(0, small_steps):
                        at = i * SMALL_STEP + tl.arange(0, SMALL_STEP)
                        v = tl.load(own + at, mask=at < words, other=-float("inf"))
                        above = v > middle
                        number += tl.sum(tl.where(above, 1, 0).to(tl.int32))
                        nearest, equal = nearest_above(v, above, nearest, equal, float("inf"))
                    if number >= k and number - equal < k:
                        pivot = middle
                        done = 1
                    if number > k:
                        bottom = middle
                    else:
                        top = middle
                    rounds += 1
                    if rounds >= 18 or tl.abs(bottom - top) < 1e-9:
                        pivot = (top + bottom) / 2.0
                        done = 1
            else:
                bottom = lowest
                done = 0
                rounds = 0
                while done == 0:
                    middle = (top - bottom) * 0.5 + bottom
                    number = tl.zeros((), dtype=tl.int32)
                    nearest = float("inf")
                    equal = tl.zeros((), dtype=tl.int32)
                    for i in range(0, STEPS):
                        at = i * STEP + tl.arange(0, STEP)
                        v = tl.load(here + at, mask=at < words, other=-float("inf"))
                        above = v > middle
                        number += tl.sum(tl.where(above, 1, 0).to(tl.int32))
                        nearest, equal = nearest_above(v, above, nearest, equal, float("inf"))
                    if number >= k and number - equal < k:
                        pivot = middle
                        done = 1
                    if number > k:
                        bottom = middle
                    else:
                        top = middle
                    rounds += 1
                    if rounds >= 18 or tl.abs(bottom - top) < 1e-9:
                        pivot = (top + bottom) / 2.0
                        done = 1
            for i in range(0, STEPS):
                at = i * STEP + tl.arange(0, STEP)
                inside = at < words
                v = tl.load(here + at, mask=inside, other=-float("inf"))
                tl.store(here + at, tl.where(v > pivot, v, cut_value), mask=inside)
