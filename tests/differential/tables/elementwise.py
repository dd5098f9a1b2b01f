"""Arithmetic on two operands of one dtype: wrap-around, division of negatives, shifts, NaN, comparisons."""
import math

import torch
from case import FLOATS, INTS, Array, Case, bits, edges, int_edges, is_float, pairs, zeros

N = 128

TEMPLATE = """
@triton.jit
def {name}(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    y = tl.load(b + i)
    tl.store(out + i, {expression})
"""

INTEGER = {"add": "x + y", "sub": "x - y", "mul": "x * y", "div": "x // y", "mod": "x % y", "and": "x & y", "or": "x | y",
           "xor": "x ^ y", "shl": "x << y", "shr": "x >> y", "min": "tl.minimum(x, y)", "max": "tl.maximum(x, y)",
           "neg_not": "~(-x) + y", "abs": "tl.abs(x) - y", "cdiv": "tl.cdiv(x, y)"}  # yapf: disable
FLOATING = {"add": "x + y", "sub": "x - y", "mul": "x * y", "div": "x / y", "mod": "x % y", "min": "tl.minimum(x, y)",
            "max": "tl.maximum(x, y)", "neg": "-x - y", "abs": "tl.abs(x) * y",
            "min_nan": "tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)",
            "max_nan": "tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)",
            "clamp": "tl.clamp(x, -1.5, 2.0)", "fma": "tl.fma(x, y, x)"}  # yapf: disable
COMPARE = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


#: What bf16 operations mean, computed in f32 by torch and rounded once. Interpreter mode computes on the bits.
BF16 = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div,
        "min": torch.fmin, "max": torch.fmax, "neg": lambda x, y: -x - y, "abs": lambda x, y: x.abs() * y,
        "min_nan": torch.minimum, "max_nan": torch.maximum,
        "clamp": lambda x, y: torch.fmin(torch.fmax(x, torch.tensor(-1.5)), torch.tensor(2.0)),
        "fma": lambda x, y: (x.double() * y.double() + x.double()).float(),
        "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge, "eq": torch.eq, "ne": torch.ne}  # yapf: disable


def bf16_result(operation, a, b):
    x, y = (torch.tensor(v, dtype=torch.float64).to(torch.bfloat16).float() for v in (a, b))
    return BF16[operation](x, y).double().tolist()


def is_zero_pair(a, b):
    return a == 0 and b == 0 and math.copysign(1.0, a) != math.copysign(1.0, b)


def operands(dtype, operation):
    values = edges(dtype)
    if is_float(dtype):
        a, b = pairs(values, values, 256)
        if operation.startswith(("min", "max")):  # the zeros have a case of their own
            b = [x if is_zero_pair(x, y) else y for x, y in zip(a, b)]
        return a, b
    left, right = values, values
    if operation in ("div", "mod", "cdiv"):  # division by zero and the overflowing quotient are the hardware's affair
        right = [v for v in values if v != 0]
        if operation == "cdiv":  # (x + y - 1) // y; keep clear of overflow there too
            left, right = [v for v in values if abs(v) <= 7], [v for v in values if 0 < v <= 7]
        a, b = pairs(left, right, N)
        return zip(*[(x, 1 if y == -1 and x == int_edges(dtype)[6] else y) for x, y in zip(a, b)])
    if operation in ("shl", "shr"):  # past the width: undefined
        right = [0, 1, 3, bits(dtype) - 1]
    return pairs(left, right, N)


def known(dtype, operation, a, b):
    return dict(expected={"out": bf16_result(operation, a, b)}, why="Arithmetic on bf16") if dtype == "bf16" else {}


def cases():
    for dtype in (*INTS, *FLOATS):
        size = 256 if is_float(dtype) else N
        table = FLOATING if is_float(dtype) else INTEGER
        for operation, expression in table.items():
            if operation == "abs" and dtype[0] == "u":
                continue
            if operation == "mod" and dtype in ("bf16", "f16"):
                continue
            name = f"{operation}_{dtype}"
            a, b = map(list, operands(dtype, operation))
            yield Case(name, TEMPLATE.format(name=name, expression=expression),
                       dict(a=Array(dtype, a), b=Array(dtype, b), out=zeros(dtype, size), N=size), **known(dtype, operation, a, b))
        for operation, symbol in COMPARE.items():
            name = f"{operation}_{dtype}"
            a, b = pairs(edges(dtype), edges(dtype), size)
            yield Case(name, TEMPLATE.format(name=name, expression=f"x {symbol} y"),
                       dict(a=Array(dtype, a), b=Array(dtype, b), out=zeros("i8", size), N=size), **known(dtype, operation, a, b))
    for dtype in FLOATS:
        for operation in ("min", "max", "min_nan", "max_nan"):
            name = f"{operation}_zeros_{dtype}"
            zero = -0.0 if operation.startswith("min") else 0.0
            yield Case(name, TEMPLATE.format(name=name, expression=FLOATING[operation]),
                       dict(a=Array(dtype, [0.0, -0.0]), b=Array(dtype, [-0.0, 0.0]), out=zeros(dtype, 2), N=2),
                       expected={"out": [zero, zero]}, why="Minimum and maximum of zeros")
    for operation, expression in {"and": "x & y", "or": "x | y", "xor": "x ^ y", "add": "x + y", "mul": "x * y",
                                  "not": "(~x) ^ y"}.items():  # yapf: disable
        name = f"{operation}_i1"
        yield Case(name, TEMPLATE.format(name=name, expression=expression),
                   dict(a=Array("i1", [0, 0, 1, 1]), b=Array("i1", [0, 1, 0, 1]), out=zeros("i8", 4), N=4))
    yield Case("logical_i1", TEMPLATE.format(name="logical_i1", expression="(x and y) or (not x)"),
               dict(a=Array("i1", [0, 0, 1, 1]), b=Array("i1", [0, 1, 0, 1]), out=zeros("i8", 4), N=4),
               expected={"out": [1, 1, 0, 1]}, why="and, or and not on tiles")
