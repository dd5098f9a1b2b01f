"""``Config`` for programs that have no Triton: the same fields, text and equality as ``triton.Config``."""

from __future__ import annotations

_OPTIONS = ("num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override")


class Config:
    """One hand-written configuration of a kernel.

    Parameters
    ----------
    kwargs : dict
        Values of constexpr parameters, and compile options of the target.
    num_warps, num_stages, num_ctas, maxnreg, ir_override
        Options of GPU targets.
    pre_hook : callable, optional
        Called with the dict of all arguments before each launch with this configuration.
    """

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None):
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_ctas = num_ctas
        self.num_stages = num_stages
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def all_kwargs(self) -> dict:
        options = {name: getattr(self, name) for name in _OPTIONS}
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}

    def _identity(self):
        return (*self.all_kwargs().items(), self.pre_hook)

    def __eq__(self, other):
        return isinstance(other, Config) and self._identity() == other._identity()

    def __hash__(self):
        return hash(self._identity())

    def __str__(self):
        texts = [f"{name}: {value}" for name, value in self.kwargs.items()]
        return ", ".join(texts + [f"{name}: {getattr(self, name)}" for name in _OPTIONS])

    __repr__ = __str__
