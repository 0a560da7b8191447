"""Every framework: a program there returns what the textbook algorithm returns, on chains, trees and loops."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tauform as tf
from random_drives import random_temperatures, with_random_drives
from real_robots import urdf
from sampling import representatives
from tauform.errors import GenerationError, MissingExtraError, ShapeError, UnknownNameError

pytest.importorskip("casadi")
jax = pytest.importorskip("jax")
pytest.importorskip("torch")
pytest.importorskip("sympy")
pytestmark = pytest.mark.usefixtures("kept_programs")

N_STATES = 5
Run = Callable[[Any, list[np.ndarray]], np.ndarray]


def by_casadi(form: str) -> Run:
    def run(program: Any, arrays: list[np.ndarray]) -> np.ndarray:
        function = tf.to_casadi(program, form)
        rows = [np.array(function(*(a[k] if a.ndim > 1 else a for a in arrays))) for k in range(N_STATES)]
        return np.array(rows).reshape(N_STATES, *program.outputs[0].shape)

    return run


def by_jax(form: str) -> Run:
    def run(program: Any, arrays: list[np.ndarray]) -> np.ndarray:
        jax.config.update("jax_enable_x64", True)
        return np.asarray(tf.to_jax(program, form)(*arrays))

    return run


def by_torch(program: Any, arrays: list[np.ndarray]) -> np.ndarray:
    import torch

    return tf.to_torch(program)(*map(torch.from_numpy, arrays)).numpy()


def by_sympy(program: Any, arrays: list[np.ndarray]) -> np.ndarray:
    function = tf.to_sympy(program).lambdify()
    rows = [function(*(a[k] if a.ndim > 1 else a for a in arrays))[0] for k in range(N_STATES)]
    return np.array(rows).reshape(N_STATES, *program.outputs[0].shape)


FRAMEWORKS: dict[str, Run] = {
    "casadi SX": by_casadi("SX"),
    "casadi MX": by_casadi("MX"),
    "jax arrays": by_jax("arrays"),
    "jax kernel": by_jax("kernel"),
    "torch": by_torch,
    "sympy": by_sympy,
}
FUNCTIONS = {"inverse_dynamics": 3, "forward_dynamics": 3, "mass_matrix": 1}
ROBOTS = {
    "kr6": lambda: tf.load("kr6_r700"),
    "panda": lambda: tf.load(urdf("panda"), tip="panda_link8"),
    "quadruped": lambda: tf.load(urdf("solo12")),
    "loop": lambda: tf.load("parallelogram"),
    "small tree": lambda: tf.random_robot(4, seed=3, branching=0.6),
}
CASES = [(robot, function) for robot in ROBOTS for function in FUNCTIONS]


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize(
    "case", representatives(CASES, ("small tree", "forward_dynamics"), ("kr6", "inverse_dynamics"))
)
def test_a_framework_repeats_the_textbook(framework: str, case: tuple[str, str]) -> None:
    name, function = case
    robot = ROBOTS[name]()
    arrays = list(np.random.default_rng(0).uniform(-1, 1, (FUNCTIONS[function], N_STATES, robot.n_joints)))
    expected = getattr(tf, function)(robot, *arrays)
    found = FRAMEWORKS[framework](tf.generate(robot, function), arrays)
    condition = np.linalg.cond(tf.mass_matrix(robot, arrays[0])).max() if function == "forward_dynamics" else 1.0
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * condition * np.abs(expected).max())


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_run_time_parameters_follow_the_state(framework: str) -> None:
    robot = tf.load("sr6ia")
    program = tf.generate(robot, parameters="runtime")
    arrays = list(np.random.default_rng(1).uniform(-1, 1, (3, N_STATES, robot.n_joints)))
    found = FRAMEWORKS[framework](program, [*arrays, program.theta_of(robot)])
    np.testing.assert_allclose(found, tf.inverse_dynamics(robot, *arrays), rtol=0, atol=1e-11)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_drive_term_arrives(framework: str) -> None:
    robot = with_random_drives(tf.planar_chain(2), seed=0)
    program = tf.generate(robot)
    arrays = list(np.random.default_rng(2).uniform(-1, 1, (3, N_STATES, robot.n_joints)))
    arrays.append(random_temperatures(robot, N_STATES, seed=1))
    expected = tf.inverse_dynamics(robot, *arrays)
    found = FRAMEWORKS[framework](program, arrays)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_symbols_have_the_names_of_entries_and_parameters() -> None:
    symbolic = tf.to_sympy(tf.generate(tf.planar_chain(2), parameters="runtime"))
    assert [str(s) for s in symbolic.inputs["qdd"]] == ["qdd1", "qdd2"]
    assert [str(s) for s in symbolic.inputs["theta"]] == list(
        tf.generate(tf.planar_chain(2), parameters="runtime").theta_names
    )
    free = {str(s) for s in symbolic.expanded("tau").free_symbols}
    assert "qd1" in free
    assert not any(name.startswith("x") for name in free)


def test_words_for_what_is_missing_or_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = tf.planar_chain(2)
    program = tf.generate(robot)
    with pytest.raises(UnknownNameError, match="form"):
        tf.to_casadi(program, "DM")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="form"):
        tf.to_jax(program, "fast")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"expected 3 arrays \(q, qd, qdd\), got 1"):
        tf.to_jax(program)(np.zeros(robot.n_joints))
    with pytest.raises(ShapeError, match=r"qd: expected shape \(\.\.\., 2\), got \(3,\)"):
        tf.to_jax(program)(np.zeros(2), np.zeros(3), np.zeros(2))
    with pytest.raises(ShapeError, match="q: expected a tensor, got ndarray"):
        tf.to_torch(program)(*np.zeros((3, robot.n_joints)))
    jax.config.update("jax_enable_x64", True)
    of_forward = tf.generate(robot, "linearize_forward")
    with pytest.raises(GenerationError, match="does not hold the Jacobians of inverse_dynamics"):
        tf.to_jax(program, "kernel", derivatives=of_forward)
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tauform\[sympy\]'"):
        tf.to_sympy(program)


def test_an_output_that_is_not_there_is_named() -> None:
    from tauform.errors import UnknownNameError

    symbols = tf.to_sympy(tf.generate(tf.load("two_link"), "gravity_torque"))
    with pytest.raises(UnknownNameError, match=r"gravity_torque: output.*'torque'.*tau"):
        symbols.expanded("torque")


@pytest.mark.parametrize("include", [None, "declared"])
def test_closed_forms_are_expressions_of_sympy(include: Any) -> None:
    sympy = pytest.importorskip("sympy")
    robot = tf.random_robot("RPR", seed=2)
    model = tf.derive(robot, include=include)
    bound = model.bind(robot)
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 3))
    expected = tf.textbook.inverse_dynamics(robot, q, qd, qdd)
    np.testing.assert_allclose(np.ravel(tf.to_sympy(bound).lambdify()(q, qd, qdd)[0]), expected, atol=1e-10)
    of_theta = tf.to_sympy(model)
    torque = np.ravel(of_theta.lambdify()(q, qd, qdd, bound.theta)[0])
    np.testing.assert_allclose(torque, model.regressor(q, qd, qdd) @ bound.theta, atol=1e-10)
    # linear in theta: the regressor is its derivative
    Y = of_theta.expanded("tau").jacobian(of_theta.inputs["theta"])
    values = zip([*of_theta.inputs["q"], *of_theta.inputs["qd"], *of_theta.inputs["qdd"]], [*q, *qd, *qdd], strict=True)
    np.testing.assert_allclose(np.array(Y.subs(list(values))).astype(float), model.regressor(q, qd, qdd), atol=1e-10)
    assert sympy.simplify(of_theta.inputs["q"][0] - sympy.Symbol("q1", real=True)) == 0


def test_long_closed_forms_compile() -> None:
    pytest.importorskip("sympy")
    robot = tf.load("puma260_izaguirre")
    bound = tf.derive(robot).bind(robot).with_terms(1500, "slow")
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 6))
    found = np.ravel(tf.to_sympy(bound).lambdify()(q, qd, qdd)[0])
    np.testing.assert_allclose(found, bound.textbook.inverse_dynamics(q, qd, qdd), atol=1e-10)


def test_drive_terms_are_part_of_the_expression() -> None:
    pytest.importorskip("sympy")
    robot = tf.load("two_link")
    bound = tf.derive(robot).bind(
        robot, drives=[tf.Drive.of("stiffness", [1], 3.0, rest=0.2), tf.Drive.of("stribeck", [0], 0.4, width=0.5)]
    )
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 2))
    found = np.ravel(tf.to_sympy(bound).lambdify()(q, qd, qdd)[0])
    np.testing.assert_allclose(found, bound.textbook.inverse_dynamics(q, qd, qdd), atol=1e-12)
