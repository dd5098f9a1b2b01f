"""Candidates for an Ascend chip: problems on which automatic tiling elsewhere gives nothing, too large or unaligned tiles.

Each row is a launch; of its list it must hold that there is a candidate, that every tile fits the Unified Buffer and is a
whole number of 32-byte blocks along memory, that no more programs start than the chip can launch, and that nothing is
listed twice. The numbers of the chip come from its own description.
"""

import json
import subprocess
from math import ceil

import pytest
from conftest import ROOT

KERNELS = ROOT / "tests" / "analysis"
CHIP = "ascend910b1"
UB_BYTES = 196608
MOST_PROGRAMS = 65535
BLOCK_BYTES = 32

BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1, "i64": 8}


def listed(command_line, kernel, arguments, *more, chip=CHIP):
    call = [command_line, "candidates", KERNELS / kernel, "--target", chip, "--json"]
    for argument in arguments:
        call += ["-a", argument]
    run = subprocess.run([*call, *more], capture_output=True, text=True, timeout=120)
    assert run.stdout, run.stderr
    return json.loads(run.stdout)


def check(answer, aligned, most=MOST_PROGRAMS):
    """`aligned`: parameter -> bytes of one element along memory."""
    assert answer["count"] == len(answer["candidates"]) > 0
    configs = [tuple(sorted(each["config"].items())) for each in answer["candidates"]]
    assert len(set(configs)) == len(configs)
    for each in answer["candidates"]:
        programs = 1
        for count in each["predicted"]["grid"]:
            programs *= count
        assert 1 <= programs <= most
        for name, size in aligned.items():
            assert each["config"][name] * size % BLOCK_BYTES == 0, each["config"]


def vector(n, dtype="f32"):
    return [f"a={dtype}[{n}]", f"b={dtype}[{n}]", f"c={dtype}[{n}]", f"n={n}"]


@pytest.mark.parametrize(
    "n, dtype",
    [(98432, "f32"), (98432, "f16"), (1 << 20, "f32"), (1 << 22, "f32"), (1 << 26, "f32"), (1 << 28, "f32"), (1 << 30, "f32"),
     (1 << 30, "i8"), (97, "f32"), (1, "f32")],
)
def test_one_axis(command_line, n, dtype):
    answer = listed(command_line, "facts.py:add_by_variable", vector(n, dtype))
    check(answer, {"B": BYTES[dtype]})
    for each in answer["candidates"]:
        block = each["config"]["B"]
        # The tile that is listed is the tile that fits, not one that was looked at before it.
        assert 2 * block * BYTES[dtype] <= UB_BYTES
        assert each["predicted"]["grid"] == [ceil(n / block), 1, 1]


def test_more_than_the_chip_can_start_is_said(command_line):
    """2^31 - 1 elements: no tile that fits the Unified Buffer leaves 65535 programs or fewer."""
    answer = listed(command_line, "facts.py:add_by_variable", vector(2**31 - 1))
    assert answer["count"] == 0
    assert answer["rejected"] == {"grid.limit": answer["considered"]}
    assert "65535" in json.dumps(answer["error"])


def test_one_shot_that_cannot_fit_is_said(command_line):
    arguments = ["out=f32[64,65536]", "x=f32[64,65536]", "x_stride=65536", "out_stride=65536", "rows=64", "columns=65536"]
    answer = listed(command_line, "softmax_loss.py:softmax_rows_in_turns", arguments, "-g", "(48,)")
    assert answer["count"] == 0
    assert answer["rejected"] == {"capacity.ub": answer["considered"]}


@pytest.mark.parametrize("n", [98432, 1 << 27])
def test_blocks_in_parts(command_line, n):
    answer = listed(command_line, "facts.py:blocks_in_ranged_parts", [f"x=f32[{n}]", f"y=f32[{n}]", f"n={n}"])
    check(answer, {"B": 4, "S": 4})
    assert all(each["config"]["S"] <= each["config"]["B"] for each in answer["candidates"])


def test_softmax_in_parts(command_line):
    arguments = ["x=f32[16896,1024]", "y=f32[16896,1024]", "rows=16896", "columns=1024"]
    answer = listed(command_line, "facts.py:softmax_in_parts", arguments)
    check(answer, {"C": 4})
    assert {each["config"]["C"] for each in answer["candidates"]} == {1024}


@pytest.mark.parametrize("rows, columns", [(128, 32), (4096, 4096), (16896, 1024)])
def test_rows_and_columns_in_parts(command_line, rows, columns):
    arguments = [f"x=f16[{rows},{columns}]", f"y=f16[{rows}]", f"rows={rows}", f"columns={columns}"]
    check(listed(command_line, "facts.py:largest_by_keyword", arguments), {"CS": 2})


@pytest.mark.parametrize("rows, columns", [(1024, 32), (32, 8)])
def test_swapped_axes(command_line, rows, columns):
    arguments = [f"x=bf16[{rows},{columns}]", f"y=bf16[{columns},{rows}]", f"rows={rows}", f"columns={columns}"]
    check(listed(command_line, "facts.py:swap_axes", arguments), {"R": 2, "C": 2})


def test_three_axes(command_line):
    arguments = ["x=f32[64,512,512]", "m=64", "n=512", "k=512"]
    check(listed(command_line, "forms.py:three_masks", arguments), {"C": 4})


def test_tiles_of_a_fixed_number_of_programs(command_line):
    arguments = ["x=f32[65536,4096]", "scale=f32[4096]", "shift=f32[4096]", "out=f32[65536,4096]", "tokens=65536",
                 "width=4096", "SCALES=4096", "SHIFTS=4096", "workers=48"]
    answer = listed(command_line, "pointwise.py:affine_rows", arguments, "-g", "(48,)")
    check(answer, {"columns_each": 4}, most=48)


@pytest.mark.parametrize("batches", [64, 4096])
def test_an_axis_of_the_grid_alone_does_not_shrink_tiles(command_line, batches):
    """Rows that only the grid walks over are no part of the tile."""
    width = 4096
    arguments = [f"x=f32[{batches},{width}]", f"y=f32[{batches},{width}]", f"n={width}"]
    answer = listed(command_line, "forms.py:one_shot_columns", arguments, "-g", f"({batches},)")
    check(answer, {"B": 4})
    assert {each["config"]["B"] for each in answer["candidates"]} == {width}


def test_an_index_of_wide_integers_does_not_count_for_the_data(command_line):
    """The dtype of each buffer counts for itself: an int64 index beside int8 data takes eight times as much."""
    arguments = ["x=i8[1000000]", "index=i64[1000000]:0..999999", "start=i64[1000000]:0..0", "out=i8[1000000]", "stride=1",
                 "count=1000000"]
    check(listed(command_line, "indexing.py:take_flat", arguments), {"WIDTH": 1})


def test_a_long_launch_is_not_judged_by_a_short_one(command_line):
    """Nothing is remembered between launches: 64 rows first, then 65536."""
    for rows in (64, 65536, 64):
        arguments = [f"x=f16[{rows},1024]", f"y=f16[{rows}]", f"rows={rows}", "columns=1024"]
        answer = listed(command_line, "facts.py:largest_by_keyword", arguments)
        check(answer, {"CS": 2})
        again = listed(command_line, "facts.py:largest_by_keyword", arguments)
        assert again == answer


def test_the_usable_buffer_of_the_chip_counts(command_line):
    """A chip with 256 KiB of which 8 are reserved has 248."""
    targets = json.loads(subprocess.run([command_line, "targets", "--json"], capture_output=True, text=True, check=True).stdout)
    text = json.dumps(targets)
    assert "ascend950pr_9579" in text
    arguments = ["out=f32[64,63488]", "x=f32[64,63488]", "x_stride=63488", "out_stride=63488", "rows=64", "columns=63488"]
    answer = listed(command_line, "softmax_loss.py:softmax_rows_in_turns", arguments, "-g", "(56,)", chip="ascend950pr_9579")
    assert answer["count"] == 0
    assert "253952" in json.dumps(answer["error"])


def test_a_coupled_argument_is_named(command_line):
    """Blocks that the caller counted: tuning the block alone would be wrong, and the answer says which argument."""
    arguments = ["a=f32[98432]", "b=f32[98432]", "out=f32[98432]", "weight=0.5", "count=98432", "block_count=97"]
    answer = listed(command_line, "pointwise.py:weighted_difference", arguments, "-g", "(48,)")
    assert answer["count"] == 0
    assert answer["error"]["code"] == "host.coupled"
    assert "block_count" in json.dumps(answer["error"])


def test_floor_loops_keep_their_tail(command_line):
    """PART // STEP steps: a STEP that does not divide PART would drop elements."""
    n = 98432
    arguments = [f"data=f32[{n}]", f"chosen=i32[{n}]", "replacement=1.0", f"out=f32[{n}]", f"count={n}"]
    answer = listed(command_line, "pointwise.py:select_in_place", arguments)
    check(answer, {"PART": 4, "STEP": 4})
    assert all(each["config"]["PART"] % each["config"]["STEP"] == 0 for each in answer["candidates"])
