"""Attention and linear attention: block pointers, inner loops in functions, chunks, states that are carried along."""

import triton
import triton.language as tl
import triton.language.extra.cann.extension as npu


@triton.jit
def attend_over_keys(total, weight, top, query, keys, values, query_tile, factor, QUERIES: tl.constexpr,
                     HEAD: tl.constexpr, KEYS: tl.constexpr, PHASE: tl.constexpr, query_at: tl.constexpr,
                     key_at: tl.constexpr, LENGTH: tl.constexpr):
    if PHASE == 1:
        tl.static_assert(QUERIES >= KEYS)
        low, high = 0, query_tile * QUERIES
    elif PHASE == 2:
        tl.static_assert(QUERIES >= KEYS)
        low, high = query_tile * QUERIES, (query_tile + 1) * QUERIES
        low = tl.multiple_of(low, QUERIES)
    else:
        low, high = 0, LENGTH
    keys = tl.advance(keys, (low, 0))
    values = tl.advance(values, (low, 0))
    cell = tl.arange(0, QUERIES)[:, None] * HEAD + tl.arange(0, HEAD)[None, :]
    for start in range(low, high, KEYS):
        start = tl.multiple_of(start, KEYS)
        k = tl.load(keys)
        score = tl.dot(query, tl.trans(k)) * factor
        if PHASE == 2:
            score = score + tl.where(query_at[:, None] >= (start + key_at[None, :]), 0, -1.0e6)
        higher = tl.maximum(top, tl.max(score, 1))
        p = tl.math.exp(score - higher[:, None])
        v = tl.load(values)
        product = tl.dot(p.to(k.dtype), v)
        shrink = tl.math.exp(top - higher)
        weight = weight * shrink + tl.sum(p, 1)
        if HEAD < 256:
            total = total * shrink[:, None] + product
        else:
            kept = tl.load(total + cell)
            for part in range(4):
                first = part * (QUERIES // 4)
                piece = npu.extract_slice(kept, (first, 0), (QUERIES // 4, HEAD), (1, 1))
                shrink_piece = npu.extract_slice(shrink, [first], [QUERIES // 4], [1])
                product_piece = npu.extract_slice(product, (first, 0), (QUERIES // 4, HEAD), (1, 1))
                piece = piece * shrink_piece[:, None] + product_piece
                kept = npu.insert_slice(kept, piece, (first, 0), (QUERIES // 4, HEAD), (1, 1))
            tl.store(total + cell, kept)
        top = higher
        values = tl.advance(values, (KEYS, 0))
        keys = tl.advance(keys, (KEYS, 0))
    return total, weight, top


@triton.jit
def attention_by_tasks(q, k, v, statistics, out, workspace, factor, q_batch: tl.constexpr, q_head: tl.constexpr,
                       q_row: tl.constexpr, q_column: tl.constexpr, batches: tl.constexpr, heads: tl.constexpr,
                       LENGTH: tl.constexpr, HEAD: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
                       PHASES: tl.constexpr):
    query_tiles = LENGTH // QUERIES
    tasks = query_tiles * batches * heads
    me = tl.program_id(0)
    for task in range(me, tasks, 20):
        which = task // query_tiles
        query_tile = task % query_tiles
        batch = which // heads
        head = which % heads
        offset = batch.to(tl.int64) * q_batch + head.to(tl.int64) * q_head
        queries = tl.make_block_ptr(base=q + offset, shape=(LENGTH, HEAD), strides=(q_row, q_column),
                                    offsets=(query_tile * QUERIES, 0), block_shape=(QUERIES, HEAD), order=(1, 0))
        values = tl.make_block_ptr(base=v + offset, shape=(LENGTH, HEAD), strides=(q_row, q_column), offsets=(0, 0),
                                   block_shape=(KEYS, HEAD), order=(1, 0))
        keys = tl.make_block_ptr(base=k + offset, shape=(LENGTH, HEAD), strides=(q_row, q_column), offsets=(0, 0),
                                 block_shape=(KEYS, HEAD), order=(1, 0))
        results = tl.make_block_ptr(base=out + offset, shape=(LENGTH, HEAD), strides=(q_row, q_column),
                                    offsets=(query_tile * QUERIES, 0), block_shape=(QUERIES, HEAD), order=(1, 0))
        query_at = query_tile * QUERIES + tl.arange(0, QUERIES)
        key_at = tl.arange(0, KEYS)
        top = tl.zeros([QUERIES], dtype=tl.float32) - float("inf")
        weight = tl.zeros([QUERIES], dtype=tl.float32) + 1.0
        if HEAD < 256:
            total = tl.zeros([QUERIES, HEAD], dtype=tl.float32)
        else:
            total = workspace + (which.to(tl.int64) * LENGTH * HEAD + query_tile * QUERIES * HEAD)
        query = tl.load(queries)
        if PHASES & 1:
            total, weight, top = attend_over_keys(total, weight, top, query, keys, values, query_tile, factor, QUERIES,
                                                  HEAD, KEYS, 4 - PHASES, query_at, key_at, LENGTH)
        if PHASES & 2:
            total, weight, top = attend_over_keys(total, weight, top, query, keys, values, query_tile, factor, QUERIES,
                                                  HEAD, KEYS, 2, query_at, key_at, LENGTH)
        top += tl.math.log(weight)
        if HEAD < 256:
            result = total / weight[:, None]
        else:
            cell = tl.arange(0, QUERIES)[:, None] * HEAD + tl.arange(0, HEAD)[None, :]
            result = tl.load(total + cell) / weight[:, None]
        tl.store(statistics + which * LENGTH + query_at, top)
        tl.store(results, result.to(out.type.element_ty))


@triton.jit
def one_key_tile(query, keys, values, alpha, longest, DIAGONAL: tl.constexpr, earlier):
    score = tl.dot(query, tl.trans(tl.load(keys))) * alpha
    score = score / (1.0 + tl.exp(-score)) * (1.0 / longest)
    if DIAGONAL:
        score = tl.where(earlier, score, 0)
    v = tl.load(values)
    return tl.dot(score.to(v.dtype), v)


@triton.jit
def jagged_tile(q, k, v, out, row_stride: tl.constexpr, head_stride: tl.constexpr, alpha, longest, head, first_query,
                begin, length, HEAD: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr, earlier):
    offset = begin.to(tl.int64) * row_stride + head.to(tl.int64) * head_stride
    queries = tl.make_block_ptr(base=q + offset, shape=(length, HEAD), strides=(row_stride, 1),
                                offsets=(first_query.to(tl.int32), 0), block_shape=(QUERIES, HEAD), order=(1, 0))
    keys = tl.make_block_ptr(base=k + offset, shape=(length, HEAD), strides=(row_stride, 1), offsets=(0, 0),
                             block_shape=(KEYS, HEAD), order=(1, 0))
    values = tl.make_block_ptr(base=v + offset, shape=(length, HEAD), strides=(row_stride, 1), offsets=(0, 0),
                               block_shape=(KEYS, HEAD), order=(1, 0))
    query = tl.load(queries)
    total = tl.zeros([QUERIES, HEAD], dtype=tl.float32)
    for start in range(0, first_query + QUERIES, KEYS):
        total += one_key_tile(query=query, keys=keys, values=values, alpha=alpha, longest=longest,
                              DIAGONAL=first_query == start, earlier=earlier)
        keys = tl.advance(keys, (KEYS, 0))
        values = tl.advance(values, (KEYS, 0))
    row = first_query + tl.arange(0, QUERIES)
    column = tl.arange(0, HEAD)
    tl.store(out + offset + row[:, None] * row_stride + column[None, :], total, mask=(row < length)[:, None])


@triton.jit
def jagged_attention(q, k, v, offsets, out, mask, row_stride: tl.constexpr, head_stride: tl.constexpr, alpha: tl.constexpr,
                     heads: tl.constexpr, longest: tl.constexpr, HEAD: tl.constexpr, workers: tl.constexpr,
                     tasks: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr):
    me = tl.program_id(0)
    sample = 0
    earlier = tl.load(tl.make_block_ptr(base=mask, shape=(longest, longest), strides=(longest, 1), offsets=(0, 0),
                                        block_shape=(QUERIES, QUERIES), order=(1, 0)))
    for task in range(me, tasks, workers):
        end = tl.load(offsets + sample + 1)
        first = task * QUERIES
        while first >= end * heads // 2:
            sample += 1
            end = tl.load(offsets + sample + 1)
        begin = tl.load(offsets + sample)
        length = end - begin
        head = (first - begin * heads // 2) // (length // 2)
        low = (first - begin * heads // 2) % (length // 2)
        high = length - low - QUERIES
        jagged_tile(q, k, v, out, row_stride, head_stride, alpha, longest, head, low, begin, length, HEAD, QUERIES, KEYS, earlier)
        jagged_tile(q, k, v, out, row_stride, head_stride, alpha, longest, head, high, begin, length, HEAD, QUERIES, KEYS, earlier)


@triton.jit
def chunk_output(q, v, decay, state, out, scores, lengths, chunks, factor, T, heads: tl.constexpr, K: tl.constexpr,
                 V: tl.constexpr, CHUNK: tl.constexpr, KS: tl.constexpr, VS: tl.constexpr, JAGGED: tl.constexpr):
    of_v, of_t, of_head = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    batch, head = of_head // heads, of_head % heads
    if JAGGED:
        chunk = of_t
        sample, of_t = tl.load(chunks + of_t * 2).to(tl.int32), tl.load(chunks + of_t * 2 + 1).to(tl.int32)
        begin, end = tl.load(lengths + sample).to(tl.int32), tl.load(lengths + sample + 1).to(tl.int32)
        T = end - begin
    else:
        chunk = batch * tl.cdiv(T, CHUNK) + of_t
        begin, end = batch * T, batch * T + T
    earlier = tl.arange(0, CHUNK)[:, None] >= tl.arange(0, CHUNK)[None, :]
    total = tl.zeros([CHUNK, VS], dtype=tl.float32)
    for step in range(tl.cdiv(K, KS)):
        at_q = tl.make_block_ptr(q + (begin * heads + head) * K, (T, K), (heads * K, 1), (of_t * CHUNK, step * KS), (CHUNK, KS), (1, 0))
        at_decay = tl.make_block_ptr(decay + (begin * heads + head) * K, (T, K), (heads * K, 1), (of_t * CHUNK, step * KS), (CHUNK, KS), (1, 0))
        at_state = tl.make_block_ptr(state + (chunk * heads + head) * K * V, (V, K), (K, 1), (of_v * VS, step * KS), (VS, KS), (1, 0))
        x = tl.load(at_q, boundary_check=(0, 1)) * factor
        x = x * tl.exp2(tl.load(at_decay, boundary_check=(0, 1)))
        total += tl.dot(x, tl.trans(tl.load(at_state, boundary_check=(0, 1))).to(x.dtype))
    at_v = tl.make_block_ptr(v + (begin * heads + head) * V, (T, V), (heads * V, 1), (of_t * CHUNK, of_v * VS), (CHUNK, VS), (1, 0))
    at_out = tl.make_block_ptr(out + (begin * heads + head) * V, (T, V), (heads * V, 1), (of_t * CHUNK, of_v * VS), (CHUNK, VS), (1, 0))
    at_scores = tl.make_block_ptr(scores + (begin * heads + head) * CHUNK, (T, CHUNK), (heads * CHUNK, 1), (of_t * CHUNK, 0), (CHUNK, CHUNK), (1, 0))
    y = tl.load(at_v, boundary_check=(0, 1))
    w = tl.where(earlier, tl.load(at_scores, boundary_check=(0, 1)), 0.0).to(y.dtype)
    total += tl.dot(w, y, allow_tf32=False)
    tl.store(at_out, total.to(at_out.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def apply_chunk_scores(k, v, strength, k_out, v_out, scores, decay, lengths, chunks, T, heads, key_heads, K, V,
                       CHUNK: tl.constexpr, KS: tl.constexpr, VS: tl.constexpr, JAGGED: tl.constexpr):
    longest = T
    position = tl.program_id(0)
    for of_head in range(heads):
        batch, head = of_head // heads, of_head % heads
        if JAGGED:
            sample, tile = tl.load(chunks + position * 2).to(tl.int32), tl.load(chunks + position * 2 + 1).to(tl.int32)
            begin, end = tl.load(lengths + sample).to(tl.int32), tl.load(lengths + sample + 1).to(tl.int32)
            T = end - begin
        else:
            tile = position
            begin, end = batch * T, batch * T + T
        t = tile * CHUNK + tl.arange(0, CHUNK)
        t_inside = t < T
        s = tl.arange(0, CHUNK)[None, :]
        a = tl.load(scores + (begin * heads + head) * CHUNK + t[:, None] * (heads * CHUNK) + s, mask=t_inside[:, None], other=0.0)
        g = tl.exp(tl.load(decay + begin + head * longest + t, mask=t_inside, other=0.0))
        b = tl.load(strength + begin + head * longest + t, mask=t_inside, other=0.0).to(tl.float32)
        for step in range(tl.cdiv(V, VS)):
            j = step * VS + tl.arange(0, VS)[None, :]
            inside = t_inside[:, None] & (j < V)
            x = tl.load(v + (begin * heads + head) * V + t[:, None] * (heads * V) + j, mask=inside, other=0.0).to(tl.float32)
            y = tl.dot(a, x * b[:, None], allow_tf32=False)
            tl.store(v_out + (begin * heads + head) * V + t[:, None] * (heads * V) + j, y.to(v_out.dtype.element_ty), mask=inside)
        for step in range(tl.cdiv(K, KS)):
            i = step * KS + tl.arange(0, KS)[None, :]
            inside = t_inside[:, None] & (i < K)
            x = tl.load(k + (begin * key_heads + head // (heads // key_heads)) * K + t[:, None] * (key_heads * K) + i,
                        mask=inside, other=0.0).to(tl.float32)
            y = tl.dot(a, x * b[:, None] * g[:, None])
            tl.store(k_out + (begin * heads + head) * K + t[:, None] * (heads * K) + i, y.to(k_out.dtype.element_ty), mask=inside)


@triton.jit
def block_states(k, v, decay, state, batches: tl.constexpr, heads: tl.constexpr, length: tl.constexpr,
                 width: tl.constexpr, out_width: tl.constexpr, PART: tl.constexpr, PARTS: tl.constexpr,
                 WIDTH: tl.constexpr, OUT: tl.constexpr, OUTS: tl.constexpr, STEP: tl.constexpr, STEPS: tl.constexpr):
    of_head = tl.program_id(0)
    part = tl.program_id(1)
    of_out = tl.program_id(2)
    head = of_head % heads
    out_first = of_out * OUT
    at_k = k + of_head * length * width + part * PART * width + tl.arange(0, STEP)[:, None] * width + tl.arange(0, WIDTH)[None, :]
    at_v = v + of_head * length * out_width + part * PART * out_width + tl.arange(0, STEP)[:, None] * out_width + out_first + tl.arange(0, OUT)[None, :]
    at_state = (state + of_head * PARTS * width * out_width + part * width * out_width
                + tl.arange(0, WIDTH)[:, None] * out_width + out_first + tl.arange(0, OUT)[None, :])
    at_decay = decay + head * PART + tl.arange(0, STEP)
    row = tl.arange(0, STEP)
    total = tl.zeros([WIDTH, OUT], dtype=tl.float32)
    mine = length - (PARTS - 1) * PART if part == PARTS - 1 else PART
    shift = tl.cdiv(mine, STEP) * STEP - mine
    rounds = min(tl.cdiv(mine, STEP), STEPS)
    at_decay += (STEPS - rounds) * STEP
    for i in range(rounds):
        first = (1 - i) * shift
        x = tl.load(at_k - shift * width, mask=(row[:, None] >= first), other=0.0).to(tl.float32)
        y = tl.load(at_v - shift * out_width, mask=(row[:, None] >= first), other=0.0).to(tl.float32)
        total += tl.dot(tl.trans(x) * tl.load(at_decay)[None, :], y)
        at_k += STEP * width
        at_v += STEP * out_width
        at_decay += STEP
    tl.store(at_state, total.to(at_state.dtype.element_ty))


@triton.jit
def carried_state(k, v, state, decay, first_state, last_state, T, heads: tl.constexpr, K: tl.constexpr,
                  V: tl.constexpr, CHUNK: tl.constexpr, SPAN: tl.constexpr, KS: tl.constexpr, VS: tl.constexpr,
                  DECAYED: tl.constexpr, STARTED: tl.constexpr, KEPT: tl.constexpr):
    of_k, of_v, of_head = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    batch, head = of_head // heads, of_head % heads
    begin = batch * T
    chunks, spans = tl.cdiv(T, CHUNK), tl.cdiv(T, SPAN)
    first_span = batch * spans
    per_span = SPAN // CHUNK
    h = tl.zeros([KS, VS], dtype=tl.float32)
    i = of_k * KS + tl.arange(0, KS)
    j = of_v * VS + tl.arange(0, VS)
    inside = (i[:, None] < K) & (j[None, :] < V)
    if STARTED:
        h = tl.load(first_state + of_head * K * V + i[:, None] * V + j[None, :], mask=inside, other=0.0).to(tl.float32)
    for step in range(chunks):
        span = step // per_span
        t = step * CHUNK + tl.arange(0, CHUNK)
        t_inside = t < T
        at_state = state + ((first_span + span) * heads + head).to(tl.int64) * K * V + i[:, None] * V + j[None, :]
        if step % per_span == 0:
            tl.store(at_state, h.to(at_state.dtype.element_ty), mask=inside)
        x = tl.load(k + (begin * heads + head) * K + i[:, None] + t[None, :] * (heads * K),
                    mask=(i[:, None] < K) & t_inside[None, :], other=0.0)
        y = tl.load(v + (begin * heads + head) * V + t[:, None] * (heads * V) + j[None, :],
                    mask=t_inside[:, None] & (j < V)[None, :], other=0.0)
        last = min((step + 1) * CHUNK, T) - 1
        if DECAYED:
            end = tl.load(decay + begin * heads + last * heads + head)
            g = tl.load(decay + begin * heads + (step * CHUNK + tl.arange(0, CHUNK)) * heads + head,
                        mask=(step * CHUNK + tl.arange(0, CHUNK) < T), other=0.0)
            h *= tl.exp2(end)
            y = (y * tl.exp2(end - g)[:, None]).to(y.dtype)
        h += tl.dot(x, y)
    if KEPT:
        tl.store(last_state + of_head * K * V + i[:, None] * V + j[None, :], h.to(last_state.dtype.element_ty), mask=inside)
