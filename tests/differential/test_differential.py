"""Our interpreter against Triton's own (TRITON_INTERPRET=1), kernel by kernel, over the cases of tables/*.py.

Integers and moves agree bit for bit, floats within the number of ulp that a case states. Where interpreter mode is
known not to do what compiled Triton does, the case brings the compiled result and names the section of
docs/semantics.md that explains the difference.

    python tests/differential/test_differential.py CASE            shows one case on both sides
    python tests/differential/test_differential.py --write FOLDER  the requests and their kernels, for run_triton.py --compiled
    python tests/differential/test_differential.py --compare FOLDER  ... and its answers (FOLDER/answers.jsonl) against ours
"""
import dataclasses
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("TILEWRIGHT_BUILD_DIR", ROOT / "build" / "release"))
sys.path.insert(0, str(HERE))

import encode  # noqa: E402
from case import Array, bits, table  # noqa: E402

TABLES = sorted(path.stem for path in (HERE / "tables").glob("*.py") if path.stem != "__init__")


def all_cases():
    cases = {}
    for name in TABLES:
        for case in importlib.import_module(f"tables.{name}").cases():
            case.group = name
            assert case.name not in cases, f"two cases are called {case.name}"
            cases[case.name] = case
    return cases


CASES = all_cases()


def spelled(value):
    if value is None or isinstance(value, bool):
        return {None: "None", True: "true", False: "false"}[value]
    return str(value)


def request(case, folder):
    """The case as both sides take it."""
    buffers, at, arguments = [], {}, []
    for name, value in case.arguments.items():
        if not isinstance(value, Array):
            arguments.append({"spec": f"{name}={spelled(value)}", "value": value})
            continue
        if value.of is None:
            at[name] = len(buffers)
            buffers.append(encode.to_bytes(value).hex())
        else:
            at[name] = at[value.of]
        size = bits(value.dtype) // 8
        offset = value.offset * size
        elements = len(buffers[at[name]]) // 2 // size - value.offset
        arguments.append({"spec": f"{name}={value.dtype}[{elements}]", "buffer": at[name], "offset": offset})
    return {"file": str(folder / f"{case.group}.py"), "kernel": case.name, "grid": list(case.grid) + [1] * (3 - len(case.grid)),
            "buffers": buffers, "arguments": arguments}  # yapf: disable


def write_tables(folder, cases):
    for name in TABLES:
        (folder / f"{name}.py").write_text(table([case for case in cases if case.group == name]))


def answers(command, requests, **more):
    lines = "\n".join(json.dumps(r) for r in requests) + "\n"
    done = subprocess.run(command, input=lines, capture_output=True, text=True, **more)
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(results) == len(requests), f"{len(results)} answers for {len(requests)} requests\n{done.stderr[-4000:]}"
    return results


def ours(requests):
    program = BUILD / "bin" / "tilewright-interpret-batch"
    assert program.exists(), f"{program} is missing: build it, or set TILEWRIGHT_BUILD_DIR"
    return answers([program], requests)


def tritons(requests):
    return answers([sys.executable, str(HERE / "run_triton.py")], requests)


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    pytest.importorskip("triton")
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("differential")
    cases = list(CASES.values())
    write_tables(folder, cases)
    requests = [request(case, folder) for case in cases]
    return {case.name: (asked, mine, theirs)
            for case, asked, mine, theirs in zip(cases, requests, ours(requests), tritons(requests))}  # yapf: disable


def differences(case, asked, mine, theirs):
    if case.refused is not None:
        found = [] if case.refused in theirs.get("error", "") else [f"Triton: {theirs.get('error', 'accepts it')}"]
        return found + ([] if "error" in mine else ["our interpreter accepts it"])
    if "error" in mine:
        return [f"our interpreter: {mine['error']}"]
    found, seen = [], set()
    for given in asked["arguments"]:
        if "buffer" not in given or given["buffer"] in seen:
            continue
        seen.add(given["buffer"])
        name, dtype = given["spec"].split("[")[0].split("=")
        got = encode.patterns(dtype, bytes.fromhex(mine["buffers"][given["buffer"]]))
        if case.expected is not None:
            if name not in case.expected:
                continue
            wanted = encode.patterns(dtype, encode.to_bytes(Array(dtype, case.expected[name])))
        elif "error" in theirs:
            return [f"Triton's interpreter: {theirs['error']}"]
        else:
            wanted = encode.patterns(dtype, bytes.fromhex(theirs["buffers"][given["buffer"]]))
        assert len(got) == len(wanted)
        for i, (a, b) in enumerate(zip(got, wanted)):
            text = encode.difference(dtype, a, b, case.ulp, case.near)
            if text:
                found.append(f"{name}[{i}]: {text}")
    return found


@pytest.mark.parametrize("name", CASES)
def test_interpreters_agree(results, name):
    case = CASES[name]
    if "[lower.unsupported]" in results[name][1].get("error", ""):
        pytest.skip("refused with a reason: src/program/lowering/Unsupported.def")
    found = differences(case, *results[name])
    assert not found, "\n".join([*found[:12], f"({len(found)} differ)", case.source])


def test_there_are_enough_cases():
    assert len(CASES) >= 300


def test_every_known_difference_is_documented():
    headings = re.findall(r"^#+ (.*)$", (ROOT / "docs" / "semantics.md").read_text(), re.M)
    for case in CASES.values():
        assert (case.expected is None) == (case.why is None), case.name
        assert case.why is None or case.why in headings, f"{case.name}: docs/semantics.md has no section '{case.why}'"


def show(name):
    import tempfile
    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        write_tables(Path(folder), [case])
        asked = request(case, Path(folder))
        mine, theirs = ours([asked])[0], tritons([asked])[0]
        print(case.source, json.dumps(asked, indent=1), *differences(case, asked, mine, theirs), sep="\n")


def write_requests(folder):
    """Requests that can be answered elsewhere: paths are relative to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tables(folder, list(CASES.values()))
    with open(folder / "requests.jsonl", "w") as out:
        for case in CASES.values():
            asked = request(case, folder)
            out.write(json.dumps({**asked, "file": Path(asked["file"]).name}) + "\n")


def compare(folder):
    cases = list(CASES.values())
    write_tables(folder, cases)
    requests = [request(case, folder) for case in cases]
    theirs = {answer["kernel"]: answer for answer in map(json.loads, open(folder / "answers.jsonl"))}
    agree = differ = failed = 0
    for case, asked, mine in zip(cases, requests, ours(requests)):
        answer = theirs.get(case.name, {"error": "no answer"})
        if "error" in answer and case.refused is None:
            failed += 1
            print(f"{case.name}: not run: {answer['error'][-300:]!r}")
            continue
        found = differences(dataclasses.replace(case, expected=None), asked, mine, answer)
        differ += bool(found)
        agree += not found
        if found:
            print(f"{case.name}: {len(found)} differ", *found[:3], sep="\n    ")
    print(f"{agree} agree, {differ} differ, {failed} did not run")


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write_requests(Path(sys.argv[2]))
    elif sys.argv[1] == "--compare":
        compare(Path(sys.argv[2]))
    else:
        show(sys.argv[1])
