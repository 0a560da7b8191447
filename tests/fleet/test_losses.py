"""What is lost costs time only: killed workers, a scheduler that is gone, full disks, damaged and implausible logs."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from fleet.simulated_fleet import arm, samples, write
from full_disk import full_disk
from tauform.cli import main
from tauform.errors import IdentificationError

UNITS = [f"A{k}" for k in range(6)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("lost")
    for k, name in enumerate(UNITS):
        write(root / name / "1.csv", samples(arm(k), k, seconds=12.0))
    return root


@pytest.fixture(scope="module")
def undisturbed(folder: Path) -> tf.FleetFit:
    return tf.identify_fleet(tf.load("two_link"), folder, workers=0, sample=2)


@pytest.fixture
def condensed(caplog: pytest.LogCaptureFixture) -> Iterator[Any]:
    """Names of units that were counted, in order."""
    with caplog.at_level(logging.INFO, "tauform.fleet"):
        yield lambda: [record.unit for record in caplog.records if record.message == "unit condensed"]  # type: ignore[attr-defined]


def identified(folder: Path, **options: Any) -> tf.FleetFit:
    return tf.identify_fleet(tf.load("two_link"), folder, sample=2, **options)


def assert_same(found: tf.FleetFit, expected: tf.FleetFit) -> None:
    assert found.n_windows == expected.n_windows
    assert found.seconds == expected.seconds
    for name, unit in expected.units.items():
        np.testing.assert_allclose(found.units[name].values, unit.values, rtol=1e-9)
        np.testing.assert_allclose(found.units[name].deviations, unit.deviations, rtol=1e-9)


def test_a_worker_killed_in_the_middle_changes_nothing(folder: Path, undisturbed: tf.FleetFit, condensed: Any) -> None:
    distributed = pytest.importorskip("distributed")
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    killed: list[int] = []
    with distributed.LocalCluster(n_workers=1, **options) as cluster, distributed.Client(cluster) as client:
        before = set(client.run(os.getpid).values())

        def kill(words: str) -> None:
            # One unit is done, the worker has begun the next and holds the plan for all others.
            if " units condensed" in words and not killed:
                killed.extend(before)
                os.kill(killed[0], signal.SIGKILL)

        found = identified(folder, client=client, progress=kill)
        assert killed
        assert before.isdisjoint(client.run(os.getpid).values())
    assert sorted(condensed()) == UNITS
    assert_same(found, undisturbed)


def test_a_lost_scheduler_is_named_and_a_checkpoint_goes_on(
    folder: Path, undisturbed: tf.FleetFit, condensed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("tauform.scheduler.SECONDS_TO_RETURN", 1)
    # Threads of this process: the scheduler and its workers are real, and closed at once.
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0", silence_logs=50
    )

    def lose(words: str) -> None:
        if "2 of 6 units condensed" in words:
            cluster.close()

    with (
        distributed.Client(cluster, timeout=2) as client,
        pytest.raises(IdentificationError, match="a checkpoint keeps"),
    ):
        identified(folder, client=client, checkpoint=tmp_path, progress=lose)
    done = condensed()
    assert 2 <= len(done) < len(UNITS)
    found = identified(folder, workers=0, checkpoint=tmp_path)
    # Those of the first run, then the others: no unit twice.
    assert sorted(condensed()) == UNITS
    assert_same(found, undisturbed)


def test_workers_that_do_not_come_back_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("tauform.scheduler.SECONDS_TO_RETURN", 1)

    def lose(words: str) -> None:
        if "2 of 6 units condensed" in words:
            cluster.scale(0)
            client.retire_workers(close_workers=True)

    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, timeout=2) as client,
        pytest.raises(IdentificationError, match="its workers are gone with"),
    ):
        identified(folder, client=client, progress=lose)


def test_units_that_travel_in_packs_are_counted_once(
    folder: Path, undisturbed: tf.FleetFit, condensed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    # Packs of several for a few units, the last one smaller than the others.
    monkeypatch.setattr("tauform.scheduler.PACKS_PER_WORKER", 1)
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=1, processes=False, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = identified(folder, client=client)
    assert sorted(condensed()) == UNITS
    assert_same(found, undisturbed)


@pytest.mark.nightly
def test_a_scheduler_killed_and_started_again_changes_nothing(
    folder: Path, undisturbed: tf.FleetFit, condensed: Any
) -> None:
    distributed = pytest.importorskip("distributed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    running: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        host, port = address.split(":")
        scheduler = [sys.executable, "-m", "dask", "scheduler", "--host", host, "--port", port, "--no-dashboard"]
        worker = [sys.executable, "-m", "dask", "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        for command in (scheduler, worker):
            running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def kill() -> None:
        while running:
            process = running.pop()
            process.kill()
            process.wait()

    def restart(words: str) -> None:
        if "2 of 6 units condensed" in words:
            kill()
            start()

    start()
    try:
        with distributed.Client(f"tcp://{address}", timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
            found = identified(folder, client=client, progress=restart)
    finally:
        kill()
    assert sorted(condensed()) == UNITS
    assert_same(found, undisturbed)


def test_a_scheduler_that_does_not_answer_is_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("tauform.scheduler.SECONDS_TO_ANSWER", 1)
    begun = time.monotonic()
    assert main(["fleet", "two_link", str(folder), "--scheduler", "tcp://127.0.0.1:9", "--sample", "1"]) == 2
    assert "scheduler tcp://127.0.0.1:9 does not answer" in capsys.readouterr().err
    assert time.monotonic() - begun < 60


def test_a_full_disk_and_a_truncated_parquet_are_named_and_the_rest_is_done(
    folder: Path, undisturbed: tf.FleetFit, tmp_path: Path
) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    root, kept = tmp_path / "logs", tmp_path / "kept"
    kept.mkdir()
    for name in UNITS:
        write(root / name / "1.csv", np.loadtxt(folder / name / "1.csv", delimiter=",", skiprows=1))
    table = samples(arm(0), 9, start=500.0)
    columns = dict(zip(("t", "q1", "q2", "tau1", "tau2"), table.T, strict=True))
    parquet.write_table(pyarrow.table(columns), root / "A0" / "2.parquet")
    whole = (root / "A0" / "2.parquet").read_bytes()
    (root / "A0" / "2.parquet").write_bytes(whole[: len(whole) // 2])
    with full_disk():
        found = identified(root, workers=0, checkpoint=kept)
    assert [(unit, file) for unit, file, _ in found.excluded] == [("A0", "A0/2.parquet")]
    assert found.excluded[0][2].startswith("2.parquet: cut off before its end; copy it again")
    assert_same(found, undisturbed)
    assert len(found.troubles) == 1
    assert "checkpoints end with unit A0" in found.troubles[0]
    assert not list(kept.glob("*.evidence"))


def test_what_could_not_be_fetched_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for k in range(2):
        content = write(tmp_path / f"{k}.csv", samples(arm(k), k)).read_bytes()
        memory.pipe_file(f"/unsteady/A{k}/1.csv", content)
    kept = tmp_path / "kept"
    kept.mkdir()
    real = type(memory).get_file

    def failing(self: Any, path: str, *args: Any, **options: Any) -> None:
        if "A1" in path:
            raise OSError("no network")
        real(self, path, *args, **options)

    try:
        with monkeypatch.context() as patched:
            patched.setattr(type(memory), "get_file", failing)
            found = identified_one(kept)
        assert [(unit, "no network" in why) for unit, _, why in found.excluded] == [("A1", True)]
        found = identified_one(kept)
        assert not found.excluded
        assert found.n_windows == {"A0": 1, "A1": 1}
    finally:
        memory.rm("/unsteady", recursive=True)


def identified_one(kept: Path) -> tf.FleetFit:
    return tf.identify_fleet(tf.load("two_link"), "memory://unsteady", sample=1, workers=0, checkpoint=kept)


def test_each_implausible_log_is_excluded_by_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for k in range(4):
        write(tmp_path / f"A{k}" / "1.csv", samples(arm(k), k))
    degrees, millis, backwards, slower = (samples(arm(20), 21, start=1000.0) for _ in range(4))
    degrees[:, 1:3] *= 180 / np.pi
    millis[:, 3:5] *= 1000
    backwards[500:, 0] -= 5.0
    march = {"degrees": degrees, "millis": millis, "backwards": backwards, "slower": slower[::2]}
    march["slowest"] = slower[::16]
    for name, table in march.items():
        write(tmp_path / name / "2026-02.csv", samples(arm(20), 20))
        write(tmp_path / name / "2026-03.csv", table)
    other = np.random.default_rng(0).normal(size=(500, 13))
    other[:, 0] = np.arange(500) / 50
    named = ",".join(["t", *(f"q{i}" for i in range(6)), *(f"tau{i}" for i in range(6))])
    np.savetxt(tmp_path / "six.csv", other, delimiter=",", header=named, comments="")
    assert main(["fleet", "two_link", str(tmp_path), "--workers", "0", "-o", str(tmp_path / "out")]) == 0
    # Terminals wrap lines.
    said, page = (
        " ".join(capsys.readouterr().out.split()),
        (tmp_path / "out" / "report.html").read_text(encoding="utf-8"),
    )
    for unit, why in {
        "degrees/2026-03.csv": "positions or the time are in another unit",
        "millis/2026-03.csv": "their unit changed",
        "backwards/2026-03.csv": "time runs backwards after sample 499",
        "six.csv": "the robot has 2",
        "slowest/2026-03.csv": "samples per second are too few",
    }.items():
        assert f"{unit} was not used" in said
        assert why in said
        assert unit in page
        assert why in page
    mixed = "mixed rates: most logs have 50 samples per second, 1 of 10 have 25 (the first is slower/2026-03.csv of"
    assert mixed in said
    assert mixed in page
    # Mixed rates are used as they are, and February of every unit.
    found = tf.identify_fleet(tf.load("two_link"), tmp_path, workers=0)
    assert found.n_windows["slower"] == 2
    assert all(found.n_windows[name] == 1 for name in ("degrees", "millis", "backwards", "slowest"))
    assert not set(march) & {unit.unit for unit in found.deviating}
    rates = {file: rate for _, file, _, rate in found.used}
    assert rates["slower/2026-03.csv"] == pytest.approx(25, rel=1e-6)


@pytest.mark.parametrize("name", ["0", "Z"])
def test_a_unit_that_rests_is_named_as_such(tmp_path: Path, name: str) -> None:
    """First and last of the units, where the model is chosen, too: noise of its encoders is no motion."""
    for k in range(4):
        write(tmp_path / f"A{k}" / "1.csv", samples(arm(k), k))
    rng, resting = np.random.default_rng(0), samples(arm(9), 9)
    torque = tf.inverse_dynamics(tf.load("two_link"), resting[0, 1:3], np.zeros(2), np.zeros(2))
    resting[:, 1:3] = resting[0, 1:3] + 1e-5 * rng.normal(size=(len(resting), 2))
    resting[:, 3:5] = torque + 0.01 * rng.normal(size=(len(resting), 2))
    write(tmp_path / name / "1.csv", resting)
    found = tf.identify_fleet(tf.load("two_link"), tmp_path, workers=0)
    assert [(file, "at rest throughout" in why) for _, file, why in found.excluded] == [(f"{name}/1.csv", True)]
    assert not found.deviating


def pan_tilt() -> tf.Robot:
    """Another robot with two joints."""
    rows: list[dict[str, Any]] = [
        {"joint": "revolute", "a": 0, "alpha": "pi/2", "d": 0.3, "theta": 0, "mass": 4, "viscous": 1, "coulomb": 0.5},
        {"joint": "revolute", "a": 0.6, "alpha": 0, "d": 0, "theta": 0, "mass": 6, "com": [-0.2, 0, 0], "viscous": 1},
    ]
    return tf.Robot.from_dh(rows, "standard")


@pytest.mark.parametrize("sample", [1, 8])
def test_units_of_another_robot_are_excluded_by_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sample: int
) -> None:
    for k in range(6):
        write(tmp_path / f"A{k}" / "1.csv", samples(arm(k), k))
    write(tmp_path / "other" / "1.csv", samples(pan_tilt(), 30))
    millis = samples(arm(9), 31)
    millis[:, 3:5] *= 1000
    write(tmp_path / "thousand" / "1.csv", millis)
    # Exchanged torques are a fault of a unit, not another robot.
    exchanged = samples(arm(10), 32)
    exchanged[:, 3:5] = exchanged[:, [4, 3]]
    write(tmp_path / "exchanged" / "1.csv", exchanged)
    words = ["fleet", "two_link", str(tmp_path), "--workers", "0", "--sample", str(sample), "-o", str(tmp_path / "out")]
    assert main(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for unit, why in {"other": "another robot made the log", "thousand": "their unit changed"}.items():
        assert f"{unit}/1.csv was not used" in said
        assert why in said
        assert f"{unit}/1.csv" in page
        assert why in page
    found = tf.identify_fleet(tf.load("two_link"), tmp_path, workers=0, sample=sample)
    assert sorted(found.units) == sorted([*UNITS, "exchanged"])
    # Whoever is in the sample, the model is that of the many.
    assert [(unit.unit, unit.cause.name if unit.cause else "") for unit in found.deviating] == [("exchanged", "swap")]
