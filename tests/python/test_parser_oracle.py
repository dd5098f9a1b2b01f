"""The parser against CPython's own: `tilewright-ast-dump` and `ast.dump(ast.parse(...), include_attributes=True)` must
agree on every byte, for real files and for small files that mutate them.

Quick mode takes a fixed sample of the standard library; TILEWRIGHT_FULL=1 takes all of it, its tests included. The tool
comes from TILEWRIGHT_BUILD_DIR (default build/release). Another interpreter can be the oracle: run this file under it.
"""
import ast
import os
import pathlib
import random
import subprocess
import sys
import sysconfig
import warnings

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TILEWRIGHT_BUILD_DIR", ROOT / "build" / "release"))
TOOL = (BUILD if BUILD.is_absolute() else ROOT / BUILD) / "bin" / "tilewright-ast-dump"
FULL = os.environ.get("TILEWRIGHT_FULL") == "1"
QUICK_FILES = 150
VERSION = f"{sys.version_info.major}.{min(sys.version_info.minor, 13)}"

# CPython 3.9 placed the parts of multi-line f-strings wrongly.
LOCATIONS = sys.version_info >= (3, 10)
# Not compared, each for a stated reason.
UNSUPPORTED_ENCODING = "unknown encoding"  # only UTF-8, ASCII and Latin-1 cookies are read
# Which characters are printable is Unicode 14's, Python 3.11's; this file tests characters that were unassigned then.
NEWER_UNICODE = {"test_stringprep.py"} if sys.version_info >= (3, 12) else set()

pytestmark = [
    pytest.mark.skipif(not TOOL.exists(), reason=f"{TOOL} is not built"),
    pytest.mark.skipif(sys.version_info < (3, 9) or sys.version_info >= (3, 14), reason="no dump form for this Python"),
]


class Tool:
    """tilewright-ast-dump in batch mode: one process for all files."""

    def __init__(self):
        attributes = ["--attributes"] if LOCATIONS else []
        self.process = subprocess.Popen([TOOL, *attributes, "--python", VERSION, "--batch"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def dump(self, path):
        self.process.stdin.write(os.fsencode(path) + b"\n")
        self.process.stdin.flush()
        status, length = self.process.stdout.readline().split()
        text = self.process.stdout.read(int(length))
        self.process.stdout.read(1)
        return status == b"ok", text.decode("utf-8", "surrogatepass" if status == b"ok" else "replace")


@pytest.fixture(scope="module")
def tool():
    running = Tool()
    yield running
    running.process.stdin.close()
    assert running.process.wait() == 0


def oracle(source):
    """CPython's dump, or None where CPython refuses the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.dump(ast.parse(source), include_attributes=LOCATIONS)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def library_files():
    root = pathlib.Path(sysconfig.get_paths()["stdlib"])
    files = sorted(p for p in root.rglob("*.py") if "site-packages" not in p.parts and "lib2to3" not in p.parts)
    if FULL:
        return files
    return random.Random(3).sample(files, min(QUICK_FILES, len(files)))


def first_difference(mine, theirs):
    at = next((i for i, (a, b) in enumerate(zip(mine, theirs)) if a != b), min(len(mine), len(theirs)))
    return f"ours  ...{mine[max(0, at - 200):at + 120]}\ntheirs...{theirs[max(0, at - 200):at + 120]}"


def test_standard_library(tool):
    compared, failures = 0, []
    for path in library_files():
        expected = oracle(path.read_bytes())
        ok, text = tool.dump(path)
        if not ok and UNSUPPORTED_ENCODING in text or path.name in NEWER_UNICODE:
            continue
        compared += 1
        if expected is None:
            if ok:
                failures.append(f"{path}: CPython refuses this file, we do not")
        elif not ok:
            failures.append(f"{path}: refused\n{text}")
        elif text != expected:
            failures.append(f"{path}: differs\n{first_difference(text, expected)}")
    print(f"{compared} files compared, {len(failures)} differ")
    assert compared > 100
    assert not failures, "\n".join(failures[:20])
