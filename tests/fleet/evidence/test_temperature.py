"""Friction over temperature: cold mornings raise alarms where temperatures are not known, and none where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from fleet.simulated_fleet import arm, samples

N_UNITS, N_DAYS = 8, 10
# Of friction per kelvin, at degrees Celsius.
SLOPE, REFERENCE = -0.015, 22.0
NAMES = "t,q1,q2,tau1,tau2"


def temperatures(rng: np.random.Generator, unit: int) -> Any:
    """(N_DAYS,) of a unit: in a hall whose heating fails at day 5, that cools with the autumn, or is always cold."""
    day = np.arange(N_DAYS)
    course = [np.where(day < 5, 26.0, 12.0), 27.0 - 1.6 * day, np.full(N_DAYS, 12.0)][unit % 3]
    return course + rng.uniform(-1, 1, N_DAYS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Healthy units, and U whose friction steps up by 40 % at day 6."""
    root, rng = tmp_path_factory.mktemp("warm"), np.random.default_rng(5)
    for unit in range(N_UNITS):
        for day, warm in enumerate(temperatures(rng, unit)):
            fault = 1.4 if unit == N_UNITS - 1 and day >= 6 else 1.0
            robot = arm(600 + unit, friction=fault * (1 + SLOPE * (warm - REFERENCE)))
            table = samples(robot, 7000 + 20 * unit + day, start=86400.0 * day)
            # One thermometer, which warms by a kelvin while the arm moves.
            table = np.column_stack([table, warm + np.linspace(-0.5, 0.5, len(table))])
            place = root / (f"A{unit}" if unit < N_UNITS - 1 else "U")
            place.mkdir(exist_ok=True)
            header = f"{NAMES},temperature"
            np.savetxt(place / f"{day}.csv", table, delimiter=",", header=header, comments="", fmt="%.9g")
    return root


def alarms(found: tf.FleetFit) -> set[str]:
    return {unit.unit for unit in found.deviating} | {change.unit for change in found.changes}


def test_a_cold_morning_is_no_alarm(folder: Path) -> None:
    found = tf.identify_fleet(tf.load("two_link"), folder, workers=0)
    assert found.thermal is not None
    by_name = dict(zip(found.names, found.thermal.slopes.tolist(), strict=True))
    truth = {"Fv_1": 2.0, "Fc_1": 1.0, "Fv_2": 3.0, "Fc_2": 1.5}
    for name, value in truth.items():
        assert by_name[name] == pytest.approx(SLOPE * value, rel=0.15)
    assert sum(slope != 0 for slope in by_name.values()) == len(truth)
    assert alarms(found) == {"U"}
    steps = [change for change in found.changes if change.value in truth]
    assert steps
    assert {change.at for change in steps} == {6 * 86400.0}


def test_without_temperatures_it_is_one(folder: Path, tmp_path: Path) -> None:
    for path in folder.rglob("*.csv"):
        table = np.loadtxt(path, delimiter=",", skiprows=1)
        place = tmp_path / path.parent.name
        place.mkdir(exist_ok=True)
        np.savetxt(place / path.name, table[:, :-1], delimiter=",", header=NAMES, comments="", fmt="%.9g")
    found = tf.identify_fleet(tf.load("two_link"), tmp_path, workers=0)
    assert found.thermal is None
    assert len(alarms(found) - {"U"}) >= 4
