"""JointState messages of bags, of ROS 1 or a rosbag2 (sqlite, mcap): `rosbags` reads them in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.errors import MissingExtraError, RecordingError
from tauform.identification.logs.column_names import listed
from tauform.identification.logs.formats.log import Log, Table
from tauform.identification.logs.formats.separate import read_separately
from tauform.wording import argument

ROS1_MAGIC = b"#ROSBAG V2.0\n"
JOINT_STATE = "sensor_msgs/msg/JointState"
JOINT_STATE_FIELDS = ("position", "velocity", "effort")
# Sets of joints that a bag speaks of, of which an error names one.
MOST_SETS = 1000
# Joints of a message -> places of the wanted ones in it; None where it lacks one.
Orders = dict[tuple[str, ...], list[int] | None]


def open_bag(path: Path, joints: Sequence[str] | None, topic: str | None) -> Log:
    """Columns t, position_<joint>, velocity_<joint>, effort_<joint> of these joints, or of those of the first message.

    Raises:
        RecordingError: no JointState messages, several topics of them, or none with all of the joints.
        MissingExtraError: `rosbags` is not installed.
    """
    with closing(read_separately(joint_states, path, joints, topic, [], [], 0)) as pieces:
        found = next(pieces)
    _check_topics(found["connections"], found["first"], joints, path, topic)
    if not found["fields"]:
        raise _without(joints or (), found["sets"], path)
    held, wanted_joints = found["fields"], found["joints"]
    names = ["t", *(f"{field}_{joint}" for field in held for joint in wanted_joints)]

    def chunks(wanted: Sequence[str], rows: int) -> Iterator[Table]:
        places = [names.index(name) for name in wanted]
        with closing(read_separately(joint_states, path, wanted_joints, topic, held, places, rows)) as pieces:
            next(pieces)
            for block in pieces:
                yield dict(zip(wanted, block.T, strict=True))

    return Log(dict.fromkeys(names), chunks)


def _check_topics(
    connections: Sequence[Sequence[str]],
    first: Mapping[str, Sequence[str]],
    joints: Sequence[str] | None,
    path: Path,
    topic: str | None,
) -> None:
    topics = sorted({name for name, kind in connections if kind == JOINT_STATE and topic in (None, name)})
    if not topics:
        held = ", ".join(sorted({f"{name} ({kind})" for name, kind in connections})) or "nothing"
        raise RecordingError(
            f"{path.name}: no {JOINT_STATE} messages{f' on {topic}' if topic else ''}; it holds {held}"
        )
    if len(topics) > 1:
        # The one of the robot's joints, else of most: a gripper has a topic of its own.
        likely = max(
            topics, key=lambda name: (len({*first.get(name, ())} & {*(joints or ())}), len(first.get(name, ())))
        )
        raise RecordingError(
            f"{path.name}: several topics hold joint states: {', '.join(topics)}",
            argument="topic",
            remedy=f"choose one, {argument('topic', likely)}",
        )


def _without(joints: Sequence[str], held: Sequence[Sequence[str]], path: Path) -> RecordingError:
    """The error for a bag in which no message speaks of all joints; its value is the set that is nearest."""
    if not any(held):
        return RecordingError(f"{path.name}: its joint states hold no joints; record them anew")
    nearest = max(held, key=lambda names: (len(set(names) & set(joints)), len(names)))
    missing = next((name for name in joints if name not in nearest), "")
    sentence = f"{path.name}: joint {missing!r} is not among the joint states ({listed(nearest)})"
    return RecordingError(sentence, argument="joints", value=list(nearest))


# In the child.


def joint_states(
    path: Path, joints: Sequence[str] | None, topic: str | None, held: Sequence[str], places: Sequence[int], rows: int
) -> Iterator[Any]:
    """What the bag holds; then blocks of rows of the columns at these places, of time and the fields that are held.

    Args:
        joints: those of the first message where None.
        rows: of a block; 0: none.
    """
    with _opened(path) as reader:
        every = [(connection.topic, connection.msgtype) for connection in reader.connections]
        chosen = [c for c in reader.connections if c.msgtype == JOINT_STATE and topic in (None, c.topic)]
        # Which of several topics is for the user to say.
        one = len({connection.topic for connection in chosen}) == 1
        spoken = {} if one else {c.topic: _joints_of_first(reader, c) for c in chosen}
        orders: Orders = {}
        messages = _joint_states(reader, chosen, path, joints, orders) if one else iter(())
        first = next(messages, None)
        fields = [f for f, x in zip(JOINT_STATE_FIELDS, first[1], strict=True) if x is not None] if first else []
        seen = list(islice(orders, MOST_SETS))
        yield {
            "connections": every,
            "sets": seen,
            "fields": fields,
            "joints": joints or (first and first[2]),
            "first": spoken,
        }
        rest = chain([first], messages) if first else messages
        while rows and (block := list(islice(rest, rows))):
            yield np.array([[t, *_joined(values, held, path)] for t, values, _ in block])[:, places]


def _joints_of_first(reader: Any, connection: Any) -> list[str]:
    """Names in the first message of a connection."""
    for _, _, raw in reader.messages(connections=[connection]):
        return list(reader.deserialize(raw, connection.msgtype).name)
    return []


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise MissingExtraError("rosbag logs need rosbags; install it with: pip install 'tauform[logs]'") from None
    _check_beginning(path)
    try:
        with AnyReader([path], default_typestore=get_typestore(Stores.LATEST)) as reader:
            yield reader
    except (RecordingError, MemoryError):
        raise
    except Exception as error:  # the library raises many classes, for storage, types and compression
        raise RecordingError(f"{path.name}: cannot read the bag ({_words(error, path)})") from None


def _words(error: Exception, path: Path) -> str:
    """The library's words, with the file by its name, as everywhere."""
    return " ".join(str(error).replace(str(path), path.name).split())[:150]


def _check_beginning(path: Path) -> None:
    """The library reads the first line of a bag of ROS 1, however long it is."""
    if path.suffix == ".bag" and path.is_file():
        with path.open("rb") as file:
            if file.read(len(ROS1_MAGIC)) != ROS1_MAGIC:
                raise RecordingError(f"{path.name}: cannot read the bag (it does not begin as bags of ROS 1 do)")


def _joint_states(
    reader: Any, connections: list[Any], path: Path, joints: Sequence[str] | None, orders: Orders
) -> Iterator[tuple[float, list[Any], Sequence[str]]]:
    """(time, [position, velocity, effort], joints) of each message about these joints, or about any.

    Args:
        orders: receives the sets of joints that messages speak of.
    """
    count, declared = 0, sum(connection.msgcount for connection in connections)
    for connection, stamp, raw in reader.messages(connections=connections):
        message = reader.deserialize(raw, connection.msgtype)
        count += 1
        names = tuple(message.name)
        if names not in orders:
            orders[names] = _order(names, joints or names)
        order = orders[names]
        if order is None:  # of another device on the same topic, such as a gripper
            continue
        header = message.header.stamp
        measured = header.sec + 1e-9 * header.nanosec
        given = [np.asarray(getattr(message, field), dtype=np.float64) for field in JOINT_STATE_FIELDS]
        values = [x[order] if len(x) == len(names) else None for x in given]
        yield (measured if measured > 0 else 1e-9 * stamp), values, names
    if count != declared:
        raise RecordingError(f"{path.name}: holds {count} of {declared} messages: cut off or damaged; copy it again")


def _joined(values: list[Array | None], held: Sequence[str], path: Path) -> Array:
    parts = [x for field, x in zip(JOINT_STATE_FIELDS, values, strict=True) if field in held]
    missing = next((field for field, x in zip(held, parts, strict=True) if x is None), None)
    if missing is not None:
        raise RecordingError(
            f"{path.name}: some joint states hold no {missing}, others do; record one source at a time"
        )
    return np.concatenate(parts)  # type: ignore[arg-type]


def _order(names: Sequence[str], joints: Sequence[str]) -> list[int] | None:
    """Places of the joints in a message; None where it does not hold all of them."""
    return [names.index(name) for name in joints] if set(joints) <= set(names) else None
