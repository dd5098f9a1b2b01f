"""Types and shapes in lowered Programs against Triton's own IR for the same kernels and signatures.

Triton's front end is asked for its IR before any pass, so what is compared is what the language says, not what an
optimiser left of it: which loads, stores, atomics, dots, reductions and scans there are, with their types, and how
often; and which values the loops carry.
"""
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TILEWRIGHT_BUILD_DIR", ROOT / "build" / "release"))
FILE = ROOT / "tests" / "lowering" / "oracle_kernels.py"
sys.path.insert(0, str(FILE.parent))

from ir_facts import TRITON_DTYPES, facts_of_program, facts_of_triton, triton_ir  # noqa: E402

f32, f16, i32 = "f32[64]", "f16[64]", "i32[64]"
CASES = {
    "helpers": dict(x=f32, n=100, B=16),
    "control": dict(x=f32, n=100, FLAG=True, B=32),
    "nested": dict(x=f32, n=100, B=16),
    "matmul": dict(a=f16, b=f16, c=f16, K=100, sa=64, sb=64, sc=64, M=16, N=32, KB=64),
    "promotions": dict(f16=f16, f32=f32, i8="i8[64]", i32=i32, i64="i64[64]", u8="u8[64]", flag="i1[64]", eps=0.5, n=100),
    "reductions": dict(x=f16, B=16, C=32),
    "shapes": dict(x=f32, B=64),
    "atomics": dict(x=f32, i=i32, n=100, B=32),
    "scalars": dict(x=f32, n=100, m=50, B=32),
    "descriptors": dict(a=f32, c=f32, M=100, N=200, BM=16, BN=32),
}
CONSTEXPR = {"FLAG", "B", "C", "M", "N", "KB", "BM", "BN"}


def is_constexpr(kernel, name):
    return name in CONSTEXPR and not (kernel == "descriptors" and name in "MN")


def ir_of(kernel, arguments):
    import oracle_kernels
    signature, constants = {}, {}
    for name, value in arguments.items():
        if is_constexpr(kernel, name):
            signature[name] = "constexpr"
            constants[name] = value
        elif isinstance(value, str):
            dtype = value.split("[")[0]
            signature[name] = "*" + TRITON_DTYPES.get(dtype, dtype)
        else:
            signature[name] = "fp32" if isinstance(value, float) else "i32"
    return triton_ir(getattr(oracle_kernels, kernel), signature, constants)


@pytest.mark.parametrize("kernel", CASES)
def test_types_are_tritons(kernel):
    pytest.importorskip("triton")
    program = BUILD / "bin" / "tilewright-lower"
    if not program.exists():
        pytest.skip(f"{program} is missing: build it, or set TILEWRIGHT_BUILD_DIR")
    arguments = CASES[kernel]
    spelled = [f"{name}={value}" for name, value in arguments.items()]
    lowered = subprocess.run([program, FILE, kernel, *spelled], capture_output=True, text=True)
    assert lowered.returncode == 0, lowered.stderr
    assert facts_of_program(lowered.stdout) == facts_of_triton(ir_of(kernel, arguments))
