"""The decorator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .errors import UserError


def autotune(
    configs: Sequence | None,
    key: Sequence[str] | Mapping[str, str],
    prune_configs_by: dict | None = None,
    reset_to_zero: Sequence[str] | None = None,
    restore_value: Sequence[str] | None = None,
    pre_hook: Callable | None = None,
    post_hook: Callable | None = None,
    warmup: int | None = None,
    rep: int | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable | None = None,
    cache_results: bool = False,
    hints: Mapping[str, Sequence] | None = None,
):
    """Decorator for kernels whose tiling parameters are to be found; ``triton.autotune`` with more to it.

    Parameters
    ----------
    configs : sequence of Config or None
        Hand-written configurations to choose from. Empty or None: candidates are generated for every constexpr parameter
        that is neither passed at the launch nor has a default.
    key : sequence of str
        Arguments whose change in value tunes again.
    prune_configs_by, reset_to_zero, restore_value, pre_hook, post_hook, do_bench, warmup, rep, use_cuda_graph, cache_results
        As in Triton. On the CPU trials run on copies in another process, so written arguments need no protection; results are
        remembered with or without ``cache_results``.
    hints : mapping of str to sequence, optional
        Values for further parameters or compile options; generated tiles are multiplied with them.

    Returns
    -------
    callable
        Turns a ``@triton.jit`` kernel (or one under ``@triton.heuristics``) into an Autotuner.

    Raises
    ------
    UserError
        When decorating something else, or for hints that are no lists.
    """
    hints = _checked_hints(hints, configs)

    def decorator(fn):
        from .decorated import unwrap

        unwrap(fn)  # says what is wrong before any Triton class trips over it
        from .tuned_kernel import Autotuner

        return Autotuner(
            fn, fn.arg_names, configs, key, reset_to_zero, restore_value, pre_hook=pre_hook, post_hook=post_hook,
            prune_configs_by=prune_configs_by, warmup=warmup, rep=rep, use_cuda_graph=use_cuda_graph, do_bench=do_bench,
            cache_results=cache_results, hints=hints,
        )  # fmt: skip

    return decorator


def _checked_hints(hints, configs) -> dict[str, list]:
    if not hints:
        return {}
    if not isinstance(hints, Mapping):
        raise UserError(f"hints must be a dict of lists, not {type(hints).__name__}", "hint.value")
    if configs:
        raise UserError("hints multiply generated candidates; with hand-written configs write their values there", "hint.value")
    out = {}
    for name, values in hints.items():
        if not isinstance(values, (list, tuple)) or not values:
            raise UserError(f"hints['{name}'] must be a non-empty list of values, not {values!r}", "hint.value")
        bad = [each for each in values if not isinstance(each, (bool, int, float, str))]
        if bad:
            raise UserError(f"hints['{name}'] holds {bad[0]!r}; values are integers, floats, booleans or texts", "hint.value")
        out[name] = list(values)
    return out
