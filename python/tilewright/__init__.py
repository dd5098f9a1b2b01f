"""Tilewright finds good tile sizes for Triton kernels.

Leave a kernel's tiling parameters open and say ``configs=[]``::

    import tilewright

    @tilewright.autotune(configs=[], key=["n"])
    @triton.jit
    def kernel(x, y, n, BLOCK: tl.constexpr):
        ...

    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n)

or switch the same on for ``triton.autotune`` with ``import tilewright.triton`` (off again: ``tilewright.disable()``).
"""

from .autotuner import autotune
from .engine import core as _engine
from .errors import InternalError, RefusalError, TilewrightError, UnavailableError, UserError

__version__: str = _engine.__version__

__all__ = [
    "Autotuner",
    "Config",
    "InternalError",
    "RefusalError",
    "TilewrightError",
    "UnavailableError",
    "UserError",
    "autotune",
    "disable",
    "enable",
]


def enable() -> None:
    """Makes ``triton.autotune`` Tilewright's, like ``import tilewright.triton``. Doing it twice changes nothing."""
    from . import triton

    triton.enable()


def disable() -> None:
    """Gives ``triton.autotune`` back to Triton. Kernels that were decorated meanwhile stay as they are."""
    import sys

    module = sys.modules.get("tilewright.triton")
    if module is not None:
        module.disable()


def __getattr__(name: str):
    if name == "Config":  # Triton's own where there is one, so that either spelling gives equal objects
        try:
            from triton import Config
        except ImportError:
            from .config import Config
        return Config
    if name == "Autotuner":
        from .tuned_kernel import Autotuner

        return Autotuner
    raise AttributeError(f"module 'tilewright' has no attribute '{name}'")
