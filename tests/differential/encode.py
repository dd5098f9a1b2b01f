"""Values to bytes and back, for every dtype (through torch, whose conversions are not ours)."""
import math
import struct

import torch

from case import DTYPES, bits, is_float

_TORCH = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "f64": torch.float64}
_TORCH |= {"f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2}
_TORCH |= {"f8e4b8": torch.float8_e4m3fnuz, "f8e5b16": torch.float8_e5m2fnuz}


def to_bytes(array):
    size = bits(array.dtype) // 8
    if array.raw is not None:
        return b"".join(int(v).to_bytes(size, "little") for v in array.raw)
    if array.values is None:
        return bytes(size * array.size)
    return encode(array.dtype, array.values)


def encode(dtype, values):
    size = bits(dtype) // 8
    if is_float(dtype):
        tensor = torch.tensor(values, dtype=torch.float64)
        if dtype.startswith("f8"):
            tensor = tensor.to(torch.float32)
        return bytes(tensor.to(_TORCH[dtype]).view(torch.uint8).tolist())
    return b"".join((int(v) & ((1 << 8 * size) - 1)).to_bytes(size, "little") for v in values)


def patterns(dtype, data):
    size = bits(dtype) // 8
    return [int.from_bytes(data[i:i + size], "little") for i in range(0, len(data), size)]


_LAYOUT = {"f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "f64": (52, 11), "f8e4m3": (3, 4), "f8e5m2": (2, 5), "f8e4b15": (3, 4),
           "f8e4b8": (3, 4), "f8e5b16": (2, 5)}  # yapf: disable


def is_nan(dtype, pattern):
    width = bits(dtype)
    magnitude = pattern & ((1 << width - 1) - 1)
    if dtype in ("f8e4m3", "f8e4b15"):
        return magnitude == 0x7f
    if dtype in ("f8e4b8", "f8e5b16"):
        return pattern == 0x80
    mantissa, exponent = _LAYOUT[dtype]
    return magnitude > ((1 << exponent) - 1) << mantissa


def ordered(dtype, pattern):
    """An integer that grows with the value, by one for each representable number."""
    sign = pattern >> bits(dtype) - 1
    magnitude = pattern & ((1 << bits(dtype) - 1) - 1)
    return -magnitude if sign else magnitude


def number(dtype, pattern):
    """For messages, and for absolute tolerances."""
    if not is_float(dtype):
        return pattern - (1 << bits(dtype)) if dtype[0] == "i" and pattern >> bits(dtype) - 1 and dtype != "i1" else pattern
    if dtype == "f8e4b15":
        return f"0x{pattern:02x}"
    raw = torch.tensor(list(pattern.to_bytes(bits(dtype) // 8, "little")), dtype=torch.uint8)
    return raw.view(_TORCH[dtype]).to(torch.float64).item()


def difference(dtype, got, expected, ulp, near):
    """Why two bit patterns don't count as equal, or None."""
    if got == expected:
        return None
    text = f"{number(dtype, got)} (0x{got:x}), not {number(dtype, expected)} (0x{expected:x})"
    if not is_float(dtype):
        return text
    if is_nan(dtype, got) and is_nan(dtype, expected):  # which NaN is not promised
        return None
    if is_nan(dtype, got) or is_nan(dtype, expected):
        return text
    apart = abs(ordered(dtype, got) - ordered(dtype, expected))
    if ulp and apart <= ulp:
        return None
    if near and abs(number(dtype, got) - number(dtype, expected)) <= near:
        return None
    return f"{text}, {apart} ulp apart"
