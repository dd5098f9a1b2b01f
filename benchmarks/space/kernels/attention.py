"""Causal attention, forward: a tile of queries a program, a loop over keys that are all visible, then one over
the keys at the diagonal."""
import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def _over_keys(acc, norm, peak, queries, k, v, lane, rows, first, last, S, scale, D: tl.constexpr,
               BLOCK_N: tl.constexpr, DIAGONAL: tl.constexpr):
    dim = tl.arange(0, D)
    for start in range(first, last, BLOCK_N):
        start = tl.multiple_of(start, BLOCK_N)
        at = start + lane
        if DIAGONAL:
            keys = tl.load(k + at[None, :] * D + dim[:, None], mask=(at < S)[None, :], other=0.0)
        else:
            keys = tl.load(k + at[None, :] * D + dim[:, None])
        score = tl.dot(queries, keys) * scale
        if DIAGONAL:
            score = tl.where(rows[:, None] >= at[None, :], score, -1.0e6)
        higher = tl.maximum(peak, tl.max(score, 1))
        p = tl.exp2(score - higher[:, None])
        fade = tl.exp2(peak - higher)
        norm = norm * fade + tl.sum(p, 1)
        acc = acc * fade[:, None]
        if DIAGONAL:
            values = tl.load(v + at[:, None] * D + dim[None, :], mask=(at < S)[:, None], other=0.0)
        else:
            values = tl.load(v + at[:, None] * D + dim[None, :])
        acc = tl.dot(p.to(tl.float16), values, acc)
        peak = higher
    return acc, norm, peak


@triton.jit(do_not_specialize=["S"])
def attention(q, k, v, out, S, scale, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    tile = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64) * S * D
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    dim = tl.arange(0, D)
    lane = tl.arange(0, BLOCK_N)
    row_inside = (rows < S)[:, None]
    offsets = rows[:, None] * D + dim[None, :]
    queries = tl.load(q + head + offsets, mask=row_inside, other=0.0)
    scale = scale * LOG2_E
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    norm = tl.zeros((BLOCK_M,), tl.float32)
    peak = tl.full((BLOCK_M,), -1.0e30, tl.float32)
    diagonal = tile * BLOCK_M // BLOCK_N * BLOCK_N
    last = min((tile + 1) * BLOCK_M, S)
    acc, norm, peak = _over_keys(acc, norm, peak, queries, k + head, v + head, lane, rows, 0, diagonal, S, scale, D,
                                 BLOCK_N, False)
    acc, norm, peak = _over_keys(acc, norm, peak, queries, k + head, v + head, lane, rows, diagonal, last, S, scale,
                                 D, BLOCK_N, True)
    tl.store(out + head + offsets, (acc / norm[:, None]).to(tl.float16), mask=row_inside)
