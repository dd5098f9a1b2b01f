"""Arrays in this machine's memory, as the engine wants to know them. NumPy arrays, and torch CPU tensors without
importing torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import UserError

# The element types of NumPy, ml_dtypes and torch, by their name there.
_DTYPES = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5", "float8_e4m3b11fnuz": "fp8e4b15",
    "float8_e4m3fnuz": "fp8e4b8", "float8_e5m2fnuz": "fp8e5b16",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ArrayView:
    """Where an array lies and what it holds; does not keep it alive."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # elements
    address: int
    nbytes: int  # from the first element to past the last
    writable: bool

    def spec(self) -> tuple:
        return ("tensor", self.dtype, list(self.shape), list(self.strides))


def is_torch_tensor(value) -> bool:
    return hasattr(value, "data_ptr") and hasattr(value, "device") and hasattr(value, "stride")


def is_cpu_array(value) -> bool:
    """A NumPy array or a tensor in host memory."""
    if isinstance(value, np.ndarray):
        return True
    return is_torch_tensor(value) and getattr(value.device, "type", None) == "cpu"


def is_device_array(value) -> bool:
    return is_torch_tensor(value) and getattr(value.device, "type", None) != "cpu"


def view_of(name: str, array) -> ArrayView:
    """The view of argument ``name``; UserError for arrays that no kernel can take."""
    if isinstance(array, np.ndarray):
        return _numpy_view(name, array)
    if not getattr(array, "layout", None) is None and "strided" not in str(array.layout):
        raise UserError(f"argument '{name}': a {array.layout} tensor; kernels take strided ones", "arg.type")
    size = array.element_size()
    strides = tuple(array.stride())
    return _view(name, str(array.dtype).rpartition(".")[2], tuple(array.shape), strides, array.data_ptr(), size, True)


def _numpy_view(name: str, array: np.ndarray) -> ArrayView:
    size = array.dtype.itemsize
    if not array.dtype.isnative:
        raise UserError(f"argument '{name}': elements of {array.dtype} are not in this machine's byte order", "arg.type")
    if any(stride % size for stride in array.strides):
        raise UserError(f"argument '{name}': strides of {array.strides} bytes are not whole elements of {size} bytes", "arg.type")
    strides = tuple(stride // size for stride in array.strides)
    address = array.__array_interface__["data"][0]
    return _view(name, array.dtype.name, array.shape, strides, address, size, array.flags.writeable)


def _view(name, dtype, shape, strides, address, size, writable) -> ArrayView:
    known = _DTYPES.get(dtype)
    if known is None:
        raise UserError(f"argument '{name}': kernels do not know elements of type {dtype}", "arg.type")
    if any(stride < 0 for stride, extent in zip(strides, shape) if extent > 1):
        raise UserError(f"argument '{name}': a stride is negative ({strides}); pass a copy (numpy.ascontiguousarray)", "arg.type")
    nbytes = 0
    if all(shape):
        nbytes = (1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides))) * size
    return ArrayView(known, tuple(shape), strides, address, nbytes, writable)


class ArrayShape:
    """Stands in for an array once the call is over: what a grid function may ask of it, without its memory."""

    def __init__(self, array):
        self.shape = tuple(array.shape)
        self.ndim = len(self.shape)
        self.dtype = array.dtype
        self._view = view_of("array", array)

    def __len__(self):
        return self.shape[0]

    def numel(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def dim(self) -> int:
        return self.ndim

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def stride(self, dim=None):
        return self._view.strides if dim is None else self._view.strides[dim]

    def element_size(self) -> int:
        return self.itemsize

    @property
    def itemsize(self) -> int:
        return int(getattr(self.dtype, "itemsize"))

    @property
    def strides(self):
        return tuple(stride * self.itemsize for stride in self._view.strides)
