"""The arguments of one call: bound to the kernel's parameters, told apart for caching, and as the engine takes them."""

from __future__ import annotations

import numpy as np

from .arrays import is_cpu_array, view_of
from .errors import RefusalError, UserError
from .source import NO_DEFAULT, Parameter

# Options that a caller may pass at a launch. They do not concern code for the CPU.
LAUNCH_OPTIONS = frozenset(
    "num_warps num_stages num_ctas maxnreg enable_fp_fusion launch_pdl launch_cooperative_grid multibuffer debug "
    "ir_override warp_size sanitize_overflow arch extern_libs force_simt_only simt_stack_limit stream".split()
)


def bind(kernel: str, parameters: tuple[Parameter, ...], args: tuple, kwargs: dict, open_allowed: bool = True) -> dict:
    """Values by parameter name, in the kernel's order, with defaults filled in. A constexpr that has neither is open and
    absent. Raises UserError for arguments that are missing, unknown or given twice."""
    names = [each.name for each in parameters]
    if len(args) > len(names):
        raise UserError(f"{kernel}() takes {len(names)} arguments but {len(args)} were given", "arg.unknown")
    given = dict(zip(names, args))
    for name, value in kwargs.items():
        if name in given:
            raise UserError(f"{kernel}() got several values for argument '{name}'", "arg.unknown")
        if name in names:
            given[name] = value
        elif name not in LAUNCH_OPTIONS:
            raise UserError(f"{kernel}() has no argument '{name}'; its arguments are {', '.join(names)}", "arg.unknown")
    values, missing = {}, []
    for parameter in parameters:
        if parameter.name in given:
            values[parameter.name] = given[parameter.name]
        elif parameter.default is not NO_DEFAULT:
            values[parameter.name] = parameter.default
        elif not parameter.is_constexpr:
            missing.append(parameter.name)
    if missing:
        text = "', '".join(missing)
        raise UserError(f"{kernel}() misses the argument{'s' if len(missing) > 1 else ''} '{text}'", "arg.missing")
    return values


def token(value, exact: bool):
    """What tells calls apart: dtypes, integer classes (1 is a constant to Triton, and there are 32 and 64 bits), and the
    value itself where it takes part in the choice."""
    kind = type(value)
    if kind is int:
        if exact or value == 1:
            return value
        return "i32" if -0x80000000 <= value <= 0x7FFFFFFF else "i64"
    if kind is np.ndarray:
        return value.dtype
    if kind is float:
        return ("float", value) if exact else "float"
    if kind is bool:
        return ("bool", value)
    if value is None:
        return None
    if hasattr(value, "data_ptr"):
        return (value.dtype, value.device)
    if isinstance(value, np.generic):
        return token(value.item(), exact)
    return (kind, str(value)) if kind.__name__ in ("constexpr", "dtype") else (kind, value)


def shape_token(value):
    """As `token`, for kernels whose caller computes arguments from others: shapes and all values count."""
    if is_cpu_array(value):
        view = view_of("array", value)
        return (value.dtype, view.shape, view.strides)
    return token(value, True)


def engine_value(name: str, value):
    """The form that `_core` takes: None, bool, int, float, str, ("dtype", name) or ("tensor", ...)."""
    if type(value).__name__ == "constexpr":
        value = value.value
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if is_cpu_array(value):
        return view_of(name, value).spec()
    if type(value).__name__ == "dtype" or isinstance(value, np.dtype):
        return ("dtype", str(value).rpartition(".")[2])
    if isinstance(value, type) and issubclass(value, np.generic):
        return ("dtype", value.__name__)
    if hasattr(value, "device"):
        raise UserError(f"argument '{name}' lies on {value.device} and others in host memory", "arg.type")
    raise RefusalError(
        f"argument '{name}': values of type {type(value).__module__}.{type(value).__qualname__} are not supported on the CPU yet",
        "arg.type",
    )


def buffer_value(name: str, value):
    """Memory or number of a runtime argument for a trial; None for what is no runtime argument."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (int, float)):
        return value
    if is_cpu_array(value):
        view = view_of(name, value)
        return (view.address, view.nbytes)
    return None
