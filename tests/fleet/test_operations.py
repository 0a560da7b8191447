"""Running a fleet: addresses of storages, growing folders, metrics, structured logs, and what was not used."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from fleet.simulated_fleet import arm, samples, write
from tauform.cli import main
from tauform.errors import IdentificationError, RecordingError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("operated")
    for k in range(3):
        write(root / f"A{k}" / "run.csv", samples(arm(k), k))
    (root / "fleet.toml").write_text('[read]\ntime_unit = "s"\n')
    return root


def test_an_address_is_read_like_the_folder(folder: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    robot = tf.load("two_link")
    here = tf.identify_fleet(robot, folder, workers=0)
    memory = fsspec.filesystem("memory")
    for path in folder.rglob("*"):
        if path.is_file():
            memory.pipe_file(f"/day/{path.relative_to(folder).as_posix()}", path.read_bytes())
    try:
        for address in ("memory://day", f"file://{folder}"):
            there = tf.identify_fleet(robot, address, workers=0)
            assert set(there.units) == set(here.units)
            for name, unit in here.units.items():
                np.testing.assert_array_equal(there.units[name].values, unit.values)
    finally:
        memory.rm("/day", recursive=True)


@pytest.mark.parametrize("address", ["memory://nothing-here", "nosuch://logs", "file:///no/such/folder"])
def test_an_address_without_logs_is_one_sentence(address: str) -> None:
    with pytest.raises(RecordingError, match=r"no logs|nosuch|no such folder|cannot be listed"):
        tf.identify_fleet(tf.load("two_link"), address, workers=0)


def test_metrics_and_records_say_what_was_done(folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    metrics, words = tmp_path / "fleet.prom", list[str]()
    with caplog.at_level(logging.INFO, "tauform.fleet"):
        tf.identify_fleet(tf.load("two_link"), folder, workers=0, metrics=metrics, progress=words.append)
    held = dict(line.split() for line in metrics.read_text().splitlines() if not line.startswith("#"))
    assert (held["tauform_fleet_units"], held["tauform_fleet_units_condensed"]) == ("3", "3")
    assert held["tauform_fleet_logs_excluded"] == "0"
    assert float(held["tauform_fleet_recorded_seconds"]) == pytest.approx(3 * 19.98)
    condensed = [record for record in caplog.records if record.message == "unit condensed"]
    assert sorted(record.unit for record in condensed) == ["A0", "A1", "A2"]  # type: ignore[attr-defined]
    assert any("3 of 3 units" in line for line in words)
    with pytest.raises(IdentificationError):
        tf.identify_fleet(tf.load("two_link"), folder, workers=0, metrics=tmp_path / "absent" / "fleet.prom")


def test_a_folder_that_grows_is_identified_again(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    root = tmp_path / "logs"
    # Made where it does not exist; and neither it nor the tables are logs of the next look.
    kept = root / "run" / "kept"
    write(root / "A" / "1.csv", samples(arm(1), 1))
    found = tf.watch_fleet(tf.load("two_link"), root, kept, every=0.0, workers=0, sample=1)
    first = next(found)
    assert first.n_windows == {"A": 1}
    assert list(kept.iterdir())
    first.save(root / "run" / "out")
    write(root / "A" / "2.csv", samples(arm(1), 2, start=500.0))
    write(root / "B" / "1.csv", samples(arm(2), 3))
    second = next(found)
    assert second.n_windows == {"A": 2, "B": 1}
    assert not second.excluded
    with pytest.raises(IdentificationError, match="every"):
        next(tf.watch_fleet(tf.load("two_link"), root, kept, every=-1.0))


def test_watching_survives_what_comes_and_goes(tmp_path: Path) -> None:
    root, kept, words = tmp_path / "logs", tmp_path / "kept", list[str]()
    kept.mkdir()
    robot, log = tf.load("two_link"), root / "A" / "1.csv"
    with pytest.raises(RecordingError, match="no such folder"):
        next(tf.watch_fleet(robot, root, kept, every=0.0, workers=0))
    write(log, samples(arm(1), 1))

    def say(text: str) -> None:
        words.append(text)
        # The folder is emptied under the watch, filled again and another unit's log is cut off.
        if "no logs in it" in text:
            write(root / "A" / "renamed.csv", samples(arm(1), 1))
            whole = write(root / "B" / "1.csv", samples(arm(2), 2)).read_bytes()
            (root / "B" / "2.csv").write_bytes(whole[: len(whole) // 2])
            (root / "B" / "gone.csv").symlink_to(root / "nowhere.csv")

    found = tf.watch_fleet(robot, root, kept, every=0.0, workers=0, sample=1, progress=say)
    first = next(found)
    log.unlink()
    second = next(found)
    assert sum("trying again" in text for text in words) == 1
    assert first.n_windows == {"A": 1}
    assert second.n_windows["A"] == 1
    assert [name for _, name, _, _ in second.used].count("A/renamed.csv") == 1
    assert "A/1.csv" not in [name for _, name, _, _ in second.used]
    np.testing.assert_array_equal(second.excerpts["A"], first.excerpts["A"])


def test_the_command_watches_and_logs_lines_of_json(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "kept").mkdir()
    words = ["fleet", "watch", "two_link", str(folder), "--workers", "0", "--every", "0", "--updates", "1"]
    assert main([*words, "-o", str(tmp_path / "out")]) == 2
    assert "--checkpoint" in capsys.readouterr().err
    given = ["-o", str(tmp_path / "out"), "--checkpoint", str(tmp_path / "kept"), "--log-json", "--quiet"]
    assert main([*words, *given]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    assert [line["unit"] for line in lines if line["message"] == "unit condensed"] == ["A0", "A1", "A2"]
    assert (tmp_path / "out" / "report.html").exists()
