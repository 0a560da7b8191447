"""Counterbalances that nobody described: found where what is left is a function of one joint's position."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from sampling import representatives
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.selection.counterbalance import between_points

# At 0.12 and 0.3 m from the axis of the second joint.
ENDS = between_points(arm(), 1, angle=0.7, ratio=0.4).constants["ends"]
BALANCES = {
    "constant force": [tf.Drive.of("force", coefficient=2000.0, ends=ENDS)],
    "linear spring": [tf.Drive.of("spring", coefficient=2e4, rest=0.15, ends=ENDS)],
    # A gas spring pushes, and harder the shorter it is.
    "gas spring": [
        tf.Drive.of("force", coefficient=-2500.0, ends=ENDS),
        tf.Drive.of("spring", coefficient=3000.0, ends=ENDS),
    ],
}


@pytest.mark.parametrize("kind", representatives(BALANCES, "constant force"))
def test_a_counterbalance_is_found_and_predicts_other_motions(kind: str) -> None:
    robot = arm().with_drives([*arm().drives, *BALANCES[kind]])
    rng = np.random.default_rng(2)
    fitted, other = (
        simulated_recording(robot, motion(robot, seed, duration=16.0), rng, torque_noise=0.3) for seed in (1, 2)
    )
    fit = tf.identify(arm(), fitted, validate=other)
    assert "Fp_2" in fit.names
    assert any("counterbalance" in finding and "Fp_2" in finding for finding in fit.findings)
    plain = tf.identify(arm(), fitted, validate=other, friction="plain", couplings=None)
    assert fit.unseen.joints[1] < 0.2 * plain.unseen.joints[1]
    # What was judged is what is shipped.
    path = motion(robot, 3)
    states = path.q, path.qd, path.qdd
    np.testing.assert_allclose(tf.inverse_dynamics(fit.identified_robot, *states), fit.predict(*states), atol=1e-8)


def test_no_counterbalance_is_found_where_there_is_none() -> None:
    robot = arm()
    recording = simulated_recording(robot, motion(robot, 1, duration=16.0), np.random.default_rng(2), torque_noise=0.3)
    assert not any(name.startswith("Fp") for name in tf.identify(robot, recording).names)
