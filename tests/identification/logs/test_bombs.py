"""Small files that unpack to more than any measurement, never end or crash their library are refused within bounds."""

from __future__ import annotations

import bz2
import os
import sqlite3
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from fuzz import originals
from identification.logs.log_files import ROBOT
from sampling import representatives
from tauform.errors import RecordingError
from tauform.identification.logs.formats import separate

# What bombs hold, and the memory that they get: a fraction of what users' files do, for tests are to be quick.
ZEROS, MEMORY = 300 << 20, 250 << 20
TOO_MUCH = r"unpacks to more than 0\.2\d GB|File too large|filter returned failure|out of memory|allocation failed"


@pytest.fixture(autouse=True)
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("limits as Linux has them")
    pytest.importorskip("rosbags")
    monkeypatch.setattr(separate, "BYTES", MEMORY)


def zstd() -> Any:
    try:
        from compression import zstd as library
    except ImportError:  # older releases of rosbags bring another
        library = pytest.importorskip("backports.zstd")
    return library


def messages(n: int = 3) -> list[tuple[int, bytes]]:
    """(nanoseconds, JointState) of a rosbag2."""
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    kinds = ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    state, header, stamp = (store.types[kind] for kind in kinds)
    held = originals.swing()
    found = []
    for k in range(n):
        head = header(stamp(1, 10_000_000 * k), "")
        message = state(head, ["joint1", "joint2"], held["q"][k], np.zeros(0), held["tau"][k])
        found.append((10_000_000 * k, bytes(store.serialize_cdr(message, state.__msgtype__))))
    return found


def rosbag2(folder: Path, storage: str, mode: str, change: Callable[[Any], None] = lambda writer: None) -> Path:
    """A bag that `change` may take hold of before anything is written."""
    from rosbags import rosbag2 as library
    from rosbags.typesys import Stores, get_typestore

    writer = library.Writer(folder / "bag", version=9, storage_plugin=library.StoragePlugin[storage])
    writer.set_compression(library.CompressionMode[mode], library.CompressionFormat.ZSTD)
    with writer:
        change(writer)
        store = get_typestore(Stores.ROS2_HUMBLE)
        connection = writer.add_connection("/joint_states", "sensor_msgs/msg/JointState", typestore=store)
        for stamp, data in messages():
            writer.write(connection, stamp, data)
    return folder / "bag"


def mcap(folder: Path, how: str) -> Path:
    """A chunk with many zeros after its records."""
    import lz4.frame

    def change(writer: Any) -> None:
        writer.storage.compression = how
        pack = zstd().compress if how == "zstd" else lz4.frame.compress
        writer.storage.compressor = lambda data: pack(data + bytes(ZEROS))

    return next(rosbag2(folder, "MCAP", "STORAGE", change).glob("*.mcap"))


def packed_message(folder: Path) -> Path:
    """A message whose data is many zeros."""
    bag = rosbag2(folder, "SQLITE3", "MESSAGE")
    with sqlite3.connect(next(bag.glob("*.db3"))) as base:
        data = zstd().compress(messages(1)[0][1] + bytes(ZEROS))
        base.execute("UPDATE messages SET data = ? WHERE id = 1", (data,))
    return bag


def packed_file(folder: Path) -> Path:
    """A file that unpacks to more than belongs on a disk."""
    bag = rosbag2(folder, "SQLITE3", "FILE")
    with next(bag.glob("*.zstd")).open("ab") as file:
        file.write(zstd().compress(bytes(ZEROS)))
    return bag


def ros1(folder: Path, how: str) -> Path:
    """A chunk with many zeros after its records."""
    import lz4.frame
    from rosbags import rosbag1

    pack = bz2.compress if how == "BZ2" else lz4.frame.compress
    real = rosbag1.Writer.set_compression

    def bombed(writer: Any, kind: Any) -> None:
        real(writer, kind)
        writer.compressor = lambda data: pack(data + bytes(ZEROS))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rosbag1.Writer, "set_compression", bombed)
        (folder / "a.bag").write_bytes(originals.bag_ros1(how))
    return folder / "a.bag"


def hdf5(folder: Path, times: int) -> Path:
    """A chunk whose stream goes on far beyond the chunk, deflated so many times."""
    h5py = pytest.importorskip("h5py")
    path = folder / "a.mat"
    with h5py.File(path, "w") as file:
        for name, values in originals.swing().items():
            file[name] = np.atleast_2d(values.T)
        del file["q"]
        data = np.ascontiguousarray(originals.swing()["q"].T)
        layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        layout.set_chunk(data.shape)
        for _ in range(times):
            layout.set_deflate(9)
        made = h5py.h5d.create(file.id, b"q", h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple(data.shape), layout)
        stream = data.tobytes() + bytes(ZEROS)
        for _ in range(times):
            stream = zlib.compress(stream, 9 if len(stream) < 1 << 24 else 1)
        made.write_direct_chunk((0, 0), stream)
    return path


BOMBS: dict[str, Callable[[Path], Path]] = {
    "mcap zstd": lambda p: mcap(p, "zstd"),
    "mcap lz4": lambda p: mcap(p, "lz4"),
    "message": packed_message,
    "file": packed_file,
    "ROS 1 bz2": lambda p: ros1(p, "BZ2"),
    "ROS 1 lz4": lambda p: ros1(p, "LZ4"),
    "deflate": lambda p: hdf5(p, 1),
    "deflate twice": lambda p: hdf5(p, 2),
}


@pytest.mark.parametrize("name", representatives(BOMBS, "mcap zstd", "ROS 1 lz4", "deflate twice"))
def test_what_unpacks_to_more_than_memory_is_refused(name: str, tmp_path: Path) -> None:
    path = BOMBS[name](tmp_path)
    with pytest.raises(RecordingError, match=TOO_MUCH) as info:
        tf.read_recording(path, tf.load(ROBOT))
    assert "\n" not in str(info.value)


def varint(value: int) -> bytes:
    """As Thrift writes integers."""
    value, out = 2 * value, b""
    while value >= 128:
        value, out = value >> 7, out + bytes([value & 127 | 128])
    return out + bytes([value])


def parquet(path: Path, n_samples: int) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    pyarrow_parquet = pytest.importorskip("pyarrow.parquet")
    held = originals.swing(n_samples)
    columns = {"t": held["t"], **{f"{f}{j + 1}": held[f][:, j] for f in ("q", "tau") for j in range(2)}}
    pyarrow_parquet.write_table(pyarrow.table(columns), path, compression="zstd")
    return path


def with_dictionary_of(path: Path, zeros: int) -> Path:
    """The same table, but the dictionary of q1 unpacks to so many bytes."""
    from pyarrow import parquet as library

    column = library.read_metadata(parquet(path, 10_000)).row_group(0).column(1)
    start, end = column.dictionary_page_offset, column.data_page_offset
    data = zstd().compress(bytes(zeros))
    for filler in range(end - start):
        # Frames that zstd skips fill what is left.
        page = data + b"\x50\x2a\x4d\x18" + filler.to_bytes(4, "little") + bytes(filler)
        sizes = b"\x15" + varint(zeros) + b"\x15" + varint(len(page))
        head = b"\x15\x04" + sizes + b"\x4c\x15" + varint(zeros // 8) + b"\x15\x00\x00\x00"
        if len(head + page) == end - start:
            whole = path.read_bytes()
            path.write_bytes(whole[:start] + head + page + whole[end:])
            return path
    raise AssertionError("no filler fits")


def test_a_dictionary_that_unpacks_to_more_than_any_table_is_refused(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", 10_000)
    assert tf.read_recording(path, tf.load(ROBOT)).n_samples == 10_000
    # The forgery itself is sound: the library takes the zeros for positions.
    assert not tf.read_recording(with_dictionary_of(path, 1 << 20), tf.load(ROBOT)).q[:, 0].any()
    with pytest.raises(RecordingError, match=r"a.parquet: 0\.\d+ MB would unpack to 0\.\d+ GB"):
        tf.read_recording(with_dictionary_of(path, 400 << 20), tf.load(ROBOT))


@pytest.mark.parametrize(("claimed", "place"), [(9000, "first"), (11000, "first"), (9000, "last")])
def test_parts_of_a_table_that_do_not_add_up_are_refused(claimed: int, place: str, tmp_path: Path) -> None:
    """The whole and each part say how many rows they hold; the library believes the parts."""
    path = parquet(tmp_path / "a.parquet", 10_007)
    whole = path.read_bytes()
    length = int.from_bytes(whole[-8:-4], "little")
    footer, number = whole[-8 - length : -8], varint(10_007)
    at = footer.index(number) if place == "first" else footer.rindex(number)
    forged = footer[:at] + varint(claimed) + footer[at + len(number) :]
    path.write_bytes(whole[: -8 - length] + forged + whole[-8:])
    with pytest.raises(RecordingError, match=r"a.parquet: cut off or damaged"):
        tf.read_recording(path, tf.load(ROBOT))


def aborting(path: Path) -> Iterator[Any]:
    yield {}
    os.abort()


def never_ending(path: Path) -> Iterator[Any]:
    yield {}
    threading.Event().wait()


def endless(path: Path) -> Iterator[Any]:
    yield {}
    while True:
        yield np.zeros((1 << 17, 4))


@pytest.mark.parametrize(
    ("reader", "seconds", "said"),
    [
        (aborting, 60.0, r"its library crashes on it"),
        (never_ending, 1.0, r"not read after 1 s"),
        (endless, 60.0, r"would unpack to 0\.\d+ GB"),
    ],
)
def test_a_reader_that_crashes_hangs_or_never_ends_is_ended(
    reader: Any, seconds: float, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(separate, "SECONDS", seconds)
    (tmp_path / "a.mcap").write_bytes(b"hello")
    pieces = separate.read_separately(reader, tmp_path / "a.mcap")
    with pytest.raises(RecordingError, match=rf"a.mcap: .*{said}"):
        for _ in pieces:
            pass


def test_structs_that_hold_each_other_many_times_over_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    h5py = pytest.importorskip("h5py")
    monkeypatch.setattr(separate, "SECONDS", 2.0)
    with h5py.File(tmp_path / "a.mat", "w") as file:
        above = file
        for _ in range(8):
            below = file.create_group(None)
            for k in range(50):
                above[f"s{k}"] = below
            above = below
    with pytest.raises(RecordingError, match=r"a.mat: cannot read it \(not read after 2 s\)"):
        tf.read_recording(tmp_path / "a.mat", tf.load(ROBOT))


PARENT = """
import sys
from pathlib import Path
from identification.logs.test_bombs import never_ending
from tauform.identification.logs.formats import separate
pieces = separate.read_separately(never_ending, Path(sys.argv[1]))
next(pieces)
print("reading", flush=True)
next(pieces)
"""


def test_the_reader_ends_with_who_asked(tmp_path: Path) -> None:
    if not Path("/proc/self/task").exists():
        pytest.skip("processes as Linux shows them")
    (tmp_path / "a.mcap").write_bytes(b"hello")
    path = os.pathsep.join(entry for entry in sys.path if entry)
    command = [sys.executable, "-c", PARENT, str(tmp_path / "a.mcap")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"reading\n"
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text(encoding="ascii").split()
        parent.kill()
    assert len(children) == 1
    for _ in range(200):
        if not Path(f"/proc/{children[0]}/cmdline").exists() or not Path(f"/proc/{children[0]}/cmdline").read_bytes():
            break
        threading.Event().wait(0.05)
    else:
        raise AssertionError("the reader outlives its parent")
