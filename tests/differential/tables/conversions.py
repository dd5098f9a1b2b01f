"""Casts between all dtypes, rounding modes, bitcasts, and what operands of two dtypes promote to."""
import numpy as np
import torch
from case import DTYPES, FLOATS, INTS, Array, Case, bits, edges, int_edges, is_float, repeat, tl_name, zeros

CAST = """
@triton.jit
def {name}(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    tl.store(out + i, {expression})
"""

PROMOTE = """
@triton.jit
def {name}(a, b, out, kind, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    y = tl.load(b + i)
    s = x + y
    m = tl.where(x > y, x, y)
    tl.store(kind, s.dtype.primitive_bitwidth * 2 + s.dtype.is_floating())
    tl.store(kind + 1, m.dtype.primitive_bitwidth * 2 + m.dtype.is_floating())
    tl.store(out + i, s.to({wide}))
    tl.store(out + N + i, m.to({wide}))
"""

SCALAR = """
@triton.jit
def {name}(a, out, kind, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    s = x + {scalar}
    m = {scalar} * x
    tl.store(kind, s.dtype.primitive_bitwidth * 2 + s.dtype.is_floating())
    tl.store(out + i, s.to({wide}))
    tl.store(out + N + i, m.to({wide}))
"""

TORCH = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "f64": torch.float64, "f8e4m3": torch.float8_e4m3fn,
         "f8e5m2": torch.float8_e5m2, "f8e4b8": torch.float8_e4m3fnuz, "f8e5b16": torch.float8_e5m2fnuz}  # yapf: disable
LARGEST = {"f8e4m3": 448.0, "f8e5m2": 57344.0, "f8e4b8": 240.0, "f8e5b16": 57344.0}
FP8 = ("f8e4m3", "f8e5m2")


def source_values(dtype, to):
    if not is_float(dtype):
        return int_edges(dtype)
    if is_float(to) or to == "i1":
        return edges(dtype)
    # a float beyond the integers' range has no value in Triton (the hardware decides)
    low, high = (0.0, 200.0) if to[0] == "u" else (-100.0, 100.0)
    return [v for v in (0.0, -0.0, 0.99, 1.0, 1.5, 2.5, 100.0, 200.0, 77.7, -0.5, -1.0, -1.99, -100.0) if low <= v <= high]


def through_torch(values, source, target, saturate):
    """Both conversions round once to nearest even."""
    start = torch.tensor(values, dtype=torch.float64).to(TORCH[source])
    if target in LARGEST and saturate:
        wide = start.double()
        finite = wide.clamp(-LARGEST[target], LARGEST[target])
        start = torch.where(wide.isnan(), wide, finite).float()
    return start.to(torch.float32 if source != "f64" else torch.float64).to(TORCH[target]).double().tolist()


def all_patterns(dtype):
    return Array(dtype, raw=range(256))


def casts():
    for source in ("i1", *INTS, *FLOATS):
        for target in ("i1", *INTS, *FLOATS):
            if source == target:
                continue
            values = repeat(source_values(source, target), 32)
            name = f"cast_{source}_{target}"
            known = {}
            if (source, target) == ("bf16", "f32"):
                known = dict(expected={"out": through_torch(values, source, target, False)}, why="Conversions to and from bf16")
            elif target == "bf16" and is_float(source):
                known = dict(expected={"out": through_torch(values, source, target, False)}, why="Conversions to and from bf16")
            elif "bf16" in (source, target) and source != "f32" and target != "f32":
                start = values if not is_float(source) else torch.tensor(values, dtype=torch.float64).to(torch.bfloat16).double().tolist()
                if target == "bf16":
                    result = [torch.tensor(float(v), dtype=torch.float32).to(torch.bfloat16).item() for v in start]
                elif is_float(target):
                    result = torch.tensor(start, dtype=torch.float64).to(TORCH[target]).double().tolist()
                else:
                    result = [int(v != 0) if target == "i1" else int(v) for v in start]
                known = dict(expected={"out": result}, why="Conversions to and from bf16" if target == "bf16" else "Arithmetic on bf16")
            yield Case(name, CAST.format(name=name, expression=f"x.to({tl_name(target)})"),
                       dict(a=Array(source, values), out=zeros(target, 32), N=32), **known)


def narrow_casts():
    for dtype in FP8:
        for target in ("f16", "f32", "bf16"):
            name = f"cast_{dtype}_{target}"
            start = torch.arange(256, dtype=torch.uint8).view(TORCH[dtype]).double().tolist()
            yield Case(name, CAST.format(name=name, expression=f"x.to({tl_name(target)})"),
                       dict(a=all_patterns(dtype), out=zeros(target, 256), N=256),
                       expected={"out": start}, why="Conversions of 8-bit floats")
        for source in ("f16", "f32", "bf16"):
            name = f"cast_{source}_{dtype}"
            values = repeat([*edges(source), 447.0, 448.0, 449.0, 463.9, 500.0, 57344.0, 60000.0, 0.0175, 0.00195, 0.0009, 1.0625, 1.1875,
                             17.0, 19.0, 2.0**-10, 2.0**-17, 3.0 * 2.0**-17, -0.3], 64)  # yapf: disable
            values = torch.tensor(values, dtype=torch.float64).to(TORCH[source]).double().tolist()
            yield Case(name, CAST.format(name=name, expression=f"x.to({tl_name(dtype)})"),
                       dict(a=Array(source, values), out=zeros(dtype, 64), N=64),
                       expected={"out": through_torch(values, source, dtype, True)}, why="Conversions of 8-bit floats")
    for source, target in (("f32", "f16"), ("f32", "bf16")):
        name = f"cast_{source}_{target}_rtz"
        values = [0.0, 1.0, 1.0 + 2.0**-12, -1.0 - 2.0**-9 - 2.0**-12, 65519.0, 3.1415927, -0.1, 1e-8]
        narrow = TORCH[target]
        nearest = torch.tensor(values, dtype=torch.float32).to(narrow)
        step = torch.nextafter(nearest, torch.zeros_like(nearest))
        toward_zero = torch.where(nearest.double().abs() > torch.tensor(values, dtype=torch.float32).double().abs(), step, nearest)
        yield Case(name, CAST.format(name=name, expression=f'x.to({tl_name(target)}, fp_downcast_rounding="rtz")'),
                   dict(a=Array(source, values), out=zeros(target, 8), N=8),
                   expected={"out": toward_zero.double().tolist()}, why="Rounding towards zero")


def bitcasts():
    for first in DTYPES:
        for second in DTYPES:
            if first != second and bits(first) == bits(second) and "i1" not in (first, second):
                name = f"bitcast_{first}_{second}"
                pattern = [(0x9E3779B97F4A7C15 * (k + 1)) % (1 << bits(first)) for k in range(24)]
                width = bits(first)  # NaNs with payloads, quiet and signalling, are moved as they are
                pattern += [(1 << width) - 1, (1 << width - 1) - 1, 0x7f800001 << max(width - 32, 0) & (1 << width) - 1,
                            0x7c01 << max(width - 16, 0) & (1 << width) - 1, 0x7ff << max(width - 12, 0) & (1 << width) - 1 | 1,
                            1 << width - 1, 1, 0]  # yapf: disable
                yield Case(name, CAST.format(name=name, expression=f"x.to({tl_name(second)}, bitcast=True)"),
                           dict(a=Array(first, raw=pattern), out=zeros(second, 32), N=32))


def promotions():
    kinds = ("i1", *INTS, *FLOATS)
    for k, first in enumerate(kinds):
        for second in kinds[k:]:
            floats = is_float(first) or is_float(second)
            wide = "f64" if floats else "i64"
            name = f"promote_{first}_{second}"
            a = repeat([0.0, 1.0, 2.5, 100.0] if is_float(first) else [0, 1] if first == "i1" else [v for v in int_edges(first)], 32)
            b = repeat([1.0, 3.0, 0.5, 7.0] if is_float(second) else [1, 0, 1] if second == "i1" else
                       [v for v in reversed(int_edges(second))], 32)  # yapf: disable
            known = {}
            if "bf16" in (first, second) and {first, second} & {"f32", "f64"} == set():
                result, kind = promoted_bf16(first, second, a, b)
                known = dict(expected={"out": result, "kind": [kind, kind]}, why="Arithmetic on bf16")
            yield Case(name, PROMOTE.format(name=name, wide=tl_name(wide)),
                       dict(a=Array(first, a), b=Array(second, b), out=zeros(wide, 64), kind=zeros("i32", 2), N=32), **known)


def promoted_bf16(first, second, a, b):
    """bf16 with an integer becomes f32, with f16 it becomes f16."""
    target = {"f16": torch.float16, "bf16": torch.bfloat16}.get(first if second == "bf16" else second, torch.float32)

    def converted(dtype, values):
        if not is_float(dtype):
            return torch.tensor([np.float32(v) for v in values])
        return torch.tensor(values, dtype=torch.float64).to(TORCH[dtype]).to(target)

    x, y = converted(first, a), converted(second, b)
    return [*(x + y).double().tolist(), *torch.where(x > y, x, y).double().tolist()], 65 if target == torch.float32 else 33


def scalars():
    for dtype in ("i1", *INTS, "f16", "f32", "f64"):
        for label, scalar in {"two": "2", "half": "2.5", "big": "2**31", "huge": "2**40", "minus": "-1", "true": "True"}.items():
            if dtype[0] == "u" and label == "minus":
                continue
            wide = "f64" if is_float(dtype) or label == "half" else "i64"
            values = repeat([0.0, 1.0, 2.5, -7.0] if is_float(dtype) else [0, 1] if dtype == "i1" else [0, 1, 2, 7, 100], 16)
            if dtype == "f16" and label in ("big", "huge"):
                continue  # infinite
            name = f"scalar_{dtype}_{label}"
            yield Case(name, SCALAR.format(name=name, scalar=scalar, wide=tl_name(wide)),
                       dict(a=Array(dtype, values), out=zeros(wide, 32), kind=zeros("i32", 1), N=16),
                       refused="out of range" if dtype in INTS and label in ("big", "huge") and
                       eval(scalar) > max(int_edges(dtype)) else None)  # yapf: disable


def cases():
    yield from casts()
    yield from narrow_casts()
    yield from bitcasts()
    yield from promotions()
    yield from scalars()
    yield Case("store_casts", CAST.format(name="store_casts", expression="x * 1.5"),
               dict(a=Array("f32", [0.0, 1.0, -3.0, 50.0]), out=zeros("i8", 4), N=4))
    yield Case("store_narrows", CAST.format(name="store_narrows", expression="x + 1"),
               dict(a=Array("i32", [0, 255, 70000, -1]), out=zeros("i16", 4), N=4))
