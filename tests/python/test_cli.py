"""The command line as other programs use it: exit codes, JSON fields, and what it says to bad input."""

import json
import os
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
VECTOR_ADD = f"{EXAMPLES}/vector_add.py:vector_add"
SOFTMAX = f"{EXAMPLES}/softmax.py"
GRID = ["-g", "(cdiv(n_elements, BLOCK),)"]


def vector_add(n=20_000, **changed):
    arguments = {"x": f"f32[{n}]", "y": f"f32[{n}]", "out": f"f32[{n}]", "n_elements": n, **changed}
    return [part for name, value in arguments.items() if value is not None for part in ("-a", f"{name}={value}")]


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(command_line):
    def call(*arguments, cwd=ROOT, **environment):
        done = subprocess.run(
            [command_line, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, env={**os.environ, **environment}, timeout=240
        )
        return Result(done)

    return call


def write(folder, text, name="kernel.py"):
    path = folder / name
    path.write_text("import triton\nimport triton.language as tl\n\n\n" + text)
    return path


# ---- what the JSON promises


def test_analyze_json(run):
    done = run("analyze", VECTOR_ADD, "--json", *vector_add(), *GRID)
    assert done.code == 0, done.err
    facts = done.json
    assert facts["kernel"] == "vector_add" and facts["status"] == "ok" and facts["line"] > 0 and facts["file"].endswith("vector_add.py")
    assert {"parameters", "axes", "constraints", "effects", "hostCoupled", "diagnostics"} <= set(facts)
    block = next(each for each in facts["parameters"] if each["name"] == "BLOCK")
    assert block["open"] and "split" in block["roles"] and block["axes"]
    assert all({"line", "text"} <= set(each) for each in block["evidence"])
    assert set(facts["effects"]) == {"reads", "writes", "accumulates", "atomics"}
    assert sorted(facts["effects"]["reads"]) == ["x", "y"] and facts["effects"]["writes"] == ["out"]
    assert all({"name", "extent", "reduction", "contiguous"} <= set(each) for each in facts["axes"])


def test_analyze_takes_all_kernels_of_a_file(run):
    done = run("analyze", SOFTMAX, "--json")
    assert [each["kernel"] for each in done.json["kernels"]] == ["softmax_one_shot", "softmax_online"], done.err


def test_candidates_json(run):
    done = run("candidates", VECTOR_ADD, "--target", "cpu", "--json", *vector_add(), *GRID)
    assert done.code == 0, done.err
    plan = done.json
    assert plan["target"] == "cpu" and plan["kernel"] == "vector_add"
    assert plan["count"] == len(plan["candidates"]) > 1 and plan["considered"] >= plan["count"]
    for rank, each in enumerate(plan["candidates"], 1):
        assert each["rank"] == rank and "BLOCK" in each["config"]
        assert {"timeUs", "bytes", "grid"} <= set(each["predicted"])
        assert each["predicted"]["grid"][0] == -(-20_000 // each["config"]["BLOCK"])
    assert isinstance(plan["rejected"], dict)


def test_candidates_are_a_pure_function(run):
    calls = [run("candidates", VECTOR_ADD, "--json", *vector_add(), *GRID).out for _ in range(2)]
    assert calls[0] == calls[1]


def test_candidates_for_a_chip_that_is_not_here(run):
    done = run("candidates", VECTOR_ADD, "--target", "ascend910b1", "--json", "--all", *vector_add(1 << 22), *GRID)
    assert done.code == 0, done.err
    assert done.json["count"] >= 1
    assert all({"config", "code", "text"} <= set(each) for each in done.json["rejected"])


def test_only_configs_gives_each_a_verdict(run):
    configs = [part for size in (100, 1024, 2048) for part in ("-c", f"BLOCK={size}")]
    done = run("candidates", VECTOR_ADD, "--json", "--only-configs", *configs, *vector_add(), *GRID)
    assert {each["config"]["BLOCK"] for each in done.json["candidates"]} == {1024, 2048}
    assert [(each["config"]["BLOCK"], each["code"]) for each in done.json["rejected"]] == [(100, "shape.pow2")]


def test_tune_json_and_again_from_the_store(run, tmp_path):
    store = tmp_path / "tuned.db"
    first = run("tune", VECTOR_ADD, "--json", "--store", store, *vector_add(), *GRID)
    assert first.code == 0, first.err
    tuned = first.json
    assert set(tuned) >= {"best", "trials", "wallSeconds", "cached"} and tuned["cached"] is False
    assert tuned["best"]["method"] == "measured" and tuned["best"]["timeUs"] > 0
    assert all(set(each) >= {"config", "status", "code", "timeUs", "samples", "method"} for each in tuned["trials"])
    assert tuned["best"]["config"] in [each["config"] for each in tuned["trials"]]

    again = run("tune", VECTOR_ADD, "--json", "--store", store, *vector_add(), *GRID).json
    assert again["cached"] is True and again["best"] == tuned["best"]

    listed = run("store", "list", "--json", "--store", store).json
    assert len(listed["keys"]) == 1 and listed["keys"][0]["kernel"] == "vector_add"
    assert listed["keys"][0]["best"]["config"] == tuned["best"]["config"]

    story = run("explain", VECTOR_ADD, "--store", store, *vector_add(), *GRID)
    assert story.code == 0 and "chosen" in story.out


def test_export_and_import(run, tmp_path):
    run("tune", VECTOR_ADD, "--json", "--store", tmp_path / "a.db", "--only-configs", "-c", "BLOCK=1024", *vector_add(), *GRID)
    assert run("store", "export", tmp_path / "all.json", "--store", tmp_path / "a.db").code == 0
    report = run("store", "import", tmp_path / "all.json", "--json", "--store", tmp_path / "b.db").json
    assert report["keys"] == 1 and report["trials"] >= 1


def test_run_agrees_with_the_interpreter(run):
    done = run("run", VECTOR_ADD, "-c", "BLOCK=256", "--check", "interp", "--json", *vector_add(1_003), *GRID)
    assert done.code == 0, done.err
    assert done.json["check"] == {"against": "interp", "differing": 0, "worstRelative": 0.0}


def test_targets_and_doctor(run):
    names = [each["name"] for each in run("targets", "--json").json["targets"]]
    assert "cpu" in names and "ascend910b1" in names
    doctor = run("doctor", "--json")
    assert doctor.code == 0, doctor.out
    assert {each["part"] for each in doctor.json["parts"]} >= {"cpu", "cpu back end", "store", "device descriptions"}


# ---- bad input


def test_a_file_that_is_not_python(run, tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("def kernel(:\n    pass\n")
    done = run("analyze", path)
    assert done.code == 1
    assert f"{path}:1:" in done.err and "[lang.syntax]" in done.err and "^" in done.err


def test_a_file_that_does_not_exist(run, tmp_path):
    done = run("analyze", tmp_path / "nowhere.py")
    assert done.code == 2 and "nowhere.py" in done.err and "[io.read]" in done.err


def test_a_kernel_that_does_not_exist(run):
    done = run("tune", f"{EXAMPLES}/vector_add.py:vector_ad", *vector_add(), *GRID)
    assert done.code == 2
    assert "no kernel 'vector_ad'" in done.err and "vector_add" in done.err and "[lower.no-kernel]" in done.err


def test_an_unsupported_construct_is_named_with_line_and_caret(run, tmp_path):
    path = write(
        tmp_path,
        "@triton.jit\ndef kernel(x, n, BLOCK: tl.constexpr):\n    names = {'a': 1}\n    tl.store(x + tl.arange(0, BLOCK), 1.0)\n",
    )
    done = run("tune", f"{path}:kernel", "-a", "x=f32[64]", "-a", "n=64", "-g", "(1,)")
    assert done.code == 1
    assert f"{path}:7:" in done.err and "names = {'a': 1}" in done.err and "^" in done.err


def test_a_missing_argument(run):
    done = run("tune", VECTOR_ADD, *vector_add(y=None), *GRID)
    assert done.code == 2
    assert "'y' was not given" in done.err and "[arg.missing]" in done.err and "-a y=f32[SIZE]" in done.err


def test_an_unknown_argument(run):
    done = run("tune", VECTOR_ADD, *vector_add(z="f32[10]"), *GRID)
    assert done.code == 2 and "'z'" in done.err and "x, y, out, n_elements, BLOCK" in done.err


@pytest.mark.parametrize("text", ["x", "x=", "x=f32[", "x=f33[10]", "x=f32[-1]", "=3", "x=f32[10]junk"])
def test_a_mistyped_argument(run, text):
    done = run("tune", VECTOR_ADD, "-a", text, *GRID)
    assert done.code == 2
    assert "[arg." in done.err


def test_an_argument_of_the_wrong_kind(run):
    done = run("tune", VECTOR_ADD, *vector_add(x=17), *GRID)
    assert done.code in (1, 2) and "x" in done.err and "error:" in done.err


def test_a_fixed_grid_with_a_split_parameter(run):
    done = run("tune", VECTOR_ADD, *vector_add(), "-g", "(8,)")
    assert done.code == 1
    assert "[grid.fixed]" in done.err and "BLOCK" in done.err


def test_a_grid_that_cannot_be_read(run):
    done = run("tune", VECTOR_ADD, *vector_add(), "-g", "(cdiv(n_elements, TILE),)")
    assert done.code == 2 and "TILE" in done.err


def test_no_feasible_candidate(run):
    done = run("candidates", f"{SOFTMAX}:softmax_one_shot", "--only-configs", "-c", "BLOCK=512", "--json", "-a", "x=f32[8,781]",
               "-a", "y=f32[8,781]", "-a", "x_row_stride=781", "-a", "y_row_stride=781", "-a", "n_cols=781", "-g", "(8,)")  # fmt: skip
    assert done.code == 1
    assert done.json["count"] == 0 and done.json["rejected"][0]["code"] == "oneshot.short"
    assert "512" in done.json["rejected"][0]["text"] and "781" in done.json["rejected"][0]["text"]


ASSERTING = """
@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK >= 128, "whole lines only")
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offsets, 1.0, mask=offsets < n)
"""


def test_a_tile_that_fails_a_static_assertion(run, tmp_path):
    path = write(tmp_path, ASSERTING)
    call = ["-a", "x=f32[1000]", "-a", "n=1000", "-g", "(cdiv(n, BLOCK),)", "--json"]
    done = run("candidates", f"{path}:kernel", "--only-configs", "-c", "BLOCK=64", "-c", "BLOCK=256", *call)
    assert [each["config"]["BLOCK"] for each in done.json["candidates"]] == [256]
    rejected = done.json["rejected"][0]
    assert rejected["code"] == "static_assert" and "whole lines only" in rejected["text"]
    assert all(each["config"]["BLOCK"] >= 128 for each in run("candidates", f"{path}:kernel", *call).json["candidates"])


def test_a_corrupt_store_does_not_stop_tuning(run, tmp_path):
    store = tmp_path / "store.db"
    store.write_bytes(b"this is no database" * 500)
    done = run("tune", VECTOR_ADD, "--json", "--store", store, "--only-configs", "-c", "BLOCK=1024", *vector_add(), *GRID)
    assert done.code == 0 and done.json["best"]["config"]["BLOCK"] == 1024
    assert "[store.corrupt]" in done.err and "will not be remembered" in done.err
    assert store.read_bytes().startswith(b"this is no database")  # left for its owner to look at
    assert run("store", "list", "--store", store).code != 0


def test_an_unwritable_store_does_not_stop_tuning(run, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    if os.access(folder, os.W_OK):  # root may write anywhere: a file in the place of the folder stops it too
        folder = tmp_path / "file"
        folder.write_text("")
    done = run("tune", VECTOR_ADD, "--json", "--store", folder / "store.db", "--only-configs", "-c", "BLOCK=1024", *vector_add(), *GRID)
    assert done.code == 0, done.err
    assert "[store." in done.err and "will not be remembered" in done.err


def test_killed_in_the_middle_of_tuning(run, command_line, tmp_path):
    """What ended before the kill is there; the store opens, is sound, and the next run goes on from it."""
    store = tmp_path / "store.db"
    call = ["tune", VECTOR_ADD, "--json", "--store", str(store), "--exhaustive", *vector_add(4_000_000), *GRID]
    process = subprocess.Popen([command_line, *call], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        seen = 0
        deadline = time.monotonic() + 120
        while seen < 2 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
            if store.exists():
                listed = run("store", "list", "--json", "--store", store)
                seen = sum(each["okTrials"] for each in listed.json["keys"]) if listed.code == 0 else 0
        assert process.poll() is None, "tuning ended before it could be killed"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert run("store", "verify", "--store", store).code == 0
    kept = run("store", "list", "--json", "--store", store).json["keys"]
    assert kept[0]["okTrials"] >= seen >= 2 and "best" not in kept[0]
    done = run(*call)
    assert done.code == 0 and done.json["cached"] is False


def test_out_of_bounds_in_a_trial(run, tmp_path):
    path = write(
        tmp_path,
        "@triton.jit\ndef kernel(x, n, BLOCK: tl.constexpr):\n    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(x + offsets, 1.0, mask=offsets < n + 100000)\n",
    )
    done = run("tune", f"{path}:kernel", "--json", "-a", "x=f32[1000]", "-a", "n=1000", "-g", "(cdiv(n + 100000, BLOCK),)")
    assert done.code == 1
    assert "x" in done.err and "run.out-of-bounds" in done.err + done.out


def test_an_unknown_target(run):
    done = run("candidates", VECTOR_ADD, "--target", "ascend910b9", *vector_add(), *GRID)
    assert done.code == 2 and "ascend910b1" in done.err and "[target.unknown]" in done.err


def test_a_target_without_a_device(run):
    done = run("tune", VECTOR_ADD, "--target", "ascend910b1", *vector_add(), *GRID)
    assert done.code == 3 and "[target.unavailable]" in done.err


def test_wrong_calls(run):
    assert run().code == 2
    assert run("tune").code == 2
    assert run("frobnicate").code == 2
    assert run("tune", VECTOR_ADD, "--budget", "soon", *vector_add(), *GRID).code == 2
    assert run("--version").out.strip() and run("--help").code == 0


def test_errors_as_json(run):
    done = run("candidates", f"{EXAMPLES}/vector_add.py:nobody", "--json")
    assert done.code == 2 and done.json["error"]["code"] == "lower.no-kernel"
