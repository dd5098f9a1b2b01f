"""What a differential case is: a small kernel with its arguments, run by our interpreter and by Triton's.

A table (tables/*.py) makes cases; `table(...)` gives the source that both sides read. An array argument is a dtype in
Tilewright's spelling and its values; a scalar is a scalar or a constexpr, as the kernel's annotation says.
"""
from __future__ import annotations

import dataclasses
import itertools
import math

HEADER = """import triton
import triton.language as tl
from triton.language.extra import libdevice


"""

#: bits, and Triton's name
DTYPES = {
    "i1": (8, "int1"), "i8": (8, "int8"), "i16": (16, "int16"), "i32": (32, "int32"), "i64": (64, "int64"),
    "u8": (8, "uint8"), "u16": (16, "uint16"), "u32": (32, "uint32"), "u64": (64, "uint64"),
    "f8e4m3": (8, "float8e4nv"), "f8e5m2": (8, "float8e5"), "f8e4b15": (8, "float8e4b15"),
    "f8e4b8": (8, "float8e4b8"), "f8e5b16": (8, "float8e5b16"),
    "bf16": (16, "bfloat16"), "f16": (16, "float16"), "f32": (32, "float32"), "f64": (64, "float64"),
}  # yapf: disable
SIGNED, UNSIGNED = ("i8", "i16", "i32", "i64"), ("u8", "u16", "u32", "u64")
INTS = SIGNED + UNSIGNED
FLOATS = ("bf16", "f16", "f32", "f64")


def bits(dtype):
    return DTYPES[dtype][0]


def tl_name(dtype):
    return "tl." + DTYPES[dtype][1]


def is_float(dtype):
    return dtype[0] in "fb"


@dataclasses.dataclass
class Array:
    """Memory of one argument. `values` are numbers; `raw` are bit patterns instead. `of` names the argument whose
    memory this one shares, from `offset` elements on."""
    dtype: str
    values: list | None = None
    raw: list | None = None
    size: int = 0
    of: str | None = None
    offset: int = 0


def zeros(dtype, size):
    return Array(dtype, size=size)


@dataclasses.dataclass
class Case:
    name: str
    source: str  # defines a kernel called `name`
    arguments: dict
    grid: tuple = (1, 1, 1)
    #: units in the last place that floats may differ by; 0 is bit for bit
    ulp: int = 0
    #: absolute room for sums that cancel
    near: float = 0.0
    #: an independent result {argument: values} where Triton's interpreter mode is not what compiled Triton does
    expected: dict | None = None
    #: the heading in docs/semantics.md that tells of that difference
    why: str | None = None
    #: both sides refuse the kernel: a part of Triton's message
    refused: str | None = None
    group: str = ""


def int_edges(dtype):
    width = bits(dtype)
    if dtype == "i1":
        return [0, 1]
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if dtype[0] == "i" else (0, (1 << width) - 1)
    around = [-7, -2, -1] if low else [high - 7, high // 2, high // 3]
    return [0, 1, 2, 7, high, high - 1, low, *around]


def float_edges(dtype):
    largest = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308}
    tiny = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "f64": 5e-324}
    normal = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}
    return [
        0.0, -0.0, 1.0, -1.0, 1.5, -2.5, 0.1, 3.0, 1e-3, -7.25, math.inf, -math.inf, math.nan, largest[dtype], tiny[dtype],
        normal[dtype]
    ]  # yapf: disable


def edges(dtype):
    return float_edges(dtype) if is_float(dtype) else int_edges(dtype)


def pairs(left, right, size):
    """All pairs of two lists, cut or repeated to `size`."""
    both = list(itertools.islice(itertools.cycle(itertools.product(left, right)), size))
    return [a for a, _ in both], [b for _, b in both]


def repeat(values, size):
    return list(itertools.islice(itertools.cycle(values), size))


def table(cases):
    return HEADER + "\n\n".join(case.source.strip("\n") + "\n" for case in cases)
