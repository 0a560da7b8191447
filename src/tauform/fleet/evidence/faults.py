"""Faults: how friction, gains, offsets and a payload act on the torques of a fleet's model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.description.drives import SHAPES
from tauform.description.inertia import parameter_transform
from tauform.identification.regression.design import Design

# Kinds of all drive terms that brake: a model may split Coulomb friction into steps of either sign, which are one.
FRICTION = frozenset(drive.kind for drive in SHAPES.values() if "qd" in drive.reads)


@dataclass(frozen=True, eq=False)
class Fault:
    """A fault as it acts on torques.

    Attributes:
        name: "friction", "gain", "offset" or "payload".
        joints: of the robot, counted from 0.
        directions: (p + n, k) of the columns of a window's triangles at its joint, of which the first is its size.
    """

    name: str
    joints: tuple[int, ...]
    directions: Array


def faults_of(design: Design, values: Array) -> list[Fault]:
    """Friction, gain and offset of each joint, and a payload; `values` are those of the pooled fit."""
    n, p = design.robot.n_joints, len(values)
    kinds, found = design.kinds, []
    for j in range(n):
        # All friction of a joint by the same share.
        own = [k for k, (kind, joints) in enumerate(kinds) if kind in FRICTION and joints == (j,)]
        shares = {"friction": {k: values[k] for k in own}, "gain": {p + j: 1.0}}
        shares["offset"] = {k: 1.0 for k, (kind, joints) in enumerate(kinds) if kind == "Fo" and joints == (j,)}
        for name, entries in shares.items():
            if any(entries.values()):
                direction = np.zeros((p + n, 1))
                direction[list(entries), 0] = list(entries.values())
                found.append(Fault(name, (j,), direction))
    load = load_directions(design)
    if load.any():
        found.append(Fault("payload", (), np.concatenate([load, np.zeros((n, load.shape[1]))])))
    return found


def moving_of(design: Design) -> tuple[int, ...]:
    """Columns of friction and offsets."""
    return tuple(k for k, (kind, _) in enumerate(design.kinds) if kind in ("Fv", "Fc", "Fo"))


def load_directions(design: Design) -> Array:
    """(p, 4) change of the values by a body at the tool, per kilogram and per first moment."""
    robot, base = design.robot, design.base
    place = robot.tool
    # A tool on the base carries nothing that moves.
    found = np.zeros((design.n_columns, 4))
    if place.link < 0:
        return found
    link_from_tool = parameter_transform(place.link_from_frame)
    for k in range(4):
        body = np.zeros(robot.layout.n)
        body[robot.layout.link(place.link)] = link_from_tool[:, k]
        found[: base.n, k] = base.values(body)
    return found
