"""What Tilewright raises.

Every error carries a stable ``code`` (``"grid.fixed"``, ``"arg.type"``, ...) and, where there is a place in a
kernel's source to blame, the rendered diagnostic with line and caret as its text.
"""

from __future__ import annotations

from contextlib import contextmanager


class TilewrightError(Exception):
    """Base of all errors.

    Attributes
    ----------
    code : str
        Stable reason code.
    message : str
        One line, without location.
    """

    def __init__(self, text: str, code: str = "internal", message: str | None = None):
        super().__init__(text)
        self.code = code
        self.message = message if message is not None else text


class UserError(TilewrightError, ValueError):
    """The kernel's source, its arguments or the call are wrong."""


class RefusalError(TilewrightError, RuntimeError):
    """Well-formed, but a limit or an unsupported construct stands in the way."""


class UnavailableError(TilewrightError, RuntimeError):
    """A tool, a device or a file that is needed is not there."""


class InternalError(TilewrightError, RuntimeError):
    """A mistake of Tilewright."""


_KINDS = {"user": UserError, "refusal": RefusalError, "unavailable": UnavailableError, "internal": InternalError}


def from_engine(error: Exception) -> TilewrightError:
    """The public error for a ``_core.EngineError(text, code, kind, message)``."""
    text, code, kind, message = error.args
    return _KINDS.get(kind, InternalError)(text.rstrip("\n"), code, message)


@contextmanager
def engine_errors(core):
    """Turns the engine's errors into public ones."""
    try:
        yield
    except core.EngineError as error:
        raise from_engine(error) from None
