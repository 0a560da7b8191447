"""Write any Robot as TOML (convention "frames"); reading it back gives the same numbers bit for bit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.description.fields import BOUNDS, DRIVE
from tauform.description.formats.toml.drives import drive_tables
from tauform.description.joint import Closure, Joint
from tauform.description.loops.coincidence import Coincidence
from tauform.description.loops.relation import Expressed, Linear
from tauform.description.robot import GeneralClosure, Robot
from tauform.escaping.tables import toml_string


def to_toml(robot: Robot, folder: Path) -> tuple[str, tuple[str, ...]]:
    """The robot as the text of a TOML file, wherever it stands, and what it does not hold."""
    shapes = f"TOML describes dynamics; {len(robot.shapes)} collision shapes are left out"
    return "\n".join(_lines(robot)) + "\n", (shapes,) if robot.shapes else ()


def _lines(robot: Robot) -> Iterator[str]:
    # Said first and kept last: a file that was cut in between is noticed by its own words.
    yield 'last_table = "end"'
    header = {"name": robot.name, "convention": "frames", "gravity": robot.gravity, "tip": robot.tip}
    yield from _pairs(header)
    names = [link.name for link in robot.links]
    for joint, link in zip(robot.joints, robot.links, strict=True):
        yield from ("", "[[joint]]")
        parent = names[joint.parent] if joint.parent >= 0 else None
        yield from _pairs({"name": joint.name, "kind": joint.kind, "link": link.name, "parent": parent})
        yield from _pairs(dict(joint.constants))
        # The matrix itself, not rpy: angles would lose the last bits.
        yield from _pairs({**_placement(joint.parent_from_joint), "lengths": _lengths(joint)})
        yield from _pairs({"parameters": link.inertia.parameters, **_drive(joint)})
    for frame in robot.frames:
        yield from ("", "[[frame]]")
        # Left out for the base, as the reader has it.
        link_name = names[frame.link] if frame.link >= 0 else None
        yield from _pairs({"name": frame.name, "link": link_name, **_placement(frame.link_from_frame)})
    for table in drive_tables(robot):
        yield from ("", "[[drive]]")
        yield from _pairs(table)
    yield from _loops(robot.closure)
    if robot.payload:
        yield from ("", "[payload]")
        yield from _pairs({"frame": robot.payload.frame, "parameters": robot.payload.inertia.parameters})
    yield from ("", "[end]", f"joints = {robot.n_bodies}")


def _loops(closure: Closure | GeneralClosure | None) -> Iterator[str]:
    if isinstance(closure, Closure):
        yield from ("", "[loops]")
        yield from _pairs({"active": closure.active, "F": closure.F, "offset": closure.offset})
    elif closure is not None:
        relations: dict[str, Any] = {}
        for relation in closure.relations:
            if isinstance(relation, Linear):
                factors = {**dict(relation.terms), **({"": relation.constant} if relation.constant else {})}
                relations[toml_string(relation.joint)] = {toml_string(name): x for name, x in factors.items()}
            elif isinstance(relation, Expressed):
                relations[toml_string(relation.joint)] = relation.expression.text
        if relations:
            yield from ("", "[relations]")
            yield from _pairs(relations)
        # Arrays of tables come after plain tables, else TOML would count what follows as theirs.
        for loop in (relation for relation in closure.relations if isinstance(relation, Coincidence)):
            yield from ("", "[[closed_loop]]")
            start = {toml_string(name): value for name, value in loop.start}
            yield from _pairs({"name": loop.name, "frames": loop.frames, "passive": loop.passive, "start": start})
            yield from _pairs({"fixes": loop.fixes})


def _pairs(values: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{key} = {_value(value)}" for key, value in values.items() if value is not None)


def _placement(T: Array) -> dict[str, Array]:
    return {"xyz": T[:3, 3], "rotation": T[:3, :3]}


def _lengths(joint: Joint) -> list[dict[str, Any]] | None:
    described = [{"name": x.name, "value": x.value, "direction": x.direction} for x in joint.lengths]
    return described or None


def _drive(joint: Joint) -> dict[str, float | None]:
    bounds = {key: getattr(joint.limits, key) for key in BOUNDS}
    drive = {key: getattr(joint, key) for key in DRIVE}
    # Zero is the usual sharp sign and need not be said.
    drive["coulomb_width"] = joint.coulomb_width or None
    return {**drive, **{key: value for key, value in bounds.items() if np.isfinite(value)}}


def _value(value: Any) -> str:
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, Iterable):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    # The shortest decimal that reads back as the same bits.
    return repr(float(value))
