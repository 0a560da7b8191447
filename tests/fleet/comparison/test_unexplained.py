"""What no values explain: ripple and noisy sensors are named by joint, healthy units and single recordings are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from fleet.simulated_fleet import arm, samples, write
from tauform.fleet.comparison.unexplained import unexplained
from tauform.fleet.evidence.summary import UnitSummary

# Fault -> (joint, share of its torque, RMS). A ripple that repeats with 15 degrees is none of the model's columns.
FAULTS = {"ripple": (0, 0.1 / np.sqrt(2)), "noise": (1, 0.08)}


def log(unit: int, window: int, fault: str) -> Any:
    table = samples(arm(unit), 10 * unit + window, start=100.0 * window)
    if fault:
        joint, share = FAULTS[fault]
        rng = np.random.default_rng([unit, window])
        own = np.sqrt(2) * np.sin(24 * table[:, 1]) if fault == "ripple" else rng.normal(size=len(table))
        table[:, 3 + joint] += share * table[:, 3 + joint].std() * own
    return table


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> tf.FleetFit:
    root: Path = tmp_path_factory.mktemp("unexplained")
    for unit, name in enumerate(("A0", "A1", "A2", "A3", "A4", "A5", *FAULTS)):
        for window in range(3):
            write(root / name / f"{window}.csv", log(unit, window, name if name in FAULTS else ""))
    return tf.identify_fleet(tf.load("two_link"), root, workers=0)


def test_what_no_value_explains_is_named_by_its_joint(fleet: tf.FleetFit) -> None:
    assert {unit.unit for unit in fleet.deviating} == set(FAULTS)
    for name, (joint, share) in FAULTS.items():
        found = fleet.unit(name).unexplained
        assert found is not None
        assert found.joint == joint
        # Filters take the part of white noise that lies above the motion's band.
        assert 0.2 * share < found.share < 1.2 * share
        assert f"of the torque of joint {joint + 1}" in fleet.unit(name).why
    assert {unit.why for unit in fleet.units.values() if unit.unit not in FAULTS} == {""}


def summary(left: float, n_windows: int = 4) -> UnitSummary:
    """Only what this rule reads."""
    known: dict[str, Any] = dict.fromkeys(UnitSummary.__dataclass_fields__)
    known |= {"n_windows": n_windows, "left": np.full((n_windows, 1), left), "torque": np.ones(1)}
    return UnitSummary(**known)


def test_few_recordings_and_few_units_tell_nothing() -> None:
    usual = [summary(0.01 * (1 + 0.05 * k)) for k in range(8)]
    odd = summary(0.2)
    assert [own is None for own in unexplained([*usual, odd])] == [*[True] * 8, False]
    assert unexplained([*usual, summary(0.2, n_windows=2)])[-1] is None
    assert unexplained([usual[0], odd]) == [None, None]


def test_one_bad_recording_of_several_is_none() -> None:
    usual = [summary(0.01 * (1 + 0.05 * k)) for k in range(8)]
    once = replace(usual[0], left=np.array([[0.01], [0.01], [0.2], [0.01]]))
    assert unexplained([*usual, once])[-1] is None


def test_who_moves_more_leaves_more() -> None:
    usual = [summary(0.01 * (1 + 0.05 * k)) for k in range(8)]
    # Ten times the residual at ten times the torque is no fault.
    quick = replace(summary(0.1), torque=np.full(1, 10.0))
    assert unexplained([*usual, quick])[-1] is None
