"""Validation by simulation: a good model goes where the robot went, a wrong one does not."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from typer.testing import CliRunner

import tauform as tf
from identification.arms import arm, motion
from sampling import representatives
from tauform.cli import app
from tauform.errors import IdentificationError
from tauform.identification.motion.simulate import simulated_recording

STIFFNESS, DAMPING = np.array([2000.0, 2000.0, 800.0]), np.array([150.0, 150.0, 60.0])
PLAIN = {"friction": "plain", "couplings": None}


@cache
def slippery() -> tf.Robot:
    """The arm without Coulomb friction, which an integrator of high order can follow exactly."""
    parameters = np.array(arm().parameters)
    parameters[30:].reshape(-1, 4)[:, 2] = 0.0
    return arm().with_parameters(parameters)


@cache
def fit() -> tf.Fit:
    rng = np.random.default_rng(0)
    records = [simulated_recording(slippery(), motion(arm(), k), rng, torque_noise=0.3) for k in (1, 2)]
    return tf.identify(slippery(), records, **PLAIN)


@cache
def controlled() -> tf.Recording:
    """The robot under its controller, by another integrator than the product's."""
    forward, path = tf.compile(slippery(), "forward_dynamics"), motion(arm(), 5, duration=4.0, harmonics=3, rate=250.0)

    def wanted(t: float, x: np.ndarray) -> np.ndarray:
        return np.array([np.interp(t, path.t, column) for column in x.T])

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        tau = STIFFNESS * (wanted(t, path.q) - x[:3]) + DAMPING * (wanted(t, path.qd) - x[3:])
        return np.concatenate([x[3:], forward(x[:3], x[3:], tau)])

    start = np.concatenate([path.q[0], path.qd[0]])
    found = solve_ivp(rate, (0, path.t[-1]), start, "RK45", path.t, rtol=1e-5, atol=1e-7)
    q, qd = found.y[:3].T, found.y[3:].T
    return tf.Recording(path.t, q, STIFFNESS * (path.q - q) + DAMPING * (path.qd - qd), reference=path.q)


def heavier() -> tf.Fit:
    return replace(fit(), values=1.3 * fit().values)


def test_the_model_under_the_robots_controller_goes_where_the_robot_went() -> None:
    gains = {"stiffness": STIFFNESS, "damping": DAMPING}
    good = tf.validate_by_simulation(fit(), controlled(), **gains)
    lag = np.sqrt(((controlled().reference - controlled().q) ** 2).mean(axis=0))
    # The controller lets the robot lag behind; the model must lag behind alike, not follow the reference.
    assert (good.rms < 0.05 * lag).all()
    wrong = tf.validate_by_simulation(heavier(), controlled(), **gains)
    assert (wrong.rms > 5 * good.rms)[1:].all()


def test_recorded_torques_move_the_model_as_they_moved_the_robot() -> None:
    """Within a tenth of the travel, as the paper reports for its PUMA 260.  [Izaguirre1992, section 7.2]"""
    good = tf.validate_by_simulation(fit(), controlled())
    assert len(good.starts) > 4
    assert (good.relative < 0.1).all()
    wrong = tf.validate_by_simulation(heavier(), controlled())
    assert (wrong.rms > 3 * good.rms)[1:].all()


def test_coulomb_friction_holds_a_standing_model_without_chatter() -> None:
    robot, rng = arm(), np.random.default_rng(3)
    stuck = tf.identify(robot, [simulated_recording(robot, motion(robot, k), rng) for k in (1, 2)], **PLAIN)
    t = np.arange(0, 2, 0.005)
    # A quick nod at first: a recording in which no joint moves is refused.
    q = 0.3 + np.where(t < 0.5, 0.05 * np.sin(4 * np.pi * t) ** 2, 0.0)[:, None] * np.ones(3)
    pull = 0.5 * np.array([joint.coulomb for joint in robot.joints])
    tau = tf.inverse_dynamics(robot, q, 0 * q, 0 * q) + pull + rng.normal(scale=0.1, size=q.shape)
    standing = tf.Recording(t, q, tau)
    found = tf.validate_by_simulation(replace(stuck, filters=None), standing, horizon=0.5)
    last = found.q[found.t > 0.999]
    assert np.ptp(last, axis=0).max() < 1e-3


def test_the_command_line_shows_where_the_model_went(tmp_path: Path) -> None:
    robot, path = tf.load("two_link"), motion(tf.load("two_link"), 1, rate=100.0)
    tau = tf.inverse_dynamics(robot, path.q, path.qd, path.qdd) + 0.01 * np.sin(40 * path.q)
    columns = np.column_stack([path.t, path.q, tau])
    np.savetxt(tmp_path / "log.csv", columns, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    words = ["identify", "two_link", str(tmp_path / "log.csv"), "--friction", "plain", "--no-couplings", "--simulate"]
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    assert max(json.loads(done.stdout)["simulation"]["log.csv"]["relative"]) < 0.1


def test_a_closed_loop_needs_what_it_follows() -> None:
    with pytest.raises(IdentificationError, match="commanded positions"):
        tf.validate_by_simulation(fit(), replace(controlled(), reference=None), stiffness=1.0, damping=1.0)
    with pytest.raises(IdentificationError, match="both stiffness and damping"):
        tf.validate_by_simulation(fit(), controlled(), stiffness=1.0)


@pytest.mark.parametrize("law", representatives(["load", "thermal"], "thermal"))
def test_friction_by_load_and_by_temperature_moves_the_model_too(law: str) -> None:
    """Open loop over half a second, driven by exact torques; without its law the model goes elsewhere."""
    size = {"load": 0.3, "thermal": 0.1}[law]
    robot = slippery().with_drives([*slippery().drives, *(tf.Drive.of(law, j, size) for j in range(3))])
    path = motion(robot, 1)
    warm = 20 + 5 * path.t[:, None] * np.ones(3) if law == "thermal" else None
    recording = simulated_recording(robot, path, np.random.default_rng(0), exact_states=True, temperature=warm)
    found = tf.identify(slippery(), recording, friction=law, couplings=None, filters=None)  # type: ignore[arg-type]
    plain = tf.identify(slippery(), recording, friction="plain", couplings=None, filters=None)
    moved, elsewhere = (tf.validate_by_simulation(x, recording).relative.max() for x in (found, plain))
    assert moved < 0.02
    assert elsewhere > 2 * moved
    if law == "thermal":
        with pytest.raises(IdentificationError, match="depends on temperature"):
            tf.validate_by_simulation(found, replace(recording, temperature=None))
