"""Gravity of another size than described: spring, gain and load are told apart on held-out data, with masses off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.identification.diagnosis.held_weight import causes_of_gravity
from tauform.identification.diagnosis.samples import Samples
from tauform.identification.motion.simulate import simulated_recording

JOINT = 1


def careless(robot: tf.Robot, seed: int) -> tf.Robot:
    """Links that are up to 10 % lighter or heavier."""
    parameters, rng = np.array(robot.parameters), np.random.default_rng(seed)
    for i in range(robot.n_bodies):
        parameters[robot.layout.link(i)] *= rng.uniform(0.9, 1.1)
    return robot.with_parameters(parameters)


def sampled(kind: str, seed: int) -> Samples:
    """A motion whose second joint moves in a fifth of its range, where a spring looks like a weight."""
    robot = careless(arm(), seed)
    path = motion(robot, seed, duration=10.0)
    q, qd, qdd = (np.array(x) * [1.0, 0.2, 1.0] for x in (path.q, path.qd, path.qdd))
    # The upper arm level: the weight that it holds changes with the forearm.
    if kind == "link":
        robot = robot.with_payload(tf.Inertia.of(12.0, [0.0, 0.0, 0.1], np.eye(3) * 0.01, inertia_about="com"))
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    size = float(np.abs(tau[:, JOINT]).max())
    if kind == "spring":
        tau[:, JOINT] += size * (q[:, JOINT] - 0.4)
    elif kind == "gain":
        tau[:, JOINT] *= 1.6
    tau += 0.02 * tau.std(axis=0) * np.random.default_rng(seed).normal(size=tau.shape)
    return Samples(q, qd, qdd, tau, np.zeros(len(q)), np.zeros(len(q), dtype=bool))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("kind", ["spring", "gain", "link"])
def test_the_cause_that_acts_is_named_first_or_beside_one_that_does_as_well(kind: str, seed: int) -> None:
    _, causes = causes_of_gravity(arm(), sampled(kind, seed), [JOINT])
    assert kind in [own.kind for own in causes], causes
    # A load or a gain is never blamed for a spring: neither can act at one joint alone.
    if kind == "spring":
        assert all(own.kind == "spring" or "joint2" in own.what for own in causes), causes


def test_a_preload_beside_its_spring_is_that_springs() -> None:
    path = motion(arm(), 1, duration=10.0)
    recording = simulated_recording(arm(), path, np.random.default_rng(1), torque_noise=0.5)
    # 60 N m/rad, slack at -0.8 rad
    pull = 60.0 * (np.asarray(path.q)[:, 1] + 0.8)
    pulled = replace(recording, tau=np.asarray(recording.tau) + pull[:, None] * [0.0, 1.0, 0.0])
    fit = tf.identify(arm(), pulled, terms=[tf.Drive.of("stiffness", 1)], friction="plain", couplings=None)
    said = next(sentence for sentence in fit.findings if "preloaded" in sentence)
    assert said.startswith("the spring of joint2 is preloaded: Fo_2 is ")
    assert float(said.split("slack at ")[1].split(" rad")[0]) == pytest.approx(-0.8, abs=0.05)


def test_a_preloaded_joint_is_named_and_friction_that_differs_by_direction_is_not() -> None:
    path = motion(arm(), 1, duration=10.0)
    recording = simulated_recording(arm(), path, np.random.default_rng(1), torque_noise=0.5)
    for preload, is_said in ((40.0, True), (0.0, False)):
        fit = tf.identify(arm(), replace(recording, tau=np.add(recording.tau, [0.0, preload, 0.0])))
        said = [sentence for sentence in fit.findings if "a constant torque acts at joint2" in sentence]
        assert bool(said) == is_said
        assert fit.verdict.grade == "good"
    one_way = arm().with_parameters(np.asarray(arm().parameters))
    tau = tf.inverse_dynamics(one_way, path.q, path.qd, path.qdd)
    # 9 N m one way, 1 N m the other: Fc = 5, Fo = 4.
    tau[:, 1] += np.where(path.qd[:, 1] > 0, 9.0, -1.0)
    tau += 0.1 * np.random.default_rng(2).normal(size=tau.shape)
    fit = tf.identify(one_way, tf.Recording(path.t, path.q, tau))
    assert not [sentence for sentence in fit.findings if "constant torque" in sentence]
