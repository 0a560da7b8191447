"""What was judged is what is shipped: a fit's prediction is the inverse dynamics of the robot that it hands over."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion, with_drives
from random_robots import random_tree
from tauform.description.parameter_groups import ParameterGroup
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.regression.estimators import METHODS

pytest.importorskip("cvxpy")

# Relative to each joint's peak torque.
SAME = 1e-9
STEPS: dict[str, Callable[[tf.Fit], tf.Fit]] = {
    "physical": lambda fit: fit.physically_consistent(),
    "reduced": lambda fit: fit.reduced(most=12),
}
VARIANTS = ("free", "physical", "reduced", "reduced, physical", "physical, reduced")


def branched() -> tf.Robot:
    return with_drives(random_tree(4, 3, prismatic=0.25))


def looped() -> tf.Robot:
    """A joint that follows another one, with friction of its own."""
    return with_drives(tf.random_robot("RRR", 4)).with_relations({"joint3": {"joint2": -0.5}})


ROBOTS: dict[str, Callable[[], tf.Robot]] = {"chain": arm, "tree": branched, "loop": looped}


@cache
def identified(name: str, method: str) -> tf.Fit:
    robot = ROBOTS[name]()
    rng = np.random.default_rng(0)
    recordings = [simulated_recording(robot, motion(robot, k, duration=5.0), rng, torque_noise=1.0) for k in (1, 2)]
    return tf.identify(robot, recordings, method=method, friction="plain", couplings=None)


def assert_same(fit: tf.Fit) -> None:
    states = np.random.default_rng(1).uniform(-2.0, 2.0, (3, 200, fit.robot.n_joints))
    predicted = fit.predict(*states)
    error = np.abs(tf.inverse_dynamics(fit.identified_robot, *states) - predicted)
    assert (error <= SAME * np.abs(predicted).max(axis=0)).all()


def assert_physical(robot: tf.Robot) -> None:
    for inertia in robot.inertias:
        assert np.linalg.eigvalsh(inertia.pseudo_inertia)[0] > 0
    for joint in robot.joints:
        assert min(joint.rotor_inertia or 0.0, joint.viscous, joint.coulomb) >= 0


CASES = [*(("chain", method) for method in METHODS), ("tree", "weighted"), ("loop", "weighted")]


@cache
def fitted(name: str, method: str, variant: str) -> tf.Fit:
    """A variant of a fit; made of its predecessor, which is made once."""
    if variant == "free":
        return identified(name, method)
    *before, last = variant.split(", ")
    start = fitted(name, method, ", ".join(before) or "free")
    return STEPS[last](start)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("name", "method"), CASES, ids=str)
def test_the_fit_predicts_what_its_robot_does(name: str, method: str, variant: str) -> None:
    free, fit = identified(name, method), fitted(name, method, variant)
    assert_same(fit)
    if "physical" in variant:
        assert_physical(fit.identified_robot)
    if "reduced" in variant:
        assert len(fit.values) < len(free.values)
    # What was left out is zero in the robot, not free.
    whole = free.base.values(fit.identified_robot)
    left_out = [k for k, pivot in enumerate(free.base.pivots) if pivot not in fit.base.pivots]
    assert np.abs(whole[left_out]).max(initial=0.0) <= 1e-12 * np.abs(whole).max()


@pytest.mark.parametrize("variant", ["reduced", "physical, reduced"])
def test_a_loaded_fit_goes_on_as_the_saved_one_would(variant: str, tmp_path: Path) -> None:
    fit = fitted("chain", "weighted", variant)
    loaded = tf.load_fit(fit.save(tmp_path / "fit.npz"))
    assert_same(loaded)
    one, other = fit.physically_consistent(), loaded.physically_consistent()
    assert one.names == other.names
    np.testing.assert_allclose(other.values, one.values, rtol=0, atol=1e-6 * np.abs(one.values).max())
    assert_same(other)
    assert loaded.reduced(most=10).physical_method == fit.physical_method


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("include", [("link", "rotor"), ("link", "viscous"), "declared"], ids=str)
def test_what_took_no_part_is_not_in_the_robot(include: tuple[ParameterGroup, ...] | str, step: str) -> None:
    """The description declares rotors and friction; a fit without them hands over a robot without them."""
    described = arm()
    parameters = np.array(described.parameters)
    parameters[10 * described.n_bodies :] *= 0.01
    robot = described.with_parameters(parameters)
    recording = simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), torque_noise=1.0)
    fit = tf.identify(described, recording, include=include, friction="plain", couplings=None)
    assert_same(fit)
    assert_same(STEPS[step](fit))


@pytest.mark.parametrize("variant", ["reduced, physical", "physical, reduced"])
def test_links_found_without_a_solver_are_those_of_the_prediction(variant: str) -> None:
    fit = identified("chain", "weighted")
    for step in variant.split(", "):
        fit = fit.reduced(most=12) if step == "reduced" else fit.physically_consistent(method="log_cholesky")
    assert fit.physical_method == "log_cholesky"
    assert_same(fit)
    assert_physical(fit.identified_robot)
