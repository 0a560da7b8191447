"""Recordings stand in the order of time: by their clocks, by dates in their names, or one after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from fleet.simulated_fleet import RATE, arm, samples, write
from tauform.fleet.sources.dataset import Dataset

MARCH, DAY = 1772323200.0, 86400.0


def starts(found: tf.FleetFit, unit: str = "U") -> list[float]:
    return next(trend.start.tolist() for trend in found.trends if trend.unit == unit)


def test_numbers_in_names_count_as_numbers(tmp_path: Path) -> None:
    """One recording, cut into twelve files whose names hold no leading zeros."""
    whole = samples(arm(1), 1)
    write(tmp_path / "one" / "U" / "log.csv", whole)
    for k, part in enumerate(np.array_split(whole, 12), start=1):
        write(tmp_path / "twelve" / "U" / f"part{k}.csv", part)
        write(tmp_path / "one" / "V" / f"part{k}.csv", part)
    assert [file.name for file in Dataset.of(tmp_path / "twelve").units["U"]] == [
        f"U/part{k}.csv" for k in range(1, 13)
    ]
    found = tf.identify_fleet(tf.load("two_link"), tmp_path / "one", workers=0, sample=1)
    assert found.n_windows == {"U": 1, "V": 1}
    np.testing.assert_allclose(found.unit("U").values, found.unit("V").values, rtol=1e-9)


def test_names_and_folders_that_are_dates_date_logs(tmp_path: Path) -> None:
    for place in (
        "A/2026-03-01.csv",
        "B/20260301/log.csv",
        "unit=C/2026-03-01_00-00.csv",
        "D/2026-99-01.csv",
        "E/1.csv",
    ):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("")
    (tmp_path / "2026-03-01.csv").write_text("")
    found = {unit: files[0].start for unit, files in Dataset.of(tmp_path).units.items()}
    assert found == {"A": MARCH, "B": MARCH, "C": MARCH, "D": None, "E": None, "2026-03-01": None}


def test_clocks_of_dates_stand_over_names(tmp_path: Path) -> None:
    for k, name in enumerate("cab"):
        table = samples(arm(1), k)
        (tmp_path / "U").mkdir(exist_ok=True)
        # With all digits of time.
        np.savez(tmp_path / "U" / f"{name}.npz", t=table[:, 0] + MARCH + DAY * k, q=table[:, 1:3], tau=table[:, 3:])
    found = tf.identify_fleet(tf.load("two_link"), tmp_path, workers=0)
    assert starts(found) == pytest.approx([MARCH, MARCH + DAY, MARCH + 2 * DAY])


def test_without_dates_time_is_that_of_motion(tmp_path: Path) -> None:
    """All clocks start at zero; friction of U rises from log to log, and the drift is found."""
    for k in range(5):
        for unit in range(4):
            write(tmp_path / f"A{unit}" / f"{k}.csv", samples(arm(unit), 10 * unit + k))
        write(tmp_path / "U" / f"{k}.csv", samples(arm(9, friction=(1.0, 1.0 + 0.1 * k)), 90 + k))
    found = tf.identify_fleet(tf.load("two_link"), tmp_path, workers=0)
    seconds = 20.0 - 1 / RATE
    assert starts(found) == pytest.approx([k * seconds for k in range(5)])
    cause = found.unit("U").cause
    assert cause is not None
    assert (cause.name, cause.joints, cause.course) == ("friction", (1,), "drift")
    assert [unit.unit for unit in found.deviating] == ["U"]
