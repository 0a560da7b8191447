"""Short motions: held-out blocks choose between free, reduced, ridge and physical values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion, with_drives
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.verdict.alternatives import better_on_held_out


def described() -> tf.Robot:
    """An arm of six joints with plausible masses."""
    robot = tf.load("kr6_r700")
    links = [
        tf.Inertia.of(m, [0.02, 0.03, 0.05], 0.02 * m * np.eye(3), inertia_about="com") for m in (9, 8, 6, 4, 2, 1)
    ]
    parameters = np.concatenate([link.parameters for link in links])
    own = np.array(robot.parameters)
    own[: len(parameters)] = parameters
    return with_drives(robot.with_parameters(own))


def recorded(robot: tf.Robot, seconds: float, seed: int) -> tf.Recording:
    path = motion(robot, seed, duration=10.0, rate=100.0)
    noise = 0.03 * np.abs(tf.inverse_dynamics(robot, path.q, path.qd, path.qdd)).max(axis=0)
    whole = simulated_recording(robot, path, np.random.default_rng(seed), torque_noise=noise)
    return whole.between(0.0, seconds)


def error(fit: tf.Fit, robot: tf.Robot) -> float:
    path = motion(robot, 77, duration=10.0, rate=100.0)
    true = tf.inverse_dynamics(robot, path.q, path.qd, path.qdd)
    return float(np.sqrt(((fit.predict(path.q, path.qd, path.qdd) - true) ** 2).sum() / (true**2).sum()))


def test_a_short_motion_takes_what_held_out_blocks_choose() -> None:
    robot, said = described(), list[str]()
    fit = tf.identify(robot, recorded(robot, 2.5, 1), friction="plain", couplings=None, progress=said.append)
    free = tf.identify(robot, recorded(robot, 2.5, 1), friction="plain", couplings=None, method="weighted")
    assert any("held-out blocks chose physical values (free " in finding for finding in fit.findings)
    assert fit.held_out.total < 0.8 * free.held_out.total
    assert error(fit, robot) < 0.7 * error(free, robot)
    assert fit.physical is not None
    assert free.physical is None
    assert said[-1] == "comparing with a physical fit"


def test_a_long_motion_keeps_free_values() -> None:
    recording = simulated_recording(arm(), motion(arm(), 5, duration=20.0), np.random.default_rng(0), torque_noise=0.3)
    fit, free = (tf.identify(arm(), recording, couplings=None, method=method) for method in ("auto", "weighted"))
    np.testing.assert_array_equal(fit.values, free.values)
    assert not any("held-out blocks chose" in finding for finding in fit.findings)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_blocks_that_choose_an_estimator_do_not_judge_the_choice(share: float) -> None:
    """Where fewer blocks choose otherwise, the error grows by what that costs on those they have not seen."""
    robot = described()
    fit = tf.identify(robot, recorded(robot, 2.5, 1), friction="plain", couplings=None, method="weighted")

    def others(free: tf.Fit) -> dict[str, Callable[[], tf.Fit]]:
        # The values of all blocks, which a part of them prefers (0.5) or does not (1.0).
        part = len(free.evidence.counts) < len(fit.evidence.counts)
        told = replace(fit, evidence=free.evidence, held_out=free.held_out.enlarged(share if part else 0.5))
        return {"physical": lambda: told}

    best = better_on_held_out(fit, others)
    assert any("chose physical values" in finding for finding in best.findings)
    cost = best.choice_cost / fit.choice_cost
    assert cost == 1.0 if share < 0.8 else cost > 1.05
    assert best.held_out.total == pytest.approx(0.5 * cost * fit.held_out.total)


def test_the_error_of_physical_links_counts_the_choice_of_terms() -> None:
    recording = simulated_recording(arm(), motion(arm(), 6, duration=10.0), np.random.default_rng(2), torque_noise=2.0)
    fit = tf.identify(arm(), recording, method="weighted")
    plain, dearer = (replace(fit, choice_cost=cost).physically_consistent() for cost in (1.0, 2.0))
    assert dearer.held_out.total == pytest.approx(2 * plain.held_out.total)
