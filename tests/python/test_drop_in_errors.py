"""Wrong calls, in the user's words: what is wrong, where, and what to do."""

import functools

import numpy as np
import pytest

triton = pytest.importorskip("triton")

import kernels  # noqa: E402
import tilewright  # noqa: E402

X = np.ones(1_000, np.float32)


def blocks(meta):
    return (triton.cdiv(1_000, meta["BLOCK"]),)


def tuned(kernel, key=("n",), **options):
    return tilewright.autotune(configs=options.pop("configs", []), key=list(key), **options)(kernel)


def test_a_fixed_grid_with_a_split_parameter():
    out = np.full_like(X, np.nan)
    with pytest.raises(tilewright.TilewrightError) as error:
        tuned(kernels.scale)[(8,)](X, out, X.size, 2.0)
    assert error.value.code == "grid.fixed"
    assert "BLOCK" in str(error.value)
    assert np.isnan(out).all()  # refused, not tuned wrongly


def test_a_fixed_grid_under_a_choice_made_for_another():
    kernel = tuned(kernels.scale)
    out = np.zeros_like(X)
    kernel[blocks](X, out, X.size, 2.0)
    enough = triton.cdiv(1_000, kernel.best_config.kwargs["BLOCK"])
    out[:] = np.nan
    kernel[(enough,)](X, out, X.size, 2.0)
    np.testing.assert_array_equal(out, 2.0 * X)
    if enough > 1:
        out[:] = np.nan
        with pytest.raises(tilewright.RefusalError, match="grid .* does not fit") as error:
            kernel[(enough - 1,)](X, out, X.size, 2.0)
        assert error.value.code == "grid.fixed"
        assert np.isnan(out).all()


def test_a_decorator_in_between():
    def traced(kernel):
        @functools.wraps(kernel.fn)
        def call(*args, **kwargs):
            return kernel(*args, **kwargs)

        return call

    with pytest.raises(tilewright.UserError, match=r"@traced lies between.*Move it above autotune"):

        @tilewright.autotune(configs=[], key=[])
        @traced
        @triton.jit
        def kernel(x):
            pass


def test_a_plain_function():
    with pytest.raises(tilewright.UserError, match=r"'kernel' is a plain function(.|\n)*@triton.jit"):

        @tilewright.autotune(configs=[], key=[])
        def kernel(x):
            pass


def test_a_tuner_over_a_tuner():
    with pytest.raises(tilewright.UserError, match="lies between"):
        tuned(tuned(kernels.scale))


@pytest.mark.parametrize("option", ["key", "reset_to_zero", "restore_value"])
def test_names_that_are_no_arguments(option):
    options = {"key": ["n"], option: ["m"]}
    text = rf"{option} contains names that are not kernel arguments: m\. Valid argument names are: x, out, n, factor, BLOCK\."
    with pytest.raises(ValueError, match=text):
        tuned(kernels.scale, options.pop("key"), **options)


@pytest.mark.parametrize(
    "hints, text",
    [
        ([1], "hints must be a dict of lists, not list"),
        ({"BLOCK": 4}, r"hints\['BLOCK'\] must be a non-empty list"),
        ({"BLOCK": []}, r"hints\['BLOCK'\] must be a non-empty list"),
        ({"BLOCK": [None]}, r"hints\['BLOCK'\] holds None"),
    ],
)
def test_hints_of_the_wrong_kind(hints, text):
    with pytest.raises(tilewright.UserError, match=text):
        tuned(kernels.scale, hints=hints)


def test_an_unknown_hint():
    with pytest.raises(tilewright.TilewrightError) as error:
        tuned(kernels.scale, hints={"BLOK": [1, 2]})[blocks](X, np.empty_like(X), X.size, 2.0)
    assert error.value.code == "hint.unknown"
    assert "BLOK" in str(error.value) and "BLOCK" in str(error.value)


def test_hints_with_hand_written_configs():
    with pytest.raises(tilewright.UserError, match="hints multiply generated candidates"):
        tuned(kernels.scale, configs=[triton.Config({"BLOCK": 64})], hints={"GROUP": [1]})


@pytest.mark.parametrize(
    "args, kwargs, code, text",
    [
        ((X, X.copy()), {}, "arg.missing", "misses the arguments 'n', 'factor'"),
        ((X, X.copy(), 10, 2.0), {"blok": 3}, "arg.unknown", "has no argument 'blok'; its arguments are x, out, n, factor, BLOCK"),
        ((X, X.copy(), 10, 2.0), {"n": 3}, "arg.unknown", "several values for argument 'n'"),
        ((X, X.copy(), 10, 2.0, 64, 1), {}, "arg.unknown", "takes 5 arguments but 6 were given"),
        ((X.astype(complex), X.copy(), 10, 2.0), {}, "arg.type", "argument 'x'.*complex128"),
        ((X[::-1], X.copy(), 10, 2.0), {}, "arg.type", "argument 'x': a stride is negative"),
        ((X.astype(">f4"), X.copy(), 10, 2.0), {}, "arg.type", "argument 'x'.*byte order"),
        ((X, X.copy(), 10, object()), {}, "arg.type", "argument 'factor'.*object"),
    ],
)
def test_wrong_arguments(args, kwargs, code, text):
    with pytest.raises(tilewright.TilewrightError, match=text) as error:
        tuned(kernels.scale)[blocks](*args, **kwargs)
    assert error.value.code == code


def test_a_read_only_output():
    out = np.empty_like(X)
    out.flags.writeable = False
    with pytest.raises(tilewright.UserError, match="'out', which is read-only"):
        tuned(kernels.scale)[blocks](X, out, X.size, 2.0)


def test_a_tuned_symbol_passed_by_the_caller():
    kernel = tuned(kernels.scale, configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})])
    with pytest.raises(ValueError, match="Conflicting meta-parameters: BLOCK"):
        kernel[blocks](X, np.empty_like(X), X.size, 2.0, BLOCK=32)


def test_a_grid_function_that_fails():
    with pytest.raises(tilewright.TilewrightError, match="TILE"):
        tuned(kernels.scale)[lambda meta: (meta["TILE"],)](X, np.empty_like(X), X.size, 2.0)


def test_nothing_feasible_suggests_configs_by_hand():
    """Hints leave only tiles that cannot cover the row."""
    kernel = tuned(kernels.row_sum, ["n_cols"], hints={"BLOCK": [16]})
    x = np.ones((4, 300), np.float32)
    with pytest.raises(tilewright.TilewrightError) as error:
        kernel[(4,)](x, np.empty(4, np.float32), 300)
    assert 'triton.Config({"BLOCK": 64})' in str(error.value)
    assert "16" in str(error.value) and "300" in str(error.value)


def test_a_kernel_that_writes_out_of_bounds_is_refused_and_the_process_survives():
    x = np.ones(1_000, np.float32)
    out = np.ones(10, np.float32)
    with pytest.raises(tilewright.TilewrightError) as error:
        tuned(kernels.scale)[blocks](x, out, x.size, 2.0)
    assert "out" in str(error.value)
    np.testing.assert_array_equal(out, np.ones(10))


def test_a_kernel_without_a_source_file():
    scope = {}
    code = "import triton, triton.language as tl\n@triton.jit\ndef kernel(x, BLOCK: tl.constexpr):\n    pass\n"
    with pytest.raises((ValueError, OSError)):  # triton itself refuses at the decorator
        exec(compile(code, "<nowhere>", "exec"), scope)
        tuned(scope["kernel"], [])[(1,)](X)


def test_generated_configs_for_arrays_elsewhere_are_refused_with_a_suggestion():
    class Elsewhere:
        dtype, shape = "float32", (10,)
        device = type("Device", (), {"type": "cuda", "__str__": lambda self: "cuda:0"})()

        def data_ptr(self):
            return 0

        def stride(self):
            return (1,)

    with pytest.raises(tilewright.UnavailableError, match=r'cuda:0 yet(.|\n)*triton.Config\(\{"BLOCK": 32\}\)'):
        tuned(kernels.scale)[blocks](Elsewhere(), Elsewhere(), 10, 2.0)
