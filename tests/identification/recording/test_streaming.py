"""Recordings that stay in files give what recordings in memory give."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import scipy.io

import tauform as tf
from identification.arms import arm, motion
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.recording.segments import shifted, uniform_segments
from tauform.identification.recording.stored import Spool, StoredArray

FIELDS = ("t", "q", "tau", "qd", "qdd", "reference")


def recorded(rate: float = 200.0) -> tf.Recording:
    robot = arm()
    rng = np.random.default_rng(1)
    return simulated_recording(robot, motion(robot, 1, rate=rate), rng, torque_noise=0.5, position_noise=1e-5)


def table_of(recording: tf.Recording) -> dict[str, np.ndarray]:
    numbers = range(recording.n_joints)
    named = {f"{name}{j + 1}": getattr(recording, name)[:, j] for name in ("q", "tau") for j in numbers}
    return {"t": recording.t, **named}


def write(recording: tf.Recording, path: Path) -> Path:
    arrays = {"t": recording.t, "q": recording.q, "tau": recording.tau}
    table = table_of(recording)
    if path.name == "columns.npz":
        np.savez(path, **{name: np.asfortranarray(values) for name, values in arrays.items()})
    elif path.suffix == ".npz":
        np.savez_compressed(path, **arrays) if path.stem == "small" else np.savez(path, **arrays)
    elif path.stem == "v73":
        h5py = pytest.importorskip("h5py")
        # MATLAB's marker of the format stands before the HDF5 file proper.
        with h5py.File(path, "w", userblock_size=512) as file:
            for name, values in arrays.items():
                file[name] = np.atleast_2d(values.T)
        header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
        with path.open("r+b") as raw:
            raw.write(header)
    elif path.suffix == ".mat":
        scipy.io.savemat(path, arrays, do_compression=True)
    elif path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(table), path, row_group_size=300)
    else:
        np.savetxt(path, np.column_stack(list(table.values())), delimiter=",", header=",".join(table), comments="")
    return path


def stored(recording: tf.Recording) -> tf.Recording:
    """The same recording in temporary files."""
    columns = {}
    for name in FIELDS:
        if getattr(recording, name) is not None:
            spool = Spool()
            for piece in np.array_split(getattr(recording, name), 7):
                spool.add(piece)
            columns[name] = spool.finish()
    return tf.Recording(**columns)


@pytest.mark.parametrize("name", ["a.csv", "a.npz", "small.npz", "columns.npz", "a.parquet", "a.mat", "v73.mat"])
def test_pieces_of_a_file_are_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    recording = recorded()
    path = write(recording, tmp_path / name)
    monkeypatch.setattr("tauform.identification.logs.parts.ROWS_PER_CHUNK", 97)
    streamed, whole = (tf.read_recording(path, arm(), stream=stream) for stream in (True, False))
    assert isinstance(streamed.q, StoredArray)
    assert isinstance(whole.q, np.ndarray)
    for field in ("t", "q", "tau"):
        np.testing.assert_array_equal(np.asarray(getattr(streamed, field)), getattr(whole, field))
        np.testing.assert_allclose(getattr(whole, field), getattr(recording, field), rtol=1e-15)


def test_files_of_some_size_stay_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(recorded(), tmp_path / "a.npz")
    assert isinstance(tf.read_recording(path, arm()).q, np.ndarray)
    monkeypatch.setattr("tauform.identification.logs.parts.STREAMED_BYTES", path.stat().st_size)
    assert isinstance(tf.read_recording(path, arm()).q, StoredArray)


def faulty() -> tf.Recording:
    """Irregular stamps, repeats, copies and a gap."""
    recording = recorded()
    rng = np.random.default_rng(3)
    t = recording.t + 1e-3 * rng.uniform(-1, 1, len(recording.t))
    order = np.sort(np.r_[0:600, 800 : len(t), 5, 100, 101, 1500])
    copied = order.copy()
    copied[[50, 400, 900]] -= 1
    return tf.Recording(t[order], recording.q[copied], recording.tau[copied])


@pytest.mark.parametrize("delay", [0.0, 0.004])
def test_faults_are_repaired_alike_in_files(monkeypatch: pytest.MonkeyPatch, delay: float) -> None:
    recording = faulty()
    whole = uniform_segments(recording)
    monkeypatch.setattr("tauform.identification.recording.recording.SAMPLES_PER_PIECE", 83)
    parts = uniform_segments(stored(recording))
    assert parts.findings == whole.findings
    assert len(parts.findings) == 4
    for one, other in zip(whole.segments, parts.segments, strict=True):
        moved, moved_in_file = shifted(one, delay), shifted(other, delay)
        assert isinstance(moved_in_file.tau, StoredArray)
        for field in ("t", "q", "tau"):
            expected = getattr(moved, field)
            np.testing.assert_allclose(np.asarray(getattr(moved_in_file, field)), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("recording", [recorded(1000.0), faulty()], ids=["regular", "faulty"])
def test_the_fit_of_a_recording_in_files_is_the_same(monkeypatch: pytest.MonkeyPatch, recording: tf.Recording) -> None:
    options = {"friction": "plain", "couplings": None, "delay": 1e-3}
    whole = tf.identify(arm(), recording, **options)  # type: ignore[arg-type]
    monkeypatch.setattr("tauform.identification.recording.recording.SAMPLES_PER_PIECE", 1003)
    monkeypatch.setattr("tauform.identification.regression.rows.SAMPLES_PER_PIECE", 500)
    fit = tf.identify(arm(), stored(recording), **options)  # type: ignore[arg-type]
    np.testing.assert_allclose(fit.values, whole.values, rtol=0, atol=1e-12 * np.abs(whole.values).max())
    assert fit.held_out.total == pytest.approx(whole.held_out.total, rel=1e-9)


def test_stored_recordings_reach_other_processes() -> None:
    """The file has no name there: the numbers travel, of a part only that part, and stay in a file."""
    whole = stored(recorded())
    found = pickle.loads(pickle.dumps(whole))
    assert isinstance(found.q, StoredArray)
    for name in ("t", "q", "tau"):
        np.testing.assert_array_equal(np.asarray(getattr(found, name)), np.asarray(getattr(whole, name)))
    part = pickle.loads(pickle.dumps(whole.q[10:200:7]))
    np.testing.assert_array_equal(np.asarray(part), np.asarray(whole.q)[10:200:7])


def test_parts_of_a_stored_recording_are_those_of_the_whole() -> None:
    recording = recorded()
    part, part_in_file = recording.between(1.0, 2.0), stored(recording).between(1.0, 2.0)
    assert part_in_file.n_samples == part.n_samples == 200
    np.testing.assert_array_equal(np.asarray(part_in_file.q[::7]), part.q[::7])
    np.testing.assert_array_equal(part_in_file.q[-3], part.q[-3])
    np.testing.assert_array_equal(part_in_file.q[[2, 5], 1], part.q[[2, 5], 1])


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads take turns after every few instructions."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def counted() -> StoredArray:
    """Rows that hold their own number."""
    spool = Spool()
    spool.add(np.arange(100_000.0)[:, None] * np.ones(3))
    return spool.finish()


@pytest.mark.usefixtures("hurried")
def test_threads_read_a_stored_array_without_disturbing_each_other() -> None:
    array = counted()

    def wrong(first: int) -> int:
        parts = (np.asarray(array[first : first + 50]) for _ in range(1000))
        return sum(part.shape != (50, 3) or part[0, 0] != first for part in parts)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(wrong, [0, 70_000])) == [0, 0]


def test_reading_leaves_the_place_that_forked_processes_share() -> None:
    array = counted()
    place = os.lseek(array.file.fileno(), 0, os.SEEK_CUR)
    np.testing.assert_array_equal(np.asarray(array[500:503])[:, 0], [500, 501, 502])
    np.testing.assert_array_equal(np.asarray(array[10:30:7])[:, 2], [10, 17, 24])
    assert os.lseek(array.file.fileno(), 0, os.SEEK_CUR) == place


def test_a_stored_array_that_was_cut_short_is_refused() -> None:
    array = counted()
    os.ftruncate(array.file.fileno(), 8 * 3 * 99_990)
    with pytest.raises(tf.errors.RecordingError, match="cut short"):
        np.asarray(array[99_980:])
