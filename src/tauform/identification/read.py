"""read_recording: logs as loggers write them (CSV, NPZ, Parquet, MAT, rosbag2) as a Recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import MissingExtraError, RecordingError
from tauform.identification.columns import guess_layout
from tauform.identification.recording import Recording

# Joined columns of one name, (N, n), as NPZ and MAT files hold them.
MATRIX_NAMES = {
    "t": ("t", "time", "times", "timestamp"),
    "q": ("q", "positions", "position", "pos", "actual_q"),
    "tau": ("tau", "torques", "torque", "effort", "efforts"),
    "qd": ("qd", "dq", "velocities", "velocity", "vel", "actual_qd"),
    "reference": ("q_ref", "reference", "target_q", "q_des"),
}
BAG_SUFFIXES = (".db3", ".mcap", ".bag")


def read_recording(
    path: str | Path,
    robot: Robot,
    *,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    gains: ArrayLike | None = None,
    degrees: bool = False,
    topic: str | None = None,
) -> Recording:
    """Read a log: .csv, .npz, .parquet, .mat, or a rosbag2 (.db3, .mcap, or its folder) with JointState messages.

    Args:
        columns: field ("t", "q", "tau", "qd", "reference") -> column names in the robot's order, or their common
            prefix; fields left out are guessed (`q1`, `actual_q_0`, `position_elbow`, ...).
        gains: (n,) drive gain times gear ratio where the torque column holds motor currents, or an (n, n) matrix
            with tau = gains @ current where drives are coupled.
        degrees: positions and velocities are in degrees.
        topic: of a bag with several JointState topics.

    Raises:
        RecordingError: the file cannot be read, or does not hold the robot's joints; the message lists what it holds.
        MissingExtraError: the format's reader is not installed.
    """
    path = Path(path)
    if not path.exists():
        raise RecordingError(f"{path}: no such file; check the path")
    reader = _reader(path)
    table = reader(path, robot, topic)
    fields = _fields(table, robot, columns, path.name)
    if gains is not None:
        matrix = np.asarray(gains, dtype=np.float64)
        if matrix.shape not in ((robot.n_joints,), (robot.n_joints,) * 2):
            raise RecordingError(f"gains: expected {robot.n_joints} numbers or a square matrix, got {matrix.shape}")
        fields["tau"] = fields["tau"] * matrix if matrix.ndim == 1 else fields["tau"] @ matrix.T
    if degrees:
        turning = np.array([{j.name: j.is_revolute for j in robot.joints}[name] for name in robot.joint_names])
        factor = np.where(turning, np.pi / 180, 1.0)
        for name in ("q", "qd", "reference"):
            if fields.get(name) is not None:
                fields[name] = fields[name] * factor
    order = fields["t"] - fields["t"][0]  # absolute stamps lose digits in differences
    return Recording(**{**fields, "t": order}, name=path.name)


def _reader(path: Path) -> Callable[[Path, Robot, str | None], dict[str, Array]]:
    if path.is_dir() or path.suffix in BAG_SUFFIXES:
        from tauform.identification.rosbag import read_bag

        return read_bag
    readers = {".csv": _read_csv, ".txt": _read_csv, ".npz": _read_npz, ".parquet": _read_parquet, ".mat": _read_mat}
    if path.suffix not in readers:
        raise RecordingError(
            f"{path.name}: cannot read {path.suffix or 'a file without ending'}; use .csv .npz .parquet .mat .db3 .mcap"
        )
    return readers[path.suffix]


def _fields(
    table: dict[str, Array], robot: Robot, columns: Mapping[str, str | Sequence[str]] | None, source: str
) -> dict[str, Any]:
    n = robot.n_joints
    matrices = {name: values for name, values in table.items() if values.ndim == 2 and values.shape[1] == n > 1}
    found: dict[str, Any] = {}
    for field, names in MATRIX_NAMES.items():
        asked = (columns or {}).get(field)
        names = (asked,) if isinstance(asked, str) else names if asked is None else ()
        pool = {k: v.ravel() for k, v in table.items() if v.ndim == 1 or 1 in v.shape} if field == "t" else matrices
        match = next((name for name in names if name in pool), None)
        if match is not None:
            found[field] = pool[match]
    if {"t", "q", "tau"} <= set(found):
        return found
    single = {name: values for name, values in table.items() if values.ndim == 1}
    layout = guess_layout(list(single), robot.joint_names, columns, source)
    lists = {"q": layout.q, "tau": layout.tau, "qd": layout.qd, "reference": layout.reference}
    stacked = {
        k: None if names is None else np.column_stack([single[name] for name in names]) for k, names in lists.items()
    }
    return {"t": single[layout.t], **stacked}


def _read_csv(path: Path, robot: Robot, topic: str | None) -> dict[str, Array]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            header = file.readline()
            holds_samples = any(line.strip() for line in file)  # stops at the first
    except UnicodeDecodeError as error:
        raise RecordingError(f"{path.name}: not text ({error.reason}); export it as CSV") from None
    if not holds_samples:
        raise RecordingError(f"{path.name}: holds no samples; write the columns' names, then one line a sample")
    separator = max(",;\t", key=header.count)
    names = [name.strip().strip('"') for name in header.strip().split(separator)]
    if all(_is_number(name) for name in names):
        raise RecordingError(f"{path.name}: the first line holds numbers; add a line with the columns' names")
    try:
        values = np.loadtxt(path, delimiter=separator, skiprows=1, ndmin=2, encoding="utf-8-sig", comments=None)
    except ValueError as error:
        raise RecordingError(f"{path.name}: {' '.join(str(error).split())}; repair that line") from None
    if values.shape[1] != len(names):
        raise RecordingError(f"{path.name}: {len(names)} names in the first line but {values.shape[1]} columns")
    return dict(zip(names, values.T, strict=True))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_npz(path: Path, robot: Robot, topic: str | None) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {
                name: np.asarray(archive[name], dtype=np.float64)
                for name in archive.files
                if archive[name].dtype.kind in "fiu"
            }
    except (ValueError, OSError) as error:
        raise RecordingError(f"{path.name}: not an NPZ of numbers ({error})") from None


def _read_parquet(path: Path, robot: Robot, topic: str | None) -> dict[str, Array]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("Parquet logs need pyarrow; install it with: pip install 'tauform[logs]'") from None
    try:
        table = parquet.read_table(path)
    except Exception as error:  # pyarrow raises its own classes
        raise RecordingError(f"{path.name}: not a Parquet table ({' '.join(str(error).split())[:120]})") from None
    numeric = [name for name in table.column_names if str(table.schema.field(name).type) not in ("string", "bool")]
    return {name: np.asarray(table[name].to_numpy(), dtype=np.float64) for name in numeric}


def _read_mat(path: Path, robot: Robot, topic: str | None) -> dict[str, Array]:
    from scipy.io import loadmat

    try:
        content = loadmat(path)
    except (ValueError, NotImplementedError, OSError) as error:
        raise RecordingError(f"{path.name}: cannot read it ({error}); save it with MATLAB's option -v7") from None
    arrays = {
        k: np.asarray(v, dtype=np.float64)
        for k, v in content.items()
        if not k.startswith("__") and np.asarray(v).dtype.kind in "fiu"
    }
    # MATLAB has no vectors: a row or column of N is one.
    return {k: v.ravel() if v.ndim == 2 and 1 in v.shape else v for k, v in arrays.items()}
