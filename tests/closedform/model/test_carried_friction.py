"""A bound model has the robot's dynamics, friction included, whichever groups theta holds."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from closedform.arms import relative_error
from random_robots import random_states, random_tree
from sampling import in_turns

INCLUDES = [None, ("link", "rotor"), ("link", "rotor", "viscous"), ("link", "rotor", "coulomb", "offset"), "declared"]
SEEDS = range(6)


def arm(seed: int) -> tf.Robot:
    """A chain of two to four joints, slides among them, with friction, offsets and some rotors."""
    return random_tree(2 + seed % 3, seed, chain=True, prismatic=0.4)


@pytest.mark.parametrize(("seed", "include"), in_turns(SEEDS, INCLUDES))
def test_dynamics_are_the_robots(seed: int, include: tuple[str, ...] | None) -> None:
    robot = arm(seed)
    states = q, qd, qdd = random_states(robot, 50, seed)
    bound = tf.derive(robot, include=include).bind(robot)
    tau = tf.inverse_dynamics(robot, *states)
    assert relative_error(bound.inverse_dynamics(*states), tau) < 1e-12
    assert relative_error(bound.forward_dynamics(q, qd, tau), qdd) < 1e-9
    assert relative_error(bound.breakdown(*states).total, tau) < 1e-12
    assert relative_error(bound.induced_torque(q, qd), tf.inverse_dynamics(robot, q, qd, 0 * q)) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_gravity_and_coriolis_have_no_friction(seed: int) -> None:
    robot = arm(seed)
    states = q, qd, _ = random_states(robot, 50, seed)
    bound = tf.derive(robot).bind(robot)
    np.testing.assert_allclose(bound.gravity_torque(q), tf.gravity_torque(robot, q), rtol=0, atol=1e-11)
    np.testing.assert_allclose(bound.coriolis_matrix(q, qd), tf.coriolis_matrix(robot, q, qd), rtol=0, atol=1e-11)
    np.testing.assert_allclose(bound.breakdown(*states).friction, tf.friction(robot, qd), rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_theta_is_what_it_was(seed: int) -> None:
    robot = arm(seed)
    model = tf.derive(robot)
    bound = model.bind(robot)
    np.testing.assert_array_equal(bound.theta, model.theta(robot))
    alone = model.bind(bound.theta)
    assert not alone.carried.any()
    states = random_states(robot, 20, seed)
    difference = bound.inverse_dynamics(*states) - alone.inverse_dynamics(*states)
    np.testing.assert_allclose(difference, tf.friction(robot, states[1]), rtol=0, atol=1e-11)
    known = model.bind(bound.theta, friction=bound.carried)
    np.testing.assert_array_equal(known.inverse_dynamics(*states), bound.inverse_dynamics(*states))


@pytest.mark.parametrize(
    ("function", "algorithm"),
    in_turns(
        ["inverse_dynamics", "forward_dynamics", "gravity_torque", "mass_matrix"], ["factored", "recursive", "auto"]
    ),
)
def test_programs_are_the_robots(function: str, algorithm: str) -> None:
    robot = arm(4)
    model = tf.derive(robot)
    # Another friction than that of the robot the model was derived from.
    rough = replace(robot, joints=tuple(replace(joint, viscous=0.7, offset=-0.3) for joint in robot.joints))
    program = tf.generate(model.bind(rough), function, algorithm=algorithm)
    states = random_states(robot, 30, 1)[: 3 if function.endswith("dynamics") else 1]
    assert relative_error(program(*states), getattr(tf, function)(rough, *states)) < 1e-9


def test_programs_of_theta_have_no_friction() -> None:
    robot = arm(4)
    model = tf.derive(robot)
    still = replace(robot, joints=tuple(replace(j, viscous=0.0, coulomb=0.0, offset=0.0) for j in robot.joints))
    states = random_states(robot, 30, 1)
    for algorithm in ("factored", "recursive"):
        program = tf.generate(model.bind(model.theta(robot)), algorithm=algorithm)
        assert relative_error(program(*states), tf.inverse_dynamics(still, *states)) < 1e-9


def test_reductions_keep_the_friction() -> None:
    robot = random_tree(3, 4, chain=True, prismatic=0.0)
    bound = tf.derive(robot).bind(robot)
    profile = tf.Profile.ranges(3, q=2.0, qd=1.0, qdd=1.0)
    reduction = bound.reduce(profile, tolerance=0.05, confidence=0.99, routes=["terms"], n_fresh=20_000)
    assert reduction.bound is not None
    assert reduction.bound.n_terms < bound.n_terms
    np.testing.assert_array_equal(reduction.bound.carried, bound.carried)
    states = profile.sample(5000, np.random.default_rng(5))
    tau = tf.inverse_dynamics(robot, *states)
    errors = np.linalg.norm(reduction.program(*states) - tau, axis=1) / np.linalg.norm(tau, axis=1)
    assert np.quantile(errors, 0.98) < 0.05


def test_a_model_from_a_file_carries_it_too(tmp_path) -> None:
    robot = arm(5)
    tf.derive(robot).save(tmp_path / "model.npz")
    bound = tf.load_model(tmp_path / "model.npz").bind(robot)
    states = random_states(robot, 20, 1)
    assert relative_error(bound.inverse_dynamics(*states), tf.inverse_dynamics(robot, *states)) < 1e-12
    assert "carries friction beside theta: viscous, Coulomb, offset" in repr(bound)


def test_equations_hold_the_friction() -> None:
    robot = arm(3)
    bound = tf.derive(robot).bind(robot)
    q, qd, qdd = random_states(robot, 1, 2)[:, 0]
    names = {f"{name}{i + 1}": x[i] for name, x in (("q", q), ("qd", qd), ("qdd", qdd)) for i in range(len(q))}
    names |= {f"{name}{i + 1}": f(x) for name, f in (("s", np.sin), ("c", np.cos)) for i, x in enumerate(q)}
    torques = [eval(line.split("=", 1)[1], {"sign": np.sign}, names) for line in bound.equations(10_000)]
    np.testing.assert_allclose(torques, tf.inverse_dynamics(robot, q, qd, qdd), rtol=1e-9)


def test_what_no_part_can_carry_is_said() -> None:
    robot = tf.load("puma560_gautier")
    with pytest.warns(UserWarning, match="Ia_1, Ia_2, Ia_3, .* missing from its torques"):
        tf.derive(robot, include=("link",)).bind(robot)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tf.derive(robot).bind(robot)


def test_friction_that_is_assumed_away_stays_away() -> None:
    robot = arm(3)
    model = tf.derive(robot, include="declared", assume={"Fv_1": 0})
    with pytest.warns(UserWarning, match="breaks 1 of the assumptions"):
        bound = model.bind(robot)
    assert not bound.joint_coefficients[0, 0]
