"""The parser against CPython's own: `tilewright-ast-dump` and `ast.dump(ast.parse(...), include_attributes=True)` must
agree on every byte, for real files and for small files that mutate them.

Quick mode takes a fixed sample of the standard library; TILEWRIGHT_FULL=1 takes all of it, its tests included. The tool
comes from TILEWRIGHT_BUILD_DIR (default build/release). Another interpreter can be the oracle: run this file under it.
"""
import ast
import io
import os
import pathlib
import random
import re
import subprocess
import sys
import sysconfig
import tokenize
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

# `except A, B:` without parentheses; template strings.
PYTHON_3_14 = re.compile(r"\bexcept\b[^(:]*,|\b[rR]?[tT][rR]?['\"]")

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


SPARE_TOKENS = """( ) [ ] { } , : = * ** . lambda if else for in not and yield await async f"{x}" "s" 1 x def class with as is
:= @ -> ! del return import from case match _ ~ - b"y" None ... / += global try except finally while f"{x!r:>{y}}" type
""".split() + ["\n", "    "]


def mutants(count):
    """Small pieces of the standard library with a token removed, replaced, inserted or repeated."""
    rng = random.Random(5)
    pieces = []
    for path in rng.sample(library_files(), 60):
        source = path.read_bytes()
        if oracle(source) is None or len(source) > 100_000:
            continue
        lines = source.decode("utf-8", "replace").splitlines(True)
        for node in ast.parse(source).body:
            if node.end_lineno - node.lineno < 25:
                pieces.append("".join(lines[node.lineno - 1:node.end_lineno]))
    while count:
        piece = rng.choice(pieces)
        try:
            tokens = [token for token in tokenize.generate_tokens(io.StringIO(piece).readline) if token.string]
        except (tokenize.TokenError, SyntaxError):
            continue
        if not tokens:
            continue
        starts = [0]
        for line in piece.splitlines(True):
            starts.append(starts[-1] + len(line))
        token = rng.choice(tokens)
        begin = starts[token.start[0] - 1] + token.start[1]
        end = starts[token.end[0] - 1] + token.end[1]
        yield rng.choice([
            lambda: piece[:begin] + piece[end:],
            lambda: piece[:begin] + rng.choice(SPARE_TOKENS) + piece[end:],
            lambda: piece[:begin] + " " + rng.choice(SPARE_TOKENS) + " " + piece[begin:],
            lambda: piece[:end] + " " + rng.choice(tokens).string + " " + piece[end:],
        ])()
        count -= 1


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


def test_mutants(tool, tmp_path):
    """Broken and odd files: both parsers refuse the same ones and agree on the others."""
    path = tmp_path / "mutant.py"
    accepted, refused, failures = 0, 0, []
    for source in mutants(20_000 if FULL else 1_000):
        path.write_text(source, encoding="utf-8")
        expected = oracle(source.encode("utf-8"))
        ok, text = tool.dump(path)
        accepted += ok
        refused += not ok
        if expected is None:
            # An older Python refuses newer syntax, so this direction is for the newest one only, but for 3.14's forms.
            if ok and sys.version_info >= (3, 13) and not PYTHON_3_14.search(source):
                failures.append(f"CPython refuses this, we do not:\n{source}")
        elif not ok:
            failures.append(f"refused:\n{source}\n{text}")
        elif text != expected:
            failures.append(f"differs:\n{source}\n{first_difference(text, expected)}")
    print(f"{accepted} mutants accepted, {refused} refused")
    assert accepted > 100 and refused > 100
    assert not failures, "\n\n".join(failures[:10])
