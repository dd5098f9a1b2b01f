"""The extension module, found together with what was installed beside it."""

from __future__ import annotations

import os
from pathlib import Path

from . import _core

ROOT = Path(__file__).resolve().parent


def command_line() -> Path:
    """The command line program of this installation."""
    return ROOT / "bin" / "tilewright"


def environment() -> dict[str, str]:
    """Where programs of this installation find its back ends, workers and device descriptions."""
    return {
        "TILEWRIGHT_PLUGINS": str(ROOT / "lib"),
        "TILEWRIGHT_LIBEXEC": str(ROOT / "lib"),
        "TILEWRIGHT_DEVICES": str(ROOT / "devices"),
    }


def compile_threads() -> int:
    """Threads that compile candidates; 0 means all cores, 1 when ``TRITON_AUTOTUNE_PARALLEL_COMPILE=0``."""
    return 1 if os.environ.get("TRITON_AUTOTUNE_PARALLEL_COMPILE", "1").lower() in ("0", "false", "off", "no") else 0


core = _core
