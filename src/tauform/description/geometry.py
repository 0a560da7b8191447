"""Whether two robots have one geometry: models and fits hold on the geometry and gravity they were made for."""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.robot import GeneralClosure, Robot

# Of lengths, rotations and gravity, relative to the largest; descriptions of one robot agree to rounding.
GEOMETRY_TOLERANCE = 1e-9


def difference(robot: Robot, other: Robot) -> str | None:
    """Name where two robots differ, None where they are one mechanism; names, inertias and friction may differ."""
    a, b = robot.tree, other.tree
    if (a.parents, a.types) != (b.parents, b.types):
        return "its joints"
    if not _same(a.gravity, b.gravity):
        return "gravity"
    for k, joint in enumerate(other.joints):
        if not _same(a.rotations[k], b.rotations[k]) or not _same(a.translations, b.translations, k):
            return f"the place of {joint.name!r}"
    if (robot.closure is None) != (other.closure is None):
        return "its loops"
    if isinstance(robot.closure, GeneralClosure) or isinstance(other.closure, GeneralClosure):
        return None if robot.closure == other.closure else "its loops"
    if robot.closure is not None and other.closure is not None:
        pairs = ((robot.closure.F, other.closure.F), (robot.closure.offset, other.closure.offset))
        if not all(_same(x, y) for x, y in pairs):
            return "its loops"
    return None


def _same(x: AnyArray, y: AnyArray, part: int | slice = slice(None)) -> bool:
    """Whether parts of two arrays agree, relative to the largest entry of both."""
    largest = max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0))
    return bool((np.abs(x[part] - y[part]) <= GEOMETRY_TOLERANCE * largest).all())
