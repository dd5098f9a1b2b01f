"""Reductions, scans, sorting, histograms, gathers."""
from case import Array, Case, edges, is_float, repeat, zeros

REDUCE = """
@triton.jit
def {name}(a, out, M: tl.constexpr, N: tl.constexpr):
    r = tl.arange(0, M)
    c = tl.arange(0, N)
    x = tl.load(a + r[:, None] * N + c[None, :])
    {statement}
"""

COLUMN = "tl.store(out + c, {})"
ROW = "tl.store(out + r, {})"
REDUCTIONS = {
    "sum_0": COLUMN.format("tl.sum(x, 0)"), "sum_1": ROW.format("tl.sum(x, axis=1)"), "sum_none": "tl.store(out, tl.sum(x))",
    "sum_keep": "tl.store(out + r[:, None], tl.sum(x, 1, keep_dims=True))", "sum_method": ROW.format("x.sum(1)"),
    "max_0": COLUMN.format("tl.max(x, 0)"), "max_1": ROW.format("tl.max(x, -1)"), "max_none": "tl.store(out, tl.max(x))",
    "min_0": COLUMN.format("tl.min(x, 0)"), "min_1": ROW.format("x.min(1)"), "min_keep": "tl.store(out + c[None, :], tl.min(x, 0, keep_dims=True))",
    "argmax_0": COLUMN.format("tl.argmax(x, 0)"), "argmax_1": ROW.format("tl.argmax(x, 1)"), "argmin_1": ROW.format("tl.argmin(x, axis=1)"),
    "argmin_keep": "tl.store(out + r[:, None], tl.argmin(x, 1, keep_dims=True))",
}  # yapf: disable
INTEGER = {
    "xor_0": COLUMN.format("tl.xor_sum(x, 0)"), "xor_1": ROW.format("tl.xor_sum(x, 1)"), "or_1": ROW.format("tl.reduce_or(x, 1)"),
}  # yapf: disable

SCAN = """
@triton.jit
def {name}(a, out, M: tl.constexpr, N: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(a + p)
    tl.store(out + p, {expression})
"""
SCANS = {
    "cumsum_0": "tl.cumsum(x, 0)", "cumsum_1": "tl.cumsum(x, axis=1)", "cumsum_reverse": "tl.cumsum(x, 1, reverse=True)",
    "cumprod_1": "tl.cumprod(x, 1)", "cumprod_reverse_0": "tl.cumprod(x, 0, reverse=True)", "sort": "tl.sort(x)",
    "sort_descending": "tl.sort(x, descending=True)", "flip_1": "tl.flip(x)", "flip_0": "tl.flip(x, 0)",
    "method": "x.cumsum(1)",
}  # yapf: disable


def small(dtype, size, seed=0):
    values = [((k * 7 + seed) % 13) - (0 if dtype[0] == "u" else 6) for k in range(size)]
    return [v * 0.5 for v in values] if is_float(dtype) else values


def reductions():
    for dtype in ("i8", "i32", "i64", "u8", "u16", "u32", "f16", "f32", "f64"):
        table = REDUCTIONS if is_float(dtype) else {**REDUCTIONS, **INTEGER}
        for label, statement in table.items():
            if label == "or_1" and dtype in ("i8", "u8", "u16"):
                pass
            out = "i32" if label.startswith("arg") else dtype if is_float(dtype) or "64" in dtype else "i32" if dtype[0] == "i" else "u32"
            # exactly representable sums: the order does not matter
            name = f"reduce_{label}_{dtype}"
            yield Case(name, REDUCE.format(name=name, statement=statement),
                       dict(a=Array(dtype, small(dtype, 32)), out=zeros(out, 8), M=4, N=8))
    for dtype in ("i8", "i32", "u8", "u64"):
        for label in ("sum_1", "max_0", "min_1", "xor_1"):
            out = dtype if "64" in dtype else "i32" if dtype[0] == "i" else "u32"
            name = f"reduce_edges_{label}_{dtype}"
            yield Case(name, REDUCE.format(name=name, statement={**REDUCTIONS, **INTEGER}[label]),
                       dict(a=Array(dtype, repeat(edges(dtype), 32)), out=zeros(out, 8), M=4, N=8))
    for label in ("sum_1", "max_1", "min_0", "argmax_1", "argmin_1"):
        name = f"reduce_inexact_{label}"
        yield Case(name, REDUCE.format(name=name, statement=REDUCTIONS[label]),
                   dict(a=Array("f32", [((k * 0.618033) % 1.0) - 0.5 for k in range(256)]),
                        out=zeros("i32" if "arg" in label else "f32", 32), M=8, N=32), ulp=16, near=1e-6)  # yapf: disable
    nan, inf = float("nan"), float("inf")
    for label in ("max_1", "min_1"):
        name = f"reduce_nan_{label}"
        values = [1.0, nan, 3.0, -2.0, nan, nan, nan, nan, inf, 1.0, nan, -inf, 0.0, 5.0, 5.0, nan]
        yield Case(name, REDUCE.format(name=name, statement=REDUCTIONS[label]),
                   dict(a=Array("f32", values), out=zeros("f32", 4), M=4, N=4))
    for label in ("argmax_1", "argmin_1"):  # ties go left
        name = f"reduce_ties_{label}"
        yield Case(name, REDUCE.format(name=name, statement=REDUCTIONS[label]),
                   dict(a=Array("f32", [1, 1, 1, 1, 2, 1, 2, 1, 0, -1, -1, 0, 3, 2, 3, 2]), out=zeros("i32", 4), M=4, N=4))


def scans():
    for dtype in ("i8", "i32", "i64", "u32", "f32", "f64", "f16"):
        for label, expression in SCANS.items():
            if label.startswith("cumprod") and dtype == "f16":
                continue
            name = f"scan_{label}_{dtype}"
            yield Case(name, SCAN.format(name=name, expression=expression),
                       dict(a=Array(dtype, small(dtype, 32, 3)), out=zeros(dtype, 32), M=4, N=8))


HANDWRITTEN = '''
@triton.jit
def mul_combine(a, b):
    return a * b

@triton.jit
def first_combine(a, b):
    return a

@triton.jit
def last_combine(a, b):
    return b

@triton.jit
def maxpair_combine(v1, i1, v2, i2):
    better = (v1 > v2) | ((v1 == v2) & (i1 < i2))
    return tl.where(better, v1, v2), tl.where(better, i1, i2)

@triton.jit
def linear_combine(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2

@triton.jit
def user_reduce(a, out, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(a + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(out + tl.arange(0, M), tl.reduce(x, 1, mul_combine))

@triton.jit
def user_reduce_none(a, out, N: tl.constexpr):
    x = tl.load(a + tl.arange(0, N))
    tl.store(out, tl.reduce(x, None, mul_combine))

@triton.jit
def reduce_first(a, out, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(a + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(out + tl.arange(0, N), tl.reduce(x, 0, first_combine))
    tl.store(out + N + tl.arange(0, N), tl.reduce(x, 0, last_combine))

@triton.jit
def reduce_tuple(a, values, indices, M: tl.constexpr, N: tl.constexpr):
    c = tl.arange(0, N)
    x = tl.load(a + tl.arange(0, M)[:, None] * N + c[None, :])
    i = tl.broadcast_to(c[None, :], (M, N))
    v, j = tl.reduce((x, i), 1, maxpair_combine)
    tl.store(values + tl.arange(0, M), v)
    tl.store(indices + tl.arange(0, M), j)

@triton.jit
def max_with_indices(a, values, indices, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(a + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    v, j = tl.max(x, 1, return_indices=True)
    tl.store(values + tl.arange(0, M), v)
    tl.store(indices + tl.arange(0, M), j)
    w, k = tl.min(x, 0, return_indices=True)
    tl.store(values + M + tl.arange(0, N), w)
    tl.store(indices + M + tl.arange(0, N), k)

@triton.jit
def linear_scan(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    p, q = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, linear_combine)
    tl.store(out + i, q)
    tl.store(out + N + i, p)

@triton.jit
def scan_max(a, out, M: tl.constexpr, N: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(a + p)
    tl.store(out + p, tl.associative_scan(x, 1, max_combine, reverse=True))

@triton.jit
def max_combine(a, b):
    return tl.maximum(a, b)

@triton.jit
def histogram_plain(a, out, N: tl.constexpr, B: tl.constexpr):
    h = tl.histogram(tl.load(a + tl.arange(0, N)), B)
    tl.store(out + tl.arange(0, B), h)

@triton.jit
def histogram_masked(a, out, n, N: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, N)
    h = tl.histogram(tl.load(a + i), B, mask=i < n)
    tl.store(out + tl.arange(0, B), h)

@triton.jit
def gather_rows(a, idx, out, M: tl.constexpr, N: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + p, tl.gather(tl.load(a + p), tl.load(idx + p), 1))

@triton.jit
def gather_columns(a, idx, out, M: tl.constexpr, N: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + p, tl.gather(tl.load(a + p), tl.load(idx + p), axis=0))

@triton.jit
def topk_values(a, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    x = tl.load(a + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    y = tl.topk(x, K)
    tl.store(out + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :], y)

@triton.jit
def softmax_rows(a, out, n, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(a + row * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out + row * n + i, e / tl.sum(e, 0), mask=i < n)

@triton.jit
def layer_norm(a, w, out, n, eps, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i, mask=i < n, other=0.0)
    mean = tl.sum(x, 0) / n
    d = tl.where(i < n, x - mean, 0.0)
    var = tl.sum(d * d, 0) / n
    tl.store(out + i, d / tl.sqrt(var + eps) * tl.load(w + i, mask=i < n), mask=i < n)

@triton.jit
def sum_bool(a, out, N: tl.constexpr):
    m = tl.load(a + tl.arange(0, N)) > 2
    tl.store(out, tl.sum(m.to(tl.int32)))
    tl.store(out + 1, tl.sum(m))
    tl.store(out + 2, tl.max(m.to(tl.int8)))
    tl.store(out + 3, tl.min(m.to(tl.int32), 0))

@triton.jit
def sum_dtype(a, out, N: tl.constexpr):
    x = tl.load(a + tl.arange(0, N))
    tl.store(out, tl.sum(x, dtype=tl.int64))
    tl.store(out + 1, tl.sum(x.to(tl.int64)))

@triton.jit
def reduce_3d(a, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    p = tl.arange(0, A)[:, None, None] * (B * C) + tl.arange(0, B)[None, :, None] * C + tl.arange(0, C)[None, None, :]
    x = tl.load(a + p)
    y = tl.sum(x, 1)
    tl.store(out + tl.arange(0, A)[:, None] * C + tl.arange(0, C)[None, :], y + tl.max(y, 1)[:, None])
'''

PAIR = [3, 9, 1, 9, -2, 0, 7, 7]
GRID = [[2, 0, 1, 3], [1, 1, 0, 0], [3, 2, 1, 0], [0, 3, 0, 3]]
ARGUMENTS = {
    "user_reduce": (dict(a=Array("f32", [0.5, 2.0, 3.0, -1.0] * 4), out=zeros("f32", 4), M=4, N=4), (1, )),
    "user_reduce_none": (dict(a=Array("i32", [1, 2, 3, 4, 5, 6, 7, -8]), out=zeros("i32", 1), N=8), (1, )),
    "reduce_first": (dict(a=Array("i32", list(range(16))), out=zeros("i32", 8), M=4, N=4), (1, )),
    "reduce_tuple": (dict(a=Array("i32", PAIR * 2), values=zeros("i32", 2), indices=zeros("i32", 2), M=2, N=8), (1, )),
    "max_with_indices": (dict(a=Array("f32", PAIR * 2), values=zeros("f32", 10), indices=zeros("i32", 10), M=2, N=8), (1, )),
    "linear_scan": (dict(a=Array("f32", [0.5, 1.0, 2.0, 0.25] * 2), b=Array("f32", [1.0, -1.0, 0.5, 2.0] * 2), out=zeros("f32", 16), N=8), (1, )),
    "scan_max": (dict(a=Array("i32", PAIR * 2), out=zeros("i32", 16), M=2, N=8), (1, )),
    "histogram_plain": (dict(a=Array("i32", [0, 1, 1, 3, 7, 7, 7, 2, 0, 5, 5, 6, 4, 4, 4, 4]), out=zeros("i32", 8), N=16, B=8), (1, )),
    "histogram_masked": (dict(a=Array("i32", [0, 1, 1, 3, 7, 7, 7, 2, 0, 5, 5, 6, 4, 4, 4, 4]), out=zeros("i32", 8), n=11, N=16, B=8), (1, )),
    "gather_rows": (dict(a=Array("f32", list(range(16))), idx=Array("i32", sum(GRID, [])), out=zeros("f32", 16), M=4, N=4), (1, )),
    "gather_columns": (dict(a=Array("i16", list(range(16))), idx=Array("i32", sum(GRID, [])), out=zeros("i16", 16), M=4, N=4), (1, )),
    "topk_values": (dict(a=Array("f32", [5, 1, 4, 2, 8, 7, 6, 3] * 2), out=zeros("f32", 8), M=2, N=8, K=4), (1, )),
    "softmax_rows": (dict(a=Array("f32", [((k * 0.37) % 5) - 2 for k in range(39)]), out=zeros("f32", 39), n=13, N=16), (3, )),
    "layer_norm": (dict(a=Array("f32", [((k * 0.37) % 5) - 2 for k in range(13)]), w=Array("f32", [1.0 + k / 8 for k in range(13)]), out=zeros("f32", 13), n=13, eps=1e-5, N=16), (1, )),
    "sum_bool": (dict(a=Array("i32", PAIR), out=zeros("i32", 4), N=8), (1, )),
    "sum_dtype": (dict(a=Array("i32", [2**31 - 1, 2**31 - 1, 5, 7]), out=zeros("i64", 2), N=4), (1, )),
    "reduce_3d": (dict(a=Array("i32", [(k * 5) % 11 for k in range(32)]), out=zeros("i32", 16), A=4, B=2, C=4), (1, )),
}  # yapf: disable
MORE = {"softmax_rows": dict(ulp=4), "layer_norm": dict(ulp=16, near=1e-6)}


def cases():
    from tables.memory import handwritten
    yield from reductions()
    yield from scans()
    yield from handwritten(HANDWRITTEN, ARGUMENTS, **MORE)
