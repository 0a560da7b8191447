"""read_recording: logs as loggers write them (CSV, NPZ, Parquet, MAT, rosbag2) as a Recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.errors import RecordingError
from tauform.identification.logs.arrays import open_npz
from tauform.identification.logs.columns import Layout, guess_layout
from tauform.identification.logs.log import Log, Table
from tauform.identification.logs.mat import open_mat
from tauform.identification.logs.tables import open_csv, open_parquet
from tauform.identification.logs.units import refuse_other_units
from tauform.identification.recording.recording import TIME_UNITS, Recording
from tauform.identification.recording.stored import Buffer, Spool
from tauform.wording import argument

OPENERS = {
    ".csv": open_csv,
    ".txt": open_csv,
    ".tsv": open_csv,
    ".npz": open_npz,
    ".parquet": open_parquet,
    ".mat": open_mat,
}
BAG_SUFFIXES = (".db3", ".mcap", ".bag")
# Files from this size on stay on disk.
STREAMED_BYTES = 400_000_000
# Samples that are read at once.
ROWS_PER_CHUNK = 100_000

TimeUnit = Literal["s", "ms", "us", "ns"]


def read_recording(
    path: str | Path,
    robot: Robot,
    *,
    columns: Mapping[str, str | Sequence[str] | None] | None = None,
    gains: ArrayLike | None = None,
    degrees: bool = False,
    time_unit: TimeUnit = "s",
    topic: str | None = None,
    stream: bool | None = None,
) -> Recording:
    """Read a log: .csv, .npz, .parquet, .mat, or a rosbag2 (.db3, .mcap, or its folder) with JointState messages.

    Args:
        columns: field ("t", "q", "tau", "qd", "reference") -> column names in the robot's order, their common
            prefix ("effort_"), or a pattern in which {} stands for a joint's name, or its number counted from 0 or 1
            ("J{}_trq"); fields left out are guessed (`q1`, `actual_q_0`, `position_elbow`, ...), and None takes none.
            `recording.columns` says which were read.
        gains: (n,) drive gain times gear ratio where the torque column holds motor currents, or an (n, n) matrix
            with tau = gains @ current where drives are coupled.
        degrees: positions and velocities are in degrees.
        time_unit: of the time stamps.
        topic: of a bag with several JointState topics.
        stream: keep the samples in temporary files, so that recordings larger than memory can be identified; by
            default for logs of 400 MB and more, packed or not. The result is the same.

    Raises:
        RecordingError: the file cannot be read, does not hold the robot's joints, or holds a field more than once; the
            message lists what it holds.
        MissingExtraError: the format's reader is not installed.
    """
    path = Path(path)
    if not path.exists():
        raise RecordingError(f"{path}: no such file; check the path")
    if time_unit not in TIME_UNITS:
        sentence = f"{argument('time_unit')} is one of {', '.join(TIME_UNITS)}, not {time_unit!r}"
        raise RecordingError(sentence, argument="time_unit", value=time_unit)
    drive = _drive(gains, robot)
    with _readable(path):
        log = _open(path, robot, topic)
    layout = guess_layout(log.widths, robot.joint_names, columns, path.name)
    refuse_other_units(layout, path.name, degrees=degrees, scaled=gains is not None, time_unit=time_unit)
    transform: dict[str, Callable[[Array], Array]] = {"tau": drive}
    if degrees:
        radians = _degree(robot)
        transform |= dict.fromkeys(("q", "qd", "reference"), lambda values: values * radians)
    streamed = _is_streamed(path, log.n_bytes(_wanted(layout))) if stream is None else stream
    with _readable(path):
        read = _collected(log, layout, TIME_UNITS[time_unit][1], streamed, transform)
        if not read:
            raise RecordingError(f"{path.name}: holds no samples")
        return Recording(**read, name=path.name, columns=_mapping(layout, log), findings=tuple(log.findings))


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Say what the machine has to say about a file."""
    try:
        yield
    except MemoryError:
        raise RecordingError(
            f"{path.name}: does not fit into memory",
            argument="stream",
            remedy=f"read it with {argument('stream', True)}, which keeps it in temporary files",
        ) from None
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read ({error.strerror or error})") from None


def _collected(
    log: Log, layout: Layout, second: float, streamed: bool, transform: Mapping[str, Callable[[Array], Array]]
) -> dict[str, Any]:
    """The arrays of a recording, in memory or in temporary files; none where there are no samples."""
    sinks = {name: Spool() if streamed else Buffer() for name in ("t", *layout.fields())}
    start: float | None = None
    for table in log.chunks(_wanted(layout), ROWS_PER_CHUNK):
        fields = _fields(table, layout)
        if start is None:
            start = float(fields["t"][0])
        # Absolute stamps lose digits in differences.
        sinks["t"].add((fields.pop("t") - start) * second)
        for name, values in fields.items():
            sinks[name].add(transform[name](values) if name in transform else values)
    return {} if start is None else {name: sink.finish() for name, sink in sinks.items()}


def _open(path: Path, robot: Robot, topic: str | None) -> Log:
    suffix = path.suffix.lower()
    if path.is_dir() and not (path / "metadata.yaml").exists():
        raise RecordingError(f"{path.name}: a folder, and no rosbag2 (metadata.yaml); name the files in it")
    if path.is_dir() or suffix in BAG_SUFFIXES:
        from tauform.identification.logs.rosbag import open_bag

        return open_bag(path, robot, topic)
    if suffix not in OPENERS:
        raise RecordingError(
            f"{path.name}: cannot read {suffix or 'a file without ending'}; use .csv .npz .parquet .mat .db3 .mcap"
        )
    return OPENERS[suffix](path)


def _is_streamed(path: Path, n_bytes: int) -> bool:
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    return max(n_bytes, sum(file.stat().st_size for file in files)) >= STREAMED_BYTES


def _drive(gains: ArrayLike | None, robot: Robot) -> Any:
    """Torques from what the torque column holds."""
    if gains is None:
        return lambda values: values
    needed = f"{argument('gains')} needs {robot.n_joints} numbers or a square matrix"
    try:
        matrix = np.asarray(gains, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise RecordingError(f"{needed}, not {gains!r:.60}", argument="gains", value=gains) from None
    if matrix.shape not in ((robot.n_joints,), (robot.n_joints,) * 2):
        raise RecordingError(f"{needed}, not {matrix.shape}", argument="gains", value=gains)
    if not np.isfinite(matrix).all():
        sentence, remedy = "holds something that is not a number", "give torque for a unit of current"
        raise RecordingError(f"{argument('gains')} {sentence}", argument="gains", value=gains, remedy=remedy)
    # tau = gains @ current at every sample
    return lambda values: values * matrix if matrix.ndim == 1 else values @ matrix.T


def _degree(robot: Robot) -> AnyArray:
    angles = {joint.name: joint.type.is_angle for joint in robot.joints}
    return np.where([angles[name] for name in robot.joint_names], np.pi / 180, 1.0)


def _mapping(layout: Layout, log: Log) -> dict[str, str | tuple[str, ...]]:
    """What `columns=` must say for the same result."""
    held = {name: names[0] if log.widths[names[0]] is not None else names for name, names in layout.fields().items()}
    return {"t": layout.t, **held}


def _wanted(layout: Layout) -> list[str]:
    return list(dict.fromkeys([layout.t, *(column for names in layout.fields().values() for column in names)]))


def _fields(table: Table, layout: Layout) -> dict[str, Array]:
    joined = {
        name: table[names[0]] if table[names[0]].ndim == 2 else np.column_stack([table[column] for column in names])
        for name, names in layout.fields().items()
    }
    return {"t": table[layout.t], **joined}
