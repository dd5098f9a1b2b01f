"""``Autotuner``: Triton's, with generated candidates and kernels that run on CPU arrays."""

from __future__ import annotations

import threading
import time
import warnings

from triton import knobs
from triton.runtime.autotuner import Autotuner as StockAutotuner
from triton.runtime.autotuner import Config

from . import report
from .arrays import ArrayShape, is_cpu_array, is_device_array
from .call_arguments import bind, buffer_value, engine_value, shape_token, token
from .decorated import unwrap
from .engine import about_to_tune, compile_threads, core
from .errors import RefusalError, TilewrightError, UnavailableError, UserError, engine_errors
from .source import NO_DEFAULT, kernel_source, parameters_of

_GPU_OPTIONS = ("num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override")


def _fixed(grid) -> tuple:
    return grid if type(grid) is tuple else (grid,) if isinstance(grid, int) else tuple(grid)


class _NoPrograms(Exception):
    """The grid has no program under any configuration: there is nothing to tune and nothing to launch."""


class _Prepared:
    """Everything that a launch needs once its configuration is known."""

    __slots__ = ("launchable", "config", "chosen", "constants", "arg_names", "positions", "dependent", "grids")

    def __init__(self, launchable, config: Config, values: dict, arg_names, positional: int, dependent: dict):
        self.launchable = launchable
        self.config = config
        self.chosen = {**config.all_kwargs(), **dependent}
        self.grids = set()  # fixed grids that are known to cover the work
        self.dependent = dependent  # what the heuristics said, which a later launch must say again
        self.arg_names = arg_names
        place = {name: index for index, name in enumerate(arg_names[:positional])}
        # Where each runtime argument comes from: an index into args, or a name (given by keyword, or defaulted).
        self.positions = [place.get(name, name) for name in launchable.names]
        self.constants = {name: value for name, value in values.items() if name not in place}

    def launch(self, args, kwargs, grid) -> None:
        constants = self.constants
        values = [
            args[place] if type(place) is int else kwargs[place] if place in kwargs else constants[place] for place in self.positions
        ]
        hook = self.config.pre_hook
        if hook is not None or callable(grid):
            meta = {**constants, **dict(zip(self.arg_names, args)), **kwargs, **self.chosen}
            if hook is not None:
                hook(meta)
            if callable(grid):
                grid = grid(meta)
        try:
            self.launchable.launch(values, grid)
        except core.EngineError:
            with engine_errors(core):
                raise


class Autotuner(StockAutotuner):
    """A kernel with a tuner over it: ``kernel[grid](*args, **kwargs)``.

    With arguments in host memory, candidates are compiled and measured by the engine, in other processes; with arguments on
    a device, hand-written configurations are Triton's business.

    Attributes
    ----------
    best_config : Config
        Of the last launch.
    configs_timings : dict of Config to list of float
        Milliseconds [median, 20 %, 80 %] of the last tuning; infinity for candidates that failed.
    cache : dict
        Tuning key to the chosen Config.
    """

    def __init__(self, fn, arg_names, configs, key, reset_to_zero, restore_value, *, hints=None, **options):
        names = [key] if isinstance(key, str) else list(key.values() if hasattr(key, "values") else key or ())
        for what, given in (("key", names), ("reset_to_zero", reset_to_zero or ()), ("restore_value", restore_value or ())):
            unknown = [name for name in given if name not in arg_names]
            if unknown:
                raise UserError(
                    f"{what} contains names that are not kernel arguments: {', '.join(unknown)}. "
                    f"Valid argument names are: {', '.join(arg_names)}.",
                    "arg.unknown",
                )
        super().__init__(fn, arg_names, configs, names, reset_to_zero, restore_value, **options)
        self.generates = not configs
        self.hints = hints or {}
        self.__name__ = getattr(self.base_fn, "__name__", "kernel")
        self.__doc__ = getattr(self.base_fn, "__doc__", None)
        self.configs_timings = {}
        function, self._heuristics = unwrap(fn)
        self._function = function
        self._parameters = parameters_of(function)
        self._exact = {name for name in names} | {each.name for each in self._parameters if each.is_constexpr}
        self._exact_by_place = ()
        self._refresh_exact()
        self._lock = threading.RLock()
        self._engine_kernel = None
        self._prepared: dict = {}
        self._choices: dict = {}
        self._last_problem = None
        self._warned_of_store = False

    def __repr__(self) -> str:
        wanted = "generated" if self.generates else f"{len(self.configs)} configs"
        return f"<tilewright Autotuner of {self.__name__} ({wanted}, key {self.keys})>"

    # ---- launching

    def run(self, *args, grid, warmup=False, **kwargs):
        try:
            call = self._call_key(args, kwargs)
            prepared = self._prepared.get(call)
        except TypeError:  # an argument that cannot be hashed
            call = prepared = None
        if prepared is not None and not warmup and self._still_holds(prepared, args, kwargs):
            if self.generates and not callable(grid) and _fixed(grid) not in prepared.grids:
                self._check_grid(prepared, args, kwargs, grid)
            self.best_config = prepared.config
            return prepared.launch(args, kwargs, grid)
        if not self._runs_here(args, kwargs):
            return self._run_stock(*args, grid=grid, warmup=warmup, **kwargs)
        with self._lock:
            try:
                prepared = self._prepare(args, kwargs, grid)
            except _NoPrograms:
                return
            if not callable(grid):
                prepared.grids.add(_fixed(grid))
            if call is not None:
                self._prepared[self._call_key(args, kwargs)] = prepared
        self.best_config = prepared.config
        if not warmup:
            prepared.launch(args, kwargs, grid)

    def warmup(self, *args, grid, **kwargs):
        if not self._runs_here(args, kwargs):
            return super().warmup(*args, grid=grid, **kwargs)
        self.run(*args, grid=grid, warmup=True, **kwargs)
        return []

    def _runs_here(self, args, kwargs) -> bool:
        arrays = [*args, *kwargs.values()]
        return any(is_cpu_array(each) for each in arrays) and not any(is_device_array(each) for each in arrays)

    def _run_stock(self, *args, **kwargs):
        if self.generates:
            values = {**dict(zip(self.arg_names, args)), **kwargs}
            known = set(values) | self._heuristics.names
            open_names = [each.name for each in self._parameters if each.is_constexpr and each.default is NO_DEFAULT and each.name not in known]
            if open_names:
                devices = {str(each.device) for each in values.values() if is_device_array(each)}
                where = f"on {', '.join(sorted(devices))}" if devices else "without an array in host memory"
                raise UnavailableError(
                    f"configs=[]: candidates for '{self.__name__}' cannot be measured {where} yet; pass arrays in host memory, or write "
                    f"configurations by hand:\n{self._suggestion(open_names)}",
                    "target.unavailable",
                )
        return super().run(*args, **kwargs)

    def _refresh_exact(self) -> None:
        self._exact_by_place = tuple(each.name in self._exact for each in self._parameters)

    def _call_key(self, args, kwargs):
        if self._heuristics:
            return (tuple(map(shape_token, args)), tuple((name, shape_token(value)) for name, value in kwargs.items()))
        exact = self._exact
        places = self._exact_by_place
        if len(args) > len(places):
            return None  # too many: never prepared
        key = tuple(map(token, args, places))
        if kwargs:
            return (key, tuple((name, token(value, name in exact)) for name, value in kwargs.items()))
        return key

    def _still_holds(self, prepared: _Prepared, args, kwargs) -> bool:
        if not prepared.dependent:
            return True
        values = {**prepared.constants, **dict(zip(self.arg_names, args)), **kwargs}
        return self._heuristics.evaluate(values, prepared.config.kwargs) == prepared.dependent

    def _check_grid(self, prepared: _Prepared, args, kwargs, grid) -> None:
        """A fixed grid that comes with a choice made under another grid must cover the work too (RefusalError if not)."""
        with self._lock:
            values = {**prepared.constants, **dict(zip(self.arg_names, args)), **kwargs}
            config = self._engine_config(prepared.config, prepared.dependent)
            arguments = {name: value for name, value in values.items() if name not in config}
            problem = {**self._problem(arguments, grid), "configs": [config], "only_configs": True, "hints": {}}
            with engine_errors(core):
                plan = self._engine_kernel.plan(problem)
            if not plan["candidates"] and set(plan["rejected_by_code"]) != {"grid.empty"}:  # no program: nothing to launch
                code = next(iter(plan["rejected_by_code"]), "space.empty")
                raise RefusalError(
                    f"{self.__name__}: the grid {_fixed(grid)} does not fit ({prepared.config}), which was chosen for this key under another "
                    f"grid: {plan['empty_reason'].rstrip()}\nhelp: make the grid a function of the tunables, as in "
                    f"lambda meta: (triton.cdiv(n, meta[...]),)",
                    code,
                )
            prepared.grids.add(_fixed(grid))

    # ---- preparing: the first call of its kind

    def _prepare(self, args, kwargs, grid) -> _Prepared:
        given = bind(self.__name__, self._parameters, args, kwargs)
        values = dict(given)
        open_names = {each.name for each in self._parameters if each.name not in values}
        conflicts = [name for config in self.configs for name in config.kwargs if name in {*kwargs, *self.arg_names[: len(args)]}]
        if conflicts:
            raise UserError(
                f"Conflicting meta-parameters: {', '.join(dict.fromkeys(conflicts))}. Make sure that you don't re-define auto-tuned symbols.",
                "arg.unknown",
            )
        known, dependent = {}, []
        if self._heuristics:
            for name in self._heuristics.names:
                values.pop(name, None)
                open_names.discard(name)
            known, dependent = self._heuristics.split(values, open_names)
            values.update(known)
        problem = self._problem(values, grid)
        if self._engine_kernel is None:
            source = kernel_source(self._function)
            with engine_errors(core):
                self._engine_kernel = core.Kernel.from_source(source.path, source.text, source.name)
        if dependent:
            problem = self._with_dependent(problem, values, open_names, dependent)
        key = self._tuning_key(values)
        facts = self._describe(problem)
        config, extra = self._choose(problem, facts, key, values, open_names, args, kwargs, dependent)
        full = self._engine_config(config, extra)
        try:
            with engine_errors(core):
                launchable = self._engine_kernel.compile(problem, full)
        except TilewrightError as error:
            raise self._advised(error, open_names) from None
        self._last_problem = self._detached(problem, values, grid)
        return _Prepared(launchable, config, values, self.arg_names, len(args), {**known, **extra})

    def _problem(self, values: dict, grid) -> dict:
        return {
            "arguments": [(name, engine_value(name, value)) for name, value in values.items()],
            "grid": self._engine_grid(values, grid),
            "key": [name for name in self.keys if name in values],
            "target": "cpu",
            "hints": self.hints,
            "configs": [] if self.generates else list(map(self._engine_config, self.configs)),
            "only_configs": not self.generates,
        }

    @staticmethod
    def _engine_grid(values: dict, grid):
        if not callable(grid):
            return grid
        return lambda config: grid({**values, **config})

    @staticmethod
    def _engine_config(config: Config, extra: dict | None = None) -> dict:
        # Warps and stages do not concern code for the CPU; configurations that differ in nothing else are one.
        return {**{name: value for name, value in config.kwargs.items() if name not in _GPU_OPTIONS}, **(extra or {})}

    def _describe(self, problem: dict) -> dict:
        witness = problem["configs"][0] if problem["configs"] else {}
        try:
            with engine_errors(core):
                facts = self._engine_kernel.describe(problem, witness)
        except TilewrightError as error:
            raise self._advised(error, ()) from None
        if not set(facts["guards"]) <= self._exact:
            self._exact |= set(facts["guards"])
            self._refresh_exact()
            self._prepared.clear()
        return facts

    def _with_dependent(self, problem: dict, values: dict, open_names: set, dependent: list) -> dict:
        """Heuristics that need a configuration become part of each configuration."""
        configs = problem["configs"]
        if self.generates:
            witness = self._heuristics.witness(values, open_names)
            arguments = [*problem["arguments"], *((name, engine_value(name, witness[name])) for name in dependent)]
            plan = self._plan({**problem, "arguments": arguments})
            configs = [each["config"] for each in plan["candidates"]]
        completed = []
        for config in configs:
            every = self._heuristics.evaluate(values, config)
            completed.append({**config, **{name: engine_value(name, every[name]) for name in dependent}})
        return {**problem, "configs": completed, "only_configs": True, "hints": {}}

    def _plan(self, problem: dict) -> dict:
        open_names = {each.name for each in self._parameters} - {name for name, _ in problem["arguments"]}
        try:
            with engine_errors(core):
                plan = self._engine_kernel.plan(problem)
        except TilewrightError as error:
            raise self._advised(error, open_names) from None
        if not plan["candidates"]:
            code = next(iter(plan["rejected_by_code"]), "space.empty")
            raise self._advised(RefusalError((plan["empty_reason"] or "no candidate is feasible").rstrip("\n"), code), open_names)
        return plan

    def _tuning_key(self, values: dict) -> tuple:
        key = [values[name] for name in self.keys if name in values]
        return tuple(key + [str(value.dtype) for value in values.values() if hasattr(value, "dtype")])

    # ---- choosing

    def _choose(self, problem, facts, key, values, open_names, args, kwargs, dependent) -> tuple[Config, dict]:
        if self.generates and not open_names and not self.hints:
            self.cache[key] = config = Config({})  # everything is fixed: there is nothing to choose
            return config, {}
        if not self.generates and len(self.configs) == 1:
            config = self.configs[0]
            extra = {name: value for name, value in problem["configs"][0].items() if name in dependent}
            self.cache[key] = config
            return config, extra
        family = (key, tuple((name, token(value, True)) for name, value in values.items() if name in self._exact and not is_cpu_array(value)
                             and name not in facts["guards"]))  # fmt: skip
        known = self._choices.get(family)
        if known is not None and self._remains_feasible(problem, known, values, dependent):
            return known, self._extra(known, values, dependent)

        full = {**values, **kwargs}
        self.pre_hook(full) if self.user_defined_pre_hook else self._zero(values)
        failure = None
        begin = time.perf_counter()
        try:
            chosen = self._tune(problem, facts, values, args, kwargs)
        except BaseException as error:
            failure = error
            raise
        finally:
            if self.user_defined_post_hook:
                self.post_hook(full, exception=failure)
        self.bench_time = time.perf_counter() - begin
        extra = {name: value for name, value in chosen["config"].items() if name in dependent}
        config = self._public_config(chosen["config"], extra)
        self.cache[key] = config
        self._choices[family] = config
        if self.user_defined_pre_hook:
            self.pre_hook({**full, **config.all_kwargs()}, reset_only=True)
        else:
            self._zero(values)
        self._tell(key, config, chosen)
        return config, extra

    def _remains_feasible(self, problem, config, values, dependent) -> bool:
        wanted = self._engine_config(config, self._extra(config, values, dependent))
        try:
            with engine_errors(core):
                return bool(self._engine_kernel.plan({**problem, "configs": [wanted], "only_configs": True, "hints": {}})["candidates"])
        except TilewrightError:
            return False

    def _extra(self, config, values, dependent) -> dict:
        if not dependent:
            return {}
        every = self._heuristics.evaluate(values, config.kwargs)
        return {name: every[name] for name in dependent}

    def _tune(self, problem, facts, values, args, kwargs) -> dict:
        if self.early_config_prune or self.perf_model:
            problem = self._pruned(problem, args, kwargs)
        if self._do_bench is not None:
            return self._tune_by(self._do_bench, problem, facts, values, args, kwargs)
        buffers = [(name, buffer) for name, value in values.items() if (buffer := buffer_value(name, value)) is not None]
        settings = {"compile_threads": compile_threads(), "ignore_remembered": 0}
        open_names = {each.name for each in self._parameters if each.name not in values}
        about_to_tune(self.__name__)
        try:
            with engine_errors(core), report.Progress(self.__name__) as progress:
                return self._engine_kernel.tune(problem, buffers, settings, progress)
        except TilewrightError as error:
            if error.code == "space.empty":
                with engine_errors(core):
                    plan = self._engine_kernel.plan(problem)
                if set(plan["rejected_by_code"]) == {"grid.empty"}:
                    raise _NoPrograms from None
            raise self._advised(error, open_names) from None

    def _pruned(self, problem, args, kwargs) -> dict:
        if self.generates:
            candidates = [Config(dict(each["config"])) for each in self._plan(problem)["candidates"]]
        else:
            candidates = self.configs
        self.nargs = dict(zip(self.arg_names, args))
        own, self.configs = self.configs, candidates
        try:
            kept = self.prune_configs(kwargs)
        finally:
            self.nargs, self.configs = None, own
        return {**problem, "configs": list(map(self._engine_config, kept)), "only_configs": True, "hints": {}}

    def _tune_by(self, do_bench, problem, facts, values, args, kwargs) -> dict:
        """The caller's own benchmark function: in this process and on the caller's arrays, which are put back after each run."""
        saved = {name: values[name].copy() if hasattr(values[name], "copy") else values[name].clone() for name in facts["writes"]}
        trials = []
        for each in self._plan(problem)["candidates"]:
            with engine_errors(core):
                launchable = self._engine_kernel.compile(problem, each["config"])
            config = Config(dict(each["config"]))
            prepared = _Prepared(launchable, config, values, self.arg_names, len(args), {})
            grid = each["grid"]
            times = do_bench(lambda: prepared.launch(args, kwargs, grid), quantiles=(0.5, 0.2, 0.8))
            times = list(times) if isinstance(times, (list, tuple)) else [times]
            for name, copy in saved.items():
                values[name][...] = copy
            trials.append({"config": each["config"], "status": "ok", "code": "", "time_ns": times[0] * 1e6,
                           "samples_ns": [time * 1e6 for time in times], "predicted_ns": each["predicted_ns"]})  # fmt: skip
        best = min(trials, key=lambda trial: trial["time_ns"])
        return {"config": best["config"], "time_ns": best["time_ns"], "trials": trials, "rejected": {}, "cached": False,
                "wall_seconds": 0.0, "store_problem": None, "rule": "do_bench"}  # fmt: skip

    def _zero(self, values: dict) -> None:
        for name in self.reset_to_zero:
            if values.get(name) is not None:
                values[name][...] = 0

    def _public_config(self, config: dict, extra: dict) -> Config:
        own = {name: value for name, value in config.items() if name not in extra}
        for each in () if self.generates else self.configs:
            if self._engine_config(each) == own:
                return each
        return Config(own)

    # ---- telling

    def _tell(self, key, config, result) -> None:
        timings = {}
        for trial in result["trials"]:
            milliseconds = report.quantiles_ms(trial)
            timings[self._public_config(trial["config"], set(self._heuristics.names))] = milliseconds
        self.configs_timings = timings
        if result["store_problem"] and not self._warned_of_store:
            self._warned_of_store = True
            warnings.warn(f"results are not remembered: {result['store_problem'].rstrip()}", RuntimeWarning, stacklevel=6)
        if knobs.autotuning.print:
            print(report.community_line(self.__name__, key, self.bench_time, config))
            print(report.summary(result))
        listener = getattr(knobs.autotuning, "listener", None)
        if listener is not None:
            listener(fn=self.fn, key=key, best_config=config, configs_timings=timings,
                     duration=None if result["cached"] else self.bench_time, cache_hit=result["cached"])  # fmt: skip

    def explain(self, config: Config | dict | None = None) -> str:
        """The story of the last tuned call: which candidates there were, what was dropped and why, what was chosen.

        Parameters
        ----------
        config : Config or dict, optional
            Tell about this configuration alone.
        """
        if self._last_problem is None:
            raise UserError(f"nothing to explain yet: call {self.__name__}[grid](...) first", "arg.missing")
        wanted = None if config is None else self._engine_config(config) if isinstance(config, Config) else dict(config)
        with engine_errors(core):
            return self._engine_kernel.explain(self._last_problem, wanted)

    def _detached(self, problem, values, grid) -> dict:
        """The problem without a hold on the caller's arrays."""
        shapes = {name: ArrayShape(value) if is_cpu_array(value) else value for name, value in values.items()}
        return {**problem, "grid": self._engine_grid(shapes, grid)}

    def _advised(self, error: TilewrightError, open_names) -> TilewrightError:
        generation = isinstance(error, RefusalError) or error.code.startswith("space.")
        if not (self.generates and generation and open_names):
            return error
        text = f"{error}\nhelp: write configurations by hand, for example\n{self._suggestion(open_names)}"
        return type(error)(text, error.code, error.message)

    def _suggestion(self, open_names) -> str:
        names = [each.name for each in self._parameters if each.name in open_names]
        lines = []
        for size in (32, 64, 128, 256):
            values = ", ".join(f'"{name}": {size}' for name in names)
            lines.append(f"        triton.Config({{{values}}}),")
        return "\n".join(["    configs=[", *lines, "    ]"])
