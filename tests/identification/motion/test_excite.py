"""Planned motions: within limits, better than chance, from exact gradients."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm
from tauform.cli import main
from tauform.identification.motion.bounds import bounds_of
from tauform.identification.motion.criterion import Criterion, condition
from tauform.identification.motion.excite import JOIN, POLISH, ROUGH, MotionKind, excite
from tauform.identification.motion.planning import LIMIT_SHARE_AT_SAMPLES, MotionProblem
from tauform.identification.motion.slopes import Columns
from tauform.identification.motion.trajectory import Basis, Trajectory

# Without a limit of time: what is found depends on the seed alone.
QUICK = {"duration": 6.0, "harmonics": 4, "n_starts": 1, "velocity": 2.0, "acceleration": 6.0, "max_seconds": np.inf}


@cache
def planned(kind: MotionKind) -> Trajectory:
    """A motion of the arm, searched for once."""
    return excite(arm(), kind=kind, **QUICK)  # type: ignore[arg-type]


def problem_of(
    robot: tf.Robot, basis: Basis, criterion: Criterion = "condition", effort: float = np.inf
) -> MotionProblem:
    bounds = bounds_of(robot, None, 2.0, 6.0, effort)
    return MotionProblem(Columns.of(robot, None), bounds, basis, criterion)


def assert_ended_by_itself(reports: list[float], stages: tuple[tuple[float, int], ...]) -> None:
    """Each iteration of the only beginning reports, and each stage at its end."""
    assert len(stages) < len(reports) <= len(stages) + sum(iterations for _, iterations in stages)
    assert reports[-1] == 1.0


@pytest.mark.parametrize("kind", ["fourier", "quintic"])
def test_a_planned_motion_stays_within_limits_and_starts_and_ends_at_rest(kind: MotionKind) -> None:
    found = planned(kind)
    assert np.abs(found.qd).max() <= 2.0
    assert np.abs(found.qdd).max() <= 6.0
    assert np.abs(found.q).max() <= np.pi / 2
    # At rest but for the rounding of sines and cosines.
    assert np.abs(found.qd[[0, -1]]).max() < 1e-13 * 2.0
    assert np.abs(found.qdd[[0, -1]]).max() < 1e-13 * 6.0
    # Derivatives belong to the positions.
    dt = found.t[1] - found.t[0]
    np.testing.assert_allclose(np.gradient(found.q, dt, axis=0)[5:-5], found.qd[5:-5], rtol=0, atol=0.02)


def test_a_planned_motion_beats_the_best_random_one_several_times() -> None:
    robot = arm()
    found = excite(robot, **{**QUICK, "harmonics": 8})  # type: ignore[arg-type]
    W = tf.regressor(robot, found.q, found.qd, found.qdd)[..., list(tf.base_parameters(robot).pivots)]
    assert found.condition == pytest.approx(condition(W), rel=0.02)
    problem = problem_of(robot, Basis.fourier(6.0, 8, 50.0))
    rng = np.random.default_rng(5)
    random = min(np.exp(problem.score(problem.random(rng))) for _ in range(100))
    assert found.condition < random / 2


@pytest.mark.nightly
def test_a_plan_for_the_kr6_is_five_times_better_than_the_best_of_a_hundred_random_motions() -> None:
    """Within the data sheet's limits, with the same harmonics, duration and use of the limits on both sides."""
    robot = tf.load("kr6_r700")
    position = np.deg2rad([[-170, -190, -120, -185, -120, -350], [170, 45, 156, 185, 120, 350]])
    velocity = np.deg2rad([360, 300, 360, 381, 388, 615])
    reports: list[float] = []
    found = excite(
        robot,
        position=(position[0], position[1]),
        velocity=velocity,
        acceleration=20.0,
        n_starts=1,
        max_seconds=np.inf,
        progress=reports.append,
    )
    assert_ended_by_itself(reports, ROUGH + JOIN + POLISH)
    assert (np.abs(found.qd) <= velocity).all()
    assert np.abs(found.qdd).max() <= 20.0
    assert ((position[0] <= found.q) & (found.q <= position[1])).all()
    bounds = bounds_of(robot, (position[0], position[1]), velocity, 20.0)
    problem = MotionProblem(Columns.of(robot, None), bounds, Basis.fourier(10.0, 20, 25.0), "condition")
    rng = np.random.default_rng(1)
    random = min(np.exp(problem.score(problem.random(rng, LIMIT_SHARE_AT_SAMPLES))) for _ in range(100))
    assert found.condition is not None
    assert random > 5 * found.condition


def test_efforts_stay_within_their_limits() -> None:
    robot, free = arm(), planned("fourier")
    limit = 0.8 * np.abs(tf.inverse_dynamics(robot, free.q, free.qd, free.qdd)).max(axis=0)
    found = excite(robot, effort=limit, **QUICK)  # type: ignore[arg-type]
    assert (np.abs(tf.inverse_dynamics(robot, found.q, found.qd, found.qdd)) <= limit).all()
    # The search itself keeps them: hardly any time has to be given for it afterwards.
    assert found.duration <= 1.05 * free.duration


def test_efforts_that_even_standing_still_passes_are_refused() -> None:
    with pytest.raises(tf.errors.IdentificationError, match="passes its effort limit even when moved slowly"):
        excite(arm(), effort=0.1, **QUICK)  # type: ignore[arg-type]


@pytest.mark.parametrize("criterion", ["condition", "d_optimal"])
@pytest.mark.parametrize("basis", [Basis.fourier(6, 4, 5.0), Basis.quintic(6, 4, 8.0)], ids=["fourier", "quintic"])
def test_gradient_of_the_criterion_is_exact(criterion: Criterion, basis: Basis) -> None:
    problem = problem_of(arm(), basis, criterion, effort=30.0).softened(4)
    rng = np.random.default_rng(1)
    z = 1.1 * problem.random(rng)
    direction = rng.normal(size=z.shape)
    step = 1e-6
    slope = (problem.cost(z + step * direction)[0] - problem.cost(z - step * direction)[0]) / (2 * step)
    assert problem.cost(z)[1] @ direction == pytest.approx(slope, rel=1e-5)


def test_a_warm_start_is_followed_and_never_made_worse() -> None:
    robot = arm()
    problem = problem_of(robot, Basis.fourier(6.0, 4, 50.0))
    q, qd, qdd = problem.states(problem.random(np.random.default_rng(3)))
    rough = Trajectory(problem.basis.t, q, qd, qdd, robot.joint_names)
    np.testing.assert_allclose(problem.states(problem.following(rough))[0], q, rtol=0, atol=1e-9)
    before = condition(tf.regressor(robot, q, qd, qdd)[..., list(tf.base_parameters(robot).pivots)])
    improved = excite(robot, start=rough, **QUICK)  # type: ignore[arg-type]
    assert improved.condition is not None
    assert improved.condition < before
    again = excite(robot, start=improved, **QUICK)  # type: ignore[arg-type]
    # At the 61 states by which the search judges; it cannot see what lies between them.
    judged = problem_of(robot, Basis.fourier(6.0, 4, 10.0))
    scores = [judged.score(judged.following(motion)) for motion in (improved, again)]
    assert scores[1] <= scores[0] + 1e-9
    assert again.condition == pytest.approx(improved.condition, rel=1e-4)


def test_a_motion_of_few_harmonics_goes_on_unchanged_with_many() -> None:
    few, many = (problem_of(arm(), Basis.fourier(6.0, harmonics, 50.0)) for harmonics in (4, 12))
    z = few.random(np.random.default_rng(2))
    for of_few, of_many in zip(few.states(z), many.states(many.joining(few, z)), strict=True):
        np.testing.assert_allclose(of_many, of_few, rtol=0, atol=1e-9)


@pytest.mark.nightly
def test_a_search_with_many_harmonics_comes_further_than_chance() -> None:
    robot = arm()
    reports: list[float] = []
    found = excite(robot, progress=reports.append, **{**QUICK, "harmonics": 40})  # type: ignore[arg-type]
    assert_ended_by_itself(reports, ROUGH + JOIN + POLISH)
    problem = problem_of(robot, Basis.fourier(6.0, 40, 50.0))
    rng = np.random.default_rng(5)
    random = min(np.exp(problem.score(problem.random(rng))) for _ in range(100))
    assert found.condition is not None
    assert found.condition < random / 3


def test_several_motions_come_from_one_search() -> None:
    found = excite(arm(), count=3, **QUICK)  # type: ignore[arg-type]
    assert len(found.alternatives) == 2
    conditions = [motion.condition for motion in (found, *found.alternatives)]
    assert all(condition is not None and 1 < condition < np.inf for condition in conditions)
    assert min(conditions) == found.condition  # type: ignore[type-var]
    assert np.abs(found.q - found.alternatives[0].q).max() > 0.1


def test_a_search_without_time_plans_a_motion_within_the_limits_all_the_same() -> None:
    reports: list[float] = []
    found = excite(arm(), progress=reports.append, **{**QUICK, "max_seconds": 1e-9})  # type: ignore[arg-type]
    # No iteration, just the end of every stage.
    assert len(reports) == len(ROUGH + POLISH)
    assert np.abs(found.qd).max() <= 2.0
    assert np.abs(found.qdd).max() <= 6.0


def test_progress_ends_at_one_and_the_seed_decides() -> None:
    parts: list[float] = []
    options = {**QUICK, "harmonics": 3}
    first = excite(arm(), progress=parts.append, **options)  # type: ignore[arg-type]
    assert parts == sorted(parts)
    assert parts[-1] == pytest.approx(1.0)
    np.testing.assert_array_equal(first.q, excite(arm(), **options).q)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kind": "spline"}, "kind: expected fourier or quintic"),
        ({"criterion": "trace"}, "criterion: expected condition, d_optimal or deviation"),
        ({"harmonics": 1}, "harmonics: expected 2 to 200"),
        ({"duration": 0.0}, "duration: expected a positive time"),
        ({"rate": np.inf}, "rate: expected samples per second"),
        ({"velocity": [1.0, 2.0]}, "velocity: expected one number or 3"),
        ({"velocity": "fast"}, "velocity: expected one number or 3, one per joint, got 'fast'"),
        (
            {"effort": [1.0, 2.0, np.nan]},
            "effort: expected one number or 3, one per joint, got one that is not a number",
        ),
        ({"position": (1.0, 2.0, 3.0)}, r"position: expected \(lower, upper\), got 3 entries"),
        ({"position": (-np.inf, np.inf)}, "position: expected limits that are finite"),
        ({"count": 0}, "count: expected a number from 1 on, got 0"),
        ({"count": -1}, "count: expected a number from 1 on, got -1"),
        ({"n_starts": -3}, "n_starts: expected a number from 1 on, got -3"),
        ({"seed": -1}, "seed: expected a number from 0 on, got -1"),
        ({"include": ()}, "include: names no parameters; choose from link, rotor"),
        (
            {"start": Trajectory(np.arange(2.0), *np.zeros((3, 2, 2)), ("a", "b"))},
            "start: a motion of 2 joints, .* has 3",
        ),
        ({"velocity": 0.0}, "its limits leave no motion"),
        ({"floor": 0.0}, "has no collision shapes"),
    ],
)
def test_what_cannot_be_planned_is_said(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(tf.errors.IdentificationError, match=sentence):
        excite(replace(arm(), shapes=()), **options)  # type: ignore[arg-type]


def test_a_motion_is_written_read_back_and_drawn(tmp_path: Path) -> None:
    robot = arm()
    found = excite(robot, **{**QUICK, "max_seconds": 0.5})  # type: ignore[arg-type]
    again = tf.Trajectory.read_csv(found.save_csv(tmp_path / "motion.csv"), robot)
    for name in ("t", "q", "qd", "qdd"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    with pytest.raises(tf.errors.IdentificationError, match="not a motion of kr6_r700"):
        tf.Trajectory.read_csv(tmp_path / "motion.csv", tf.load("kr6_r700"))
    page = found.plot(tmp_path / "motion.html", robot).read_text(encoding="utf-8")
    assert all(
        word in page for word in ("position", "velocity", "acceleration", "torque", "limits", *robot.joint_names)
    )
    pytest.importorskip("matplotlib")
    assert found.plot(tmp_path / "motion.png", robot).read_bytes().startswith(b"\x89PNG")
    with pytest.raises(tf.errors.IdentificationError, match="plot: expected a file that ends in"):
        found.plot(tmp_path / "motion.txt", robot)


def test_the_command_writes_tables_and_figures_of_several_motions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["excite", "two_link", "--duration", "4", "--harmonics", "3", "--seconds", "2", "--count", "2", "--json"]
    files = ["-o", str(tmp_path / "m.csv"), "--plot", str(tmp_path / "m.html")]
    assert main([*command, *files]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["conditions"] == sorted(said["conditions"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m_1.csv", "m_1.html", "m_2.csv", "m_2.html"]
    improved = ["excite", "two_link", "--start", str(tmp_path / "m_2.csv"), "--harmonics", "3", "--seconds", "2"]
    assert main([*improved, "--duration", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["condition"] <= said["conditions"][1] * 1.01
    assert main([*command, "--plot", "m.txt"]) == 2
    assert "plot: expected a file that ends in" in capsys.readouterr().err
