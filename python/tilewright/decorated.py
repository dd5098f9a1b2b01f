"""What a tuner was put over: the kernel's Python function and the heuristics in between."""

from __future__ import annotations

from types import FunctionType

from .errors import UserError
from .heuristics import HeuristicValues
from .source import decorators_above


def _not_a_kernel(fn, inner: str) -> UserError:
    name = getattr(fn, "__name__", type(fn).__name__)
    above = decorators_above(fn) if isinstance(fn, FunctionType) else []
    tuners = ("autotune",)
    between = [each for each in above if each.rpartition(".")[2] not in (*tuners, "jit", "heuristics")]
    if between and above[-1].rpartition(".")[2] == "jit":
        culprit = ", ".join(f"@{each}" for each in between)
    elif isinstance(fn, FunctionType) and not above_jit(above):
        return UserError(
            f"'{name}' is a plain function; put autotune over a Triton kernel:\n"
            f"    @autotune(configs=[], key=[...])\n    @triton.jit\n    def {name}(...): ...",
            "lower.no-kernel",
        )
    else:
        culprit = f"{type(fn).__module__}.{type(fn).__qualname__}"
    return UserError(
        f"autotune must stand directly over @triton.jit, but {culprit} lies between it and the kernel{inner}: "
        "the kernel's source cannot be followed through it. Move it above autotune (@triton.heuristics may stay)",
        "lower.no-kernel",
    )


def above_jit(decorators: list[str]) -> bool:
    return any(each.rpartition(".")[2] == "jit" for each in decorators)


def unwrap(fn) -> tuple[FunctionType, HeuristicValues]:
    """The Python function under ``fn`` and the heuristics on the way; UserError when something else lies between."""
    try:
        from triton.runtime.autotuner import Heuristics
        from triton.runtime.jit import JITFunction
    except ImportError:
        raise UserError(
            "kernels are written with Triton, which is not installed here: pip install 'tilewright[triton]'", "target.unavailable"
        ) from None
    functions = []
    layer = fn
    while True:
        if isinstance(layer, JITFunction) or type(layer).__name__ == "InterpretedFunction":
            return layer.fn, HeuristicValues(functions)
        if not isinstance(layer, Heuristics):
            inner = getattr(layer, "fn", None)
            raise _not_a_kernel(layer, f" '{inner.__name__}'" if hasattr(inner, "__name__") else "")
        functions.extend(layer.values.items())
        layer = layer.fn
