"""The entry point that Triton imports with its back ends.

It makes ``import triton.backends.ascend.runtime`` findable where the vendor's own package is absent, and does nothing
else. It runs inside ``import triton`` for everybody: standard library only, and no exception may leave it.
"""

import os
import sys
from importlib.machinery import PathFinder


def _extend(package) -> None:
    path = package.__path__
    overlay = os.path.join(os.path.dirname(os.path.abspath(__file__)), "overlay")
    if overlay not in path and PathFinder.find_spec("triton.backends.ascend", list(path)) is None:
        path.append(overlay)


try:
    if "triton.backends" in sys.modules:
        _extend(sys.modules["triton.backends"])
except Exception:  # Triton must import whatever happens here
    pass
