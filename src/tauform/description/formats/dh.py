"""Denavit-Hartenberg tables, standard (Spong) and modified (Craig, Khalil), into the joint-frame convention.

    standard   A_i = Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i)
    modified   A_i = Rx(alpha_i) Tx(a_i) Rz(theta_i) Tz(d_i)

q is added to theta (revolute) or d (prismatic), times sign. Both become
parent_from_joint = Rx(alpha) Tx(a) Rz(theta) Tz(d): for a standard table alpha and a come from the row before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, fixed_array
from tauform.description.fields import (
    BOUNDS,
    DRIVE,
    INERTIAL,
    checked_angles,
    constants_of,
    drive_of,
    inertia_of,
    number,
    reject_unknown,
)
from tauform.description.joint import Frame, Joint, Length, Link
from tauform.description.joint_types import CONSTANTS, JOINT_TYPES
from tauform.description.robot import EARTH_GRAVITY, Robot
from tauform.description.transform import inverse, rigid, rotation_x, rotation_z, translation
from tauform.errors import DescriptionError
from tauform.portable.products import chain, product

GEOMETRY = ("a", "alpha", "d", "theta")
COLUMNS = ("joint", "name", "link", *GEOMETRY, "sign", *CONSTANTS, *INERTIAL, *DRIVE, *BOUNDS)


def robot_from_dh(
    rows: Sequence[Mapping[str, Any]],
    convention: Literal["standard", "modified"],
    *,
    name: str = "robot",
    gravity: ArrayLike = EARTH_GRAVITY,
    base: ArrayLike | None = None,
    tool: ArrayLike | None = None,
) -> Robot:
    """A serial chain from a DH table; see `Robot.from_dh`."""
    if convention not in ("standard", "modified"):
        raise DescriptionError(f'convention: expected "standard" or "modified", got {convention!r}')
    if len(rows) == 0:
        raise DescriptionError("DH table: no rows; give one row per joint")
    # What stands between the previous link's frame and this row's: the base, then (standard) Tx(a) Rx(alpha).
    previous = np.eye(4) if base is None else rigid(base, "base")
    pending_lengths: tuple[Length, ...] = ()
    joints, links = [], []
    for i, row in enumerate(rows):
        values = _checked_row(row, i)
        along_x = product(translation([values["a"], 0, 0]), rotation_x(values["alpha"]))
        about_z = product(rotation_z(values["theta"]), translation([0, 0, values["d"]]))
        flip = np.eye(4) if values["sign"] > 0 else rotation_x(np.pi)  # Rz(-q) = Rx(pi) Rz(q) Rx(pi)^-1
        lengths: tuple[Length, ...] = (Length(f"D{i + 1}", values["a"], np.array([1.0, 0, 0])),)
        if convention == "modified":
            placed, link_from_dh = product(previous, along_x), inverse(flip)
        else:
            # Standard: Tx(a) Rx(alpha) stands behind the joint and belongs to the next one's placement.
            placed, link_from_dh, lengths = previous, product(inverse(flip), along_x), pending_lengths
            pending_lengths = (Length(f"a{i + 1}", values["a"], np.array([1.0, 0, 0])),)
        # Along z of the frame that theta turns about, in the parent's axes.
        d = Length(f"{'R' if convention == 'modified' else 'd'}{i + 1}", values["d"], placed[:3, 2])
        parent_from_joint = chain(placed, about_z, flip)
        # A base placement mixes with the first row's lengths: their names would no longer hold.
        named = () if i == 0 and base is not None else tuple(x for x in (*lengths, d) if x.value)
        joints.append(_joint(values, i, parent_from_joint, named))
        # The table gives inertias in the DH frame of its row.
        inertia = inertia_of(values, f"DH row {i + 1}").moved(link_from_dh)
        links.append(Link(values["link"] or f"link{i + 1}", inertia))
        previous = link_from_dh
    flange = previous if tool is None else product(previous, rigid(tool, "tool"))
    frames = (Frame("tool", len(joints) - 1, flange),)
    return Robot(name, tuple(joints), tuple(links), fixed_array(gravity, (3,), "gravity"), frames, tip="tool")


def _checked_row(row: Mapping[str, Any], i: int) -> dict[str, Any]:
    where = f"DH row {i + 1}"
    if not isinstance(row, Mapping):
        # Tables of numbers come in two orders at least: a, alpha, d, theta and theta, d, a, alpha.
        raise DescriptionError(
            f"{where}: expected a mapping, as columns have no agreed order, got {row!r:.60}; name them: "
            "[{'joint': 'revolute', 'a': a, 'alpha': alpha, 'd': d, 'theta': theta} for a, alpha, d, theta in table]"
        )
    reject_unknown(row, COLUMNS, where, "column")
    kind = row.get("joint")
    if kind not in JOINT_TYPES:
        known = " or ".join(f'"{name}"' for name in JOINT_TYPES)
        raise DescriptionError(f'{where}: column "joint" must be {known}, got {kind!r}')
    # The joint's own column may be left out: q takes its place.
    missing = [key for key in GEOMETRY if key not in row and key != JOINT_TYPES[kind].dh_column]
    if missing:
        raise DescriptionError(f'{where}: column "{missing[0]}" is missing; write 0 if it is zero')
    values: dict[str, Any] = {key: row.get(key) for key in COLUMNS}
    for key in GEOMETRY:
        values[key] = number(row.get(key, 0.0), f"{where}: {key}")
    for key in ("alpha", "theta"):
        checked_angles(values[key], f"{where}: {key}")
    values["sign"] = number(row.get("sign", 1), f"{where}: sign")
    if values["sign"] not in (1.0, -1.0):
        raise DescriptionError(f"{where}: sign must be +1 or -1, got {row['sign']!r}")
    return values


def _joint(values: dict[str, Any], i: int, parent_from_joint: Array, lengths: tuple[Length, ...]) -> Joint:
    return Joint(
        name=values["name"] or f"joint{i + 1}",
        kind=values["joint"],
        parent=i - 1,
        parent_from_joint=parent_from_joint,
        lengths=lengths,
        constants=constants_of(values, f"DH row {i + 1}"),
        **drive_of(values, f"DH row {i + 1}"),
    )
