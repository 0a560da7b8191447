"""Rich tables of a robot: its joints, inertias, losses, frames, and what `check()` found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from rich.text import Text

from tauform.arrays import Array
from tauform.description.finding import Finding
from tauform.description.robot import GeneralClosure, Robot
from tauform.report.fitted import Bullets, FittedTable

# Relative to the largest entry; what a few additions of doubles leave behind.
ROUNDING = 1e-14
SEVERITY_STYLE = {"unphysical": "red", "doubtful": "yellow", "note": "dim"}


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], text_columns: int = 1) -> FittedTable:
    """A table whose first columns hold text and whose others hold numbers, aligned right.

    Args:
        title: printed above, left-aligned.
        columns: headings.
        rows: cells; texts are printed as they are, numbers and vectors in four significant digits, None as "-".
        text_columns: how many leading columns are aligned left.
    """
    cells = tuple(tuple(cell(value) for value in row) for row in rows)
    return FittedTable(title, tuple(columns), cells, text_columns)


def cell(value: Any) -> str:
    """A value as the text of a table cell."""
    if value is None:
        return "-"
    # Before floats: True is a number to Python.
    if isinstance(value, (str, bool, int)):
        # Whole numbers in full: operation counts must not become 1.2e+04.
        return str(value)
    if isinstance(value, (float, np.floating)):
        return "-" if np.isinf(value) else f"{value + 0.0:.4g}"  # + 0.0: no negative zero
    return " ".join(cell(float(entry)) for entry in value)


def base_from_joints(robot: Robot) -> list[Array]:
    """(4, 4) placement of each joint in the base frame with every joint of the tree at zero."""
    placements: list[Array] = []
    for joint in robot.joints:
        # Parents stand before children in robot.joints, so their placement is already known.
        base_from_parent = placements[joint.parent] if joint.parent >= 0 else np.eye(4)
        placements.append(base_from_parent @ joint.parent_from_joint)
    return placements


def joint_table(robot: Robot) -> FittedTable:
    """Kind, parent, and axis and origin in the base frame at zero, of each joint."""
    rows = [
        (
            joint.name,
            joint.kind,
            robot.links[joint.parent].name if joint.parent >= 0 else "base",
            # The axis is z of the joint's frame, the third column; six digits hide rounding of right angles.
            np.round(placement[:3, 2], 6),
            np.round(placement[:3, 3], 6),
        )
        for joint, placement in zip(robot.joints, base_from_joints(robot), strict=True)
    ]
    columns = ("joint", "kind", "parent", "axis", "origin [m]")
    return table("Joints at zero, in the base frame", columns, rows, text_columns=3)


def limit_table(robot: Robot) -> FittedTable | None:
    """Limits of each joint; None where the description is silent."""
    rows = [(j.name, j.limits.lower, j.limits.upper, j.limits.velocity, j.limits.effort) for j in robot.joints]
    if np.isinf([row[1:] for row in rows]).all():
        return None
    return table("Limits (rad or m, N m or N)", ("joint", "lower", "upper", "velocity", "effort"), rows)


def mass_table(robot: Robot) -> FittedTable:
    """Mass and centre of mass of each link, in the link's frame, payload included."""
    # Coordinates below rounding of the largest one are zeros.
    least = ROUNDING * max(float(np.abs(inertia.com).max()) for inertia in robot.inertias)
    rows = [
        (link.name, inertia.mass, np.where(np.abs(inertia.com) > least, inertia.com, 0.0))
        for link, inertia in zip(robot.links, robot.inertias, strict=True)
    ]
    return table("Masses (in the link's frame)", ("link", "mass [kg]", "centre of mass [m]"), rows)


def inertia_table(robot: Robot) -> FittedTable:
    """Inertia of each link about its centre of mass, in the link's axes, payload included."""
    rows = []
    for link, inertia in zip(robot.links, robot.inertias, strict=True):
        tensor = inertia.tensor_about_com
        # What is left where I cancels against m c^2 is rounding, not inertia.
        tensor = np.where(np.abs(tensor) > ROUNDING * np.abs(inertia.tensor).max(), tensor, 0.0)
        # Diagonal, then Ixy, Ixz, Iyz.
        rows.append((link.name, *tensor.diagonal(), *tensor[[0, 0, 1], [1, 2, 2]]))
    columns = ("link", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
    return table("Inertias about the centre of mass [kg m^2]", columns, rows)


def loss_table(robot: Robot) -> FittedTable | None:
    """Rotor inertia and friction of each joint; None where the robot declares neither."""
    rows = [(j.name, j.rotor_inertia, j.viscous, j.coulomb, j.offset) for j in robot.joints]
    if not any(value for row in rows for value in row[1:]):
        return None
    return table("Rotors and friction", ("joint", "rotor Ia", "viscous Fv", "Coulomb Fc", "offset Fo"), rows)


def loop_table(robot: Robot) -> FittedTable | None:
    """Relations of the joints that q does not hold to those it does; None where no loop constraint holds."""
    closure = robot.closure
    if closure is None:
        return None
    if isinstance(closure, GeneralClosure):
        follows = [(name, relation.text()) for relation in closure.relations for name in relation.joints]
        return table("Loop constraints", ("joint", "follows"), follows, text_columns=2)
    rows = []
    # q_tree = F q + offset, a row for each joint of the tree.
    for joint, factors, offset in zip(robot.joints, closure.F, closure.offset, strict=True):
        # Active joints are those that q holds: they follow nothing.
        if joint.name in closure.active:
            continue
        terms = [f"{factor:+.4g} {name}" for factor, name in zip(factors, closure.active, strict=True) if factor]
        # "0" for a joint that the loop holds still.
        rows.append((joint.name, " ".join(terms + [f"{offset:+.4g}"] * bool(offset)) or "0"))
    return table("Loop constraints", ("joint", "follows"), rows, text_columns=2)


def frame_table(robot: Robot) -> FittedTable | None:
    """The named frames: link they sit on and their origin in it; the tip is marked."""
    rows = [
        (
            frame.name + (" (tip)" if frame.name == robot.tip else ""),
            robot.links[frame.link].name if frame.link >= 0 else "base",
            frame.link_from_frame[:3, 3],
        )
        for frame in robot.frames
    ]
    return table("Frames", ("frame", "on link", "origin in the link [m]"), rows, text_columns=2) if rows else None


def finding_list(findings: Sequence[Finding]) -> Bullets | Text:
    """Findings of `check()`, one item each, or that it found nothing."""
    if not findings:
        return Text("Check: nothing unphysical, nothing almost aligned.", style="green")
    return Bullets("Check:", tuple((str(finding), SEVERITY_STYLE[finding.severity]) for finding in findings))
