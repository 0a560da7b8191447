"""The split into a synchronous and a background task: counts, exactness, foretold and measured errors, C."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.arrays import Array
from tauform.closedform.profile import Profile
from tauform.errors import ModelError
from tauform.realtime.bandwidth import bandwidth, bandwidths
from tauform.realtime.multirate import Friction
from tauform.realtime.prediction import measure
from tauform.realtime.staleness import Rates

# A fast motion of the PUMA 260: bounds of each joint, all swinging out of step.
CENTRE = np.array([0.0, -0.8, 0.5, 0.2, 0.6, 0.0])
VELOCITY = np.array([2.0, 2.0, 2.5, 4.0, 4.0, 5.0])
ACCELERATION = np.array([12.0, 11.0, 15.0, 30.0, 35.0, 40.0])


def fast_motion(t: Array) -> tuple[Array, Array, Array]:
    w = ACCELERATION / VELOCITY
    phase = np.outer(t, w) + 1.3 * np.arange(6)
    return (
        CENTRE + VELOCITY / w * np.sin(phase),
        VELOCITY * np.cos(phase),
        -ACCELERATION * np.sin(phase),
    )


@pytest.fixture(scope="module")
def puma() -> tf.MultiRate:
    return tf.multirate(tf.load("puma260_izaguirre"))


def test_counts_stay_within_the_papers(puma: tf.MultiRate) -> None:
    # Izaguirre1992: 6 + 6 a joint; D_ij and D_i 98 + 70, velocity torques 140 + 110
    assert puma.synchronous.n_multiplications <= 36
    assert puma.synchronous.n_additions <= 36
    assert puma.coefficients.n_operations <= 98 + 70
    assert puma.velocity.n_operations <= 140 + 110


def test_both_tasks_together_are_inverse_dynamics(puma: tf.MultiRate) -> None:
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 50, 6))
    expected = tf.inverse_dynamics(puma.robot, q, qd, qdd)
    M, stored = puma.background_kernel(q, qd)
    np.testing.assert_allclose(puma.synchronous_kernel(M, stored, qdd), expected, rtol=1e-10, atol=1e-10)
    M2, gravity = puma.coefficients(q)
    np.testing.assert_allclose(M2, M, atol=1e-12)
    np.testing.assert_allclose(gravity + puma.velocity(q, qd), stored, atol=1e-10)


def test_friction_in_the_synchronous_task_follows_reversals_at_once(puma: tf.MultiRate) -> None:
    quick = tf.multirate(puma.robot, friction="synchronous")
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 50, 6))
    tau = quick.torque(*quick.background_kernel(q, qd), qd, qdd)
    np.testing.assert_allclose(tau, tf.inverse_dynamics(puma.robot, q, qd, qdd), rtol=1e-10, atol=1e-10)
    assert quick.synchronous.n_operations <= 6 * (8 + 8)
    profile, rates = Profile.harmonic(CENTRE, VELOCITY, ACCELERATION, n_states=4000), Rates(0.001, 0.02)
    assert quick.predict(profile, rates).total < 0.5 * puma.predict(profile, rates).total
    with pytest.raises(ModelError, match="friction"):
        tf.multirate(puma.robot, friction="nowhere")


def test_loops_are_split_too() -> None:
    split = tf.multirate(tf.load("parallelogram"))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 20, split.robot.n_joints))
    tau = split.synchronous(*split.background(q, qd), qdd)
    np.testing.assert_allclose(tau, tf.inverse_dynamics(split.robot, q, qd, qdd), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("latency", [0.0, 0.004])
def test_error_foretold_from_bounds_is_measured(puma: tf.MultiRate, latency: float) -> None:
    rates = Rates(control=0.001, background=0.02, latency=latency)
    foretold = puma.predict(Profile.harmonic(CENTRE, VELOCITY, ACCELERATION), rates)
    errors = measure(puma, np.arange(0.0, 60.0, 0.001)[40:], fast_motion, rates)
    measured = np.sqrt((errors**2).mean(axis=0))
    assert foretold.total == pytest.approx(np.linalg.norm(measured), rel=0.1)
    np.testing.assert_allclose(foretold.rms, measured, rtol=0.15)


def test_a_slower_background_errs_more_and_no_age_errs_nothing(puma: tf.MultiRate) -> None:
    profile = Profile.harmonic(CENTRE, VELOCITY, ACCELERATION, n_states=2000)
    totals = [puma.predict(profile, Rates(0.001, period)).total for period in (0.001, 0.01, 0.02)]
    assert totals == sorted(totals)
    still = measure(puma, np.arange(0.0, 1.0, 0.001), fast_motion, Rates(0.001, 0.001))
    np.testing.assert_allclose(still, 0, atol=1e-9)


def test_slowest_background_meets_the_error_it_was_asked_for(puma: tf.MultiRate) -> None:
    profile = Profile.harmonic(CENTRE, VELOCITY, ACCELERATION, n_states=4000)
    rates = puma.slowest_background(profile, 0.05, control=0.001)
    assert rates is not None
    assert puma.predict(profile, rates).relative <= 0.05
    slower = Rates(0.001, 1.05 * rates.background)
    assert puma.predict(profile, slower).relative > 0.05
    assert puma.slowest_background(profile, 1e-6, control=0.001) is None


def test_prediction_along_a_trajectory_is_in_its_order(puma: tf.MultiRate) -> None:
    t = np.arange(0.0, 2.0, 0.001)
    rates = Rates(0.001, 0.02)
    over_time = puma.predict(Profile.trajectory(*fast_motion(t)), rates).over_states
    errors = np.abs(measure(puma, t, fast_motion, rates))
    blocks = np.sqrt((errors.reshape(-1, 20, 6) ** 2).mean(axis=1)), over_time.reshape(-1, 20, 6).mean(axis=1)
    assert np.corrcoef(blocks[0][:, 1], blocks[1][:, 1])[0, 1] > 0.9


def test_a_background_quicker_than_the_control_is_refused() -> None:
    with pytest.raises(ModelError, match="shorter than the synchronous"):
        Rates(control=0.01, background=0.001)
    with pytest.raises(ModelError, match="positive"):
        Rates(control=0.0, background=0.001)
    with pytest.raises(ModelError, match="latency"):
        Rates(control=0.001, background=0.001, latency=-1.0)


def test_a_run_reports_ticks_updates_and_errors(puma: tf.MultiRate) -> None:
    report = puma.run(fast_motion, Rates(0.001, 0.02), seconds=0.5)
    assert report.n_ticks == 500
    assert 2 <= report.n_updates <= 30
    assert 0 <= report.missed <= 500
    assert 0 < np.linalg.norm(report.rms) < np.linalg.norm(report.torque)
    assert "missed deadlines" in str(report)
    with pytest.raises(ModelError, match="background period"):
        puma.run(fast_motion, Rates(0.001, 0.02), seconds=0.01)


def test_bandwidth_of_a_sine_is_its_frequency() -> None:
    t = np.arange(0.0, 20.0, 0.01)
    assert bandwidth(np.sin(2 * np.pi * 1.5 * t)[:, None], 100.0) == pytest.approx(1.5, abs=0.1)
    assert bandwidth(np.ones((100, 2)), 100.0) == 0.0


def test_accelerations_have_the_wider_band(puma: tf.MultiRate) -> None:
    def motion(t: Array) -> tuple[Array, Array, Array]:
        slow, quick = fast_motion(t), fast_motion(4 * t)
        q, qd, qdd = (slow[k] + 0.1 * 4**k * quick[k] for k in range(3))
        return q, qd, qdd

    found = bandwidths(puma.robot, *motion(np.arange(0.0, 20.0, 0.005)), rate=200.0)
    assert found.position < found.acceleration
    assert found.gravity < found.inertial_torque
    with pytest.raises(ModelError, match="too few"):
        bandwidths(puma.robot, *motion(np.arange(10.0)), rate=1.0)


@pytest.mark.parametrize(
    ("real", "friction"), [("double", "background"), ("float", "background"), ("double", "synchronous")]
)
def test_c_of_both_tasks_compiles_without_warnings_and_runs(
    puma: tf.MultiRate, tmp_path: Path, real: str, friction: Friction
) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    split = puma if friction == "background" else tf.multirate(tf.load("two_link"), friction)
    files = split.write_c(tmp_path / "c", real=real, name="puma")
    assert {"puma_multirate.h", "puma_multirate.c", "demo_puma_multirate.c", "puma.c"} <= {f.name for f in files}
    flags = "-std=c11 -O1 -Wall -Wextra -Wpedantic -Werror -pthread"
    sources = "demo_puma_multirate.c puma_multirate.c puma.c"
    command = [compiler, *flags.split(), *sources.split(), "-lm", "-o", "demo"]
    subprocess.run(command, cwd=tmp_path / "c", check=True, capture_output=True)
    said = subprocess.run(
        ["./demo", "0.3", "1000", "50"], cwd=tmp_path / "c", check=True, capture_output=True, text=True
    )
    found = re.match(r"ticks (\d+), updates (\d+), missed (\d+), .* torque error ([\d.]+) %", said.stdout)
    assert found is not None
    assert int(found[1]) == 300
    assert int(found[2]) >= 2
    assert 0 < float(found[4]) < 60
    split.write_c(tmp_path / "c", real=real, name="puma")  # our own folder may be written again
