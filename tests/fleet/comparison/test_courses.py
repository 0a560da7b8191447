"""Faults by their course in time: drifts, steps and constant faults are told apart, and false alarms are rare."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from fleet.simulated_fleet import SPREAD, arm, samples, write
from tauform.fleet.comparison.compare import FALSE_ALARM, compare_units
from tauform.fleet.evidence.condense import condense
from tauform.fleet.evidence.condensed import Plan, UnitLogs
from tauform.fleet.evidence.summary import UnitSummary, summarize
from tauform.fleet.pooled import pooled_fit
from tauform.fleet.sources.dataset import Dataset

N_WINDOWS = 6
# Six recordings, from the first to the last.
ALWAYS, LATER, SLOWLY = np.ones(N_WINDOWS), np.arange(N_WINDOWS) >= 3, np.linspace(0, 1, N_WINDOWS)
FAULTS: dict[str, tuple[str, Any, str]] = {
    "U_friction": ("friction", ALWAYS, "constant"),
    "U_friction_drift": ("friction", SLOWLY, "drift"),
    "U_friction_step": ("friction", LATER, "step"),
    "U_gain": ("gain", ALWAYS, "constant"),
    "U_gain_drift": ("gain", SLOWLY, "drift"),
    "U_gain_step": ("gain", LATER, "step"),
    "U_offset_drift": ("offset", SLOWLY, "drift"),
    "U_payload_step": ("payload", LATER, "step"),
}


def recording(unit: int, k: int, name: str = "", size: float = 0.0) -> Any:
    """The k-th recording of a unit whose second joint has a fault."""
    friction = {"friction": [1.0, 1 + 0.3 * size]} if name == "friction" else {}
    payload = {"payload": 0.5} if name == "payload" and size else {}
    table = samples(arm(unit, **friction, **payload), 20 * unit + k, start=1000.0 * k)
    if name == "gain":
        table[:, 4] *= 1 - 0.15 * size
    if name == "offset":
        table[:, 4] += 0.4 * size
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("courses")
    for unit in range(8):
        for k in range(N_WINDOWS):
            write(root / f"A{unit}" / f"{k}.csv", recording(300 + unit, k))
    for unit, (place, (name, course, _)) in enumerate(FAULTS.items()):
        for k in range(N_WINDOWS):
            write(root / place / f"{k}.csv", recording(320 + unit, k, name, float(course[k])))
    return root


def test_drift_step_and_constant_faults_are_told_apart(folder: Path) -> None:
    found = tf.identify_fleet(tf.load("two_link"), folder, workers=0)
    assert {unit.unit for unit in found.deviating} == set(FAULTS)
    for place, (name, _, course) in FAULTS.items():
        cause = found.unit(place).cause
        assert cause is not None
        assert (cause.name, cause.course) == (name, course), place
        assert cause.joints == (() if name == "payload" else (1,))
        assert cause.at == (3000.0 if course == "step" else 0.0)
        size = {"friction": 0.3, "gain": -0.15, "offset": 0.4, "payload": 0.5}[name]
        # A constant one is told from the spread between units, whose mean is known from eight.
        assert abs(cause.size - size) < 4 * cause.deviation
    # What changes over time is listed with its course; a fault that was always there is no change.
    series = {"friction": "Fc_2", "gain": "gain_2", "offset": "Fo_2", "payload": "payload"}
    courses = {(change.unit, change.value): change.course for change in found.changes}
    for place, (name, _, course) in FAULTS.items():
        assert courses.get((place, series[name]), "constant") == course, place
    assert not {change.unit for change in found.changes} & {f"A{unit}" for unit in range(8)}


@pytest.fixture(scope="module")
def healthy(folder: Path) -> tuple[Plan, list[UnitSummary]]:
    """Many healthy units: the columns of real recordings, with fresh values and fresh noise."""
    logs = Dataset.of(folder)
    logs = replace(logs, units={name: files for name, files in logs.units.items() if name.startswith("A")})
    robot = tf.load("two_link")
    pooled = pooled_fit(robot, logs, 6, physical=False)
    plan = Plan.of(pooled.fit, robot, logs.reading, pooled.own)
    condensed = [condense(name, files, plan) for name, files in logs.units.items()]
    rng = np.random.default_rng(7)
    summaries = [summarize(_again(condensed[k % len(condensed)], plan, rng), plan) for k in range(200)]
    return plan, [found for found in summaries if found is not None]


def _again(logs: UnitLogs, plan: Plan, rng: np.random.Generator) -> UnitLogs:
    """The same motion by another healthy unit."""
    x = plan.values * (1 + SPREAD * rng.normal(size=len(plan.values)))
    windows = []
    for window in logs.windows:
        R = np.array(window.evidence.triangles)
        rows, sigma = R.shape[2], 1.0 / plan.weights
        noise = np.sqrt(plan.inflation)[:, None] * rng.normal(size=(len(sigma), rows))
        # The last row is what no column explains: the size of the noise.
        noise[:, -1] = np.sqrt(np.maximum(window.evidence.n_rows - (noise[:, :-1] ** 2).sum(axis=1), 1.0))
        R[0, :, :, -1] = R[0, :, :, : len(x)] @ x + sigma[:, None] * noise
        windows.append(replace(window, evidence=replace(window.evidence, triangles=R)))
    return UnitLogs(logs.unit, tuple(windows), ())


@pytest.mark.parametrize(
    ("n_units", "n_fleets"), [(3, 60), (5, 40), pytest.param(8, 60, marks=pytest.mark.nightly), (20, 10)]
)
def test_false_alarms_of_small_fleets_are_as_rare_as_stated(
    healthy: tuple[Plan, list[UnitSummary]], n_units: int, n_fleets: int
) -> None:
    plan, pool = healthy
    rng = np.random.default_rng(n_units)
    alarms = 0
    for _ in range(n_fleets):
        fleet = [pool[k] for k in rng.choice(len(pool), n_units, replace=False)]
        alarms += any(unit.is_deviating for unit in compare_units(plan, fleet)[1])
    # As many as one fleet in a thousand of such tests would have, at the stated rate.
    assert alarms <= n_fleets * FALSE_ALARM + 3 * np.sqrt(n_fleets * FALSE_ALARM)


def test_fewer_than_three_units_tell_no_spread(healthy: tuple[Plan, list[UnitSummary]]) -> None:
    plan, pool = healthy
    for count in (1, 2):
        _, fits = compare_units(plan, pool[:count])
        assert [(unit.p_value, unit.is_deviating, unit.cause) for unit in fits] == [(1.0, False, None)] * count
