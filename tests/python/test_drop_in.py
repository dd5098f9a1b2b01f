"""The decorator on the CPU, in the forms that the guide for users shows: what runs, what is fixed, what tunes again."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

triton = pytest.importorskip("triton")

import kernels  # noqa: E402
import tilewright  # noqa: E402
import triton.language as tl  # noqa: E402
from kernels import triple as helper_of_another_module  # noqa: E402


def tuned(kernel, key, **options):
    return tilewright.autotune(configs=options.pop("configs", []), key=key, **options)(kernel)


def blocks(n, name="BLOCK"):
    return lambda meta: (triton.cdiv(n, meta[name]),)


def test_one_open_parameter_right_on_first_and_second_call():
    kernel = tuned(kernels.scale, ["n"])
    x = np.random.default_rng(0).standard_normal(10_007, dtype=np.float32)
    for factor in (0.5, 2.0):
        out = np.full_like(x, np.nan)
        kernel[blocks(x.size)](x, out, x.size, factor)
        np.testing.assert_array_equal(out, x * np.float32(factor))
    assert len(kernel.cache) == 1
    assert set(kernel.best_config.kwargs) >= {"BLOCK"}
    assert kernel.configs_timings[kernel.best_config][0] > 0


def test_two_open_parameters_and_keyword_arguments():
    kernel = tuned(kernels.add_2d, ["M", "N"])
    x, y = np.random.default_rng(1).standard_normal((2, 211, 333), dtype=np.float32)
    m, n = x.shape

    def grid(meta):
        return triton.cdiv(m, meta["BLOCK_M"]), triton.cdiv(n, meta["BLOCK_N"])

    out = np.full_like(x, np.nan)
    kernel[grid](x, y, out, m, n, n)
    np.testing.assert_array_equal(out, x + y)
    out = np.full_like(x, np.nan)
    kernel[grid](x, y, stride=n, N=n, M=m, out=out)
    np.testing.assert_array_equal(out, x + y)


def test_in_place_kernel_runs_once_on_the_callers_memory():
    kernel = tuned(kernels.increment, ["n"])
    x = np.arange(5_003, dtype=np.float32)
    for count in (1, 2, 3):
        kernel[blocks(x.size)](x, x.size)
        np.testing.assert_array_equal(x, np.arange(x.size) + count)


def test_accumulating_kernel_runs_once_on_the_callers_memory():
    kernel = tuned(kernels.accumulate, ["n"])
    x = np.random.default_rng(2).integers(0, 5, 4_099).astype(np.int32)
    total = np.array([7], np.int32)
    kernel[blocks(x.size)](x, total, x.size)
    assert total[0] == 7 + x.sum()
    kernel[blocks(x.size)](x, total, x.size)
    assert total[0] == 7 + 2 * x.sum()


def test_hooks_of_the_community_around_tuning():
    x = np.arange(1_001, dtype=np.float32)
    kernel = tuned(kernels.increment, ["n"], restore_value=["x"])
    kernel[blocks(x.size)](x, x.size)
    np.testing.assert_array_equal(x, np.arange(x.size) + 1)

    kernel = tuned(kernels.increment, ["n"], reset_to_zero=["x"])
    kernel[blocks(x.size)](x, x.size)
    np.testing.assert_array_equal(x, np.ones_like(x))

    calls = []
    kernel = tuned(
        kernels.increment, ["n"],
        pre_hook=lambda kwargs, reset_only=False: calls.append(("pre", reset_only)),
        post_hook=lambda kwargs, exception: calls.append(("post", exception)),
    )  # fmt: skip
    kernel[blocks(x.size)](x, x.size)
    kernel[blocks(x.size)](x, x.size)
    assert calls == [("pre", False), ("post", None), ("pre", True)]


def test_inputs_are_bit_identical_after_tuning():
    kernel = tuned(kernels.scale, ["n"])
    x = np.random.default_rng(3).standard_normal(3_001, dtype=np.float32)
    before = x.tobytes()
    kernel[blocks(x.size)](x, np.empty_like(x), x.size, 2.0)
    assert x.tobytes() == before


def test_a_parameter_passed_at_the_launch_is_fixed():
    kernel = tuned(kernels.add_2d, ["M", "N"])
    x = np.ones((64, 96), np.float32)
    out = np.empty_like(x)
    seen = set()

    def grid(meta):
        seen.add(meta["BLOCK_M"])
        return triton.cdiv(64, meta["BLOCK_M"]), triton.cdiv(96, meta["BLOCK_N"])

    kernel[grid](x, x, out, 64, 96, 96, BLOCK_M=32)
    np.testing.assert_array_equal(out, x + x)
    assert seen == {32}
    assert set(kernel.best_config.kwargs) & {"BLOCK_M", "BLOCK_N"} == {"BLOCK_N"}


def test_a_parameter_with_a_default_is_fixed():
    kernel = tuned(kernels.scale_default, ["n"])
    x = np.ones(1_000, np.float32)
    out = np.empty_like(x)
    kernel[blocks(x.size)](x, out, x.size, 2.0)  # nothing is left to tune: it just runs
    np.testing.assert_array_equal(out, 2 * x)
    assert kernel.best_config.kwargs == {} and not kernel.configs_timings


def test_another_key_value_tunes_again_and_other_arguments_do_not():
    kernel = tuned(kernels.scale, ["n"])
    x = np.ones(4_096, np.float32)
    out = np.empty_like(x)
    for n, factor, tunings in ((1_000, 2.0, 1), (1_000, 3.0, 1), (2_000, 2.0, 2), (1_000, 2.0, 2)):
        kernel[blocks(n)](x, out, n, factor)
        assert len(kernel.cache) == tunings
    kernel[blocks(1_000)](x.astype(np.float64), out.astype(np.float64), 1_000, 2.0)
    assert len(kernel.cache) == 3  # another dtype is another kernel


def test_a_choice_is_not_reused_where_it_would_be_wrong():
    """The row length is no key, but a one-shot tile must cover it."""
    kernel = tuned(kernels.row_sum, [])
    for cols in (33, 700, 33):
        x = np.random.default_rng(cols).standard_normal((8, cols), dtype=np.float32)
        out = np.full(8, np.nan, np.float32)
        kernel[(8,)](x, out, cols)
        np.testing.assert_allclose(out, x.sum(axis=1), rtol=1e-4, atol=1e-4)


def test_hints_multiply():
    kernel = tuned(kernels.scale_grouped, ["n"], hints={"GROUP": [2, 4]})
    x = np.arange(9_001, dtype=np.float32)
    out = np.full_like(x, np.nan)
    kernel[blocks(x.size)](x, out, x.size, 2.0)
    np.testing.assert_array_equal(out, 2 * x)
    tried = {config.kwargs["GROUP"] for config in kernel.configs_timings}
    assert tried == {2, 4}


def test_hand_written_configs_choose_among_themselves():
    configs = [triton.Config({"BLOCK": size}, num_warps=warps) for size in (64, 256) for warps in (4, 8)]
    kernel = tuned(kernels.scale, ["n"], configs=configs)
    x = np.arange(2_001, dtype=np.float32)
    out = np.full_like(x, np.nan)
    kernel[blocks(x.size)](x, out, x.size, 2.0)
    np.testing.assert_array_equal(out, 2 * x)
    assert kernel.best_config in configs
    assert {config.kwargs["BLOCK"] for config in kernel.configs_timings} == {64, 256}


def test_config_pre_hook_runs_before_each_launch():
    calls = []
    configs = [triton.Config({"BLOCK": 64}, pre_hook=lambda meta: calls.append(meta["BLOCK"]))]
    kernel = tuned(kernels.scale, ["n"], configs=configs)
    x = np.arange(100, dtype=np.float32)
    for _ in range(2):
        kernel[blocks(x.size)](x, np.empty_like(x), x.size, 2.0)
    assert calls == [64, 64]


def test_pruning_functions_see_the_generated_candidates():
    seen = []

    def prune(configs, named_args, **kwargs):
        seen.extend(configs)
        return [config for config in configs if config.kwargs["BLOCK"] <= 256][:2]

    kernel = tuned(kernels.scale, ["n"], prune_configs_by={"early_config_prune": prune})
    x = np.arange(5_000, dtype=np.float32)
    out = np.empty_like(x)
    kernel[blocks(x.size)](x, out, x.size, 2.0)
    assert len(seen) > 2 and kernel.best_config.kwargs["BLOCK"] <= 256
    np.testing.assert_array_equal(out, 2 * x)


def test_own_benchmark_function():
    measured = []

    def do_bench(call, quantiles):
        call()
        measured.append(1)
        return [float(len(measured))] * 3

    configs = [triton.Config({"BLOCK": size}) for size in (64, 128)]
    kernel = tuned(kernels.increment, ["n"], configs=configs, do_bench=do_bench)
    x = np.zeros(500, np.float32)
    kernel[blocks(x.size)](x, x.size)
    assert len(measured) == 2
    np.testing.assert_array_equal(x, np.ones_like(x))


def test_heuristics_between():
    kernel = triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})(kernels.copy_even)
    kernel = tuned(kernel, ["n"])
    for n in (4_096, 1_003):
        x = np.random.default_rng(n).standard_normal(n, dtype=np.float32)
        out = np.full_like(x, np.nan)
        kernel[blocks(n)](x, out, n)
        np.testing.assert_array_equal(out, x)


def test_heuristics_are_asked_again_at_every_launch():
    negative = False
    kernel = triton.heuristics({"NEGATIVE": lambda args: negative and args["BLOCK"] > 0})(kernels.signed)
    kernel = tuned(kernel, ["n"])
    x = np.arange(500, dtype=np.float32)
    for negative in (False, True, False):
        out = np.empty_like(x)
        kernel[blocks(x.size)](x, out, x.size)
        np.testing.assert_array_equal(out, -x if negative else x)


def test_helpers_and_constants_of_the_module():
    kernel = tuned(kernels.scale_by_helper, ["n"])
    x = np.arange(1_234, dtype=np.float32)
    out = np.empty_like(x)
    kernel[blocks(x.size)](x, out, x.size)
    np.testing.assert_array_equal(out, 3 * x)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "int8", "uint8", "int64"])
def test_dtypes(dtype):
    kernel = tuned(kernels.increment, ["n"])
    x = np.arange(100).astype(dtype)
    kernel[blocks(x.size)](x, x.size)
    np.testing.assert_array_equal(x, (np.arange(100) + 1).astype(dtype))


def test_strided_arrays():
    base = np.arange(64 * 100, dtype=np.float32).reshape(64, 100)
    x, out = base[:, :50], np.full((64, 70), np.nan, np.float32)
    kernel = tuned(kernels.add_2d, ["M", "N"])
    y = base.copy()[:, :50]
    out = np.full_like(base, -1)[:, :50]

    def grid(meta):
        return triton.cdiv(64, meta["BLOCK_M"]), triton.cdiv(50, meta["BLOCK_N"])

    kernel[grid](x, y, out, 64, 50, 100)
    np.testing.assert_array_equal(out, x + y)
    assert (out.base[:, 50:] == -1).all()


def test_warmup_prepares_without_touching_memory():
    kernel = tuned(kernels.increment, ["n"])
    x = np.zeros(1_000, np.float32)
    kernel.warmup(x, x.size, grid=blocks(x.size))
    assert (x == 0).all() and len(kernel.cache) == 1


def test_explain_tells_the_choice():
    kernel = tuned(kernels.scale, ["n"])
    x = np.ones(2_000, np.float32)
    kernel[blocks(x.size)](x, np.empty_like(x), x.size, 2.0)
    story = kernel.explain()
    assert f"BLOCK={kernel.best_config.kwargs['BLOCK']}" in story and "chosen" in story
    assert "BLOCK=48" in kernel.explain({"BLOCK": 48})


def test_printed_lines(monkeypatch, capsys):
    monkeypatch.setenv("TRITON_PRINT_AUTOTUNING", "1")
    kernel = tuned(kernels.scale, ["n"])
    x = np.ones(2_000, np.float32)
    kernel[blocks(x.size)](x, np.empty_like(x), x.size, 2.0)
    out = capsys.readouterr().out
    assert "Triton autotuning for function scale,\nwith key as (2000, 'float32', 'float32'),\nfinished after" in out
    assert "tilewright: " in out and "measured" in out


def test_many_threads_tune_once():
    from concurrent.futures import ThreadPoolExecutor

    kernel = tuned(kernels.scale, ["n"])
    x = np.random.default_rng(4).standard_normal(20_000, dtype=np.float32)

    def call(factor):
        out = np.full_like(x, np.nan)
        kernel[blocks(x.size)](x, out, x.size, factor)
        return np.array_equal(out, x * np.float32(factor))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(call, [1.0, 2.0, 3.0, 4.0] * 8))
    assert len(kernel.cache) == 1


@pytest.mark.parametrize("shape", [0, (0,)])
def test_a_grid_without_programs_launches_nothing(shape):
    kernel = tuned(kernels.increment, ["n"])
    x = np.zeros(0, np.float32)
    kernel[blocks(0)](x, 0)
    x = np.zeros(1_000, np.float32)
    kernel[blocks(1_000)](x, 1_000)
    kernel[shape](x, 1_000)
    assert (x == 1).all()


def test_a_kernel_in_a_function_with_a_constant_of_it():
    def make(constant):
        addend = tl.constexpr(constant)

        @tilewright.autotune(configs=[], key=["n"])
        @triton.jit
        def kernel(x, out, n, DTYPE: tl.constexpr, BLOCK: tl.constexpr):
            offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            values = helper_of_another_module(tl.load(x + offsets, mask=offsets < n)).to(DTYPE) + addend
            tl.store(out + offsets, values, mask=offsets < n)

        return kernel

    x = np.arange(777, dtype=np.float32)
    for constant in (7, 9):
        out = np.empty_like(x)
        make(constant)[blocks(x.size)](x, out, x.size, tl.float32)
        np.testing.assert_array_equal(out, 3 * x + constant)


FORKED = """
import os, signal, sys
sys.path.insert(0, {folder!r})
import numpy as np, triton, kernels, tilewright
def call(kernel, x):
    kernel[lambda meta: (triton.cdiv(x.size, meta["BLOCK"]),)](x, x.size)
x = np.zeros(2_000_000, np.float32)
kernel = tilewright.autotune(configs=[], key=["n"])(kernels.increment)
call(kernel, x)
child = os.fork()
if not child:
    signal.alarm(60)
    call(kernel, x)  # what is known runs
    assert (x == 2).all()
    try:
        call(tilewright.autotune(configs=[], key=["n"])(kernels.increment), np.zeros(999, np.float32))
    except tilewright.UnavailableError as error:
        assert "Tune before forking" in str(error)
        os._exit(0)
    os._exit(9)
sys.exit(os.waitpid(child, 0)[1])
"""


def test_a_forked_child_launches_and_refuses_to_tune():
    code = FORKED.format(folder=str(Path(__file__).parent))
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code]).returncode == 0
