"""Sequential design: the next motion, given what is recorded."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion, with_drives
from tauform.cli import main
from tauform.identification.motion.bounds import bounds_of
from tauform.identification.motion.criterion import Criterion
from tauform.identification.motion.planning import MotionProblem
from tauform.identification.motion.recorded import Recorded
from tauform.identification.motion.slopes import Columns
from tauform.identification.motion.trajectory import Basis, Trajectory

QUICK = {"duration": 6.0, "harmonics": 4, "n_starts": 2, "velocity": 2.0, "acceleration": 6.0, "max_seconds": np.inf}


def fitted(robot: tf.Robot, motions: list[Trajectory]) -> tf.Fit:
    recordings = [
        tf.simulated_recording(robot, motion, np.random.default_rng(k), torque_noise=0.5)
        for k, motion in enumerate(motions)
    ]
    return tf.identify(robot, recordings, friction="plain", couplings=None, method="weighted")


@cache
def first(seed: int = 1) -> tf.Fit:
    """A fit of one random motion, which leaves some inertias badly known."""
    return fitted(arm(), [motion(arm(), seed, duration=6.0, harmonics=3)])


def worst(robot: tf.Robot, fit: tf.Fit) -> float:
    """The largest deviation, relative to the true values as the criterion counts them."""
    size = Recorded.of(replace(fit, values=fit.design.values_of(robot), covariance=0 * fit.covariance)).size
    return float((fit.deviations[: len(size)] / size).max())


def test_what_is_recorded_has_the_deviations_of_the_fit() -> None:
    fit, recorded = first(), Recorded.of(first())
    inverse = np.linalg.inv(recorded.information)
    np.testing.assert_allclose(np.sqrt(np.diag(inverse)) * recorded.size, fit.deviations, rtol=1e-6)
    assert recorded.include == ("link", "rotor", "viscous", "coulomb", "offset")
    value, name = recorded.worst()
    assert value == pytest.approx(float((fit.deviations / recorded.size).max()))
    assert name in fit.names


@pytest.mark.parametrize("criterion", ["deviation", "d_optimal"])
def test_gradient_beside_what_is_recorded_is_exact(criterion: Criterion) -> None:
    recorded = Recorded.of(first())
    basis, bounds = Basis.fourier(6, 4, 5.0), bounds_of(arm(), None, 2.0, 6.0, 30.0)
    problem = MotionProblem(Columns.of(arm(), recorded.include), bounds, basis, criterion, recorded=recorded, soft=4)
    rng = np.random.default_rng(1)
    z = 1.1 * problem.random(rng)
    direction, step = rng.normal(size=z.shape), 1e-6
    slope = (problem.cost(z + step * direction)[0] - problem.cost(z - step * direction)[0]) / (2 * step)
    assert problem.cost(z)[1] @ direction == pytest.approx(slope, rel=1e-5)


def test_a_second_motion_adds_what_the_first_lacks() -> None:
    """Recorded and identified together with the first, it leaves smaller deviations than a motion planned alone."""
    robot, before = arm(), motion(arm(), 1, duration=6.0, harmonics=3)
    include = Recorded.of(first()).include
    alone = tf.excite(robot, include=include, **QUICK)  # type: ignore[arg-type]
    beside = tf.excite(robot, given=first(), **QUICK)  # type: ignore[arg-type]
    deviations = [worst(robot, fitted(robot, [before, second])) for second in (alone, beside)]
    assert deviations[1] < 0.75 * deviations[0] < 0.75 * worst(robot, first())
    assert beside.findings[0].startswith("worst relative deviation now")


@pytest.mark.nightly
def test_over_robots_and_seeds_the_worst_deviation_falls_by_more() -> None:
    ratios = []
    for robot in (arm(), with_drives(tf.load("kr6_r700").locked({"joint4": 0.3, "joint6": 0.1}), seed=7)):
        for seed in range(6):
            before = motion(robot, seed, duration=6.0, harmonics=3)
            fit = fitted(robot, [before])
            alone = tf.excite(robot, include=Recorded.of(fit).include, seed=seed, **QUICK)  # type: ignore[arg-type]
            beside = tf.excite(robot, given=fit, seed=seed, **QUICK)  # type: ignore[arg-type]
            one, other = (worst(robot, fitted(robot, [before, second])) for second in (alone, beside))
            ratios.append(other / one)
    print(np.round(np.sort(ratios), 2))
    assert np.median(ratios) < 0.8
    assert np.mean(np.array(ratios) < 1) >= 0.8


def test_a_motion_that_left_parameters_open_is_completed() -> None:
    """One joint moved and the others hardly: identification refuses, the next motion moves them all the same."""
    robot = arm()
    whole = motion(robot, 2, duration=6.0, harmonics=3)
    part = {name: getattr(whole, name) * [1, 1e-6, 1e-6] for name in ("q", "qd", "qdd")}
    recording = tf.simulated_recording(robot, replace(whole, **part), np.random.default_rng(0), torque_noise=0.5)
    with pytest.raises(tf.errors.IdentificationError, match="the motion does not show"):
        tf.identify(robot, recording)
    found = tf.excite(robot, given=recording, **QUICK)  # type: ignore[arg-type]
    assert np.ptp(found.q[:, 2]) > 1.0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"criterion": "deviation"}, "criterion: deviations are those of a fit; give what is recorded with given="),
        ({"criterion": "condition", "given": ...}, "criterion: condition speaks of one motion alone"),
        ({"include": ("link",), "given": ...}, "include: groups of parameters are those of what is recorded"),
    ],
)
def test_what_does_not_go_together_is_said(options: dict[str, object], sentence: str) -> None:
    options = {name: first() if value is ... else value for name, value in options.items()}
    with pytest.raises(tf.errors.IdentificationError, match=sentence):
        tf.excite(arm(), **options)  # type: ignore[arg-type]


def test_a_fit_of_another_robot_is_refused() -> None:
    with pytest.raises(tf.errors.IdentificationError, match="given: recorded on another robot than two_link"):
        tf.excite(tf.load("two_link"), given=first())


def test_the_command_takes_logs_and_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    robot, out = arm(), tmp_path / "robot.toml"
    robot.save(out)
    log, fit = tmp_path / "log.csv", first().save(tmp_path / "fit.json")
    recording = tf.simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), torque_noise=0.5)
    table = np.column_stack([recording.t, recording.q, recording.tau])
    names = ["t", *(f"{field}_{name}" for field in ("q", "tau") for name in robot.joint_names)]
    np.savetxt(log, table, delimiter=",", header=",".join(names), comments="")
    plan = ["--duration", "4", "--harmonics", "3", "--seconds", "0.5", "--json"]
    for given in (log, fit):
        assert main(["excite", str(out), "--given", str(given), *plan]) == 0
        assert "worst relative deviation now" in json.loads(capsys.readouterr().out)["findings"][0]
    assert main(["excite", str(out), "--given", str(fit), "--given", str(log), *plan]) == 2
    assert "expected one fit, or logs" in capsys.readouterr().err
