"""On-line functions: a load is found in two seconds, its spread is honest, and every language repeats them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from compiled_c import compiled
from identification.arms import motion as trajectory
from sampling import representatives
from tauform.cli import main
from tauform.codegen.program.program import Program
from tauform.errors import GenerationError, ShapeError, UnknownNameError
from tauform.identification.motion.simulate import simulated_recording
from tauform.realtime.online.programs import NAMES
from written_checks import run_check

PERIOD = 1e-3
SETTINGS = np.array([10.0, 0.2, PERIOD])
LOAD = tf.Inertia.of(1.0, [0.02, -0.01, 0.06], [2e-3, 2e-3, 1e-3, 0.0, 0.0, 0.0], inertia_about="com")


def motion(n: int, seed: int, seconds: float = 2.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ordinary motion from rest: two waves per joint of about half a hertz and one hertz."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, seconds, PERIOD)[:, None]
    q, qd, qdd = (np.zeros((len(t), n)) + rng.uniform(-1, 1, n) * first for first in (1.0, 0.0, 0.0))
    for frequency in (0.5, 1.0):
        a, w = rng.uniform(0.2, 0.5, n), 2 * np.pi * frequency * rng.uniform(0.7, 1.2, n)
        q, qd, qdd = q + a * (1 - np.cos(w * t)), qd + a * w * np.sin(w * t), qdd + a * w**2 * np.cos(w * t)
    return q, qd, qdd


def in_c(program: Program, folder: Path) -> Callable[..., tuple[np.ndarray, ...]]:
    """One step by the written C."""
    tf.write_c(program, folder, name="arm")
    function = compiled(folder, program)

    def step(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        given = [np.ascontiguousarray(array, dtype=np.float64) for array in arrays]
        assert [array.shape for array in given] == [port.shape for port in program.inputs]
        results = tuple(np.empty(port.shape) for port in program.outputs)
        function(*(ctypes.c_void_p(array.ctypes.data) for array in (*given, *results)))
        return results

    return step


def estimated(
    step: Callable[..., tuple[np.ndarray, ...]],
    size: int,
    states: tuple[np.ndarray, ...],
    tau: np.ndarray,
    deviation: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """What the last step returns."""
    state = np.zeros(size)
    for q, qd, torque in zip(*states[:2], tau, strict=True):
        values, spread, state = step(q, qd, torque, deviation, SETTINGS, state)
    return values, spread


@pytest.mark.parametrize("name", representatives(("kr6_r700", "lbr7"), "kr6_r700"))
def test_a_kilogram_is_found_in_two_seconds(name: str) -> None:
    robot = tf.load(name)
    program = tf.online_program(robot, "payload_estimator")
    kernel = tf.compile(program)
    truth = robot.with_payload(LOAD)
    pulls = []
    for seed in range(4):
        states = motion(robot.n_joints, seed)
        tau = tf.inverse_dynamics(truth, *states)
        deviation = 0.01 * np.abs(tau).max(axis=0)
        tau = tau + deviation * np.random.default_rng(seed).normal(size=tau.shape)
        payload, spread = estimated(kernel, program.inputs[-1].size, states, tau, deviation)
        assert payload[0] == pytest.approx(1.0, rel=0.03)
        assert payload[1:4] == pytest.approx(LOAD.first_moment, abs=0.005)
        pulls.append((payload[0] - 1) / spread[0])
    # errors are about as large as the spread says
    assert 0.2 < np.sqrt(np.mean(np.square(pulls))) < 3.0


def test_c_finds_a_kilogram_too(tmp_path: Path) -> None:
    robot = tf.load("kr6_r700")
    program = tf.online_program(robot, "payload_estimator")
    states = motion(robot.n_joints, 0)
    tau = tf.inverse_dynamics(robot.with_payload(LOAD), *states)
    deviation = 0.01 * np.abs(tau).max(axis=0)
    tau = tau + deviation * np.random.default_rng(7).normal(size=tau.shape)
    payload, _ = estimated(in_c(program, tmp_path / "c"), program.inputs[-1].size, states, tau, deviation)
    assert payload[0] == pytest.approx(1.0, rel=0.03)


def test_c_finds_friction_that_changed(tmp_path: Path) -> None:
    """Viscous friction of the first joint falls by a third, Coulomb friction of the second grows."""
    bare = tf.load("two_link").without_drives()
    cold = bare.with_drives([tf.Drive.of("viscous", 0, 6.0), tf.Drive.of("coulomb", 1, 1.0)])
    warm = bare.with_drives([tf.Drive.of("viscous", 0, 4.0), tf.Drive.of("coulomb", 1, 1.5)])
    program = tf.online_program(cold, "friction_estimator", tau_deviation=[1.0, 1.0])
    adapt, state = in_c(program, tmp_path / "c"), np.zeros(program.inputs[-1].shape)
    states = motion(2, 1)
    for q, qd, tau in zip(*states[:2], tf.inverse_dynamics(warm, *states), strict=True):
        friction, _, state = adapt(q, qd, tau, SETTINGS, state)
    assert friction == pytest.approx(np.array([[-2.0, 0, 0], [0, 0.5, 0]]), abs=0.1)


def test_a_fit_sets_the_threshold_of_collisions_in_c(tmp_path: Path) -> None:
    """Log, fit, C: nothing is a contact in a motion that was not fitted, until somebody pushes."""
    truth = tf.load("two_link").with_drives([tf.Drive.of("viscous", 0, 2.0), tf.Drive.of("viscous", 1, 1.0)])
    rng = np.random.default_rng(0)
    log = simulated_recording(truth, trajectory(truth, 1), rng, torque_noise=0.3)
    fit = tf.identify(tf.load("two_link"), log)
    robot = fit.identified_robot
    program = tf.online_program(robot, "collision_observer", tau_deviation=fit.unseen.rms)
    assert [port.name for port in program.inputs if port.name == "tau_deviation"] == []
    observe, states = in_c(program, tmp_path / "c"), motion(2, 2)
    tau = tf.inverse_dynamics(truth, *states) + 0.3 * rng.normal(size=states[0].shape)
    push = 60 * fit.unseen.rms
    tau[1500:] -= push
    integral, residual = tf.generalized_momentum(robot, states[0][0], states[1][0]), np.zeros(2)
    gain, period, factor, contacts = np.full(2, 50.0), np.array([PERIOD]), np.array([5.0]), []
    # The integral holds what came in until the first sample: steps begin with the second.
    for q, qd, torque in zip(*(array[1:] for array in (*states[:2], tau)), strict=True):
        residual, integral, _, contact = observe(q, qd, torque, integral, residual, gain, period, factor)
        contacts.append(contact)
    assert not np.any(contacts[:1500])
    assert np.all(contacts[1520])  # within 20 ms, at both joints

    robot.save(tmp_path / "robot.toml")
    fit.save(tmp_path / "fit.json")
    command = ["--fit", str(tmp_path / "fit.json"), "--online", "collision_observer", "-o", str(tmp_path / "cli")]
    assert main(["generate", str(tmp_path / "robot.toml"), *command, "--name", "arm"]) == 0
    header = " ".join((tmp_path / "cli" / "arm.h").read_text(encoding="utf-8").replace("*", " ").split())
    assert "tau_deviation" not in header
    assert "torque deviations of the joints inside: " + ", ".join(f"{x:.3g}" for x in fit.unseen.rms) in header


def test_a_fit_without_use_or_of_another_robot_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arm = tf.load("two_link")
    tf.identify(arm, simulated_recording(arm, trajectory(arm, 1), np.random.default_rng(0))).save(tmp_path / "fit.json")
    command = ["generate", "--fit", str(tmp_path / "fit.json"), "-o", str(tmp_path / "out")]
    assert main([*command, "two_link", "--functions", "gravity_torque"]) == 2
    assert "--online collision_observer" in capsys.readouterr().err
    assert main([*command, "sr6ia", "--online", "collision_observer"]) == 2
    assert "whose joints are others" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_c_learns_to_track(tmp_path: Path) -> None:
    """Slotine and Li from no knowledge at all: tracking errors fall to a tenth."""
    arm, period = tf.load("two_link"), 2e-3
    program = tf.online_program(arm, "slotine_li_update")
    control, forward = in_c(program, tmp_path / "c"), tf.compile(arm, "forward_dynamics")
    theta, gain = np.zeros(program.outputs[1].shape), np.full(program.outputs[1].shape, 2.0)
    x, v, errors = np.zeros(2), np.zeros(2), []
    for k in range(10_000):
        s, w = k * period, np.array([1.0, 2.0])
        goal, rate, bend = np.sin(w * s), w * np.cos(w * s), -(w**2) * np.sin(w * s)
        reference, slope = rate - 10.0 * (x - goal), bend - 10.0 * (v - rate)
        tau, theta = control(x, v, reference, slope, theta, gain, np.full(2, 20.0), np.array([period]))
        v = v + period * forward(x, v, tau)
        x = x + period * v
        errors.append(np.abs(x - goal).max())
    assert max(errors[-2000:]) < 0.1 * max(errors[:2000])


def test_without_a_load_nothing_is_found() -> None:
    robot = tf.load("two_link")
    for name in ("payload_estimator", "payload_mass_estimator"):
        program = tf.online_program(robot, name)
        states = tuple(array[100:] for array in motion(2, 0, 1.0))  # not from rest
        tau = tf.inverse_dynamics(robot, *states)
        payload, _ = estimated(tf.compile(program), program.inputs[-1].size, states, tau, np.ones(2))
        assert np.abs(payload).max() < 2e-3


def test_the_estimate_is_that_of_least_squares_with_accelerations() -> None:
    """Without noise the momentum form finds what a regression on accelerations finds: the load itself."""
    robot = tf.load("kr6_r700")
    states = motion(6, 3, 1.0)
    tau = tf.inverse_dynamics(robot.with_payload(LOAD), *states)
    program = tf.online_program(robot, "payload_estimator")
    payload, _ = estimated(tf.compile(program), program.inputs[-1].size, states, tau, np.ones(6))
    added = tau - tf.inverse_dynamics(robot, *states)
    columns = []
    for k in range(10):
        heavy = tf.Inertia(np.eye(10)[k])
        columns.append(tf.inverse_dynamics(robot.with_payload(heavy), *states) - tf.inverse_dynamics(robot, *states))
    found = np.linalg.lstsq(np.stack(columns, axis=-1).reshape(-1, 10), added.ravel(), rcond=None)[0]
    assert payload == pytest.approx(found, abs=0.01)


@pytest.mark.parametrize("target", representatives(("c", "cpp", "javascript", "rust", "matlab"), "c"))
def test_every_language_repeats_them(tmp_path: Path, target: str) -> None:
    robot = tf.load("two_link")
    tf.write([tf.online_program(robot, name) for name in NAMES], tmp_path / "out", target=target, name="arm")
    said = run_check(tmp_path / "out", target, "arm")
    assert all(name in said for name in NAMES)


def test_contacts_are_relative_to_the_deviation() -> None:
    robot = tf.load("two_link")
    program = tf.online_program(robot, "collision_observer")
    residual = np.array([4.0, -4.0])
    zero, one = np.zeros(2), np.ones(2)
    momentum = tf.generalized_momentum(robot, zero, one)
    # gain and integral such that this step leaves the residual as it is
    outputs = program(zero, one, zero, momentum - residual, zero, one, np.array([0.0]), np.array([1.0, 2.0]), [3.0])
    names = [port.name for port in program.outputs]
    found = dict(zip(names, outputs, strict=True))
    assert found["residual"] == pytest.approx(residual)
    assert found["level"] == pytest.approx([4 / 3, 4 / 6])
    assert found["contact"].tolist() == [1.0, 0.0]


def test_adaptation_is_a_step_down_the_gradient() -> None:
    robot = tf.load("two_link")
    program = tf.online_program(robot, "slotine_li_update")
    rng = np.random.default_rng(0)
    q, qd, qd_r, qdd_r = rng.normal(size=(4, 2))
    theta, gain = rng.normal(size=(2, len(program.theta_names)))
    tau, new = program(q, qd, qd_r, qdd_r, theta, gain, np.array([3.0, 4.0]), np.array([0.1]))
    Y = tf.generate(robot, "slotine_li_regressor")(q, qd, qd_r, qdd_r)
    assert tau == pytest.approx(Y @ theta - np.array([3.0, 4.0]) * (qd - qd_r))
    assert new == pytest.approx(theta - 0.1 * gain * (Y.T @ (qd - qd_r)))


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="payload_estimator"):
        tf.online_program(tf.load("two_link"), "payload_estimatr")  # type: ignore[arg-type]
    with pytest.raises(GenerationError, match="has loops or mimic joints"):
        tf.online_program(tf.load("parallelogram"), "payload_estimator")
    for wrong in ([1.0], [1.0, 0.0], [[1.0, 1.0]]):
        with pytest.raises(ShapeError, match="tau_deviation: expected"):
            tf.online_program(tf.load("two_link"), "collision_observer", tau_deviation=wrong)
    with pytest.raises(GenerationError, match="slotine_li_update has no threshold"):
        tf.online_program(tf.load("two_link"), "slotine_li_update", tau_deviation=[1.0, 1.0])
