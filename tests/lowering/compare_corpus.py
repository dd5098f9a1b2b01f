"""Types and shapes of what public kernels do, ours against Triton's own IR, for concrete arguments.

    python tests/lowering/compare_corpus.py FOLDER [--limit N] [--show NAME] [--json]

FOLDER holds unpacked packages. Every kernel that can stand alone (extract.py) is lowered once to learn the kinds of its
arguments and values for its constexprs; with those, both front ends lower it, and their facts (ir_facts.py) are
compared. Prints one line a kernel that differs, and totals.
"""
import argparse
import collections
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from extract import File, NeedsMore  # noqa: E402
from ir_facts import TRITON_DTYPES, facts_of_program, facts_of_triton, triton_ir  # noqa: E402

BUILD = Path(os.environ.get("TILEWRIGHT_BUILD_DIR", HERE.parents[1] / "build" / "release"))
Outcome = collections.namedtuple("Outcome", "kind detail")


def lowered(path, kernel, arguments=()):
    """The Program's text, or None and the message."""
    try:
        done = subprocess.run([BUILD / "bin" / "tilewright-lower", path, kernel, *arguments], capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return None, "no answer in 20 s"
    return (done.stdout, "") if done.returncode == 0 else (None, done.stderr.strip().splitlines()[0] if done.stderr.strip() else f"exit {done.returncode}")


def header_items(text):
    """The parameters of `kernel @k(...)`, split at top-level commas."""
    line = next(line for line in text.splitlines() if line.startswith("kernel "))
    inside, items, depth, quoted, item = line[line.index("(") + 1:line.rindex(")")], [], 0, False, ""
    for i, c in enumerate(inside):
        quoted ^= c == '"' and inside[i - 1] != "\\"
        depth += 0 if quoted else (c in "(<[{") - (c in ")>]}")
        if c == "," and depth == 0 and not quoted:
            items.append(item.strip())
            item = ""
        else:
            item += c
    return [*items, item.strip()] if item.strip() else items


def python_value(text):
    import triton.language as tl
    text = text.removesuffix(" default")
    if text in ("true", "false", "None"):
        return {"true": True, "false": False, "None": None}[text]
    if text.startswith("dtype:"):
        name = text[6:]
        return getattr(tl, {"f": "float", "i": "int", "u": "uint", "b": "bfloat"}[name[0]] + name.lstrip("fiub") if not name.startswith("f8") else
                       {"f8e4m3": "float8e4nv", "f8e5m2": "float8e5"}[name])  # yapf: disable
    if text.startswith('"'):
        return text[1:-1]
    return float(text) if re.search(r"[.einf]", text.lower()) else int(text)


def signature_of(text):
    """(signature and constants as Triton wants them, arguments as we do), from a first lowering's header."""
    signature, constants, ours = {}, {}, []
    for item in header_items(text):
        if match := re.match(r"%([\w.]+): ptr<(\w+)>", item):
            name, dtype = match.groups()
            signature[name] = "*" + TRITON_DTYPES.get(dtype, dtype)
            ours.append(f"{name}={dtype}[4096]")
        elif match := re.match(r"%([\w.]+): (\w+)", item):
            name, dtype = match.groups()
            signature[name] = TRITON_DTYPES.get(dtype, dtype)
            ours.append(f"{name}=0.5" if dtype[0] in "fb" else f"{name}=true" if dtype == "i1" else f"{name}=100")
            if signature[name] not in ("fp32", "i32", "i1"):
                raise NeedsMore(f"a scalar {dtype}")
        elif match := re.match(r"open ([\w.]+) = (-?\d+)", item):
            name, value = match.groups()
            signature[name], constants[name] = "constexpr", int(value)
            ours.append(f"{name}={value}")
        elif match := re.match(r"fixed (?:runtime )?([\w.]+) = (.*)", item):
            name, value = match.groups()
            signature[name], constants[name] = "constexpr", python_value(value)
            if not item.endswith(" default"):
                ours.append(f"{name}={value}")
        elif match := re.match(r"unused (?:\w+ )*?([\w.]+)$", item):
            signature[match.group(1)] = "i32"
            ours.append(f"{match.group(1)}=100")
        else:
            raise NeedsMore(f"a parameter like {item}")
    return signature, constants, ours


def without_loops(facts):
    """What a loop carries unchanged differs without a difference: x = x.to(x.dtype) in its body."""
    return {fact: count for fact, count in facts.items() if fact[0] != "for"}


def module_at(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def last_line(error):
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).strip().splitlines()[-1][:160] if str(error).strip() else type(error).__name__


def examine(file, kernel, path):
    """Compares one kernel; `path` is where its module may be written."""
    try:
        path.write_text(file.module_of(kernel))
    except NeedsMore as more:
        return Outcome("needs more", str(more))
    first, message = lowered(path, kernel)
    if first is None:
        return Outcome("we refuse it", message)
    try:
        signature, constants, arguments = signature_of(first)
    except (NeedsMore, KeyError, ValueError) as more:
        return Outcome("needs more", str(more))
    text, message = lowered(path, kernel, arguments)
    if text is None:
        return Outcome("we refuse it", message)
    try:
        ir = triton_ir(getattr(module_at(path), kernel), signature, constants)
    except Exception as error:  # noqa: BLE001: whatever a foreign kernel makes Triton raise
        return Outcome("Triton refuses it", last_line(error))
    ours, theirs = facts_of_program(text), facts_of_triton(ir)
    if without_loops(ours) == without_loops(theirs):
        return Outcome("equal", sum(ours.values()))
    return Outcome("DIFFERENT", f"only ours {dict(ours - theirs)}, only Triton's {dict(theirs - ours)}")


def kernels_under(folder):
    """(name to show, file, kernel), in order of path; copies of one kernel once."""
    seen = set()
    for path in sorted(folder.rglob("*.py")):
        try:
            file = File(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError, RecursionError):
            continue
        for kernel in file.kernels():
            try:
                text = file.module_of(kernel)
            except NeedsMore:
                continue
            if text not in seen:
                seen.add(text)
                yield f"{path.relative_to(folder)}:{kernel}", file, kernel


def main():
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=10**9, help="stop after so many kernels that both lower")
    parser.add_argument("--show", help="keep what a kernel of this name lowers to, in ./kernel.*")
    parser.add_argument("--json", action="store_true", help="end with the totals as one JSON object")
    options = parser.parse_args()
    counts, reasons = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, file, kernel) in enumerate(kernels_under(options.folder)):
            if options.show and options.show != name:
                continue
            outcome = examine(file, kernel, Path(folder) / f"kernel{number}.py")
            counts[outcome.kind] += 1
            if outcome.kind == "DIFFERENT" or options.show:
                print(f"{name}: {outcome.kind}: {outcome.detail}", flush=True)
            elif outcome.kind != "equal":
                reasons[outcome.kind, re.sub(r"\S+:\d+:\d+: ", "", outcome.detail)[:110]] += 1
            if options.show:
                print(file.module_of(kernel))
            if counts["equal"] + counts["DIFFERENT"] >= options.limit:
                break
    for (kind, detail), count in reasons.most_common(40):
        print(f"{count:5d} {kind}: {detail}")
    print(json.dumps(counts) if options.json else ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    return 1 if counts["DIFFERENT"] else 0


if __name__ == "__main__":
    sys.exit(main())
