"""Regressors and functions of run-time theta as programs of a closed form, exact, reduced and read from files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tauform as tf

FRICTION = ("link", "rotor", "viscous", "coulomb", "offset")


@pytest.fixture(scope="module")
def arm() -> tf.Robot:
    return tf.random_robot("RPRR", seed=4, industrial=True)


@pytest.fixture(scope="module")
def states() -> np.ndarray:
    return np.random.default_rng(0).uniform(-2, 2, (3, 20, 4))


@pytest.mark.parametrize("include", [None, FRICTION])
def test_the_regressor_times_theta_is_the_torque(arm: tf.Robot, states: np.ndarray, include: tuple[str, ...]) -> None:
    model = tf.derive(arm, include=include)
    program = tf.generate(model, "regressor")
    Y = program(*states)
    np.testing.assert_allclose(Y, model.regressor(*states), atol=1e-11)
    bound = model.bind(arm) if include else model.bind(model.theta(arm))
    np.testing.assert_allclose(Y @ bound.theta, bound.textbook.inverse_dynamics(*states), atol=1e-10)
    # its columns are named, and the textbook regressor of the same parameters is another way to them
    assert program.theta_names == model.base.names


def test_reduced_models_and_files_have_one_too(arm: tf.Robot, states: np.ndarray, tmp_path: Path) -> None:
    bound = tf.derive(arm).bind(arm)
    small = bound.with_terms(bound.n_terms // 3, "slow")
    small.model.save(tmp_path / "model.npz")
    program = tf.generate(tf.load_model(tmp_path / "model.npz"), "regressor")
    np.testing.assert_allclose(program(*states), small.model.regressor(*states), atol=1e-11)
    assert program.n_operations < tf.generate(bound, "regressor").n_operations


@pytest.mark.parametrize(
    "function", ["inverse_dynamics", "gravity_torque", "velocity_torque", "mass_matrix", "forward_dynamics"]
)
def test_theta_comes_at_run_time(arm: tf.Robot, states: np.ndarray, function: str) -> None:
    model = tf.derive(arm, include=FRICTION)
    kernel = tf.compile(model, function, parameters="runtime")
    heavier = arm.with_parameters(1.7 * arm.parameters)
    for robot in (arm, heavier):
        bound = model.bind(robot)
        given = states if function == "inverse_dynamics" else states[: 2 if "velocity" in function else 1]
        if function == "forward_dynamics":
            given = np.stack([*states[:2], bound.textbook.inverse_dynamics(*states)])
            expected = states[2]
        elif function == "velocity_torque":
            parts = bound.breakdown(*states)
            expected = parts.coriolis + parts.centrifugal
        else:
            expected = getattr(bound.textbook, function)(*given)
        np.testing.assert_allclose(kernel(*given, bound.theta), expected, atol=1e-9 * (1 + np.abs(expected).max()))


@pytest.mark.skipif(shutil.which("make") is None or shutil.which("cc") is None, reason="needs a C compiler")
def test_compiled_c_agrees(tmp_path: Path) -> None:
    robot = tf.load("sr6ia")
    model = tf.derive(robot, include=FRICTION)
    runtime = tf.generate(model.bind(robot), "inverse_dynamics", parameters="runtime")
    tf.write_c([tf.generate(model, "regressor"), runtime], tmp_path / "c")
    done = subprocess.run(["make", "-C", tmp_path / "c", "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "passed" in done.stdout


def test_bad_input_is_one_sentence(arm: tf.Robot) -> None:
    model = tf.derive(arm)
    with pytest.raises(tf.errors.GenerationError, match="jacobian of a closed form with run-time theta: choose from"):
        tf.generate(model, "jacobian")
    with pytest.raises(tf.errors.GenerationError, match="wrenches: a closed form has no place"):
        tf.generate(model, "regressor", wrenches=["link1"])
    with pytest.raises(tf.errors.GenerationError, match="is factored, not 'newton_euler'"):
        tf.generate(model, algorithm="newton_euler")
    bound = model.bind(arm)
    spring = tf.Drive.of("stiffness", [1], 3.0, rest=0.2)
    sprung = model.bind(bound.theta, drives=[spring])
    with pytest.raises(tf.errors.GenerationError, match="drive terms beside theta"):
        tf.generate(sprung, parameters="runtime")


def test_operations_fall_as_terms_leave() -> None:
    robot = tf.load("kr6_r700")
    bound = tf.derive(robot).bind(robot)
    counts = [tf.generate(bound, algorithm="factored").n_operations]
    for share in (0.75, 0.5, 0.25, 0.1, 0.02, 0.005):
        smaller = bound.with_terms(int(share * bound.n_terms), "slow")
        counts.append(tf.generate(smaller, algorithm="factored").n_operations)
    assert counts == sorted(counts, reverse=True)
