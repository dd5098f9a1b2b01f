"""Results outlive the process that found them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

SCRIPT = """
import json, sys
sys.path.insert(0, {folder!r})
import numpy as np, triton, tilewright, kernels
from triton import knobs
seen = []
knobs.autotuning.listener = lambda **what: seen.append(what["cache_hit"])
kernel = tilewright.autotune(configs=[], key=["n"])(kernels.scale)
x = np.arange({n}, dtype=np.float32)
out = np.empty_like(x)
kernel[lambda meta: (triton.cdiv(x.size, meta["BLOCK"]),)](x, out, x.size, 2.0)
assert (out == 2 * x).all()
print(json.dumps(dict(hits=seen, config=kernel.best_config.kwargs)))
"""


def call(n):
    code = SCRIPT.format(folder=str(Path(__file__).parent), n=n)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not hasattr(__import__("triton").knobs.autotuning, "listener"), reason="this Triton has no listener")
def test_a_second_process_remembers():
    first, second, other = call(6_007), call(6_007), call(6_008)
    assert first["hits"] == [False] and second["hits"] == [True] and other["hits"] == [False]
    assert first["config"] == second["config"]


def test_a_damaged_store_warns_once_and_tuning_goes_on(monkeypatch, tmp_path):
    import numpy as np
    import triton

    import kernels
    import tilewright

    store = tmp_path / "damaged.db"
    store.write_bytes(b"no database at all " * 300)
    monkeypatch.setenv("TILEWRIGHT_STORE", str(store))
    kernel = tilewright.autotune(configs=[], key=["n"])(kernels.scale)
    x = np.arange(1_003, dtype=np.float32)
    out = np.empty_like(x)
    with pytest.warns(RuntimeWarning, match=r"results are not remembered(.|\n)*damaged\.db"):
        kernel[lambda meta: (triton.cdiv(x.size, meta["BLOCK"]),)](x, out, x.size, 2.0)
    np.testing.assert_array_equal(out, 2 * x)


def test_the_command_line_as_a_python_module():
    import tilewright.engine

    program = tilewright.engine.command_line()
    if not program.exists():
        pytest.skip("installed without the command line program")
    done = subprocess.run([sys.executable, "-m", "tilewright", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip() == tilewright.__version__
