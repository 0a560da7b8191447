"""Physically consistent links: by a semidefinite program and by free numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion, with_drives
from identification.fits import fit, fit_of_quiet_robot, states
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.physical import log_cholesky, semidefinite
from tauform.identification.physical.log_cholesky import link_map, link_numbers


def test_links_are_physically_consistent_and_predict_as_well() -> None:
    pytest.importorskip("clarabel")
    physical = fit().physically_consistent()
    robot = physical.identified_robot
    assert min(np.linalg.eigvalsh(inertia.pseudo_inertia)[0] for inertia in robot.inertias) >= -1e-12
    assert all(joint.viscous >= 0 and joint.coulomb >= 0 for joint in robot.joints)
    assert physical.held_out.total < 1.1 * fit().held_out.total
    q = states(robot)
    np.testing.assert_allclose(tf.inverse_dynamics(robot, *q), physical.predict(*q), rtol=0, atol=1e-8)


def test_slopes_of_free_numbers_are_exact() -> None:
    numbers = np.random.default_rng(0).normal(size=10)
    ten, slopes = link_map(numbers)
    assert np.linalg.eigvalsh(tf.Inertia(ten).pseudo_inertia)[0] > 0
    np.testing.assert_allclose(link_numbers(ten), numbers, rtol=0, atol=1e-12)
    step = 1e-6 * np.eye(10)
    differences = [(link_map(numbers + h)[0] - link_map(numbers - h)[0]) / 2e-6 for h in step]
    np.testing.assert_allclose(slopes.T, differences, rtol=0, atol=1e-7 * np.abs(slopes).max())


def test_free_numbers_and_a_semidefinite_program_find_the_same_links() -> None:
    """Where the best links are inside the physically consistent set, both ways of keeping them there agree."""
    pytest.importorskip("clarabel")
    smooth = fit_of_quiet_robot().physically_consistent(method="log_cholesky")
    solved = fit_of_quiet_robot().physically_consistent()
    assert smooth.physical is not None
    inside = [np.linalg.eigvalsh(inertia.pseudo_inertia)[0] for inertia in smooth.identified_robot.inertias]
    assert min(inside) > 0
    # the semidefinite program takes what lies nearest to the prior within one standard deviation of one value
    free = fit_of_quiet_robot()
    squares = [float((free.evidence.residual_squares(f.values) / free.sigma**2).sum()) for f in (smooth, solved)]
    assert abs(squares[1] - squares[0]) < 1.1
    assert (np.abs(smooth.values - solved.values) < 1.1 * free.deviations).all()
    assert smooth.held_out.total == pytest.approx(solved.held_out.total, rel=0.01)


def test_links_that_may_not_be_the_best_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """How a search ended and what a solver says of its solution are findings; a settled one has none."""
    pytest.importorskip("clarabel")
    settled = fit_of_quiet_robot()
    assert settled.physically_consistent().findings == settled.findings
    with monkeypatch.context() as patch:
        patch.setattr(log_cholesky, "MOST_EVALUATIONS", 3)
        found = settled.physically_consistent(method="log_cholesky")
    assert found.findings == (*settled.findings, log_cholesky.UNSETTLED)
    accurate = semidefinite.least
    monkeypatch.setattr(semidefinite, "least", lambda *given: replace(accurate(*given), is_accurate=False))
    assert settled.physically_consistent().findings == (*settled.findings, semidefinite.INACCURATE)


def test_without_noise_free_numbers_find_the_truth() -> None:
    robot = arm()
    recordings = [
        simulated_recording(robot, motion(robot, k), np.random.default_rng(0), exact_states=True) for k in (1, 2)
    ]
    exact = tf.identify(robot, recordings, filters=None, friction="plain", couplings=None)
    light = robot.with_parameters(0.9 * robot.parameters)
    found = exact.physically_consistent(prior=light, method="log_cholesky")
    truth = exact.base.values(robot)
    assert np.abs(found.theta - truth).max() <= 1e-9 * np.abs(truth).max()


def test_masses_that_hardly_show_stay_near_the_description() -> None:
    pytest.importorskip("clarabel")
    robot = tf.load("kr6_r700")
    described = robot.with_parameters(
        np.where(np.arange(robot.layout.n) < robot.layout.links.stop, robot.parameters, 0.0)
    )
    true = with_drives(described)
    rng = np.random.default_rng(2)
    recordings = [simulated_recording(true, motion(true, k), rng, torque_noise=[1.0] * 3 + [0.3] * 3) for k in (1, 2)]
    found = tf.identify(described, recordings, friction="plain", couplings=None)
    physical = found.physically_consistent()
    assert physical.physical is not None
    masses, before = physical.physical[:60:10], described.parameters[:60:10]
    # torques show sums of masses only; noise must not make a heavy link of a light one
    assert (np.abs(masses - before) < 0.5 * before).all()
    assert physical.held_out.total < 1.05 * found.held_out.total
