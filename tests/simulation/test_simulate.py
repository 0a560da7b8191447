"""Batches, controllers, results and refusals of simulations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from random_robots import random_tree
from tauform.errors import ArgumentError, ShapeError, SimulationError, UnknownNameError
from tauform.identification.motion.trajectory import quintic
from tauform.simulation import rollout

ROBOT = tf.planar_chain(2)


def test_a_batch_equals_one_at_a_time():
    rng = np.random.default_rng(0)
    q0, qd0 = rng.uniform(-1, 1, (2, 2, 5, 2))
    batch = tf.simulate(ROBOT, q0, qd0, None, 0.05, integrator="rk4")
    assert batch.q.shape == (2, 5, 51, 2)
    assert batch.energy.shape == (2, 5, 51)
    for index in np.ndindex(2, 5):
        one = tf.simulate(ROBOT, q0[index], qd0[index], None, 0.05, integrator="rk4")
        assert one.q.shape == (51, 2)
        np.testing.assert_array_equal(batch[index].q, one.q)
        np.testing.assert_array_equal(batch[index].qdd, one.qdd)


def test_threads_and_kept_steps_change_nothing():
    q0 = np.random.default_rng(1).uniform(-1, 1, (50, 2))
    whole = tf.simulate(ROBOT, q0, None, None, 0.1)
    shared = tf.simulate(ROBOT, q0, None, None, 0.1, threads=3)
    some = tf.simulate(ROBOT, q0, None, None, 0.1, every=7)
    np.testing.assert_array_equal(shared.q, whole.q)
    for name in ("q", "qd", "qdd", "tau"):
        np.testing.assert_array_equal(getattr(some, name), getattr(whole, name)[:, ::7])
    np.testing.assert_array_equal(some.t, whole.t[::7])


@pytest.mark.parametrize("law", ["torque", "pd_gravity", "computed_torque"])
def test_textbook_functions_take_the_same_steps(law, monkeypatch):
    robot = random_tree(3, 4)
    control = {
        "torque": np.array([1.0, -2.0, 0.5]),
        "pd_gravity": tf.Controller.pd(50.0, 5.0, [0.1, 0.2, 0.3], gravity=True),
        "computed_torque": tf.Controller.computed_torque(100.0, 20.0),
    }[law]
    arguments = robot, np.random.default_rng(2).uniform(-1, 1, (3, 3)), None, control, 0.02
    fast = tf.simulate(*arguments, limits=False)
    for compiled in ("compiled", "compiled_contact"):
        monkeypatch.setattr(rollout, compiled, lambda plant: None)
    slow = tf.simulate(*arguments, limits=False)
    np.testing.assert_allclose(fast.q, slow.q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(fast.tau, slow.tau, rtol=0, atol=1e-9)


def test_energy_of_a_free_motion_stays():
    rng = np.random.default_rng(5)
    q0, qd0 = rng.uniform(-1, 1, (2, 4, 3))
    robot = tf.planar_chain(3)

    def drift(integrator):
        """Change of the mean energy from the first tenth of the time to the last, of the largest potential energy."""
        energy = tf.simulate(robot, q0, qd0, None, 10.0, 2e-3, integrator=integrator, limits=False).energy
        swing = np.ptp(tf.potential_energy(robot, np.random.default_rng(0).uniform(-3, 3, (100, 3))))
        return np.abs(energy[:, -500:].mean(axis=1) - energy[:, :500].mean(axis=1)).max() / swing

    assert drift("midpoint") < 1e-4
    assert drift("rk4") < 1e-5
    assert drift("semi_implicit") > 10 * drift("midpoint")


def test_compiled_controllers_equal_python_functions():
    q0 = np.random.default_rng(3).uniform(-1, 1, (5, 2))
    target = np.array([0.3, -0.4])

    def pd(t, q, qd):
        assert q.shape == qd.shape == (5, 2)
        return 40 * (target - q) - 8 * qd + tf.gravity_torque(ROBOT, q)

    given = tf.simulate(ROBOT, q0, None, pd, 0.1)
    compiled = tf.simulate(ROBOT, q0, None, tf.Controller.pd(40, 8, target, gravity=True), 0.1)
    np.testing.assert_allclose(given.q, compiled.q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(given.tau, compiled.tau, rtol=0, atol=1e-9)


def test_controllers_do_what_they_are_for():
    q0, q1 = np.array([0.2, 0.4]), np.array([0.8, -0.3])
    path = quintic([q0, q1], [1.0], 200.0, ROBOT.joint_names)
    held = tf.simulate(ROBOT, q0, None, tf.Controller.gravity_compensation(), 0.5)
    np.testing.assert_allclose(held.q[-1], q0, rtol=0, atol=1e-10)
    for law in (tf.Controller.computed_torque(400.0, 40.0, path), tf.Controller.feed_forward(path, 100.0, 20.0)):
        motion = tf.simulate(ROBOT, q0, None, law, 1.2, 1e-3, integrator="rk4")
        np.testing.assert_allclose(motion.q[-1], q1, rtol=0, atol=2e-3)
    heavy = ROBOT.with_payload(tf.Inertia.of(3.0, [0.0, 0.0, 0.0]))
    sagging = tf.simulate(heavy, q0, None, tf.Controller.gravity_compensation(model=ROBOT), 0.2)
    assert np.abs(sagging.q[-1] - q0).max() > 0.01
    knowing = tf.simulate(heavy, q0, None, tf.Controller.gravity_compensation(), 0.2)
    np.testing.assert_allclose(knowing.q[-1], q0, rtol=0, atol=1e-10)


def test_a_feed_forward_knows_the_temperature():
    """Friction by temperature at this temperature, of the robot or of the model alone, state by state of a batch."""
    warm = ROBOT.with_drives([*ROBOT.drives, tf.Drive.of("thermal", joints=0, coefficient=0.05, label="bearing")])
    q0, q1 = np.array([0.2, 0.4]), np.array([0.8, -0.3])
    law = tf.Controller.feed_forward(quintic([q0, q1], [1.0], 200.0, ROBOT.joint_names), 100.0, 20.0)
    temperature = np.array([[20.0, 20.0], [60.0, 30.0]])
    motion = tf.simulate(warm, q0, None, law, 1.2, 1e-3, integrator="rk4", temperature=temperature)
    np.testing.assert_allclose(motion.q[:, -1], np.stack([q1, q1]), rtol=0, atol=2e-3)
    believing = replace(law, model=warm)
    pushed = tf.simulate(ROBOT, q0, None, believing, 0.1, temperature=temperature)
    assert pushed.q.shape[0] == 2
    assert np.abs(pushed.tau[0] - pushed.tau[1]).max() > 0.1


def test_recorded_torques_repeat_the_motion():
    rng = np.random.default_rng(4)
    tau = np.cumsum(rng.normal(size=(400, 2)), axis=0) * 0.2
    first = tf.simulate(ROBOT, [0.1, 0.2], None, tau, 0.4, integrator="rk4")
    again = tf.simulate(ROBOT, [0.1, 0.2], None, first.recording(), 0.4, integrator="rk4")
    np.testing.assert_allclose(again.q, first.q, rtol=0, atol=2e-3)
    np.testing.assert_array_equal(tf.simulate(ROBOT, [0.1, 0.2], None, first.tau, 0.4, integrator="rk4").q, first.q)


def test_a_recording_of_a_motion_is_what_inverse_dynamics_says():
    robot = random_tree(3, 4, friction=False)
    motion = tf.simulate(robot, [0.1, 0.2, 0.3], None, [1.0, 2.0, -1.0], 0.1, integrator="rk4", limits=False)
    np.testing.assert_allclose(tf.inverse_dynamics(robot, motion.q, motion.qd, motion.qdd), motion.tau, atol=1e-9)


def test_results_are_written(tmp_path: Path):
    motion = tf.simulate(ROBOT, [[0.1, 0.2], [0.3, 0.4]], None, None, 0.1)
    one = motion[1]
    table = np.genfromtxt(one.save_csv(tmp_path / "motion.csv"), delimiter=",", names=True)
    np.testing.assert_array_equal(table["q_joint2"], one.q[:, 1])
    np.testing.assert_array_equal(table["tau_joint1"], one.tau[:, 0])
    assert "Simulated motion" in one.plot(tmp_path / "motion.html").read_text(encoding="utf-8")
    assert tf.read_recording(tmp_path / "motion.csv", ROBOT).n_samples == 101
    assert repr(one) == "Motion(2 joints, 0.1 s in steps of 0.001 s, semi_implicit)"
    with pytest.raises(SimulationError, match=r"batch of 2; choose one, such as motion\[0\]\.save_csv"):
        motion.save_csv(tmp_path / "batch.csv")
    with pytest.raises(ValueError, match="read-only"):
        one.q[0] = 0


def test_a_motion_that_runs_away_is_named_with_its_time():
    wild = tf.Controller.pd(1e7, 0.0, [0.5, 0.5])
    with pytest.raises(SimulationError, match=r"runs away at t = 0\.\d+ s \(joint 'joint\d'\); take a smaller step"):
        tf.simulate(ROBOT, [0.0, 0.0], None, wild, 1.0, 0.01)
    tau = np.array([0.0, 1e9])[:, None, None] * np.ones((2, 100, 2))
    with pytest.raises(SimulationError, match=r"in simulation 1\)"):
        tf.simulate(ROBOT, np.zeros((2, 2)), None, tau, 1.0, 0.01)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        (([0.0], None, None, 1.0), {}, ShapeError, r"q0: expected shape \(\.\.\., 2\)"),
        (([0, 0], [0, np.nan], None, 1.0), {}, ShapeError, "qd0: entry"),
        (([0, 0], None, None, -1.0), {}, SimulationError, "duration: expected a positive time"),
        (([0, 0], None, None, 1.0, 0.0), {}, SimulationError, "step: expected a positive time"),
        (([0, 0], None, None, 1e-9), {}, SimulationError, "check the units"),
        (([0, 0], None, None, 1.0), {"every": 0}, SimulationError, "every"),
        (([0, 0], None, None, 1.0), {"integrator": "euler"}, UnknownNameError, "semi_implicit"),
        (([0, 0], None, np.zeros((5, 2)), 1.0), {}, ShapeError, "5 rows of torques, but 1000 steps"),
        (([0, 0], None, np.zeros(3), 1.0), {}, ShapeError, "control: expected shape"),
        (
            ([0, 0], None, lambda t, q, qd: np.zeros(3), 1.0),
            {},
            ShapeError,
            r"expected torques of shape \(2,\) at t = 0",
        ),
        (([0, 0], None, lambda t, q, qd: None, 1.0), {}, ShapeError, "control: expected torques"),
        (([0, 0], None, lambda t, q, qd: q * np.nan, 1.0), {}, ShapeError, "not finite"),
        ((np.zeros((3, 2)), np.zeros((4, 2)), None, 1.0), {}, ShapeError, "do not broadcast"),
        (([0, 0], None, None, 1.0), {"wrenches": {"nowhere": np.zeros(6)}}, UnknownNameError, "nowhere"),
        (([0, 0], None, tf.Controller.pd([1, 2, 3], 1.0), 1.0), {}, Exception, "stiffness"),
        (("two", None, None, 1.0), {}, (ShapeError, ArgumentError), "q0"),
    ],
)
def test_what_cannot_be_simulated_is_refused(arguments, options, error, words):
    with pytest.raises(error, match=words):
        tf.simulate(ROBOT, *arguments, **options)
