"""Files from anywhere: bombs, forgeries and what crashes a library end in one sentence, within bounds."""

from __future__ import annotations

import io
import json
import os
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

import tauform as tf
from identification.logs.log_files import ROBOT, arrays, log, parquet, table
from tauform.errors import IdentificationError, ModelError, RecordingError, TauformError

DEEP = "[" * 100_000


def npy_header(shape: tuple[int, ...], descr: str = "<f8") -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def bomb(path: Path, names: tuple[str, ...], gigabytes: float = 2.0) -> Path:
    """An archive of a few megabytes whose arrays unpack to gigabytes of zeros."""
    rows = int(gigabytes * 1e9) // (1 << 24) * (1 << 21)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in names:
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(npy_header((rows,)))
                for _ in range(0, 8 * rows, 1 << 24):
                    member.write(bytes(1 << 24))
    return path


@pytest.fixture(scope="module")
def bombs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One array that is packed a thousandfold, 0.29 GB of it, under each name that a reader asks for."""
    folder = tmp_path_factory.mktemp("bombs")
    one = bomb(folder / "one.npz", ("t",), 0.29)
    with zipfile.ZipFile(one) as archive:
        info = archive.infolist()[0]
        assert info.file_size / info.compress_size > 200
    return one


def test_a_bomb_is_refused_before_it_is_unpacked(bombs: Path) -> None:
    before = time.process_time()
    for read, error in (
        (lambda: tf.read_recording(bombs, tf.load(ROBOT), columns={"q": "t", "tau": "t"}), RecordingError),
        (lambda: tf.load_model(bombs), ModelError),
        (lambda: tf.load_fit(bombs), IdentificationError),
    ):
        with pytest.raises(error):
            read()
    assert time.process_time() - before < 5
    one = tf.load("two_link").locked({"joint2": 0.0})
    with pytest.raises(RecordingError, match=r"MB would unpack to 0\.29 GB, as no measurement does"):
        tf.read_recording(bombs, one, columns={"q": ["t"], "tau": ["t"]})


def forged(names: dict[str, Any]) -> bytes:
    """An archive with these members, bytes as they are or arrays."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in names.items():
            if not isinstance(content, bytes):
                own = io.BytesIO()
                np.save(own, content)
                content = own.getvalue()
            archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


FORGED: dict[str, Callable[[], bytes]] = {
    "more rows than there are": lambda: forged({"t": npy_header((10**9,)) + bytes(80)}),
    "a negative shape": lambda: forged({"t": npy_header((10,)).replace(b"(10,)", b"(-9,)") + bytes(80)}),
    "a shape beyond all numbers": lambda: forged({"t": npy_header((10**30,)) + bytes(80)}),
    "a header that never ends": lambda: forged({"t": b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + b"{" * 999}),
    "a deep header": lambda: forged(
        {"t": b"\x93NUMPY\x01\x00" + struct.pack("<H", 9000) + (b"[" * 4500 + b"]" * 4499 + b"\n")}
    ),
    "objects": lambda: forged({"facts": np.array([{}], dtype=object), "summary": np.array([{}], dtype=object)}),
    "deep JSON": lambda: forged(
        {"facts": np.frombuffer(DEEP.encode(), dtype=np.uint8), "summary": np.array(DEEP), "robot": np.array(DEEP)}
    ),
    "an integer of a hundred thousand digits": lambda: forged(
        {"facts": np.frombuffer(b"9" * 100_000, dtype=np.uint8), "summary": np.array("9" * 100_000)}
    ),
    "text that is no text": lambda: forged(
        {"facts": np.full(4, 255, dtype=np.uint8), "summary": np.array([0x7FFFFFFF], dtype=np.uint32).view("<U1")}
    ),
    "a name twice": lambda: forged({"t": np.zeros(3)})[:-22] + forged({"t": np.zeros(3)}),
    "nothing": lambda: forged({}),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_archive_is_refused_by_every_reader(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(FORGED[name]())
    for read in (tf.load_model, tf.load_fit, lambda path: tf.read_recording(path, tf.load(ROBOT))):
        with pytest.raises(TauformError) as refusal:
            read(path)
        assert len(str(refusal.value).splitlines()) == 1


def damaged_mat(path: Path) -> Path:
    """A type of data that does not exist, on which SciPy reads beyond its arrays."""
    arrays(path, scipy.io.savemat)
    data, tag = path.read_bytes(), struct.pack("<II", 9, log()["t"].nbytes)
    assert tag in data
    path.write_bytes(data.replace(tag, b"\0" + tag[1:]))
    return path


def test_a_mat_file_that_crashes_scipy_does_not_take_us_along(tmp_path: Path) -> None:
    path = damaged_mat(tmp_path / "a.mat")
    with pytest.raises(RecordingError, match=r"a\.mat: cannot read it .*; save it with MATLAB's option -v7"):
        tf.read_recording(path, tf.load(ROBOT))


def test_a_mat_file_may_hold_empty_and_other_variables(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "a.mat", {**log(), "none": np.zeros((0, 0)), "s": {"a": 1}, "word": "x", "one": 1.0})
    read = tf.read_recording(tmp_path / "a.mat", tf.load(ROBOT))
    np.testing.assert_array_equal(read.q, log()["q"])


def hdf5(path: Path, fill: Callable[[Any], None]) -> Path:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", userblock_size=512) as file:
        for name in ("t", "q", "tau"):
            file[name] = np.atleast_2d(log()[name].T)
        fill(file)
    return path


def outside(file: Any) -> None:
    h5py = pytest.importorskip("h5py")
    del file["tau"]
    file["tau"] = h5py.ExternalLink("other.mat", "tau")


def beside(file: Any) -> None:
    del file["tau"]
    file.create_dataset("tau", shape=(2, 1000), dtype="f8", external=[("secret.bin", 0, 16_000)])


def endless(file: Any) -> None:
    for name, width in (("t", 1), ("q", 2), ("tau", 2)):
        del file[name]
        file.create_dataset(name, shape=(width, 10**12), dtype="f8", chunks=(width, 1000), fillvalue=1.0)


@pytest.mark.parametrize("fill", [outside, beside, endless])
def test_hdf5_that_reaches_outside_or_never_ends_is_refused(
    fill: Callable[[Any], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hdf5(tmp_path / "other.mat", lambda file: None)
    (tmp_path / "secret.bin").write_bytes(bytes(16_000))
    assert tf.read_recording(tmp_path / "other.mat", tf.load(ROBOT)).n_samples == 1000
    with pytest.raises(RecordingError, match=r"no torques|would unpack"):
        tf.read_recording(hdf5(tmp_path / "a.mat", fill), tf.load(ROBOT))


def test_a_cut_or_damaged_hdf5_is_refused(tmp_path: Path) -> None:
    data = hdf5(tmp_path / "a.mat", lambda file: None).read_bytes()
    for size in (600, 2000, len(data) // 2, len(data) - 1):
        (tmp_path / "a.mat").write_bytes(data[:size])
        with pytest.raises(RecordingError):
            tf.read_recording(tmp_path / "a.mat", tf.load(ROBOT))


def test_a_parquet_with_two_columns_of_a_name_is_refused(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet_file = pytest.importorskip("pyarrow.parquet")
    columns = parquet_file.read_table(parquet(tmp_path / "a.parquet"))
    twice = columns.append_column("tau1", pyarrow.array(log()["t"]))
    parquet_file.write_table(twice, tmp_path / "a.parquet")
    with pytest.raises(RecordingError, match="two columns are named 'tau1'"):
        tf.read_recording(tmp_path / "a.parquet", tf.load(ROBOT))


def test_a_bag_that_lost_messages_is_refused(tmp_path: Path) -> None:
    rosbag2 = pytest.importorskip("rosbags.rosbag2")
    import sqlite3

    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    kinds = ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    state, header, stamp = (store.types[kind] for kind in kinds)
    with rosbag2.Writer(tmp_path / "bag", version=9, storage_plugin=rosbag2.StoragePlugin.SQLITE3) as writer:
        connection = writer.add_connection("/joint_states", state.__msgtype__, typestore=store)
        for k, (q, tau) in enumerate(zip(log()["q"][:60], log()["tau"][:60], strict=True)):
            message = state(header(stamp(1, 10_000_000 * k), ""), ["joint1", "joint2"], q, np.zeros(0), tau)
            writer.write(connection, 10_000_000 * k, store.serialize_cdr(message, state.__msgtype__))
    assert tf.read_recording(tmp_path / "bag", tf.load(ROBOT)).n_samples == 60
    with sqlite3.connect(next((tmp_path / "bag").glob("*.db3"))) as base:
        base.execute("DELETE FROM messages WHERE id > 50")
    with pytest.raises(RecordingError, match="holds 50 of 60 messages"):
        tf.read_recording(tmp_path / "bag", tf.load(ROBOT))


LIMITED = """
import resource, sys
import tauform as tf
from tauform.errors import RecordingError
robot = tf.load("two_link")
tf.read_recording(sys.argv[2], robot)
{limit}
try:
    tf.read_recording(sys.argv[1], robot, stream={stream})
except RecordingError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("limit", "stream", "said"),
    [
        (
            "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
            "resource.setrlimit(resource.RLIMIT_AS, (used + 20_000_000,) * 2)",
            False,
            "does not fit into memory; read it with stream=True",
        ),
        (
            "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000,) * 2)",
            True,
            "set TMPDIR to a folder with more room",
        ),
    ],
)
def test_little_memory_and_a_full_disk_are_named(limit: str, stream: bool, said: str, tmp_path: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("limits as Linux has them")
    long = np.arange(0, 10_000, 0.01)
    np.savez(tmp_path / "a.npz", t=long, q=np.tile(np.sin(long)[:, None], 2), tau=np.tile(np.cos(long)[:, None], 2))
    np.savez(tmp_path / "small.npz", **{name: log()[name] for name in ("t", "q", "tau")})
    program = LIMITED.format(limit=limit, stream=stream)
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.npz"), str(tmp_path / "small.npz")],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert said in done.stdout, done.stderr[-2000:]


def test_reading_stays_within_memory(tmp_path: Path) -> None:
    """A streamed CSV of 18 MB takes no more than its pieces."""
    line = "0.{:06d},1.234567,2.345678,3.456789,4.567891\n"
    with (tmp_path / "a.csv").open("w", encoding="utf-8") as file:
        file.write("t,q1,q2,tau1,tau2\n")
        file.writelines(line.format(k) for k in range(400_000))
    program = (
        "import sys, resource, tauform as tf\nrobot = tf.load('two_link')\n"
        f"tf.read_recording({str(table(tmp_path / 'small.csv'))!r}, robot, stream=True)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"tf.read_recording({str(tmp_path / 'a.csv')!r}, robot, stream=True)\n"
        "print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import json\n{program}"], capture_output=True, encoding="utf-8", check=True
    )
    assert json.loads(done.stdout) < 14_000  # kB; all samples would be 16 MB, and their copy as much again
