"""What `tilewright analyze` says of own-written kernels (tests/analysis/*.py) against what an expert says of them.

Three tables: CORPUS has the structure of 56 public kernels, FORMS one way of writing things each, FACTS the kernels of
unit tests elsewhere. An axis whose length is no argument has a name of the form axis0 and is written `*` in the tables.
"""

import json
import re
import subprocess
import sys

import pytest
from conftest import ROOT

KERNELS = ROOT / "tests" / "analysis"
sys.path.insert(0, str(KERNELS))
from corpus_truth import CORPUS  # noqa: E402
from forms_truth import FACTS, FORMS  # noqa: E402

NAMELESS = re.compile(r"axis\d+")


def named(axis):
    return "*" if NAMELESS.fullmatch(axis) else axis


def roles_of(parameter):
    return set(parameter["roles"]), {named(axis) for axis in parameter["axes"]}


def roles_in(text):
    roles, *axes = text.split()
    return set(roles.split("+")), set(axes)


def named_axes(facts, quality):
    return {axis["name"] for axis in facts["axes"] if axis[quality]} - {"*"} - {
        axis["name"] for axis in facts["axes"] if NAMELESS.fullmatch(axis["name"])
    }


def analysis_of(command_line, truth):
    call = [command_line, "analyze", KERNELS / truth.kernel, "--json"]
    for argument in truth.given.split():
        call += ["-a", argument]
    run = subprocess.run(call, capture_output=True, text=True, timeout=60)
    assert run.stdout, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("truth", CORPUS + FORMS + FACTS, ids=lambda truth: f"{truth.kernel} {truth.given}".strip())
def test_an_expert_agrees(command_line, truth):
    facts = analysis_of(command_line, truth)
    assert facts["status"] == truth.status, facts["diagnostics"]
    parameters = {parameter["name"]: parameter for parameter in facts["parameters"] if parameter["open"]}
    assert {name: roles_of(parameter) for name, parameter in parameters.items()} == {
        name: roles_in(text) for name, text in truth.roles.items()
    }
    assert named_axes(facts, "reduction") == set(truth.reduction.split())
    assert named_axes(facts, "contiguous") == set(truth.contiguous.split())
    coupled = {}
    for coupling in facts["hostCoupled"]:
        coupled.setdefault(coupling["parameter"], set()).add(coupling["argument"])
    assert coupled == {name: set(arguments) for name, arguments in truth.coupled.items()}
    constraints = {f"{each['code']}: {each['text']}" for each in facts["constraints"]}
    assert set(truth.constraints) <= constraints
    effects = facts["effects"]
    assert set(effects["accumulates"]) == set(truth.accumulates.split())
    assert set(effects["atomics"]) == set(truth.atomics.split())


@pytest.mark.parametrize("truth", CORPUS, ids=lambda truth: f"{truth.kernel} {truth.given}".strip())
def test_every_role_has_evidence(command_line, truth):
    lines = (KERNELS / truth.kernel.partition(":")[0]).read_text().splitlines()
    for parameter in analysis_of(command_line, truth)["parameters"]:
        if parameter["open"]:
            assert parameter["evidence"], parameter
            for evidence in parameter["evidence"]:
                assert 0 < evidence["line"] <= len(lines)
                assert evidence["text"]
