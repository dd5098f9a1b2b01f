"""``triton.heuristics`` between the tuner and the kernel: values computed from arguments and from a configuration."""

from __future__ import annotations

from collections.abc import Callable


class _NeedsConfiguration(Exception):
    pass


class _Arguments(dict):
    """Arguments without a configuration: asking for an open parameter is noticed, whether by [] or by get."""

    def __init__(self, values: dict, unknown: set[str]):
        super().__init__(values)
        self._unknown = unknown

    def _check(self, name):
        if name in self._unknown:
            raise _NeedsConfiguration

    def __getitem__(self, name):
        self._check(name)
        return super().__getitem__(name)

    def get(self, name, default=None):
        self._check(name)
        return super().get(name, default)

    def __contains__(self, name):
        self._check(name)
        return super().__contains__(name)


class HeuristicValues:
    """The functions of all heuristics over one kernel, outermost first."""

    def __init__(self, functions: list[tuple[str, Callable]]):
        self.functions = functions

    def __bool__(self):
        return bool(self.functions)

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self.functions}

    def split(self, values: dict, open_names: set[str]) -> tuple[dict, list[str]]:
        """Values that follow from the arguments alone, and the names of those that need a configuration."""
        known: dict = {}
        dependent: list[str] = []
        for name, function in self.functions:
            try:
                known[name] = function(_Arguments({**values, **known}, open_names | set(dependent)))
            except _NeedsConfiguration:
                dependent.append(name)
        return known, dependent

    def evaluate(self, values: dict, config: dict) -> dict:
        """All values under a configuration."""
        out: dict = {}
        for name, function in self.functions:
            out[name] = function({**values, **config, **out})
        return out

    def witness(self, values: dict, open_names: set[str]) -> dict:
        """All values under some plausible configuration, with which a first plan can be made."""
        failure = None
        for size in (16, 32, 64, 128, 1):
            try:
                return self.evaluate(values, dict.fromkeys(open_names, size))
            except Exception as error:  # a heuristic may well refuse a size
                failure = error
        raise failure
