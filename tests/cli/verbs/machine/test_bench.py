"""tauform bench."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from operator import add, mul, neg, sub
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tauform as tf
from tauform.cli import main
from tauform.cli.comparison import peers
from tauform.codegen.program.program import Op, Program


def test_bench_names_what_it_measured_and_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pinocchio")
    for name in ("mujoco", "casadi"):  # as if they were not installed
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("tauform.cli.comparison.peers.shutil.which", lambda name: None)
    monkeypatch.setattr("tauform.cli.comparison.peers.LEAST_SAMPLE", 1e-4)
    # What is called the textbook algorithm must not be a kernel, in the comparison as in the times.
    monkeypatch.setattr(tf, "inverse_dynamics", None)
    assert main(["bench", "two_link", "--states", "100", "--repeats", "1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["missing"] == dict.fromkeys(("casadi", "mujoco", "C by gcc", "C by clang"), "not installed")
    assert shown["error"] < 1e-13
    measured = {**shown["one_state_seconds"], **shown["batch_seconds"]}
    assert sum("pinocchio" in name for name in measured) == 2
    assert all(seconds > 0 for seconds in measured.values())


@pytest.mark.parametrize("compiler", [True, False])
def test_bench_times_casadi_where_pinocchio_has_it(
    compiler: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("casadi")
    pytest.importorskip("pinocchio")
    if compiler and not any(map(shutil.which, ("gcc", "clang"))):
        pytest.skip("no C compiler")
    robot = tf.load("two_link")
    program = tf.generate(robot, "inverse_dynamics")
    # what Pinocchio's own module would trace, here traced from our program
    monkeypatch.setitem(sys.modules, "pinocchio.casadi", _traced_by_casadi(program))
    if not compiler:
        monkeypatch.setattr("tauform.cli.comparison.peers.shutil.which", lambda name: None)
    states = tuple(np.random.default_rng(0).uniform(-3, 3, (3, 7, 2)))
    monkeypatch.chdir(tmp_path)
    one, batch, missing = peers.candidates(robot, tf.compile(program), states)
    assert "casadi" not in missing
    (single,), (mapped,) = ([task for name, task in tasks.items() if "casadi" in name] for tasks in (one, batch))
    np.testing.assert_allclose(mapped(), program(*states), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(single()[0], program(*(array[0] for array in states)), rtol=1e-12, atol=1e-12)
    assert sum(", C by " in name for name in (*one, *batch)) == 2 * compiler
    assert not list(tmp_path.iterdir())


def _traced_by_casadi(program: Program) -> ModuleType:
    """A module like pinocchio.casadi as far as `tauform bench` uses it."""
    casadi = importlib.import_module("casadi")

    class Model:
        def __init__(self, _: object) -> None:
            pass

        def createData(self) -> None:
            return None

    apply = {Op.ADD: add, Op.SUBTRACT: sub, Op.MULTIPLY: mul, Op.NEGATE: neg, Op.SIN: casadi.sin, Op.COS: casadi.cos}

    def rnea(_model: Model, _data: None, *inputs: Any) -> Any:
        values: list[Any] = []
        for i in program.instructions:
            if i.op is Op.INPUT:
                values.append(inputs[i.place[0]][i.place[1]])
            elif i.op is Op.CONSTANT:
                values.append(casadi.SX(i.number))
            else:
                values.append(apply[i.op](*(values[k] for k in i.args)))
        return casadi.vertcat(*(values[k] for k in program.results[0]))

    module = ModuleType("pinocchio.casadi")
    module.Model, module.rnea = Model, rnea  # type: ignore[attr-defined]
    return module
