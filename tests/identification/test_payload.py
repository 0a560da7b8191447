"""Payloads: found within their deviations, also where friction depends on load."""

from __future__ import annotations

import weakref
from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from identification.fits import fit_of_quiet_robot, states
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.payload import identify_payload, load_columns, load_regressor


def test_a_payload_is_found_within_two_percent() -> None:
    robot = arm()
    mass, com = 2.0, np.array([0.03, -0.02, 0.08])
    load = tf.Inertia.of(mass, com, (0.01, 0.012, 0.008, 0, 0, 0), inertia_about="com")
    loaded = simulated_recording(
        robot.with_payload(load), motion(robot, 6), np.random.default_rng(6), torque_noise=[0.2, 0.2, 0.1]
    )
    found = identify_payload(fit_of_quiet_robot(), loaded)
    assert found.mass == pytest.approx(mass, rel=0.02)
    assert str(found).startswith("PayloadEstimate(2.0")
    vague = replace(found, covariance=found.covariance * (2.0 / found.deviations[0]) ** 2)
    assert "The motion hardly tells the mass: first moments are (" in str(vague)
    place = robot.tool.link_from_frame
    # The base and the axes leave the com's part along the first axis open on a short arm; what matters is the lever.
    lever = (place[:3, :3] @ found.com + place[:3, 3]) - (place[:3, :3] @ com + place[:3, 3])
    assert np.linalg.norm(lever) < 0.02 * np.linalg.norm(place[:3, :3] @ com + place[:3, 3])


def test_a_payload_is_part_of_what_friction_by_load_grows_with() -> None:
    """The estimate is of the robot that is shipped, fit.identified_robot.with_payload(found.inertia)."""
    robot = arm().with_drives([*arm().drives, *(tf.Drive.of("load", j, 0.15) for j in range(3))])
    load = tf.Inertia.of(3.0, (0.05, 0.0, 0.1), (0.05, 0.05, 0.05, 0, 0, 0), inertia_about="com")
    rng, path = np.random.default_rng(6), motion(robot, 6)
    fit = tf.identify(
        arm(), simulated_recording(robot, motion(robot, 1), rng, torque_noise=0.1), friction="load", couplings=None
    )
    found = identify_payload(fit, simulated_recording(robot.with_payload(load), path, rng, torque_noise=0.1))
    assert found.mass == pytest.approx(load.mass, abs=3 * found.deviations[0])
    assert found.deviations[0] < 0.01 * load.mass
    moving = path.q, path.qd, path.qdd
    truth = tf.inverse_dynamics(robot.with_payload(load), *moving)
    shipped = tf.inverse_dynamics(fit.identified_robot.with_payload(found.inertia), *moving)
    assert np.linalg.norm(shipped - truth) < 1e-3 * np.linalg.norm(truth)


def test_deviations_of_a_payload_cover_it() -> None:
    """Over many recordings errors are as large as told, and larger than told where the fit counts as exact."""
    robot, noise = arm(), [2.0, 2.0, 1.0]
    load = tf.Inertia.of(2.0, (0.03, -0.02, 0.08), (0.01, 0.012, 0.008, 0, 0, 0), inertia_about="com")
    columns = load_regressor(robot)(*states(robot))
    relative, trusting, torques = [], [], []
    for k in range(25):
        rng = np.random.default_rng(k)
        empty = simulated_recording(robot, motion(robot, 1), rng, torque_noise=noise)
        loaded = simulated_recording(robot.with_payload(load), motion(robot, 6), rng, torque_noise=noise)
        fitted = tf.identify(robot, empty, friction="plain", couplings=None)
        found = identify_payload(fitted, loaded)
        error = found.inertia.parameters - load.parameters
        relative.append(error / found.deviations)
        exact = replace(fitted, covariance=np.zeros_like(fitted.covariance))
        trusting.append(error / identify_payload(exact, loaded).deviations)
        torques.append(columns @ error / np.sqrt(np.einsum("kjp,pq,kjq->kj", columns, found.covariance, columns)))
    assert (np.sqrt(np.mean(np.square(relative), axis=0)) < 1.4).all()
    assert 0.8 < np.sqrt(np.mean(np.square(torques))) < 1.25
    assert np.mean(np.abs(torques) < 2) > 0.9
    assert (np.sqrt(np.mean(np.square(trusting), axis=0)) > 1.5).all()


def test_columns_of_a_load_belong_to_the_states_they_are_asked_at() -> None:
    robot, rng = arm(), np.random.default_rng(6)
    load = tf.Inertia.of(2.0, (0.03, -0.02, 0.08), (0.01, 0.012, 0.008, 0, 0, 0), inertia_about="com")
    columns, loaded = load_columns(robot), robot.with_payload(load)
    held = []
    for _ in range(3):
        q = rng.uniform(-1, 1, (50, robot.n_joints))
        found = sum(p * column.torque(q, q, q) for p, column in zip(load.parameters, columns, strict=True))
        change = tf.inverse_dynamics(loaded, q, q, q) - tf.inverse_dynamics(robot, q, q, q)
        np.testing.assert_allclose(found, change, atol=1e-10)
        held.append(weakref.ref(q))
    del q
    # Only the last states are remembered; were they freed, another array at their place could pass for them.
    assert [reference() is not None for reference in held] == [False, False, True]
