"""[[drive]] tables: drive terms beyond the rotor inertia and friction of a joint, read and written bit for bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tauform.arrays import fixed_array
from tauform.description.drives import OF_JOINTS, SHAPES, Drive, End
from tauform.description.drives.springs import BetweenPoints
from tauform.description.fields import number, reject_unknown
from tauform.description.robot import Robot
from tauform.errors import DescriptionError
from tauform.messages import no_such
from tauform.portable.products import product

FURTHER = {name: shape for name, shape in SHAPES.items() if shape not in OF_JOINTS}


def drive_of_table(robot: Robot, fields: Mapping[str, Any], i: int) -> Drive:
    """The drive term of a table.

    Raises:
        DescriptionError: an unknown shape or joint, a key that the shape does not have, or senseless constants.
    """
    name = fields.get("shape")
    where = f"drive {i + 1}"
    if name is None:
        raise DescriptionError(f"{where}: shape is missing; choose from {', '.join(FURTHER)}")
    if not isinstance(name, str) or name not in FURTHER:
        # Rotors and plain friction have one spelling only, so that no file can give them twice.
        own = ", which is a key of its joint" if name in SHAPES else ""
        raise DescriptionError(f"{where}: no shape {name!r}{own}; choose from {', '.join(FURTHER)}")
    shape, where = FURTHER[name], f"{where} ({name})"
    # What acts between two points finds its joints from the tree.
    between = issubclass(shape, BetweenPoints)
    places = () if between else ("joint", "joints")
    reject_unknown(fields, ("shape", *places, "coefficient", "label", *shape.constant_names()), where)
    if "coefficient" not in fields:
        raise DescriptionError(f"{where}: coefficient is missing")
    # Those that are left out have usual values, or `Drive.of` names them.
    constants = {key: _constant(robot, key, fields[key], where) for key in shape.constant_names() if key in fields}
    joints = () if between else _joints(robot, fields, where)
    try:
        return Drive.of(name, joints, fields["coefficient"], fields.get("label", ""), **constants)
    except DescriptionError as error:
        raise DescriptionError(f"drive {i + 1}: {error}") from None


def _joints(robot: Robot, fields: Mapping[str, Any], where: str) -> tuple[int, ...]:
    # Neither or both.
    if ("joint" in fields) == ("joints" in fields):
        raise DescriptionError(f"{where}: give joint, or the two joints of a shaft")
    given = [fields["joint"]] if "joint" in fields else fields["joints"]
    names = [joint.name for joint in robot.joints]
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise DescriptionError(f"{where}: joints: expected a list of names, got {given!r:.60}")
    for name in given:
        if name not in names:
            raise no_such(f"{where}: joint", str(name), names)
    return tuple(names.index(name) for name in given)


def _constant(robot: Robot, key: str, value: Any, where: str) -> Any:
    if key != "ends":
        return number(value, f"{where}: {key}")
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise DescriptionError(f"{where}: ends: expected two tables of link and point, got {value!r:.60}")
    return tuple(_end(robot, end, f"{where}: ends") for end in value)


def _end(robot: Robot, fields: Any, where: str) -> End:
    reject_unknown(fields, ("link", "point"), where)
    if "point" not in fields:
        raise DescriptionError(f"{where}: point is missing")
    point = fixed_array(fields["point"], (3,), f"{where}: point")
    # A point of the base, which is no link.
    if "link" not in fields:
        return End(-1, tuple(point.tolist()))
    if fields["link"] in (names := [link.name for link in robot.links]):
        return End(names.index(fields["link"]), tuple(point.tolist()))
    # A frame is allowed too; the end is kept on its link, where the term computes.
    frame = robot.frame(str(fields["link"]))
    placed = product(frame.link_from_frame, np.append(point, 1.0))
    return End(frame.link, tuple(placed[:3].tolist()))


def drive_tables(robot: Robot) -> Iterator[dict[str, Any]]:
    """The further drive terms as tables."""
    names, links = [joint.name for joint in robot.joints], [link.name for link in robot.links]
    for term in robot.further_drives:
        table: dict[str, Any] = {"shape": term.shape}
        if isinstance(term, BetweenPoints):
            constants = {**term.constants, "ends": [_end_table(end, links) for end in term.ends]}
        else:
            # Spelt as a person would: one joint, or a list of two.
            table |= {"joint": names[term.joints[0]]} if len(term.joints) == 1 else {}
            table |= {"joints": [names[j] for j in term.joints]} if len(term.joints) > 1 else {}
            constants = term.constants
        yield {**table, "coefficient": term.coefficient, **constants, "label": term.label or None}


def _end_table(end: End, links: Sequence[str]) -> dict[str, Any]:
    return {**({"link": links[end.link]} if end.link >= 0 else {}), "point": end.point}
