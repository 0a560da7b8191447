"""New files update a unit's evidence: what was condensed before is read again only where a file continues it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from fleet.simulated_fleet import arm, samples, write
from tauform.fleet.evidence.condense import _Condensing
from tauform.fleet.sources.reading import LogFile

# 1 March 2026.
MARCH = 1772323200.0


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of files that workers read, in order."""
    names: list[str] = []

    # Of workers alone: the model is chosen on logs of its own.
    of_worker = _Condensing._read

    def counted(task: _Condensing, file: LogFile) -> Any:
        names.append(Path(file.path).name)
        return of_worker(task, file)

    monkeypatch.setattr(_Condensing, "_read", counted)
    return names


def fleet(root: Path, checkpoint: Path | None) -> tf.FleetFit:
    return tf.identify_fleet(tf.load("two_link"), root, workers=0, sample=1, checkpoint=checkpoint)


def test_yesterdays_files_are_not_read_again(tmp_path: Path, read: list[str]) -> None:
    root, kept = tmp_path / "logs", tmp_path / "kept"
    kept.mkdir()
    write(root / "A" / "1.csv", samples(arm(1), 1))
    whole = samples(arm(2), 2)
    write(root / "U" / "1.csv", whole[:500])
    fleet(root, kept)
    read.clear()
    # The second file continues the first one, the third begins another recording.
    write(root / "U" / "2.csv", whole[500:])
    write(root / "U" / "3.csv", samples(arm(2), 3, start=5000.0))
    fleet(root, kept)
    assert sorted(read) == ["1.csv", "2.csv", "3.csv"]
    read.clear()
    write(root / "U" / "4.csv", samples(arm(2), 4, start=9000.0))
    found = fleet(root, kept)
    assert read == ["4.csv"]
    anew = fleet(root, None)
    assert found.n_windows == anew.n_windows == {"A": 1, "U": 3}
    for name in ("A", "U"):
        np.testing.assert_allclose(found.units[name].values, anew.units[name].values, rtol=1e-9)


def test_a_file_that_changed_or_went_is_not_counted_any_more(tmp_path: Path, read: list[str]) -> None:
    root, kept = tmp_path / "logs", tmp_path / "kept"
    kept.mkdir()
    for k in range(3):
        write(root / "U" / f"{k}.csv", samples(arm(1), k, start=1000.0 * k))
    fleet(root, kept)
    read.clear()
    write(root / "U" / "1.csv", samples(arm(1), 9, seconds=25.0, start=1000.0))
    (root / "U" / "2.csv").unlink()
    found = fleet(root, kept)
    assert read == ["1.csv"]
    assert found.n_windows == {"U": 2}
    np.testing.assert_allclose(found.units["U"].values, fleet(root, None).units["U"].values, rtol=1e-9)


def test_a_copy_counts_once(tmp_path: Path, read: list[str]) -> None:
    root, kept = tmp_path / "logs", tmp_path / "kept"
    for k in range(2):
        write(root / "U" / f"{k}.csv", samples(arm(1), k))
    expected = fleet(root, kept)
    copy = root / "U" / "0_again.csv"
    copy.write_bytes((root / "U" / "0.csv").read_bytes())
    for checkpoint in (kept, None):
        found = fleet(root, checkpoint)
        assert [(file, "same samples as U/0.csv" in why) for _, file, why in found.excluded] == [
            ("U/0_again.csv", True)
        ]
        np.testing.assert_allclose(found.units["U"].values, expected.units["U"].values, rtol=1e-9)
    # The copy counts where the other one has gone; what is known of the rest is not read again.
    (root / "U" / "0.csv").unlink()
    read.clear()
    alone = fleet(root, kept)
    assert (alone.n_windows, alone.excluded, read) == ({"U": 2}, (), ["0_again.csv"])


def test_what_keys_say_later_counts(tmp_path: Path) -> None:
    root, kept = tmp_path / "logs", tmp_path / "kept"
    for k in (1, 2):
        write(root / "U" / f"run_2026030{k}.csv", samples(arm(1), k))
    assert next(start for _, _, start, _ in fleet(root, kept).used) == 0.0
    (root / "fleet.toml").write_text('[keys]\nfiles = "{unit}/run_{time}"\n')
    assert [start for _, _, start, _ in fleet(root, kept).used] == [MARCH, MARCH + 86400]
