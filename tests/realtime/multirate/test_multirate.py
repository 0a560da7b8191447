"""The split into a synchronous and a background task: counts, exactness, predicted and measured errors, C."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from sampling import in_turns, representatives
from tauform.arrays import Array
from tauform.cli.verbs.code.multirate import friction_hint
from tauform.closedform.profile import Profile
from tauform.description.joint import Frame
from tauform.errors import ModelError, UnknownNameError
from tauform.realtime.multirate.bandwidth import bandwidth, bandwidths
from tauform.realtime.multirate.prediction import measure
from tauform.realtime.multirate.staleness import Rates
from tauform.realtime.multirate.tasks import Friction

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


@pytest.fixture(scope="module")
def quick(puma: tf.MultiRate) -> tf.MultiRate:
    return tf.multirate(puma.robot, friction="synchronous")


def test_counts_stay_within_the_papers(puma: tf.MultiRate) -> None:
    # Izaguirre1992: 6 + 6 per joint; D_ij and D_i 98 + 70, velocity torques 140 + 110
    assert puma.synchronous.n_multiplications <= 36
    assert puma.synchronous.n_additions <= 36
    assert puma.coefficients.n_operations <= 98 + 70
    assert puma.velocity.n_operations <= 140 + 110


LOAD = tf.Inertia.of(1.5, com=[0.01, 0.02, 0.05], inertia=[0.01, 0.01, 0.01, 0.0, 0.0, 0.0], inertia_about="com")


@pytest.fixture(scope="module")
def loadable(puma: tf.MultiRate) -> tf.MultiRate:
    return tf.multirate(puma.robot, payload="runtime")


def test_a_load_at_run_time_costs_less_than_the_papers(loadable: tf.MultiRate) -> None:
    # Izaguirre1992: 190 + 150 and 200 + 170 with an arbitrary load
    assert loadable.coefficients.n_operations <= 190 + 150
    assert loadable.velocity.n_operations <= 200 + 170
    assert loadable.synchronous.n_operations == 72


def test_other_loads_and_parameters_are_taken_without_a_new_split(loadable: tf.MultiRate) -> None:
    states = tuple(np.random.default_rng(0).uniform(-2, 2, (3, 50, 6)))
    other = tf.load("puma260_izaguirre_all")
    cases = [(loadable, loadable.robot), (loadable, loadable.robot.with_payload(LOAD))]
    cases += [(tf.multirate(loadable.robot, parameters="runtime"), other)]
    for split, robot in cases:
        found = split.of(robot)
        torque = found.tick(found.renewed(states), states)
        np.testing.assert_allclose(torque, tf.inverse_dynamics(robot, *states), rtol=1e-11, atol=1e-11)
        # What the split is asked afterwards is about the robot that it was given.
        parts = found.coefficients_kernel(states[0])
        np.testing.assert_allclose(parts[0], tf.mass_matrix(robot, states[0]), rtol=1e-11, atol=1e-11)
    with pytest.raises(ModelError, match="differs from puma260_izaguirre in what the programs have baked in"):
        loadable.of(other)
    # Gravity is a number in the programs, whatever else comes at run time.
    with pytest.raises(ModelError, match="baked in: gravity"):
        loadable.of(loadable.robot.with_gravity([0, 0, 9.81]))
    elsewhere = replace(loadable.robot, frames=(Frame("wrist", 3, np.eye(4)), *loadable.robot.frames))
    with pytest.raises(ModelError, match="baked in: the frame of its load"):
        loadable.of(elsewhere.with_payload(LOAD, "wrist"))
    with pytest.raises(ModelError, match=r"numbers baked in.*friction='background'"):
        tf.multirate(other, "synchronous", parameters="runtime")


def test_the_background_in_c_takes_another_load(loadable: tf.MultiRate, tmp_path: Path) -> None:
    """The demonstration carries the load of the split that wrote it, and a new one from `_set` on."""
    compiled(loadable.of(loadable.robot.with_payload(LOAD)), tmp_path / "c", "-O0 -Wall -Wextra -Wpedantic -Werror")
    library = tmp_path / "c" / "lib.so"
    sources = ["puma_multirate.c", "puma.c"]
    subprocess.run(
        ["cc", "-std=c11", "-O0", "-shared", "-fPIC", *sources, "-lm", "-o", library.name],
        cwd=library.parent,
        check=True,
    )
    functions, room = ctypes.CDLL(str(library)), ctypes.create_string_buffer(1 << 16)
    q, qd, qdd = np.random.default_rng(1).uniform(-2, 2, (3, 6))
    tau, empty, carried = np.zeros(6), np.zeros(10), np.array(LOAD.parameters)
    pointer = [ctypes.c_void_p(x.ctypes.data) for x in (empty, carried, q, qd, qdd, tau)]
    functions.puma_multirate_start(room, 1, pointer[0], *pointer[2:4])
    for k, robot in ((0, loadable.robot), (1, loadable.robot.with_payload(LOAD))):
        functions.puma_multirate_set(room, pointer[k])
        functions.puma_multirate_renew(room, *pointer[2:4])
        functions.puma_multirate_torque(room, *pointer[4:])
        np.testing.assert_allclose(tau, tf.inverse_dynamics(robot, q, qd, qdd), rtol=1e-11, atol=1e-11)


def test_each_coefficient_has_a_bandwidth_of_its_own(puma: tf.MultiRate) -> None:
    """A joint that swings alone: what does not depend on its angle is constant, cos 2q is twice as fast as cos q."""
    t = np.arange(0, 20, 0.01)
    q = np.tile(CENTRE, (len(t), 1))
    q[:, 1] += 0.05 * np.sin(2 * np.pi * t)
    found = tf.coefficient_bandwidths(puma.robot, tf.Recording(t, q, q + 1))
    bands = dict(zip(found.names, found.bandwidth, strict=True))
    assert len(bands) == 21 + 6 + 6 * 21
    # Only joint 2 moves: inertia about it and beyond it is constant, D_11 and gravity follow it.
    assert bands["D_22"] == bands["D_33"] == bands["D_1"] == 0
    assert bands["D_11"] == pytest.approx(1.0, abs=0.15)
    assert bands["D_2"] == pytest.approx(1.0, abs=0.15)
    rows = found.table(5)
    assert len(rows) == 5
    assert rows[0][1] >= rows[-1][1] > 0
    with pytest.raises(ModelError, match="too few for a spectrum"):
        tf.coefficient_bandwidths(puma.robot, tf.Recording(t[:40], q[:40], q[:40] + 1))


def test_both_tasks_together_are_inverse_dynamics(puma: tf.MultiRate) -> None:
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 50, 6))
    expected = tf.inverse_dynamics(puma.robot, q, qd, qdd)
    M, stored = puma.background_kernel(q, qd)
    np.testing.assert_allclose(puma.synchronous_kernel(M, stored, qdd), expected, rtol=1e-10, atol=1e-10)
    M2, gravity = puma.coefficients(q)
    np.testing.assert_allclose(M2, M, atol=1e-12)
    np.testing.assert_allclose(gravity + puma.velocity(q, qd), stored, atol=1e-10)


def test_friction_in_the_synchronous_task_follows_reversals_at_once(puma: tf.MultiRate, quick: tf.MultiRate) -> None:
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 50, 6))
    tau = quick.torque(*quick.background_kernel(q, qd), qd, qdd)
    np.testing.assert_allclose(tau, tf.inverse_dynamics(puma.robot, q, qd, qdd), rtol=1e-10, atol=1e-10)
    assert quick.synchronous.n_operations <= 6 * (8 + 8)
    profile, rates = Profile.harmonic(CENTRE, VELOCITY, ACCELERATION, n_states=4000), Rates(0.001, 0.02)
    assert quick.predict(profile, rates).total < 0.5 * puma.predict(profile, rates).total
    with pytest.raises(UnknownNameError, match="friction: no 'nowhere'; choose from 'background'"):
        tf.multirate(puma.robot, friction="nowhere")


def test_loops_are_split_too() -> None:
    split = tf.multirate(tf.load("parallelogram"))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 20, split.robot.n_joints))
    tau = split.synchronous(*split.background(q, qd), qdd)
    np.testing.assert_allclose(tau, tf.inverse_dynamics(split.robot, q, qd, qdd), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("latency", [0.0, 0.004])
def test_error_predicted_from_bounds_is_measured(puma: tf.MultiRate, latency: float) -> None:
    rates = Rates(control=0.001, background=0.02, latency=latency)
    predicted = puma.predict(Profile.harmonic(CENTRE, VELOCITY, ACCELERATION), rates)
    errors = measure(puma, np.arange(0.0, 60.0, 0.001)[40:], fast_motion, rates)
    measured = np.sqrt((errors**2).mean(axis=0))
    assert predicted.total == pytest.approx(np.linalg.norm(measured), rel=0.1)
    np.testing.assert_allclose(predicted.rms, measured, rtol=0.15)


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
    every_tick = puma.slowest_background(profile, 1e-6, control=0.001)
    assert every_tick is not None
    assert every_tick.background < 0.002  # renewed at every tick and used at once, nothing is stale
    assert puma.slowest_background(profile, 1e-6, control=0.001, latency=0.001) is None


def test_prediction_along_a_trajectory_is_in_its_order(puma: tf.MultiRate) -> None:
    t = np.arange(0.0, 2.0, 0.001)
    rates = Rates(0.001, 0.02)
    over_time = puma.predict(Profile.trajectory(*fast_motion(t)), rates).over_states
    errors = np.abs(measure(puma, t, fast_motion, rates))
    blocks = np.sqrt((errors.reshape(-1, 20, 6) ** 2).mean(axis=1)), over_time.reshape(-1, 20, 6).mean(axis=1)
    assert np.corrcoef(blocks[0][:, 1], blocks[1][:, 1])[0, 1] > 0.9


@pytest.mark.parametrize(("task", "every"), in_turns(["background", "synchronous"], [2, 5, 10]))
def test_coefficients_that_are_renewed_less_often_err_as_predicted(
    puma: tf.MultiRate, quick: tf.MultiRate, task: Friction, every: int
) -> None:
    split = puma if task == "background" else quick
    rates = Rates(0.001, 0.02, 0.0, every)
    predicted = split.predict(Profile.harmonic(CENTRE, VELOCITY, ACCELERATION), rates)
    errors = measure(split, np.arange(0.0, 60.0, 0.001)[400:], fast_motion, rates)
    assert predicted.total == pytest.approx(np.sqrt((errors**2).sum(axis=1).mean()), rel=0.1)


@pytest.mark.parametrize("kinds", ["R", "P", "PP"])
def test_robots_without_velocity_torques_are_split(kinds: str) -> None:
    robot = tf.random_robot(kinds, 4, drives=False)
    for each in (robot, robot.with_gravity((0, 0, 0))):
        split = tf.multirate(each)
        q, qd, qdd = np.random.default_rng(0).normal(size=(3, 5, len(kinds)))
        found = split.torque(*split.results(q, qd), qd, qdd)
        np.testing.assert_allclose(found, tf.inverse_dynamics(each, q, qd, qdd), rtol=1e-12, atol=1e-12)


def test_the_gain_of_synchronous_friction_is_predicted(puma: tf.MultiRate, quick: tf.MultiRate) -> None:
    profile, rates = Profile.harmonic(CENTRE, VELOCITY, ACCELERATION, n_states=4000), Rates(0.001, 0.02)
    predicted, without = puma.predict(profile, rates), quick.predict(profile, rates)
    assert predicted.relative_without_friction == pytest.approx(without.relative, rel=1e-9)
    assert without.relative_without_friction == pytest.approx(without.relative, rel=1e-12)
    assert predicted.relative_without_friction < 0.5 * predicted.relative
    assert f"--friction synchronous it is {without.relative:.2%}" in str(friction_hint(predicted))
    assert friction_hint(without) is None


def test_a_background_quicker_than_the_control_is_refused() -> None:
    with pytest.raises(ModelError, match="coefficients_every"):
        Rates(0.001, 0.01, coefficients_every=0)
    with pytest.raises(ModelError, match="shorter than the synchronous"):
        Rates(control=0.01, background=0.001)
    with pytest.raises(ModelError, match="positive"):
        Rates(control=0.0, background=0.001)
    with pytest.raises(ModelError, match="latency"):
        Rates(control=0.001, background=0.001, latency=-1.0)


@pytest.mark.parametrize("every", [1, 3])
def test_a_run_errs_as_the_ages_that_it_met_say(puma: tf.MultiRate, every: int) -> None:
    rates, times = Rates(0.001, 0.02, 0.001, every), np.arange(0.0, 0.5, 0.001)
    report = puma.run(fast_motion, rates, seconds=0.5)
    assert report.n_ticks == 500
    assert report.n_updates <= 26
    assert (report.ages[0] >= report.ages[1]).all()
    assert report.ages[1, 1:].min() >= 0.001 - 1e-12  # results are in use from the next tick on
    # the same computation without threads, on states as old as those of the run
    q, qd, qdd = fast_motion(times)
    M, gravity = puma.coefficients(fast_motion(times - report.ages[0])[0])
    stale = gravity + puma.velocity(*fast_motion(times - report.ages[1])[:2])
    exact = tf.inverse_dynamics(puma.robot, q, qd, qdd)
    errors = puma.torque(M, stale, qd, qdd) - exact
    np.testing.assert_allclose(report.rms, np.sqrt((errors**2).mean(axis=0)), rtol=1e-6)
    np.testing.assert_allclose(report.torque, np.sqrt((exact**2).mean(axis=0)), rtol=1e-9)
    assert "missed deadlines" in str(report)
    with pytest.raises(ModelError, match="background period"):
        puma.run(fast_motion, Rates(0.001, 0.02), seconds=0.01)


def test_results_are_never_those_of_the_same_tick(puma: tf.MultiRate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where the background is done before the synchronous task goes on."""

    class Slept(threading.Event):
        def set(self) -> None:
            super().set()
            time.sleep(0.002)

    monkeypatch.setattr(threading, "Event", Slept)
    report = puma.run(fast_motion, Rates(0.001, 0.001), seconds=0.2)
    assert report.ages[1, 1:].min() >= 0.001 - 1e-12


def test_deadlines_that_no_machine_keeps_are_all_missed(puma: tf.MultiRate) -> None:
    report = puma.run(fast_motion, Rates(1e-7, 1e-7), seconds=2e-5)
    assert report.missed == report.n_ticks > 100
    assert report.latest > 0


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


def compiled(split: tf.MultiRate, folder: Path, flags: str, **options: str) -> Path:
    """The demonstration of both tasks as C."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    files = split.write_c(folder, name="puma", **options)
    assert {"puma_multirate.h", "puma_multirate.c", "demo_puma_multirate.c", "puma.c"} <= {f.name for f in files}
    sources = "demo_puma_multirate.c puma_multirate.c puma.c"
    command = [compiler, "-std=c11", *flags.split(), "-pthread", *sources.split(), "-lm", "-o", "demo"]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if "sanitize" in flags and made.returncode:
        pytest.skip("no sanitizer of threads")
    assert made.returncode == 0, made.stderr
    return folder / "demo"


@pytest.mark.parametrize(
    ("real", "friction", "every"),
    [
        pytest.param("double", "background", 1, marks=pytest.mark.nightly),
        pytest.param("float", "background", 1, marks=pytest.mark.nightly),
        ("double", "synchronous", 1),
        ("double", "background", 4),
    ],
)
def test_c_of_both_tasks_compiles_without_warnings_and_runs(
    puma: tf.MultiRate, tmp_path: Path, real: str, friction: Friction, every: int
) -> None:
    split = puma if friction == "background" else tf.multirate(tf.load("two_link"), friction)
    demo = compiled(split, tmp_path / "c", "-O1 -Wall -Wextra -Wpedantic -Werror", real=real)
    said = subprocess.run([demo, "0.3", "1000", "50", str(every)], check=True, capture_output=True, text=True).stdout
    found = re.match(r"ticks (\d+), updates (\d+), missed (\d+), .* torque error ([\d.]+) %", said)
    assert found is not None
    assert int(found[1]) == 300
    assert int(found[2]) >= 2
    # How late coefficients come is up to the machine; errors of given delays are tested without threads.
    assert float(found[4]) > 0
    split.write_c(tmp_path / "c", real=real, name="puma")  # our own folder may be written again


@pytest.mark.parametrize("every", representatives([1, 3], 3))
def test_no_thread_reads_what_the_other_writes(puma: tf.MultiRate, tmp_path: Path, every: int) -> None:
    demo = compiled(puma, tmp_path / "c", "-O1 -g -fsanitize=thread")
    # far faster than any controller, so that the tasks meet in every order
    done = subprocess.run(
        [demo, "0.5", "20000", "30000", str(every)],
        env={"TSAN_OPTIONS": "halt_on_error=1 exitcode=66"},
        capture_output=True,
        text=True,
        check=False,
    )
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("the sanitizer cannot run under this kernel")
    assert done.returncode == 0, done.stderr
    assert "data race" not in done.stderr
    assert int(done.stdout.split("updates ")[1].split(",")[0]) > 100


def test_the_torque_may_be_written_over_the_motion(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    tf.multirate(tf.random_robot("RP", 3, branching=0.0), "synchronous").write_c(tmp_path / "c", name="arm")
    command = [compiler, "-std=c11", "-O2", "-shared", "-fPIC", "arm_multirate.c", "arm.c", "-lm", "-o", "arm.so"]
    subprocess.run(command, cwd=tmp_path / "c", check=True)
    library = ctypes.CDLL(str(tmp_path / "c" / "arm.so"))
    tasks = np.zeros(1000)  # more than the struct of both tasks holds
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 2))

    def torque(*arrays: Array) -> None:
        library.arm_multirate_torque(*(ctypes.c_void_p(a.ctypes.data) for a in (tasks, *arrays)))

    places = [ctypes.c_void_p(a.ctypes.data) for a in (tasks, q, qd)]
    library.arm_multirate_start(places[0], ctypes.c_uint(1), *places[1:])
    expected, rates, accelerations = np.empty(2), qd.copy(), qdd.copy()
    torque(qd, qdd, expected)
    np.testing.assert_allclose(expected, tf.inverse_dynamics(tf.random_robot("RP", 3, branching=0.0), q, qd, qdd))
    torque(rates, qdd, rates)
    torque(qd, accelerations, accelerations)
    np.testing.assert_array_equal([rates, accelerations], [expected, expected])
