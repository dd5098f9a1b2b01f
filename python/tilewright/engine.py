"""The extension module, found together with what was installed beside it."""

from __future__ import annotations

import os
from pathlib import Path

from . import _core
from .errors import UnavailableError

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


class _Threads:
    """Whether the engine's threads are those of this process: they do not come along into a forked child."""

    def __init__(self):
        self.started = False
        self.lost = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self.lost = self.lost or self.started


_threads = _Threads()


def about_to_tune(kernel: str) -> None:
    """UnavailableError where tuning would wait for threads that stayed behind in the parent."""
    if _threads.lost:
        raise UnavailableError(
            f"'{kernel}' cannot be tuned here: this process was forked from one that had tuned already, and threads do not survive "
            "that. Tune before forking, or start processes with the 'spawn' method",
            "target.unavailable",
        )
    _threads.started = True
