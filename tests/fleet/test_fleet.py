"""Fleets: seeded faults are found, healthy units are not; files, workers and checkpoints change nothing."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from fleet.simulated_fleet import arm, samples, write
from tauform.cli import main
from tauform.errors import IdentificationError, RecordingError
from tauform.fleet.evidence.trends import Trend
from tauform.fleet.sources.dataset import Dataset
from tauform.fleet.sources.reading import LogFile, Reading
from tauform.report.unit_pages import trend_plot

HEALTHY = [f"A{k:02d}" for k in range(10)]
FAULTY: dict[str, dict[str, float]] = {"B_friction": {"friction": 1.3}, "B_payload": {"payload": 0.8}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("fleet")
    for k, name in enumerate(HEALTHY):
        write(root / name / "run.csv", samples(arm(k), k))
    for k, (name, faults) in enumerate(FAULTY.items(), start=100):
        write(root / name / "run.csv", samples(arm(k, **faults), k))
    write(root / "B_gain" / "run.csv", samples(arm(200), 200, gain=0.8))
    (root / "A00" / "broken.csv").write_text("t,q1,q2,tau1,tau2\n0.0,1.0\n")
    return root


@pytest.fixture(scope="module")
def found(folder: Path) -> tf.FleetFit:
    return tf.identify_fleet(tf.load("two_link"), folder, workers=0)


def test_faulty_units_deviate_and_healthy_ones_do_not(found: tf.FleetFit) -> None:
    named = {unit.unit for unit in found.deviating}
    assert named == {*FAULTY, "B_gain"}
    assert list(found.units)[:3] == [unit.unit for unit in found.deviating]  # ranked


def test_the_deviation_names_what_is_wrong(found: tf.FleetFit) -> None:
    largest = [name for name, _ in found.unit("B_friction").largest(found.names, 2)]
    assert all(name.startswith(("Fv", "Fc")) for name in largest)
    payload, gain = found.unit("B_payload").cause, found.unit("B_gain").cause
    assert payload is not None
    assert payload.name == "payload"
    assert abs(payload.size - FAULTY["B_payload"]["payload"]) < 4 * payload.deviation
    assert gain is not None
    assert (gain.name, gain.joints) == ("gain", (0, 1))
    assert abs(gain.size + 0.2) < 0.05


def test_a_units_robot_predicts_its_torques(found: tf.FleetFit) -> None:
    truth = arm(100, **FAULTY["B_friction"])
    q, qd, qdd = np.random.default_rng(5).uniform(-1, 1, (3, 200, 2))
    expected = tf.inverse_dynamics(truth, q, qd, qdd)
    error = np.linalg.norm(tf.inverse_dynamics(found.robot_of("B_friction"), q, qd, qdd) - expected)
    assert error < 0.03 * np.linalg.norm(expected)


def test_bad_logs_are_set_aside_with_a_reason(found: tf.FleetFit) -> None:
    assert [(unit, file) for unit, file, _ in found.excluded] == [("A00", "A00/broken.csv")]
    assert found.excluded[0][2]
    assert "A00" in found.units


def test_files_that_follow_each_other_are_one_recording(tmp_path: Path) -> None:
    # The logs that the model is chosen on, too.
    tables = {name: samples(arm(k), k) for k, name in enumerate("ABC")}
    for count, folder in ((1, "whole"), (3, "cut"), (7, "shreds")):
        for k, (name, table) in enumerate(tables.items()):
            # Not in equal parts, and another cut in each unit.
            edges = np.linspace(0, len(table), count + 1).astype(int) + 11 * k * (np.arange(count + 1) % count > 0)
            for part, (first, last) in enumerate(itertools.pairwise(edges)):
                write(tmp_path / folder / name / f"{part}.csv", table[first:last])
    robot = tf.load("two_link")
    whole, *others = (tf.identify_fleet(robot, tmp_path / name, workers=0) for name in ("whole", "cut", "shreds"))
    for fit in others:
        assert fit.names == whole.names
        assert fit.n_windows == whole.n_windows == dict.fromkeys(tables, 1)
        for name in tables:
            np.testing.assert_allclose(fit.units[name].values, whole.units[name].values, rtol=1e-9)


def test_a_step_of_friction_is_dated(tmp_path: Path) -> None:
    for k in range(8):
        robot = arm(3) if k < 5 else arm(3, friction=1.4)
        write(tmp_path / "U" / f"{k}.csv", samples(robot, 50 + k, start=1000.0 * k))
        write(tmp_path / "V" / f"{k}.csv", samples(arm(4), 70 + k, start=1000.0 * k))
    found = tf.identify_fleet(tf.load("two_link"), tmp_path, workers=0)
    changed = {(change.unit, change.at) for change in found.changes}
    assert changed == {("U", 5000.0)}


def test_a_checkpoint_saves_reading_again(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = tf.load("two_link")
    first = tf.identify_fleet(robot, folder, workers=0, checkpoint=tmp_path)
    read: list[str] = []

    def counted(unit: str, *_: Any) -> Any:
        read.append(unit)
        raise AssertionError(unit)

    monkeypatch.setattr("tauform.fleet.evidence.summary.condense", counted)
    again = tf.identify_fleet(robot, folder, workers=0, checkpoint=tmp_path)
    assert read == []
    for name, unit in first.units.items():
        np.testing.assert_array_equal(again.units[name].values, unit.values)
    # a damaged checkpoint is made again, never believed
    for path in tmp_path.glob("*.evidence"):
        path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(AssertionError):
        tf.identify_fleet(robot, folder, workers=0, checkpoint=tmp_path)


def test_units_and_logs_that_come_have_no_other_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot, root, read = tf.load("two_link"), tmp_path / "logs", set[str]()
    for k in range(3):
        write(root / f"B{k}" / "1.csv", samples(arm(k), k))
    options: dict[str, Any] = {"workers": 0, "sample": 2, "checkpoint": tmp_path / "kept"}
    first = tf.identify_fleet(robot, root, **options)
    # By their names alone other units would choose the model now.
    write(root / "A" / "1.csv", samples(arm(3), 3))
    write(root / "B1" / "2.csv", samples(arm(1), 4, start=500.0))
    real = Reading.read

    def counted(self: Reading, robot: tf.Robot, unit: str, file: LogFile) -> tf.Recording:
        read.add(file.name)
        return real(self, robot, unit, file)

    monkeypatch.setattr(Reading, "read", counted)
    again = tf.identify_fleet(robot, root, **options)
    # The model's own logs, and the new ones.
    assert read == {"B0/1.csv", "B2/1.csv", "A/1.csv", "B1/2.csv"}
    assert again.n_windows == {"A": 1, "B0": 1, "B1": 2, "B2": 1}
    np.testing.assert_array_equal(again.pooled.values, first.pooled.values)
    # Where one of the model's logs is gone, a model is chosen anew.
    (root / "B0" / "1.csv").unlink()
    assert tf.identify_fleet(robot, root, **options).n_windows == {"A": 1, "B1": 2, "B2": 1}


@pytest.mark.nightly
def test_workers_change_nothing(folder: Path, found: tf.FleetFit) -> None:
    pytest.importorskip("distributed")
    spread_out = tf.identify_fleet(tf.load("two_link"), folder, workers=2)
    for name, unit in found.units.items():
        np.testing.assert_allclose(spread_out.units[name].values, unit.values, rtol=1e-9)


def test_the_command_writes_tables_and_a_report(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert main(["fleet", "two_link", str(folder), "--workers", "0", "-o", str(tmp_path / "out")]) == 0
    assert "B_gain" in capsys.readouterr().out
    units = parquet.read_table(tmp_path / "out" / "units.parquet").to_pydict()
    assert sorted(units["unit"]) == sorted([*HEALTHY, *FAULTY, "B_gain"])
    page, units_page = ((tmp_path / "out" / name).read_text(encoding="utf-8") for name in ("report.html", "units.html"))
    assert "broken.csv" in page
    # From a deviating unit, and from one with a log left out, to its own part; the others have none.
    anchors = dict(re.findall(r'<a href="units.html#(\w+)">(\w+)</a>', page))
    assert sorted(anchors.values()) == sorted([*FAULTY, "B_gain", "A00"])
    for anchor, name in anchors.items():
        part = units_page.split(f'<section id="{anchor}">')[1].split("</section>")[0]
        assert f"<h2>{name}</h2>" in part
        assert "predicted by the pooled model" in part
        assert ("broken.csv" in part) == (name == "A00")


def test_links_of_the_pooled_fit_are_physical_where_that_is_asked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("clarabel")
    assert main(["fleet", "two_link", str(folder), "--workers", "0", "--physical", "--json"]) == 0
    pooled = json.loads(capsys.readouterr().out)["pooled"]
    assert pooled["physical"]
    assert 0 < pooled["error"] < 0.2


def test_pages_show_what_was_measured_and_what_the_pooled_model_predicts(found: tf.FleetFit) -> None:
    def ratio(name: str) -> float:
        rows = found.excerpts[name]
        measured, predicted = rows[:, 1:3].ravel(), rows[:, 3:].ravel()
        assert np.corrcoef(measured, predicted)[0, 1] > 0.99
        return float(measured @ predicted / (predicted @ predicted))

    # One model predicts both, so that the lost gain is the ratio of what they show.
    assert ratio("B_gain") / ratio("A01") == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(("start", "unit"), [(0.0, ' [s]"'), (90_000.0, ' [h]"'), (1.7e9, '"')])
def test_time_is_in_seconds_hours_or_dates(found: tf.FleetFit, start: float, unit: str) -> None:
    trend = Trend("A01", "Fv_1", start + np.array([0.0, 3600.0]), np.ones(2), np.ones(2))
    assert f"start of the recording{unit}" in trend_plot(replace(found, trends=(trend,)), [trend]).html


def test_units_are_named_by_partition_folder_or_file(tmp_path: Path) -> None:
    for place in ("unit=A7/day=1/x.csv", "B2/x.parquet", "C3.csv", "notes.txt"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("")
    assert list(Dataset.of(tmp_path).units) == ["A7", "B2", "C3"]


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    robot = tf.load("two_link")
    with pytest.raises(RecordingError, match="no such folder"):
        tf.identify_fleet(robot, tmp_path / "absent")
    with pytest.raises(RecordingError, match="no logs"):
        tf.identify_fleet(robot, tmp_path)
    (tmp_path / "A.csv").write_text("t,x\n1,2\n")
    with pytest.raises(RecordingError, match="none of the logs"):
        tf.identify_fleet(robot, tmp_path, workers=0)
    write(tmp_path / "B" / "run.csv", samples(arm(1), 1))
    for place in ("A.csv", "A.csv/kept"):
        with pytest.raises(IdentificationError, match="a file has this name"):
            tf.identify_fleet(robot, tmp_path, workers=0, checkpoint=tmp_path / place)
    (tmp_path / "fleet.toml").write_text("[read]\nrates = 3\n")
    with pytest.raises(tf.errors.TauformError, match="rates"):
        tf.identify_fleet(robot, tmp_path, workers=0)
