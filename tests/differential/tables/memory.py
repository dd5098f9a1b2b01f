"""Loads and stores: masks and `other`, tails over a grid, 2-D strides, in place, aliasing, atomics."""
from case import FLOATS, INTS, Array, Case, edges, is_float, repeat, zeros

LOADS = {
    "other_zero": "tl.load(a + i, mask=i < n, other=0)", "other_one": "tl.load(a + i, mask=i < n, other=1)",
    "other_minus": "tl.load(a + i, i < n, -1)", "other_value": "tl.load(a + i, mask=i % 3 != 0, other=tl.load(a))",
    "other_tile": "tl.load(a + i, mask=(i & 1) == 0, other=i.to(a.dtype.element_ty))", "unmasked": "tl.load(a + i)",
    "true_mask": "tl.load(a + i, mask=True, other=5)", "scalar": "tl.load(a + n)", "cached": 'tl.load(a + i, cache_modifier=".cg")',
    "evicted": 'tl.load(a + i, i < n, other=2, eviction_policy="evict_last", volatile=True)', "reversed": "tl.load(a + (N - 1 - i))",
    "strided": "tl.load(a + i // 2)", "repeated": "tl.load(a + i * 0)", "rewritten": "tl.load(a + (i * 7) % N)",
}  # yapf: disable

LOAD = """
@triton.jit
def {name}(a, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = {expression}
    tl.store(out + i, x)
"""

ATOMIC = """
@triton.jit
def {name}(a, b, old, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(b + i)
    r = tl.atomic_{operation}(a + i, v, mask=i < n{more})
    tl.store(old + i, r, mask=i < n)
"""

CONTENDED = """
@triton.jit
def {name}(a, b, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.atomic_{operation}(a + i % 4, tl.load(b + i))
"""

CAS = """
@triton.jit
def {name}(a, b, c, old, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(old + i, tl.atomic_cas(a + i, tl.load(b + i), tl.load(c + i)))
"""


def loads():
    for dtype in ("i1", *INTS, *FLOATS):
        values = repeat(edges(dtype), 32)
        for label, expression in LOADS.items():
            if dtype[0] == "u" and label == "other_minus":
                continue
            if dtype == "i1" and label in ("other_tile", "other_minus", "true_mask", "evicted"):
                continue
            known = {}
            if dtype == "bf16" and label in ("other_one", "other_minus", "other_tile", "true_mask", "evicted"):
                other = {"other_one": 1.0, "other_minus": -1.0, "true_mask": None, "evicted": 2.0}.get(label, "i")
                inside = (lambda i: i % 2 == 0) if label == "other_tile" else (lambda i: label == "true_mask" or i < 20)
                known = dict(expected={"out": [values[i] if inside(i) else i if other == "i" else other for i in range(32)]},
                             why="Arithmetic on bf16")  # yapf: disable
            name = f"load_{label}_{dtype}"
            yield Case(name, LOAD.format(name=name, expression=expression),
                       dict(a=Array(dtype, values), out=zeros(dtype, 32), n=20, N=32), **known)


def atomics():
    for dtype in ("i32", "i64", "u32", "u64", "f32", "f64", "f16"):
        operations = ["add", "xchg"] if dtype[0] == "f" else ["add", "max", "min", "and", "or", "xor", "xchg"]
        operations += ["max", "min"] if dtype in ("f32", "f64") else []
        if dtype == "f16":
            operations = ["add"]
        for operation in operations:
            name = f"atomic_{operation}_{dtype}"
            values = [v for v in edges(dtype) if v == v]  # not NaN: an atomic may choose which
            a, b = repeat(values, 16), repeat(list(reversed(values)), 16)
            known = {}
            if operation == "xchg" and dtype[0] == "f":  # interpreter mode exchanges integers only
                known = dict(expected={"a": b[:13] + a[13:], "old": a[:13] + [0.0] * 3}, why="Exchange of floats")
            more = ', sem="relaxed", scope="cta"' if operation in ("max", "xor") else ""
            yield Case(name, ATOMIC.format(name=name, operation=operation, more=more),
                       dict(a=Array(dtype, a), b=Array(dtype, b), old=zeros(dtype, 16), n=13, N=16), **known)
            if operation != "xchg":
                name = f"contended_{operation}_{dtype}"
                b = [k - 7.0 for k in range(32)] if dtype[0] == "f" else [k * 5 + 3 for k in range(32)]
                yield Case(name, CONTENDED.format(name=name, operation=operation),
                           dict(a=Array(dtype, [1, 2, 3, 4]), b=Array(dtype, b), N=8), grid=(4, ))
    for dtype in ("i32", "i64", "u32", "u64"):
        name = f"atomic_cas_{dtype}"
        yield Case(name, CAS.format(name=name),
                   dict(a=Array(dtype, [1, 2, 3, 4]), b=Array(dtype, [1, 0, 3, 9]), c=Array(dtype, [10, 20, 30, 40]),
                        old=zeros(dtype, 4), N=4))  # yapf: disable


HANDWRITTEN = '''
@triton.jit
def tail_add(a, b, out, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    m = i < n
    tl.store(out + i, tl.load(a + i, mask=m) + tl.load(b + i, mask=m), mask=m)

@triton.jit
def tail_2d(a, out, rows, cols, stride, M: tl.constexpr, N: tl.constexpr):
    r = tl.program_id(0) * M + tl.arange(0, M)
    c = tl.program_id(1) * N + tl.arange(0, N)
    m = (r[:, None] < rows) & (c[None, :] < cols)
    p = r[:, None] * stride + c[None, :]
    tl.store(out + p, tl.load(a + p, mask=m, other=9.0) * 2.0, mask=m)

@triton.jit
def in_place(a, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(a + i, tl.load(a + i, mask=i < n) * 3 + 1, mask=i < n)

@triton.jit
def shift_in_place(a, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(a + i)
    tl.store(a + i + 1, v)
    w = tl.load(a + i)
    tl.store(a + i + 2, w)

@triton.jit
def aliased(a, b, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    tl.store(b + i, x + 1)
    y = tl.load(a + i)
    tl.store(a + i, y * 2)

@triton.jit
def scatter_same(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    tl.store(out + x, x * 10)

@triton.jit
def indirect(idx, a, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    j = tl.load(idx + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(a + j, mask=i < n, other=-1), mask=i < N)

@triton.jit
def negative_offsets(a, out, N: tl.constexpr):
    p = a + N
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(p - 1 - i))

@triton.jit
def pointer_arithmetic(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    p = a + i
    p += 2
    q = p - 1
    tl.store(out + i, tl.load(p) - tl.load(q))
    tl.store(out + N, (tl.load(p) == tl.load(q)).to(tl.int32).sum())

@triton.jit
def scalar_access(a, out):
    s = tl.load(a)
    t = tl.load(a + 1)
    tl.store(out, s + t)
    tl.store(out + 1, s - t, mask=s > 100)
    tl.store(out + 2, tl.load(a + 2, mask=s > 100, other=77))

@triton.jit
def grid_3d(out):
    x = tl.program_id(0)
    y = tl.program_id(1)
    z = tl.program_id(axis=2)
    n = tl.num_programs(0)
    m = tl.num_programs(1)
    tl.store(out + (z * m + y) * n + x, x * 100 + y * 10 + z + tl.num_programs(2) * 1000)

@triton.jit
def bitmask_bytes(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(a + i // 8)
    tl.store(out + i, (v >> (i % 8).to(tl.uint8)) & 1)

@triton.jit
def int4_unpack(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    byte = tl.load(a + i // 2)
    low = byte & 0xF
    high = byte >> 4
    v = tl.where(i % 2 == 0, low, high)
    tl.store(out + i, v.to(tl.int8) - 8)

@triton.jit
def cast_pointer(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    p = a.to(tl.pointer_type(tl.int32))
    tl.store(out + i, tl.load(p + i))

@triton.jit
def float_bits(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    b = tl.load(a + i).to(tl.uint32, bitcast=True)
    e = (b >> 23) & 0xFF
    tl.store(out + i, e.to(tl.int32) - 127)

@triton.jit
def atomic_scalar(a, b):
    old = tl.atomic_add(a, 5)
    tl.store(b, old)
    tl.store(b + 1, tl.atomic_cas(a, 15, 99))
    tl.store(b + 2, tl.atomic_xchg(a, 7))

@triton.jit
def lock_count(a, N: tl.constexpr):
    for k in range(N):
        tl.atomic_add(a + k % 3, k)
'''

ARGUMENTS = {
    "tail_add": (dict(a=Array("f32", [k * 0.5 for k in range(37)]), b=Array("f32", [k * 1.5 for k in range(37)]), out=zeros("f32", 37), n=37, N=16), (3, )),
    "tail_2d": (dict(a=Array("f32", list(range(5 * 9))), out=zeros("f32", 45), rows=5, cols=7, stride=9, M=4, N=4), (2, 2)),
    "in_place": (dict(a=Array("i32", list(range(21))), n=21, N=8), (3, )),
    "shift_in_place": (dict(a=Array("i32", list(range(20))), N=16), (1, )),
    "aliased": (dict(a=Array("i32", list(range(24))), b=Array("i32", of="a", offset=4), N=16), (1, )),
    "scatter_same": (dict(a=Array("i32", [3, 1, 4, 1, 5, 2, 6, 5]), out=zeros("i32", 8), N=8), (1, )),
    "indirect": (dict(idx=Array("i64", [5, 3, 1, 0, 2, 4, 7, 6]), a=Array("f32", [1.5 * k for k in range(8)]), out=zeros("f32", 8), n=6, N=8), (1, )),
    "negative_offsets": (dict(a=Array("i16", list(range(16))), out=zeros("i16", 16), N=16), (1, )),
    "pointer_arithmetic": (dict(a=Array("i32", [k * k for k in range(20)]), out=zeros("i32", 17), N=16), (1, )),
    "scalar_access": (dict(a=Array("i32", [4, 6, 8]), out=Array("i32", [-1, -1, -1])), (1, )),
    "grid_3d": (dict(out=zeros("i32", 24)), (2, 3, 4)),
    "bitmask_bytes": (dict(a=Array("u8", [0x5a, 0xff, 0, 0x81]), out=zeros("u8", 32), N=32), (1, )),
    "int4_unpack": (dict(a=Array("u8", [0x12, 0xf0, 0x7f, 0x80]), out=zeros("i8", 8), N=8), (1, )),
    "cast_pointer": (dict(a=Array("f32", [1.0, -2.0, 0.5, 3.25]), out=zeros("i32", 4), N=4), (1, )),
    "float_bits": (dict(a=Array("f32", [1.0, -2.0, 0.5, 1e30]), out=zeros("i32", 4), N=4), (1, )),
    "atomic_scalar": (dict(a=Array("i32", [10]), b=zeros("i32", 3)), (1, )),
    "lock_count": (dict(a=zeros("i32", 3), N=10), (1, )),
}  # yapf: disable


def handwritten(text, arguments, **more):
    """Cases from a text of kernels: each is found by its name."""
    functions = ["@triton.jit" + part for part in text.split("@triton.jit")[1:]]
    named = {part.split("def ")[1].split("(")[0]: part for part in functions}
    helpers = [part for name, part in named.items() if name not in arguments]
    for name, (values, grid) in arguments.items():
        source = named[name]
        yield Case(name, "\n\n".join([*[h for h in helpers if used(h, source, helpers)], source]), values, grid=grid, **more.get(name, {}))


def used(helper, source, helpers):
    name = helper.split("def ")[1].split("(")[0]
    if name in source:
        return True
    return any(name in other and other is not helper and other.split("def ")[1].split("(")[0] in source for other in helpers)


def cases():
    yield from loads()
    yield from atomics()
    yield from handwritten(HANDWRITTEN, ARGUMENTS)
