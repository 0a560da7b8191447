"""No error is computed and dropped: whatever is verified refuses an artefact with one wrong number in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tauform as tf
from tauform.closedform.base import feasible
from tauform.closedform.model.model import ClosedFormModel
from tauform.codegen.functions import FUNCTIONS
from tauform.codegen.program import lower
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.program import Certificate, Op, Program
from tauform.errors import ModelError, VerificationError
from tauform.pipeline import model_robot
from tauform.pipeline.stages import Stage
from tauform.realtime.online.programs import NAMES
from tauform.realtime.reduction import search
from tauform.realtime.reduction.velocity import Quiet, recursive

ROBOT = tf.random_robot("RP", seed=3)
SLOW = {"n_fresh": 20_000, "routes": ("operations",)}


def damaged(program: Program, factor: float = 1.001, at_rest: bool = False) -> Program:
    """The program with one number changed, or, where it has none, a sum turned into a difference; so that it shows."""
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(0.5, 1.5, (5, *p.shape)) * (p.name != "qd" or not at_rest) for p in program.inputs]

    def results(program: Program) -> list[np.ndarray]:
        with np.errstate(invalid="ignore"):  # states of estimators that no motion has
            found = program(*arrays)
        return list(found) if isinstance(found, tuple) else [found]

    sound = results(program)
    for k, instruction in enumerate(program.instructions):
        if instruction.op is Op.CONSTANT:
            wrong = replace(instruction, number=factor * instruction.number)
        elif instruction.op is Op.ADD:
            wrong = replace(instruction, op=Op.SUBTRACT)
        else:
            continue
        other = replace(program, instructions=(*program.instructions[:k], wrong, *program.instructions[k + 1 :]))
        if any(np.abs(x - y).max() > 1e-6 * np.abs(x).max() for x, y in zip(sound, results(other), strict=True)):
            return other
    return program


@pytest.fixture
def damage(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Call it, and every program that is lowered from then on is damaged."""
    sound = lower.without_negations

    def begin(**how: Any) -> None:
        monkeypatch.setattr(lower, "without_negations", lambda program: damaged(sound(program), **how))

    return begin


PRODUCERS: dict[str, Callable[[], Any]] = {
    **{name: lambda name=name: tf.generate(ROBOT, name) for name in FUNCTIONS},
    "factored": lambda: tf.generate(ROBOT, "inverse_dynamics", algorithm="factored"),
    "run-time theta": lambda: tf.generate(ROBOT, "inverse_dynamics", parameters="runtime"),
    "run-time payload": lambda: tf.generate(ROBOT, "inverse_dynamics", payload="runtime"),
    "closed form": lambda: tf.generate(tf.derive(ROBOT).bind(ROBOT), "forward_dynamics"),
    "fixed joint": lambda: tf.generate(tf.derive(ROBOT, fixed={"joint2": 0.1}).bind(ROBOT), "mass_matrix"),
    "multirate": lambda: tf.multirate(ROBOT, friction="synchronous").programs,
    "still joints": lambda: recursive(ROBOT, "inverse_dynamics", Quiet(joints=frozenset({0}))),
    "quiet links": lambda: recursive(ROBOT, "inverse_dynamics", Quiet(links=frozenset({1}))),
    "quiet links, forward": lambda: recursive(ROBOT, "forward_dynamics", Quiet(links=frozenset({1}))),
}


@pytest.mark.parametrize("name", PRODUCERS)
def test_every_program_is_certified_and_none_with_a_wrong_number(name: str, damage: Callable[..., None]) -> None:
    made = PRODUCERS[name]()
    for program in made if isinstance(made, tuple) else (made,):
        assert program.certificate is not None
        assert program.certificate.error <= program.certificate.tolerance <= 1e-8
    damage(at_rest="quiet" in name)  # the rest of these is for `reduce` to compare
    with pytest.raises(VerificationError, match="failed verification"):
        PRODUCERS[name]()


def only_damaged(sound: Callable[[Program], Program], name: str) -> Callable[[Program], Program]:
    return lambda program: damaged(sound(program)) if program.name == name else sound(program)


def test_each_task_of_a_split_is_certified_on_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = lower.without_negations
    for name in ("background", "synchronous", "coefficients", "velocity"):
        with monkeypatch.context() as patch:
            patch.setattr(lower, "without_negations", only_damaged(sound, name))
            with pytest.raises(VerificationError, match=f"{name} of .* failed verification"):
                tf.multirate(ROBOT)


@pytest.mark.parametrize("name", NAMES)
def test_on_line_programs_are_certified_and_none_with_a_wrong_number(name, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step itself is checked: what it is made of is certified on its own."""
    robot, sound = tf.load("two_link"), lower.without_negations
    certificate = tf.online_program(robot, name).certificate
    assert certificate is not None
    assert certificate.error <= certificate.tolerance <= 1e-8
    monkeypatch.setattr(lower, "without_negations", only_damaged(sound, name))
    with pytest.raises(VerificationError, match=f"{name} of .* failed verification"):
        tf.online_program(robot, name)


def test_a_reduced_program_with_a_wrong_number_does_not_win(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = tf.load("two_link")
    assert tf.reduce(robot, "slow", 0.05, **SLOW).route == "operations"
    polished = search.polished
    monkeypatch.setattr(search, "polished", lambda program: damaged(polished(program), 2.0))
    assert tf.reduce(robot, "slow", 0.05, **SLOW).route == "exact"


def one_number_off(model: ClosedFormModel) -> ClosedFormModel:
    reduction = model.sparse_reduction.copy()
    reduction.data[len(reduction.data) // 2] *= 1.001
    return replace(model, sparse_reduction=reduction)


def test_closed_forms_and_base_parameters_with_a_wrong_number_are_refused(monkeypatch, tmp_path, capsys) -> None:
    from tauform.cli import main

    derive = tf.derive
    monkeypatch.setattr(model_robot, "derive", lambda *args, **options: one_number_off(derive(*args, **options)))
    with pytest.raises(VerificationError, match=r"closed form of .* failed verification"):
        tf.model_robot(ROBOT, tolerance=None)
    monkeypatch.setattr(tf, "derive", lambda *args, **options: one_number_off(derive(*args, **options)))
    for options in ((), ("--zero", "my_2")):
        target = tmp_path / "model.npz"
        assert main(["derive", "two_link", "-o", str(target), *options]) == 2
        assert "failed verification" in capsys.readouterr().err
        assert not target.exists()


def test_solvers_that_end_early_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = tf.load("kr6_r700")
    theta = tf.base_parameters(robot).values(robot)
    nearest = feasible._Nearest.parameters
    negative_mass = np.where(np.arange(len(robot.parameters)) == 0, -100.0, 0.0)  # of link 1, which no torque shows
    for wrong, figure in ((lambda x: 1.001 * x, "theta is off by"), (lambda x: x + negative_mass, "unphysical by")):
        with monkeypatch.context() as patch:
            patch.setattr(feasible._Nearest, "parameters", lambda self, wrong=wrong: wrong(nearest(self)))
            with pytest.raises(ModelError, match=f"not accurate.*{figure}"):
                tf.feasible_parameters(robot, theta)


def test_code_whose_results_are_rounding_is_not_written(tmp_path) -> None:
    graph = Graph()
    (x,) = graph.input("x", 1)
    program = lower.lower(graph, "lost", {"y": [(x + 1e9) * x - 1e9 * x]})
    assert tf.write_c(program, tmp_path / "double", name="lost")
    with pytest.raises(VerificationError, match="computed in float failed verification"):
        tf.write_c(program, tmp_path / "float", name="lost", real="float")
    assert not (tmp_path / "float").exists()


@pytest.mark.parametrize(("error", "tolerance"), [(1e-3, 1e-12), (float("nan"), 1.0), (0.0, float("inf"))])
def test_there_is_no_certificate_of_a_check_that_failed(error: float, tolerance: float) -> None:
    with pytest.raises(VerificationError, match="off by"):
        Certificate(10, error, tolerance, "something")


def test_a_stage_is_not_verified_beyond_what_it_allows() -> None:
    with pytest.raises(VerificationError, match="'C' failed verification"):
        Stage("C", "two files", "verified", "make check", 1e-3, 1e-12)
