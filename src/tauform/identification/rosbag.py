"""JointState messages of a rosbag2, sqlite or mcap, through the library `rosbags`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import MissingExtraError, RecordingError

JOINT_STATE = "sensor_msgs/msg/JointState"


def read_bag(path: Path, robot: Robot, topic: str | None) -> dict[str, Array]:
    """Columns t, position_<joint>, velocity_<joint>, effort_<joint> of the robot's joints.

    Raises:
        RecordingError: no JointState messages, several topics of them, or a joint that is not among them.
        MissingExtraError: `rosbags` is not installed.
    """
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise MissingExtraError("rosbag logs need rosbags; install it with: pip install 'tauform[logs]'") from None
    try:
        with AnyReader([path], default_typestore=get_typestore(Stores.LATEST)) as reader:
            return _joint_states(reader, path, robot, topic)
    except RecordingError:
        raise
    except Exception as error:  # the library raises many classes, for storage, types and compression
        raise RecordingError(f"{path.name}: cannot read the bag ({' '.join(str(error).split())[:150]})") from None


def _joint_states(reader: Any, path: Path, robot: Robot, topic: str | None) -> dict[str, Array]:
    offered = [c for c in reader.connections if c.msgtype == JOINT_STATE and topic in (None, c.topic)]
    topics = sorted({c.topic for c in offered})
    if not offered:
        held = ", ".join(sorted({f"{c.topic} ({c.msgtype})" for c in reader.connections})) or "nothing"
        raise RecordingError(f"{path.name}: no {JOINT_STATE} messages; it holds {held}")
    if len(topics) > 1:
        raise RecordingError(f"{path.name}: several topics hold joint states: {', '.join(topics)}; choose one (topic=)")
    times: list[float] = []
    rows: list[Array] = []
    order: list[int] | None = None
    for connection, stamp, raw in reader.messages(connections=offered):
        message = reader.deserialize(raw, connection.msgtype)
        if order is None:
            order = _order(list(message.name), robot, path)
        header = message.header.stamp
        measured = header.sec + 1e-9 * header.nanosec
        times.append(measured if measured > 0 else 1e-9 * stamp)
        fields = [np.asarray(getattr(message, name), dtype=np.float64) for name in ("position", "velocity", "effort")]
        rows.append(np.concatenate([f[order] if len(f) else np.full(len(order), np.nan) for f in fields]))
    table, n = np.array(rows), robot.n_joints
    columns: dict[str, Array] = {"t": np.array(times)}
    for k, field in enumerate(("position", "velocity", "effort")):
        values = table[:, k * n : (k + 1) * n]
        if not np.isnan(values).all():
            columns |= {f"{field}_{name}": values[:, j] for j, name in enumerate(robot.joint_names)}
    return columns


def _order(names: list[str], robot: Robot, path: Path) -> list[int]:
    missing = [name for name in robot.joint_names if name not in names]
    if missing:
        raise RecordingError(
            f"{path.name}: joint {missing[0]!r} is not among the joint states ({', '.join(names)}); load the robot "
            "with the joints that were recorded"
        )
    return [names.index(name) for name in robot.joint_names]
