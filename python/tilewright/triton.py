"""Importing this module makes ``triton.autotune`` Tilewright's.

``configs=[]`` then generates candidates, ``hints`` is understood, and kernels run on CPU arrays. With hand-written
configurations and arguments on a device, Triton's own autotuner does the work as before. ``tilewright.disable()``
undoes it; so does ``TILEWRIGHT_DISABLE=1`` in the environment, before it happens.
"""

from __future__ import annotations

import os

_PLACES = ("triton", "triton.runtime", "triton.runtime.autotuner")
_stock: dict[str, object] = {}


def is_enabled() -> bool:
    return bool(_stock)


def enable() -> None:
    if _stock or os.environ.get("TILEWRIGHT_DISABLE", "0") not in ("", "0"):
        return
    import importlib

    from .autotuner import autotune

    modules = {place: importlib.import_module(place) for place in _PLACES}
    for place, module in modules.items():
        _stock[place] = module.autotune
        module.autotune = autotune


def disable() -> None:
    import sys

    from .autotuner import autotune

    for place, stock in _stock.items():
        module = sys.modules.get(place)
        # What somebody else has put there since is not ours to remove.
        if module is not None and module.autotune is autotune:
            module.autotune = stock
    _stock.clear()


enable()
