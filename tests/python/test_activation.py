"""Switching Tilewright on in Triton and off again. Each case runs in a process of its own: it is about what imports do."""

import subprocess
import sys

import pytest

pytest.importorskip("triton")

STOCK = """
import triton, triton.runtime, triton.runtime.autotuner as module
stock = module.autotune
places = lambda: [triton.autotune, triton.runtime.autotune, module.autotune]
assert places() == [stock] * 3 and stock.__module__ == "triton.runtime.autotuner"
"""


def run(code, **environment):
    import os

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_activation_triton_is_untouched():
    run(STOCK + "import sys; assert 'tilewright' not in sys.modules\nassert places() == [stock] * 3")


def test_the_import_of_the_guide():
    run(STOCK + "import triton.backends.ascend.runtime, tilewright\nassert places() == [tilewright.autotune] * 3")


def test_the_explicit_import_and_off_again():
    run(STOCK + "import tilewright\nassert places() == [stock] * 3\nimport tilewright.triton\nassert places() == [tilewright.autotune] * 3\n"
        "tilewright.disable()\nassert all(each is stock for each in places())\n"
        "tilewright.enable(); tilewright.enable()\nassert places() == [tilewright.autotune] * 3\n"
        "tilewright.disable()\nassert all(each is stock for each in places())")  # fmt: skip


def test_switched_off_by_the_environment():
    run(STOCK + "import tilewright.triton\nassert places() == [stock] * 3", TILEWRIGHT_DISABLE="1")


def test_what_others_put_there_stays():
    run(STOCK + "import tilewright.triton\nother = object()\ntriton.autotune = other\ntilewright.disable()\nassert triton.autotune is other")


def test_our_back_end_is_registered_and_never_active():
    run("import triton.backends as b\nours = b.backends['tilewright']\nassert not ours.driver.is_active()\n"
        "from triton.backends.compiler import GPUTarget\nassert not ours.compiler.supports_target(GPUTarget('cuda', 90, 32))\n"
        "assert 'ascend' not in b.backends")  # fmt: skip


def test_the_vendors_package_wins(tmp_path):
    """A real triton.backends.ascend is not shadowed."""
    folder = tmp_path / "ascend"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "runtime.py").write_text("REAL = True\n")
    run(f"""
import sys, types, importlib
import triton.backends as b
b.__path__[:] = [p for p in b.__path__ if 'overlay' not in p] + [{str(tmp_path)!r}]
import tilewright_triton_backend
tilewright_triton_backend._extend(b)
import triton.backends.ascend.runtime as runtime
assert runtime.REAL
""")


def test_package_without_triton(tmp_path):
    """The package imports, and says what is missing where it is needed."""
    run("import sys\nsys.modules['triton'] = None\nimport tilewright\n"
        "print(tilewright.Config({'B': 1}))\n"
        "try:\n    tilewright.autotune(configs=[], key=[])(lambda x: x)\nexcept tilewright.UserError as error:\n"
        "    assert 'Triton, which is not installed' in str(error)\nelse:\n    raise SystemExit('no error')")  # fmt: skip


def test_a_tuner_is_one_of_tritons_own_kind():
    run("import numpy, tilewright.triton, triton, sys\nsys.path.insert(0, 'tests/python')\nimport kernels\n"
        "kernel = triton.autotune(configs=[], key=['n'])(kernels.scale)\n"
        "assert isinstance(kernel, triton.runtime.autotuner.Autotuner) and kernel.keys == ['n'] and kernel.configs")  # fmt: skip
