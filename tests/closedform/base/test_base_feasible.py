"""Physically consistent links from base parameters."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from random_robots import random_tree
from tauform.closedform.expansion.dimensionless import parameter_factors, units
from tauform.errors import ModelError, ShapeError

pytest.importorskip("clarabel")


def smallest_eigenvalue(robot: tf.Robot) -> float:
    return min(float(np.linalg.eigvalsh(inertia.pseudo_inertia)[0]) for inertia in robot.inertias)


def test_physical_prior_with_this_theta_is_returned() -> None:
    robot = random_tree(4, 1)
    base = tf.base_parameters(robot)
    found = tf.feasible_parameters(robot, base.values(robot))
    np.testing.assert_allclose(found.parameters, robot.parameters, rtol=0, atol=1e-5 * np.abs(robot.parameters).max())
    assert found.distance < 1e-5
    assert found.residual < 1e-12


def test_other_prior_gives_physical_links_with_the_same_torques() -> None:
    robot = random_tree(4, 2, chain=True)
    rng = np.random.default_rng(0)
    base = tf.base_parameters(robot)
    prior = robot.parameters * np.exp(0.3 * rng.normal(size=robot.parameters.shape))
    found = tf.feasible_parameters(robot, base.values(robot), prior=prior)
    assert smallest_eigenvalue(found.robot) > -1e-9
    assert found.distance > 0.01
    # The true parameters are a feasible point too, so the nearest one is at most as far away.
    factors, columns = parameter_factors(robot, *units(robot)), list(base.columns)
    to_truth = np.linalg.norm(((prior - robot.parameters) * factors)[columns]) / np.linalg.norm(prior * factors)
    assert found.distance <= to_truth * (1 + 1e-6)
    q, qd, qdd = rng.normal(size=(3, 20, 4))
    expected = tf.inverse_dynamics(robot, q, qd, qdd)
    # theta says nothing of friction, so it came from the prior.
    merged = np.array(found.parameters)
    merged[40:].reshape(-1, 4)[:, 1:] = robot.parameters[40:].reshape(-1, 4)[:, 1:]
    error = np.abs(tf.inverse_dynamics(robot.with_parameters(merged), q, qd, qdd) - expected).max()
    assert error < 1e-10 * np.abs(expected).max()


def test_unphysical_printed_inertias_are_repaired_nearby() -> None:
    """KR6 link 5 is not positive definite as printed; its base parameters belong to a physical robot all the same."""
    robot = tf.load("kr6_r700")
    base = tf.base_parameters(robot)
    found = tf.feasible_parameters(robot, base.values(robot))
    assert smallest_eigenvalue(robot) < 0 < smallest_eigenvalue(found.robot) + 1e-9
    assert found.distance < 0.05
    assert found.residual < 1e-12


def test_impossible_theta_names_the_link() -> None:
    robot = random_tree(3, 4, chain=True, prismatic=0.0)
    base = tf.base_parameters(robot)
    theta = np.array(base.values(robot))
    theta[base.names.index("Izz_3")] = -1.0
    with pytest.raises(ModelError, match=r"no physically consistent parameters .* 'link3'"):
        tf.feasible_parameters(robot, theta)


def test_base_parameters_that_were_left_out_are_zero_in_the_links() -> None:
    robot = random_tree(3, 4, chain=True, prismatic=0.0)
    whole = tf.base_parameters(robot)
    left_out = [whole.names.index(name) for name in ("Ixy_3", "Iyz_3")]
    part = whole.part([k for k in range(whole.n) if k not in left_out])
    found = tf.feasible_parameters(robot, part.values(robot), base=part)
    assert smallest_eigenvalue(found.robot) > -1e-9
    theta = np.array(whole.values(robot))
    theta[left_out] = 0.0
    np.testing.assert_allclose(whole.values(found.robot), theta, rtol=0, atol=1e-12 * np.abs(theta).max())


def test_theta_of_the_wrong_length_is_refused() -> None:
    robot = tf.load("two_link")
    with pytest.raises(ShapeError, match=r"theta: expected \(6,\)"):
        tf.feasible_parameters(robot, np.ones(5))
    with pytest.raises(ShapeError, match=r"theta: expected \(6,\)"):
        robot.with_base_parameters(np.ones(7))


def test_base_of_another_robot_is_refused() -> None:
    robot, base = tf.load("kr6_r700"), tf.base_parameters(tf.load("two_link"))
    for call in (tf.feasible_parameters, tf.Robot.with_base_parameters):
        with pytest.raises(ShapeError, match="base parameters of two_link"):
            call(robot, np.ones(6), base=base)
