"""Open tiling parameters in an ordinary Triton kernel: `configs=[]` generates, tunes and runs, here on the CPU.

    python examples/quickstart.py
"""
import numpy as np
import triton
import triton.language as tl
import triton.backends.ascend.runtime  # noqa: F401  switches generation on


@triton.autotune(configs=[], key=["n_elements"])
@triton.jit
def scaled_add(x, y, out, n_elements, scale, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    inside = offsets < n_elements
    result = tl.load(x + offsets, mask=inside) * scale + tl.load(y + offsets, mask=inside)
    tl.store(out + offsets, result, mask=inside)


def main():
    rng = np.random.default_rng(0)
    n = 98432
    x = rng.standard_normal(n, dtype=np.float32)
    y = rng.standard_normal(n, dtype=np.float32)
    out = np.empty_like(x)

    def grid(meta):
        return (triton.cdiv(n, meta["BLOCK_SIZE"]),)

    for call in ("first call, tunes", "second call, remembers"):
        out.fill(np.nan)
        scaled_add[grid](x, y, out, n, 0.5)
        np.testing.assert_allclose(out, x * np.float32(0.5) + y, rtol=1e-6)
        print(f"{call}: right, with {scaled_add.best_config}")


if __name__ == "__main__":
    main()
