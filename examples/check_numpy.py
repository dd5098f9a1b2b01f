"""Tunes each example kernel on the CPU through the Python decorator, on odd sizes, and compares with NumPy.

    python examples/check_numpy.py
"""
import sys

import numpy as np
import triton

import tilewright
from layer_norm import layer_norm
from matmul import matmul
from softmax import softmax_one_shot, softmax_online
from vector_add import vector_add

rng = np.random.default_rng(0)
failures = 0


def compare(title, kernel, out, expected, rtol, atol=0.0):
    """One line for a kernel; the error is relative to the largest value."""
    global failures
    right = np.allclose(out, expected, rtol=rtol, atol=atol)
    failures += not right
    error = np.max(np.abs(np.asarray(out, np.float64) - expected)) / np.max(np.abs(expected))
    config = ", ".join(f"{name}={value}" for name, value in kernel.best_config.kwargs.items())
    print(f"{'ok   ' if right else 'WRONG'} {title:22} largest error {error:.1e}  {config}")


def check_vector_add(n=98431):
    x, y = rng.standard_normal((2, n), dtype=np.float32)
    out = np.full(n, np.nan, np.float32)
    kernel = tilewright.autotune(configs=[], key=["n_elements"])(vector_add)
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n)
    compare("vector add", kernel, out, x + y, rtol=1e-6)


def check_softmax(rows=517, cols=781):
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    expected = np.exp(x - x.max(axis=1, keepdims=True), dtype=np.float64)
    expected /= expected.sum(axis=1, keepdims=True)

    out = np.full_like(x, np.nan)
    kernel = tilewright.autotune(configs=[], key=["n_cols"])(softmax_one_shot)
    kernel[(rows,)](x, out, cols, cols, cols)
    compare("softmax, one shot", kernel, out, expected, rtol=1e-4)

    out = np.full_like(x, np.nan)
    kernel = tilewright.autotune(configs=[], key=["n_rows", "n_cols"])(softmax_online)
    kernel[lambda meta: (triton.cdiv(rows, meta["ROWS"]),)](x, out, cols, cols, rows, cols)
    compare("softmax, online", kernel, out, expected, rtol=1e-4)


def check_layer_norm(rows=517, cols=1003, eps=1e-5):
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    weight, bias = rng.standard_normal((2, cols), dtype=np.float32)
    wide = x.astype(np.float64)
    expected = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + eps) * weight + bias
    out = np.full_like(x, np.nan)
    kernel = tilewright.autotune(configs=[], key=["n_rows", "n_cols"])(layer_norm)
    kernel[lambda meta: (triton.cdiv(rows, meta["ROWS"]),)](x, out, weight, bias, cols, rows, cols, eps)
    compare("layer norm", kernel, out, expected, rtol=1e-3, atol=1e-4)


def check_matmul(dtype, rtol, m=219, n=345, k=273):
    a = rng.standard_normal((m, k), dtype=np.float32).astype(dtype)
    b = rng.standard_normal((k, n), dtype=np.float32).astype(dtype)
    out = np.full((m, n), np.nan, dtype)
    kernel = tilewright.autotune(configs=[], key=["M", "N", "K"])(matmul)
    kernel[lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)](
        a, b, out, m, n, k, k, 1, n, 1, n, 1)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    compare(f"matmul, {np.dtype(dtype).name}", kernel, out, expected, rtol=rtol, atol=rtol * np.max(np.abs(expected)))


if __name__ == "__main__":
    check_vector_add()
    check_softmax()
    check_layer_norm()
    check_matmul(np.float32, rtol=1e-5)
    check_matmul(np.float16, rtol=2e-3)
    sys.exit(1 if failures else 0)
