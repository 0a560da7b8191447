"""Terms that a fit takes up: couplings, springs, declared terms, columns of the user."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion, with_drives
from identification.fits import NOISE, states
from tauform.errors import IdentificationError
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.regression.terms import Column, coupling


def test_a_coupling_is_found_where_there_is_one_and_not_elsewhere() -> None:
    robot = arm()
    rng = np.random.default_rng(1)
    shaft = map(tf.Drive.with_coefficient, coupling(1, 2), (0.4, 2.0, 3.0))
    coupled = robot.with_drives([*robot.drives, *shaft])
    recordings = [simulated_recording(coupled, motion(robot, k), rng, torque_noise=NOISE) for k in (1, 2)]
    found = tf.identify(robot, recordings, friction="plain")
    names = [term.name for term in found.terms]
    assert {"Fvm_2_3", "Fcm_2_3"} <= set(names)
    assert not any(name.endswith("_1_2") for name in names)
    assert found.values[found.names.index("Fcm_2_3")] == pytest.approx(3.0, rel=0.2)


def test_a_spring_is_found_where_there_is_one() -> None:
    robot = arm()
    recording = simulated_recording(robot, motion(robot, 1, duration=16), np.random.default_rng(1), torque_noise=NOISE)
    sprung = replace(recording, tau=recording.tau + [0, 0, 6.0] * recording.q)
    found = tf.identify(robot, sprung, couplings=None)
    assert found.values[found.names.index("K_3")] == pytest.approx(6.0, rel=0.1)
    assert len(found.terms) <= 2
    (spring,) = (term for term in found.identified_robot.further_drives if term.shape == "stiffness")
    assert spring.coefficient == found.values[found.names.index("K_3")]


def test_declared_terms_that_no_motion_tells_from_the_links_are_named_and_lose_nothing() -> None:
    """About a horizontal axis a torque of sin q is that of a weight; two springs of one joint are one."""
    plain = with_drives(tf.load("two_link"))
    springs = [tf.Drive.of("stiffness", 1, 3.0, label=side) for side in ("left", "right")]
    terms = [tf.Drive.of("sine", 0, 4.0), *springs, tf.Drive.of("coupled_inertia", (0, 1), 0.1)]
    robot = plain.with_drives([*plain.drives, *terms])
    recording = simulated_recording(robot, motion(robot, 1), np.random.default_rng(1), exact_states=True)
    found = tf.identify(robot, recording, friction="plain", couplings=None, filters=None)
    (said,) = (finding for finding in found.findings if finding.startswith("no motion tells"))
    assert said.startswith("no motion tells Ks_1, K_2@right, Iam_1_2 from other values")
    assert found.names[-1] == "K_2@left"
    q = states(robot)
    truth = tf.inverse_dynamics(robot, *q)
    for torque in (found.predict(*q), tf.inverse_dynamics(found.identified_robot, *q)):
        np.testing.assert_allclose(torque, truth, rtol=0, atol=1e-8 * np.abs(truth).max())


def test_columns_of_the_user_are_refused_by_name_where_no_function_of_python_can_go(tmp_path: Path) -> None:
    own = Column("ripple", lambda q, qd, qdd: np.sin(5 * q) * [1.0, 0.0, 0.0])
    robot = arm()
    recording = simulated_recording(robot, motion(robot, 1), np.random.default_rng(1), torque_noise=NOISE)
    recording = replace(recording, tau=recording.tau + 2.0 * own.torque(recording.q, recording.q, recording.q))
    found = tf.identify(robot, recording, friction="plain", couplings=None, terms=[own])
    assert abs(found.values[-1] - 2.0) < 4 * found.deviations[-1]
    assert found.reduced().predict(*states(robot)).shape == (20, 3)
    with pytest.raises(IdentificationError, match=r"columns of your own \(ripple\)"):
        _ = found.identified_robot
    with pytest.raises(IdentificationError, match=r"columns of your own \(ripple\)"):
        tf.load_fit(found.save(tmp_path / "fit.json"))
    with pytest.raises(IdentificationError, match="columns of your own"):
        found.save(tmp_path / "fit.npz")
    with pytest.raises(IdentificationError, match=r"columns of your own \(ripple\)"):
        found.write_code(tmp_path / "c")
