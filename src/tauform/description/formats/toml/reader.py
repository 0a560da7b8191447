"""Robots as TOML: the format of the catalogue, and a faithful copy of any Robot.

    convention = "standard" or "modified": [[row]] tables, the columns of `Robot.from_dh`.
    convention = "frames": [[joint]] tables, each with its placement on the parent link, z along its axis.

Both take name, gravity, [[frame]], [payload], [[drive]], and loop constraints: [relations] by name, linear or as text,
[loops] as a matrix, [[closed_loop]] tables with two frames that coincide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tauform.arrays import fixed_array, read_only
from tauform.description.fields import (
    BOUNDS,
    DRIVE,
    INERTIAL,
    PLACEMENT,
    constants_of,
    drive_of,
    inertia_of,
    number,
    placement_of,
    reject_unknown,
)
from tauform.description.formats.dh import robot_from_dh
from tauform.description.formats.toml.drives import drive_of_table
from tauform.description.joint import Frame, Joint, Length, Link
from tauform.description.joint_types import CONSTANTS
from tauform.description.robot import EARTH_GRAVITY, Robot
from tauform.documents import parse_toml
from tauform.errors import DescriptionError, TauformError

# Keys that every convention takes; anything else is refused, since a misspelt key would be ignored.
HEADER = (
    *("name", "description", "source", "convention", "gravity", "tip"),
    *("frame", "payload", "relations", "loops", "closed_loop", "drive", "last_table", "end"),
)
CLOSED_LOOP = ("name", "frames", "passive", "start", "fixes")
LENGTH = ("name", "value", "direction")
JOINT = ("name", "kind", "link", "parent", *PLACEMENT, "lengths", *CONSTANTS, *INERTIAL, *DRIVE, *BOUNDS)


def read_toml(path: Path) -> Robot:
    """Read a robot from a TOML file.

    Raises:
        DescriptionError: the file is not TOML or lacks something; the message names file, table and key.
    """
    try:
        data = parse_toml(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DescriptionError(f"{path.name}: not a TOML file ({error}); correct that line") from None
    try:
        return robot_from_mapping(data, default_name=path.stem)
    except TauformError as error:
        raise type(error)(f"{path.name}: {error}") from None


def robot_from_mapping(data: Mapping[str, Any], default_name: str = "robot") -> Robot:
    """A robot from the contents of a TOML file."""
    # First: of a cut file everything else would be judged in vain.
    _check_end(data)
    convention = data.get("convention")
    name, gravity = str(data.get("name", default_name)), data.get("gravity", EARTH_GRAVITY)
    if convention == "frames":
        reject_unknown(data, (*HEADER, "joint"), "top level")
        robot = _from_frames(_tables(data, "joint"), name, gravity)
    elif convention in ("standard", "modified"):
        reject_unknown(data, (*HEADER, "row", "base", "tool"), "top level")
        ends = {key: placement_of(data[key], key) for key in ("base", "tool") if key in data}
        robot = robot_from_dh(_tables(data, "row"), convention, name=name, gravity=gravity, **ends)
    else:
        # No default: standard and modified tables of one arm are two robots.
        raise DescriptionError(f'convention: expected "standard", "modified" or "frames", got {convention!r}')
    frames = tuple(_frame(robot, fields, i) for i, fields in enumerate(_tables(data, "frame")))
    robot = replace(robot, frames=robot.frames + frames, tip=data.get("tip", robot.tip))
    # After the frames, since springs name the frames that they act between.
    drives = tuple(drive_of_table(robot, fields, i) for i, fields in enumerate(_tables(data, "drive")))
    # The payload last: it may sit at a frame of the file.
    return _with_payload(replace(_with_loops(robot, data), further_drives=drives), data)


def _check_end(data: Mapping[str, Any]) -> None:
    """Refuse a file that says it ends in [end] and does not: a cut one is a shorter robot to every reader of TOML."""
    guaranteed, end = data.get("last_table"), data.get("end")
    if guaranteed not in (None, "end"):
        raise DescriptionError(f'last_table: expected "end", got {guaranteed!r:.60}')
    # Written by hand: TOML itself cannot tell that lines are missing.
    if guaranteed is None and end is None:
        return
    reject_unknown({} if end is None else end, ("joints",), "end")
    held, count = len(data.get("joint", data.get("row", []))), (end or {}).get("joints")
    # An [end] of another file, or joints that were lost in between.
    if count != held:
        raise DescriptionError(
            f"holds {held} joints and no [end] with joints = {held}, as its first lines say: cut off? Copy it again, "
            'or leave last_table = "end" out where it was edited by hand'
        )


def _tables(data: Mapping[str, Any], key: str, where: str = "") -> list[Mapping[str, Any]]:
    tables = data.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise DescriptionError(f"{where}{key}: expected [[{key}]] tables, got {tables!r:.60}")
    return tables


def _from_frames(tables: list[Mapping[str, Any]], name: str, gravity: Any) -> Robot:
    joints: list[Joint] = []
    links: list[Link] = []
    for i, fields in enumerate(tables):
        where = f"joint {fields.get('name', i + 1)!r}"
        reject_unknown(fields, JOINT, where)
        # Links before this joint: parents come first, so that no table can close a circle.
        known = [link.name for link in links]
        parent = fields.get("parent")
        if parent is not None and parent not in known:
            raise DescriptionError(f"{where}: parent {parent!r} is not the link of an earlier joint; list it first")
        joints.append(
            Joint(
                name=str(fields.get("name", f"joint{i + 1}")),
                kind=fields.get("kind", ""),
                # Without a parent it stands on the base.
                parent=-1 if parent is None else known.index(parent),
                parent_from_joint=placement_of(fields, where),
                lengths=_lengths(fields, where),
                constants=constants_of(fields, where),
                **drive_of(fields, where),
            )
        )
        links.append(Link(str(fields.get("link", f"link{i + 1}")), inertia_of(fields, where)))
    return Robot(name, tuple(joints), tuple(links), fixed_array(gravity, (3,), "gravity"))


def _lengths(fields: Mapping[str, Any], where: str) -> tuple[Length, ...]:
    lengths = []
    for table in _tables(fields, "lengths", f"{where}: "):
        missing = [key for key in LENGTH if key not in table]
        if missing:
            raise DescriptionError(f"{where}: lengths need name, value and direction; {missing[0]!r} is missing")
        direction = fixed_array(table["direction"], (3,), f"{where}: direction")
        lengths.append(Length(str(table["name"]), number(table["value"], f"{where}: value"), direction))
    return tuple(lengths)


def _frame(robot: Robot, fields: Mapping[str, Any], i: int) -> Frame:
    where = f"frame {fields.get('name', i + 1)!r}"
    reject_unknown(fields, ("name", "link", *PLACEMENT), where)
    if "name" not in fields:
        raise DescriptionError(f"{where}: name is missing")
    # The name of a link; a frame without one is fixed to the base.
    link = robot.frame(fields["link"]).link if "link" in fields else -1
    return Frame(str(fields["name"]), link, read_only(placement_of(fields, where)))


def _with_loops(robot: Robot, data: Mapping[str, Any]) -> Robot:
    # A matrix first: relations and closed loops then follow what it leaves active.
    if "loops" in data:
        robot = _with_matrix(robot, data)
    if "relations" in data:
        relations = data["relations"]
        if not isinstance(relations, Mapping):
            raise DescriptionError(f"relations: expected a table [relations], got {relations!r:.60}")
        for passive, terms in relations.items():
            if not isinstance(terms, str | Mapping):
                raise DescriptionError(f"relations: {passive}: expected a table or a text, got {terms!r:.60}")
        robot = robot.with_relations(relations)
    for i, fields in enumerate(_tables(data, "closed_loop")):
        robot = _with_closed_loop(robot, fields, f"loop {fields.get('name', i + 1)!r}")
    return robot


def _with_closed_loop(robot: Robot, fields: Mapping[str, Any], where: str) -> Robot:
    reject_unknown(fields, CLOSED_LOOP, where)
    # `fixes` alone has a usual value.
    missing = [key for key in CLOSED_LOOP[:4] if key not in fields]
    if missing:
        raise DescriptionError(f"{where}: {missing[0]!r} is missing")
    for key in ("frames", "passive"):
        if not isinstance(fields[key], list) or not all(isinstance(name, str) for name in fields[key]):
            raise DescriptionError(f"{where}: {key}: expected a list of names, got {fields[key]!r:.60}")
    if not isinstance(fields["start"], Mapping):
        raise DescriptionError(f"{where}: start: expected joints with positions, got {fields['start']!r:.60}")
    name, fixes = str(fields["name"]), fields.get("fixes", "point")
    if fixes not in ("point", "frame"):
        raise DescriptionError(f'{where}: fixes: expected "point" or "frame", got {fixes!r:.60}')
    return robot.with_closed_loop(name, fields["frames"], fields["passive"], fields["start"], fixes)


def _with_matrix(robot: Robot, data: Mapping[str, Any]) -> Robot:
    loops = data["loops"]
    reject_unknown(loops, ("active", "F", "offset"), "loops")
    missing = [key for key in ("active", "F") if key not in loops]
    if missing:
        raise DescriptionError(f"loops: {missing[0]!r} is missing")
    # Without offsets all joints are zero together.
    return robot.with_loops(loops["F"], loops.get("offset", [0.0] * robot.n_bodies), loops["active"])


def _with_payload(robot: Robot, data: Mapping[str, Any]) -> Robot:
    if "payload" not in data:
        return robot
    reject_unknown(data["payload"], ("frame", *INERTIAL), "payload")
    return robot.with_payload(inertia_of(data["payload"], "payload"), data["payload"].get("frame"))
