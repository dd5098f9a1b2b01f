"""Arguments that the caller computes from a tuned parameter, declared as companions: `companions.block_count=...`."""

import json
import subprocess

import pytest
from conftest import ROOT

BLOCKS = ROOT / "tests" / "analysis" / "pointwise.py"
N = 98432
LAUNCH = [f"a=f32[{N}]", f"b=f32[{N}]", f"out=f32[{N}]", "weight=0.5", f"count={N}", "block_count=1"]
DECLARED = ("--hint", "companions.block_count=cdiv(count, WIDTH)")


def run(command_line, command, *more, grid="(48,)", arguments=LAUNCH, status=0):
    call = [command_line, command, f"{BLOCKS}:weighted_difference", "--json", "-g", grid]
    for argument in arguments:
        call += ["-a", argument]
    done = subprocess.run([*call, *more], capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def test_the_answer_says_what_to_declare(command_line):
    facts = run(command_line, "analyze", arguments=LAUNCH[:-1])
    assert [each["companion"] for each in facts["hostCoupled"]] == ["cdiv(count, WIDTH)"]
    refused = run(command_line, "candidates", "--target", "ascend910b1", arguments=[*LAUNCH[:-1], "block_count=97"], status=1)
    assert '"companions.block_count=cdiv(count, WIDTH)"' in refused["error"]["diagnostics"][0]["notes"][-1]["text"]


def test_declared_it_is_an_ordinary_tile(command_line):
    facts = run(command_line, "analyze", *DECLARED)
    assert facts["hostCoupled"] == []
    roles = {each["name"]: each["roles"] for each in facts["parameters"] if each["open"]}
    assert roles == {"WIDTH": ["tile"]}
    answer = run(command_line, "candidates", "--target", "ascend910b1", *DECLARED)
    assert len({each["config"]["WIDTH"] for each in answer["candidates"]}) > 3


def test_a_grid_over_a_companion_follows_the_candidate(command_line):
    answer = run(command_line, "candidates", "--target", "ascend910b1", *DECLARED, grid="(block_count,)")
    for each in answer["candidates"]:
        assert each["predicted"]["grid"][0] == -(-N // each["config"]["WIDTH"])


@pytest.mark.parametrize(
    "hint, code",
    [("companions.nothing=cdiv(count, WIDTH)", "hint.unknown"), ("companions.a=cdiv(count, WIDTH)", "hint.value"),
     ("companions.block_count=block_count + WIDTH", "hint.value"), ("companions.block_count=cdiv(count,", "grid.syntax")],
)
def test_declarations_that_mean_nothing(command_line, hint, code):
    answer = run(command_line, "candidates", "--target", "ascend910b1", "--hint", hint, arguments=[*LAUNCH[:-1], "block_count=97"], status=2)
    assert answer["error"]["code"] == code
