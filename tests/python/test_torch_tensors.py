"""torch CPU tensors work like NumPy arrays, without the package importing torch itself."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("triton")
if os.environ.get("TILEWRIGHT_REQUIRE_TORCH") == "1":
    import torch
else:
    torch = pytest.importorskip("torch")

import kernels  # noqa: E402
import tilewright  # noqa: E402
import triton  # noqa: E402


def blocks(n):
    return lambda meta: (triton.cdiv(n, meta["BLOCK"]),)


def test_first_and_second_call():
    kernel = tilewright.autotune(configs=[], key=["n"])(kernels.scale)
    x = torch.randn(10_007)
    for factor in (0.5, 2.0):
        out = torch.full_like(x, float("nan"))
        kernel[blocks(x.numel())](x, out, x.numel(), factor)
        assert torch.equal(out, x * factor)
    assert list(kernel.cache) == [(10_007, "torch.float32", "torch.float32")]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32", "int64"])
def test_dtypes(dtype):
    kernel = tilewright.autotune(configs=[], key=["n"])(kernels.increment)
    x = torch.arange(100).to(getattr(torch, dtype))
    expected = x + 1
    kernel[blocks(100)](x, 100)
    assert torch.equal(x, expected)


def test_in_place_and_hooks():
    x = torch.zeros(1_000)
    kernel = tilewright.autotune(configs=[], key=["n"], reset_to_zero=["x"])(kernels.increment)
    kernel[blocks(1_000)](x, 1_000)
    assert torch.equal(x, torch.ones(1_000))
    kernel[blocks(1_000)](x, 1_000)
    assert torch.equal(x, torch.full((1_000,), 2.0))


def test_a_sparse_tensor_is_refused():
    kernel = tilewright.autotune(configs=[], key=["n"])(kernels.increment)
    with pytest.raises(tilewright.UserError, match="argument 'x': a torch.sparse_coo tensor"):
        kernel[blocks(10)](torch.eye(10).to_sparse(), 10)


def test_the_package_does_not_import_torch():
    code = "import sys, tilewright, triton.backends.ascend.runtime\nassert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
