"""Operations beyond arithmetic and memory: random numbers, partial sorts, scalar functions over tiles, picked rows,
single atomic accesses, functions of libdevice."""
import math
import struct

from case import Array, Case, zeros

LINE = """
@triton.jit
def {name}(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    {statement}
"""


def values(dtype, size, seed=1):
    whole = [(k * 73 + seed * 31) % 251 - (0 if dtype[0] == "u" else 125) for k in range(size)]
    return [v * 0.25 for v in whole] if dtype[0] in "fb" else whole


def randoms():
    forms = {
        "rand": ("tl.store(out + i, tl.rand(1234567, x))", "f32"), "randn": ("tl.store(out + i, tl.randn(99, x))", "f32"),
        "randint": ("tl.store(out + i, tl.randint(-5, x).to(tl.int32, bitcast=True))", "i32"),
        "rounds": ("tl.store(out + i, tl.rand(3, x, n_rounds=6))", "f32"),
        "randint4x": ("p, q, r, s = tl.randint4x(7, x)\n    tl.store(out + i, (p ^ q ^ r ^ s).to(tl.int32, bitcast=True))", "i32"),
        "rand4x": ("p, q, r, s = tl.rand4x(7, x)\n    tl.store(out + i, tl.maximum(tl.maximum(p, q), tl.minimum(r, s)))", "f32"),
        "randn4x": ("p, q, r, s = tl.randn4x(7, x)\n    tl.store(out + i, tl.maximum(tl.maximum(p, q), tl.minimum(r, s)))", "f32"),
        "philox": ("p, q, r, s = tl.philox(1 << 40, x, x, x, x)\n    tl.store(out + i, (p ^ q ^ r ^ s).to(tl.int32))", "i32"),
        "uniform": ("tl.store(out + i, tl.random.uint_to_uniform_float(x))", "f32"),
    }  # yapf: disable
    for label, (statement, result) in forms.items():
        for dtype in ("i32", "i64", "u32", "u64"):
            name = f"random_{label}_{dtype}"
            positions = [0, 1, 2, 3, 1000, 2**31 - 1, 7, 12345]
            if dtype in ("i64", "u64"):
                positions = [*positions[:6], 2**40 + 5, 2**33]
            yield Case(name, LINE.format(name=name, statement=statement),
                       dict(a=Array(dtype, positions), out=zeros(result, 8), N=8), ulp=8 if "randn" in label else 0, near=1e-6 if "randn" in label else 0.0)


def sorts():
    for dtype in ("i8", "i32", "u16", "f16", "f32", "f64", "i64"):
        wide = dtype if dtype[1:] in ("32", "64") else "f32" if dtype[0] == "f" else "i32"
        for k in (1, 2, 8, 16):
            for descending in (True, False):
                name = f"topk_{k}_{dtype}" + ("" if descending else "_up")
                yield Case(name, LINE.format(name=name, statement=f"tl.store(out + tl.arange(0, {k}), tl.topk(x, {k}, descending={descending}))"),
                           dict(a=Array(dtype, values(dtype, 16)), out=zeros(wide, k), N=16))  # yapf: disable
    rows = LINE.replace("x = tl.load(a + i)", "x = tl.load(a + tl.arange(0, 4)[:, None] * N + i[None, :])")
    nan = math.nan
    mixed = [3.0, nan, -1.0, 2.0, nan, nan, 0.5, -7.0, 1.0, 2.0, 3.0, 4.0, 4.0, nan, 2.0, 1.0, -0.0, 0.0, 0.0, -0.0, 5.0, 5.0, -5.0, 5.0, nan, 1.0, 1.0, nan, 2.0, 0.0, -2.0, 9.0]
    for label, expression, k in (("sort", "tl.sort(x)", 8), ("sort_down", "tl.sort(x, descending=True)", 8), ("merge", "tl.bitonic_merge(x)", 8),
                                 ("merge_down", "tl.bitonic_merge(x, descending=True)", 8), ("topk", "tl.topk(x, 4)", 4), ("topk_up", "tl.topk(x, 2, descending=False)", 2)):  # yapf: disable
        for kind, given in (("f32", values("f32", 32)), ("nan", mixed)):
            name = f"rows_{label}_{kind}"
            statement = f"tl.store(out + tl.arange(0, 4)[:, None] * {k} + tl.arange(0, {k})[None, :], {expression})"
            yield Case(name, rows.format(name=name, statement=statement), dict(a=Array("f32", given), out=zeros("f32", 4 * k), N=8))


HANDWRITTEN = {
    "rows_picked": ('''
@triton.jit
def rows_picked(a, rows, out, R, C):
    d = tl.make_tensor_descriptor(a, [R, C], [C, 1], [1, 8])
    o = tl.make_tensor_descriptor(out, [R, C], [C, 1], [1, 8])
    r = tl.load(rows + tl.arange(0, 8))
    o.scatter(d.gather(r, 4) * 2.0, r, 4)
''', dict(a=Array("f32", values("f32", 96)), rows=Array("i32", [3, 0, 7, 5, 1, 2, 9, 4]), out=zeros("f32", 96), R=8, C=12)),
    "atomic_accesses": ('''
@triton.jit
def atomic_accesses(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.atomic_load(a + i, mask=i < 5, sem="relaxed", scope="cta")
    tl.atomic_store(out + i, tl.where(i < 5, x, 0) + 1, mask=i != 2)
    met = tl.atomic_poll(a, 11)
    tl.store(out + N, met.to(tl.int32))
''', dict(a=Array("i32", [11, 12, 13, 14, 15, 16, 17, 18]), out=zeros("i32", 9), N=8)),
    "atomic_timeout": ('''
@triton.jit
def atomic_timeout(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.atomic_poll(a + i, 3, timeout_ns=1).to(tl.int32))
''', dict(a=Array("i32", [1, 2, 3, 4]), out=zeros("i32", 4), N=4)),
}

MAP = "Scalar functions over tiles"
BRANCHES = """
@triton.jit
def map_branches_scalar(x, y):
    if x > 0.0:
        r = x * y
    elif x < -4.0:
        r = y
    else:
        r = -x
    return r

@triton.jit
def map_branches(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    tl.store(out + i, tl.map_elementwise(map_branches_scalar, x, x + 3.0))
"""
LOOP = """
@triton.jit
def map_loop_scalar(n):
    bits = 0
    while n != 0:
        bits += n & 1
        n = n >> 1
    return bits, n

@triton.jit
def map_loop(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    bits, rest = tl.map_elementwise(map_loop_scalar, tl.load(a + i))
    tl.store(out + i, bits + rest)
"""
PACK = """
@triton.jit
def map_pack_scalar(x0, x1, y0, y1):
    return x0 - x1, x1 + y0, y1, x0

@triton.jit
def map_pack(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    p, q = tl.map_elementwise(map_pack_scalar, x, x * 2, pack=2)
    tl.store(out + i, p + 1000 * q)
"""


def maps():
    given = values("f32", 32)
    yield Case("map_branches", BRANCHES, dict(a=Array("f32", given), out=zeros("f32", 32), N=32), why=MAP,
               expected={"out": [x * (x + 3) if x > 0 else x + 3 if x < -4 else -x for x in given]})  # yapf: disable
    yield Case("map_loop", LOOP, dict(a=Array("i32", list(range(16))), out=zeros("i32", 16), N=16), why=MAP,
               expected={"out": [bin(n).count("1") for n in range(16)]})  # yapf: disable
    packed = []
    for x0, x1 in zip(range(0, 16, 2), range(1, 16, 2)):
        packed += [x0 - x1 + 1000 * 2 * x1, x1 + 2 * x0 + 1000 * x0]
    yield Case("map_pack", PACK, dict(a=Array("i32", list(range(16))), out=zeros("i32", 16), N=16), why=MAP, expected={"out": packed})


SCALED = """
@triton.jit
def {name}(a, sa, b, sb, out, K: tl.constexpr, PA: tl.constexpr, PB: tl.constexpr, G: tl.constexpr):
    r = tl.arange(0, 16)
    x = tl.load(a + r[:, None] * (K // PA) + tl.arange(0, K // PA)[None, :])
    y = tl.load(b + r[:, None] * (K // PB) + tl.arange(0, K // PB)[None, :]).T
    s = tl.load(sa + r[:, None] * G + tl.arange(0, G)[None, :])
    t = tl.load(sb + r[:, None] * G + tl.arange(0, G)[None, :])
    c = tl.dot_scaled(x, s, "{left}", y, {scale}, "{right}")
    tl.store(out + r[:, None] * 16 + r[None, :], c)
"""
E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def small_float(byte, mantissa, bias):
    exponent, fraction = (byte & 127) >> mantissa, byte & (1 << mantissa) - 1
    magnitude = (fraction / 2**mantissa + (exponent > 0)) * 2.0**(max(exponent, 1) - bias)
    return -magnitude if byte & 128 else magnitude


DECODE = {
    "e2m1": lambda row: [(-1 if h & 8 else 1) * E2M1[h & 7] for byte in row for h in (byte & 15, byte >> 4)],
    "e4m3": lambda row: [small_float(byte, 3, 7) for byte in row], "e5m2": lambda row: [small_float(byte, 2, 15) for byte in row],
}  # yapf: disable


def scaled():
    for left, right, both in (("e2m1", "e2m1", True), ("e4m3", "e5m2", True), ("e5m2", "e2m1", False)):
        name = f"scaled_{left}_{right}"
        k, groups = 64, 2
        pack = {f: 2 if f == "e2m1" else 1 for f in (left, right)}
        bytes_of = lambda f, seed: [(i * 37 + seed) % 100 + (i % 2) * 128 if f != "e2m1" else (i * 37 + seed) % 256 for i in range(16 * k // pack[f])]  # noqa: E731
        a, b = bytes_of(left, 3), bytes_of(right, 11)
        sa, sb = ([120 + (i * seed) % 13 for i in range(16 * groups)] for seed in (5, 7))
        rows = lambda given, f: [DECODE[f](given[r * k // pack[f]:(r + 1) * k // pack[f]]) for r in range(16)]  # noqa: E731
        x, y = rows(a, left), rows(b, right)
        power = lambda scale, r, q: 2.0**(scale[r * groups + q * groups // k] - 127)  # noqa: E731
        out = [sum(x[i][q] * power(sa, i, q) * y[j][q] * (power(sb, j, q) if both else 1) for q in range(k)) for i in range(16) for j in range(16)]
        yield Case(name, SCALED.format(name=name, left=left, right=right, scale="t" if both else "None"),
                   dict(a=Array("u8", a), sa=Array("u8", sa), b=Array("u8", b), sb=Array("u8", sb), out=zeros("f32", 256), K=k, PA=pack[left], PB=pack[right], G=groups),
                   expected={"out": out}, why="Scaled products", ulp=64, near=1e-3)  # yapf: disable


UPDATE = """
@triton.jit
def {name}(a, out, R, C):
    d = tl.make_tensor_descriptor(out, [R, C], [C, 1], [8, 8])
    x = tl.load(a + tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :])
    d.atomic_{operation}([2, 4], x)
"""


def updates():
    functions = {"add": lambda old, new: (old + new) % 2**32, "and": lambda old, new: old & new, "or": lambda old, new: old | new,
                 "xor": lambda old, new: old ^ new, "max": max, "min": min}  # yapf: disable
    for operation, function in functions.items():
        name = f"update_{operation}"
        new, old = [(i * 2654435761) % 2**32 for i in range(64)], [(i * 40503 + 2**31) % 2**32 for i in range(96)]
        out = list(old)
        for r in range(6):
            for q in range(8):
                at = (2 + r) * 12 + 4 + q
                out[at] = function(old[at], new[r * 8 + q])
        yield Case(name, UPDATE.format(name=name, operation=operation), dict(a=Array("u32", new), out=Array("u32", old), R=8, C=12),
                   expected={"out": out}, why="Atomic updates through descriptors")


def ascend():
    why, ext = "Extensions of Ascend", "tl.extra.cann.extension"
    plane = LINE.replace("x = tl.load(a + i)", "r = tl.arange(0, 4)\n    x = tl.load(a + r[:, None] * N + i[None, :])")
    given = values("i32", 32)
    cut = [given[(1 + r) * 8 + 2 + 2 * q] for r in range(2) for q in range(3)]
    put = list(given)
    for at, value in zip([(1 + r) * 8 + 2 + 2 * q for r in range(2) for q in range(3)], [100 * v for v in cut]):
        put[at] = value
    statement = (f"p = {ext}.extract_slice(x, (1, 2), (2, 3), (1, 2))\n"
                 f"    y = {ext}.insert_slice(x, p * 100, (1, 2), (2, 3), (1, 2))\n    tl.store(out + r[:, None] * N + i[None, :], y)")
    yield Case("ascend_slices", plane.format(name="ascend_slices", statement=statement), dict(a=Array("i32", given), out=zeros("i32", 32), N=8), expected={"out": put}, why=why)
    yield Case("ascend_element", plane.format(name="ascend_element", statement=f"tl.store(out, {ext}.get_element(x, (3, 5)))"),
               dict(a=Array("i32", given), out=zeros("i32", 1), N=8), expected={"out": [given[29]]}, why=why)
    wide = [0, 127, 128, -128, -129, 70000, -70000, 5]
    for dtype, low, high in (("int8", -128, 127), ("uint8", 0, 255), ("int16", -32768, 32767)):
        name = f"ascend_saturate_{dtype}"
        yield Case(name, LINE.format(name=name, statement=f"tl.store(out + i, {ext}.cast(x, tl.{dtype}, overflow_mode='saturate').to(tl.int32))"),
                   dict(a=Array("i32", wide), out=zeros("i32", 8), N=8), expected={"out": [min(max(v, low), high) for v in wide]}, why=why)
    source, rows = values("f32", 48), [3, 0, 5, 9]
    gather = ("j = tl.load(out_index + tl.arange(0, 4)[:, None] * N + i[None, :])\n"
              f"    g = {ext}.gather_out_to_ub(a, j, 6, 0, (8, 1), (4, 7), (0, 1), 9.0)\n    tl.store(out + tl.arange(0, 4)[:, None] * N + i[None, :], g)")
    index = [rows[(r + q) % 4] for r in range(4) for q in range(8)]
    inside = lambda r, q: index[r * 8 + q] < 6 and 1 + q < 7  # noqa: E731
    yield Case("ascend_gather", LINE.format(name="ascend_gather", statement=gather).replace("(a, out,", "(a, out_index, out,"),
               dict(a=Array("f32", source), out_index=Array("i32", index), out=zeros("f32", 32), N=8), why=why,
               expected={"out": [source[index[r * 8 + q] * 8 + 1 + q] if inside(r, q) else 9.0 for r in range(4) for q in range(8)]})
    put = ("j = tl.load(index + tl.arange(0, 4))\n    v = tl.load(a + tl.arange(0, 4)[:, None] * N + i[None, :])\n"
           f"    {ext}.index_put(out, j, v, 0, 6, (4, 7), (0, 1), (8, 1))")
    out = [0.0] * 48
    for r, row in enumerate(rows):
        for q in range(6):
            if row < 6:
                out[row * 8 + 1 + q] = source[r * 8 + q]
    yield Case("ascend_index_put", LINE.format(name="ascend_index_put", statement=put).replace("(a, out,", "(a, index, out,"),
               dict(a=Array("f32", source), index=Array("i32", rows), out=zeros("f32", 48), N=8), expected={"out": out}, why=why)
    select = ("j = tl.load(index + tl.arange(0, 4))\n"
              f"    s = {ext}.index_select_simd(a, 0, j, [6, N], [-1, 2], [-1, 4])\n"
              "    tl.store(out + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :], s)")
    chosen = [3, 0, 5, 1]
    yield Case("ascend_index_select", LINE.format(name="ascend_index_select", statement=select).replace("(a, out,", "(a, index, out,"),
               dict(a=Array("f32", source), index=Array("i32", chosen), out=zeros("f32", 16), N=8), why=why,
               expected={"out": [source[row * 8 + 2 + q] for row in chosen for q in range(4)]})


WHY = "Functions of libdevice"
F = [0.5, -0.75, 1.5, 2.25, -3.5, 0.1, 7.0, -0.001]
P = [0.5, 0.75, 1.5, 2.25, 3.5, 0.1, 7.0, 0.001]
U = [0.5, -0.75, 0.25, 0.9, -0.1, 0.001, -0.999, 0.3]
TWO = [1.25, -2.0, 0.5, 3.0, 1.0, -0.5, 2.0, 4.0]


def nearest_even(x):
    return float(round(x))


def away(x):
    return math.copysign(math.floor(abs(x) + 0.5), x)


#: name: (arguments, the function by Python's math, units in the last place of an f32)
LIBRARY = {
    "tan": (F, math.tan), "sinh": (F, math.sinh), "cosh": (F, math.cosh), "tanh": (F, math.tanh), "asin": (U, math.asin), "acos": (U, math.acos),
    "atan": (F, math.atan), "asinh": (F, math.asinh), "acosh": ([1.0, 1.5, 2.0, 3.0, 10.0, 1.01, 100.0, 5.0], math.acosh), "atanh": (U, math.atanh),
    "log10": (P, math.log10), "log1p": (P, math.log1p), "expm1": (F, math.expm1), "exp10": (U, lambda x: 10.0**x), "erf": (F, math.erf),
    "erfc": (F, math.erfc), "tgamma": (P, math.gamma), "lgamma": (P, math.lgamma), "cbrt": (F, lambda x: math.copysign(abs(x)**(1 / 3), x)),
    "rcbrt": (P, lambda x: x**(-1 / 3)), "sinpi": (U, lambda x: math.sin(math.pi * x)), "cospi": (U, lambda x: math.cos(math.pi * x)),
    "normcdf": (U, lambda x: math.erfc(-x / math.sqrt(2)) / 2), "rint": (F, nearest_even), "nearbyint": (F, nearest_even), "round": (F, away), "trunc": (F, lambda x: float(math.trunc(x))),
    "logb": (P, lambda x: float(math.frexp(x)[1] - 1)), "fast_expf": (F, math.exp), "fast_logf": (P, math.log), "fast_sinf": (F, math.sin), "fast_tanf": (F, math.tan),
    "fast_log2f": (P, math.log2), "fast_exp10f": (U, lambda x: 10.0**x), "saturatef": (F, lambda x: min(max(x, 0.0), 1.0)), "rcp_rn": (F, lambda x: 1 / x),
    "erfcx": (P, lambda x: math.exp(x * x) * math.erfc(x)),
}
#: inverses: what the inverse gives, put through the function, is the argument again
INVERSES = {"erfinv": (U, math.erf), "erfcinv": ([0.5, 1.75, 0.25, 0.01, 1.1, 0.001, 1.9, 0.9], math.erfc),
            "normcdfinv": ([0.5, 0.75, 0.25, 0.9, 0.1, 0.01, 0.99, 0.3], lambda x: math.erfc(-x / math.sqrt(2)) / 2)}  # yapf: disable
BINARY = {
    "pow": (P, TWO, math.pow), "atan2": (F, TWO, math.atan2), "fmod": (F, TWO, math.fmod), "remainder": (F, TWO, math.remainder), "hypot": (F, TWO, math.hypot),
    "rhypot": (F, TWO, lambda x, y: 1 / math.hypot(x, y)), "copysign": (F, TWO, math.copysign), "fdim": (F, TWO, lambda x, y: max(x - y, 0.0)),
    "fast_powf": (P, TWO, math.pow), "fast_dividef": (F, TWO, lambda x, y: x / y),
}
INTEGER = {
    "float2int_rn": (F, nearest_even), "float2int_rz": (F, math.trunc), "float2int_rd": (F, math.floor), "float2int_ru": (F, math.ceil), "llrint": (F, nearest_even),
    "llround": (F, away), "isnan": ([math.nan, 1.0, math.inf, 0.0], math.isnan), "isinf": ([math.nan, -math.inf, math.inf, 0.0], math.isinf),
    "finitef": ([math.nan, -math.inf, 3.0, 0.0], math.isfinite), "signbit": ([-0.0, 0.0, -2.0, math.inf], lambda x: math.copysign(1, x) < 0),
    "ilogb": (P, lambda x: math.frexp(x)[1] - 1),
}
BITS = {
    "clz": ([0, 1, 255, -1], lambda x: 32 - (x & 0xffffffff).bit_length()), "popc": ([0, 1, 255, -1], lambda x: bin(x & 0xffffffff).count("1")),
    "ffs": ([0, 1, 40, -8], lambda x: (x & -x).bit_length()), "brev": ([1, 2, 0, 12], lambda x: int(f"{x:032b}"[::-1], 2)),
}


def signed(x):
    return (x + 2**31) % 2**32 - 2**31


WIDE = """
@triton.jit
def wide_{name}(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    tl.store(out + i, {expression})
"""


def wide():
    for name, expression, dtype in (("or", "x | 0x8000000000000000", "u64"), ("all", "x ^ (2**64 - 1)", "u64"), ("add", "x + 0xfffffffffffffff0", "u64"),
                                    ("shift", "(x | (1 << 63)) >> 3", "u64"), ("least", "x + -(2**63)", "i64"), ("compare", "tl.where(x < 0xf000000000000000, x, 1)", "u64"),
                                    ("product", "x * 0x9e3779b97f4a7c15", "u64")):  # yapf: disable
        yield Case(f"wide_{name}", WIDE.format(name=name, expression=expression),
                   dict(a=Array(dtype, [0, 1, 77, 2**62, 2**63 - 1 if dtype == "i64" else 2**64 - 1, 2**40, 12345678901234567, 3]), out=zeros(dtype, 8), N=8))


def library():
    def case(name, statement, arguments, out, expected, **room):
        source = LINE.format(name=name, statement=statement) if "b" not in arguments else \
            LINE.format(name=name, statement=statement).replace("(a, out", "(a, b, out").replace("x = tl.load(a + i)", "x = tl.load(a + i)\n    y = tl.load(b + i)")
        size = len(next(iter(arguments.values())).values)
        return Case(name, source, dict(arguments, out=zeros(out, size), N=size), expected={"out": expected}, why=WHY, **room)

    f32 = lambda given: [float_of(v) for v in given]  # noqa: E731
    for name, (given, function) in LIBRARY.items():
        yield case(f"libdevice_{name}", f"tl.store(out + i, libdevice.{name}(x))", dict(a=Array("f32", given)), "f32", [function(v) for v in f32(given)], ulp=2)
    for name, (given, function) in INVERSES.items():
        forward = {"erfinv": "tl.erf(r)", "erfcinv": "libdevice.erfc(r)", "normcdfinv": "libdevice.normcdf(r)"}[name]
        yield case(f"libdevice_{name}", f"r = libdevice.{name}(x.to(tl.float64))\n    tl.store(out + i, {forward})", dict(a=Array("f32", given)), "f32", f32(given), ulp=1)
    for name, (left, right, function) in BINARY.items():
        yield case(f"libdevice_{name}", f"tl.store(out + i, libdevice.{name}(x, y))", dict(a=Array("f32", left), b=Array("f32", right)), "f32",
                   [function(v, w) for v, w in zip(f32(left), f32(right))], ulp=2)
    for name, (given, function) in INTEGER.items():
        yield case(f"libdevice_{name}", f"tl.store(out + i, libdevice.{name}(x).to(tl.int32))", dict(a=Array("f32", given)), "i32", [int(function(v)) for v in f32(given)])
    for name, (given, function) in BITS.items():
        yield case(f"libdevice_{name}", f"tl.store(out + i, libdevice.{name}(x))", dict(a=Array("i32", given)), "i32", [signed(function(v)) for v in given])
    left, right = [-7, 2**31 - 1, -(2**31), 12345], [3, 2**30, -1, -678]
    for name, function in {"mulhi": lambda x, y: x * y >> 32, "mul24": lambda x, y: ((x + 2**23) % 2**24 - 2**23) * ((y + 2**23) % 2**24 - 2**23),
                           "hadd": lambda x, y: x + y >> 1, "rhadd": lambda x, y: x + y + 1 >> 1}.items():  # yapf: disable
        yield case(f"libdevice_{name}", f"tl.store(out + i, libdevice.{name}(x, y))", dict(a=Array("i32", left), b=Array("i32", right)), "i32",
                   [signed(function(v, w)) for v, w in zip(left, right)])
    yield case("libdevice_sad", "tl.store(out + i, libdevice.sad(x, y, 5))", dict(a=Array("i32", left), b=Array("i32", right)), "i32",
               [signed(abs(v - w) + 5) for v, w in zip(left, right)])
    yield case("libdevice_byte_perm", "tl.store(out + i, libdevice.byte_perm(x, y, 0x5140))", dict(a=Array("i32", [0x03020100] * 2), b=Array("i32", [0x07060504] * 2)), "i32",
               [0x05010400] * 2)
    words = [0x3ff00000, 0x40091eb8, -0x40100000, 0]
    yield case("libdevice_words", "r = libdevice.hiloint2double(x, 77)\n    tl.store(out + i, libdevice.double2hiint(r) ^ libdevice.double2loint(r))", dict(a=Array("i32", words)),
               "i32", [signed(v ^ 77) for v in words])
    one, tiny = 1.0, 2.0**-30
    for mode, (up, down) in {"rz": (one, one - 2**-24), "rd": (one, one - 2**-24), "ru": (one + 2**-23, one)}.items():
        yield case(f"libdevice_add_{mode}", f"tl.store(out + i, libdevice.add_{mode}(x, y))", dict(a=Array("f32", [one, one]), b=Array("f32", [tiny, -tiny])), "f32", [up, down])
    third = {"rz": 0.3333333134651184, "rd": 0.3333333134651184, "ru": 0.3333333432674408}
    for mode, result in third.items():
        yield case(f"libdevice_div_{mode}", f"tl.store(out + i, libdevice.div_{mode}(x, 3.0))", dict(a=Array("f32", [1.0, 1.0])), "f32", [result] * 2)
        yield case(f"libdevice_rcp_{mode}", f"tl.store(out + i, libdevice.rcp_{mode}(x))", dict(a=Array("f32", [3.0, 3.0])), "f32", [result] * 2)
    big = [2**24 + 1, -(2**24 + 1)]
    for mode, result in {"rz": (2.0**24, -(2.0**24)), "rd": (2.0**24, -(2.0**24 + 2)), "ru": (2.0**24 + 2, -(2.0**24))}.items():
        yield case(f"libdevice_int2float_{mode}", f"tl.store(out + i, libdevice.int2float_{mode}(x))", dict(a=Array("i32", big)), "f32", list(result))
    yield case("libdevice_nextafter", "tl.store(out + i, libdevice.nextafter(x, 2.0))", dict(a=Array("f32", [1.0, 3.0])), "f32", [1 + 2**-23, 3 - 2**-22])
    yield case("libdevice_norm3d", "tl.store(out + i, libdevice.norm3d(x, 3.0, 6.0))", dict(a=Array("f32", [2.0, -2.0])), "f32", [7.0, 7.0])
    yield case("libdevice_rnorm4d", "tl.store(out + i, libdevice.rnorm4d(x, 2.0, 4.0, 2.0))", dict(a=Array("f32", [1.0, -1.0])), "f32", [0.2, 0.2])
    yield case("libdevice_ldexp", "tl.store(out + i, libdevice.ldexp(x, 3))", dict(a=Array("f32", [1.5, -1.0])), "f32", [12.0, -8.0])
    # Abramowitz and Stegun, tables 9.1 and 9.8
    for name, result in {"j0": 0.7651976866, "j1": 0.4400505857, "y0": 0.0882569642, "y1": -0.7812128213, "cyl_bessel_i0": 1.2660658778, "cyl_bessel_i1": 0.5651591040}.items():
        yield case(f"libdevice_{name}", f"tl.store(out + i, libdevice.{name}(x))", dict(a=Array("f32", [1.0, 1.0])), "f32", [result] * 2, ulp=2)
    yield case("libdevice_jn", "tl.store(out + i, libdevice.jn(2, x))", dict(a=Array("f32", [1.0, 1.0])), "f32", [0.1149034849] * 2, ulp=2)


def float_of(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def cases():
    yield from randoms()
    yield from sorts()
    for name, (source, arguments) in HANDWRITTEN.items():
        yield Case(name, source, arguments)
    yield from maps()
    yield from scaled()
    yield from updates()
    yield from ascend()
    yield from wide()
    yield from library()
