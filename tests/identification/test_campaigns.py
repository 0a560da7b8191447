"""The campaign of Izaguirre1992 re-enacted, and smoothers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.description.inertia import parameter_transform
from tauform.description.transform import rotation_x, translation
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.motion.trajectory import polynomial_through
from tauform.identification.signals.differentiate import SMOOTHERS

# The order in which Izaguirre1992 (section 6) keeps parameters: motors first, then links from the last to the first.
KINDS = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Iyz", "Ixz")
PREFERRED = ("Ia", *(f"{kind}_{i}" for i in range(6, 0, -1) for kind in KINDS))
GROUPS = ("link", "rotor", "viscous", "coulomb")
# Table 1 in that order, links only, in the paper's letters (its e is yz and its f is xz).
TABLE_1 = "m6 x6 y6 z6 a6 b6 c6 d6 e6 f6 x5 y5 a5 c5 d5 e5 f5 x4 y4 a4 c4 d4 e4 f4 x3 y3 a3 d3 e3 f3 x2 y2 d2 e2"
# Table 2: m6, z6, y4, a4, c4 beside motors and friction; y and c of link 4's DH frame are z and yy of its joint's.
SIGNIFICANT = {"mR_6", "mzR_6", "mzR_4", "IxxR_4", "IyyR_4"}


def test_the_independent_parameters_of_the_puma_260_are_those_of_the_paper() -> None:
    """78 parameters about DH frames, 52 of them independent: the rank of one column more.  [Izaguirre1992, Table 1]"""
    robot = tf.load("puma260_izaguirre")
    links = np.zeros((60, 60))
    for i, (a, alpha) in enumerate([(0, 90), (0.2032, 0), (0, -90), (0, 90), (0, -90), (0, 0)]):
        joint_from_dh = translation([a, 0, 0]) @ rotation_x(np.deg2rad(alpha))
        links[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] = parameter_transform(joint_from_dh)
    Y = tf.regressor(robot, *np.random.default_rng(0).uniform(-2, 2, (3, 100, 6))).reshape(600, -1)
    moments, rotors, frictions = Y[:, :60] @ links, Y[:, 60::4], np.hstack([Y[:, 61::4], Y[:, 62::4]])
    place = {name: k for k, name in enumerate(robot.parameter_names[:60])}
    kept, names = list(rotors.T), []
    for i in range(6, 0, -1):
        for letter, kind in zip("mxyzabcdef", KINDS, strict=True):
            column = moments[:, place[f"{kind}_{i}"]]
            tried = np.array([*kept, column]).T
            sizes = np.linalg.norm(tried, axis=0)
            if sizes[-1] > 1e-9 and np.linalg.svd(tried / sizes, compute_uv=False)[-1] > 1e-9:
                kept.append(column)
                names.append(f"{letter}{i}")
    assert names == TABLE_1.split()
    assert np.linalg.matrix_rank(np.column_stack([*kept, frictions])) == 52


def test_the_campaign_of_the_puma_260() -> None:
    """52 parameters, the 1 % rule, a refit of 23: condition and scatter fall.  [Izaguirre1992, section 7]"""
    robot = tf.load("puma260_izaguirre")
    rng = np.random.default_rng(0)
    recordings = []
    for _ in range(10):
        path = polynomial_through(rng.uniform(-1.5, 1.5, (6, 6)), 8.0, 1 / 0.028, robot.joint_names)
        noise = 0.02 * np.abs(tf.inverse_dynamics(robot, path.q, path.qd, path.qdd)).max(axis=0)
        recordings.append(simulated_recording(robot, path, rng, torque_noise=noise, exact_states=True))
    fit = tf.identify(
        robot, recordings, include=GROUPS, order=PREFERRED, filters=None, friction="plain", couplings=None
    )
    assert len(fit.values) == 52
    small = fit.reduced(tolerance=0.01, max_deviation=np.inf, keep_accuracy=False)
    # The 23 of the paper's Table 2.
    drives = {name for name in fit.names if name[:2] in ("Ia", "Fv", "Fc")}
    assert set(small.names) == drives | SIGNIFICANT
    # The paper's condition number, of weighted columns as they are, fell from 25000 to 420.
    before, after = fit.per_recording(), small.per_recording()
    assert fit.raw_condition > 10 * small.raw_condition
    assert np.median(before.condition / after.condition) > 10
    assert 200 < np.median(after.condition) < 800
    kept = [fit.names.index(name) for name in small.names]
    shrunk = after.std / before.std[kept]
    assert (shrunk < 1).all()
    assert np.median(shrunk) < 0.7


def test_a_fit_in_another_order_is_read_back(tmp_path: Path) -> None:
    robot = arm()
    rng = np.random.default_rng(3)
    recordings = [simulated_recording(robot, motion(robot, k), rng, torque_noise=0.1) for k in (1, 2)]
    options = {"friction": "plain", "couplings": None}
    fit = tf.identify(robot, recordings, order=("m_3", "Ixx_3"), **options)  # type: ignore[arg-type]
    usual = tf.identify(robot, recordings, **options)  # type: ignore[arg-type]
    assert fit.names != usual.names
    path = motion(robot, 5)
    states = (path.q, path.qd, path.qdd)
    np.testing.assert_allclose(fit.predict(*states), usual.predict(*states), rtol=1e-6, atol=1e-6)
    again = tf.load_fit(fit.save(tmp_path / "fit.npz"), robot)
    assert again.names == fit.names
    np.testing.assert_array_equal(again.predict(*states), fit.predict(*states))


@pytest.mark.parametrize("smoother", SMOOTHERS)
def test_every_smoother_leads_to_the_truth(smoother: str) -> None:
    robot = arm()
    rng = np.random.default_rng(2)
    recordings = [
        simulated_recording(robot, motion(robot, k, rate=200.0), rng, torque_noise=0.2, position_noise=2e-5)
        for k in (1, 2)
    ]
    fit = tf.identify(robot, recordings, smoother=smoother, friction="plain", couplings=None)  # type: ignore[arg-type]
    path = motion(robot, 5)
    truth = tf.inverse_dynamics(robot, path.q, path.qd, path.qdd)
    error = fit.predict(path.q, path.qd, path.qdd) - truth
    assert np.sqrt((error**2).mean()) < 0.01 * np.sqrt((truth**2).mean())
