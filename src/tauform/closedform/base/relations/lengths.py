"""Names of the lengths that relations between parameters are written in."""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array
from tauform.description.joint import Joint


def named_lengths(joint: Joint, j: int) -> list[tuple[str, float, Array]]:
    """Name, value and direction of the parts of a joint's translation; x_3, y_3, z_3 where it names none."""
    offset = joint.parent_from_joint[:3, 3]
    given = [(length.name, float(length.value), np.asarray(length.direction)) for length in joint.lengths]
    total = sum((value * direction for _, value, direction in given), np.zeros(3))
    # Names that do not add up to the translation (a moved frame) would give wrong relations: take x, y, z instead.
    if given and np.abs(total - offset).max() <= 1e-12 * np.abs(offset).max():
        return given
    axes = zip("xyz", offset, np.eye(3), strict=True)
    return [(f"{axis}_{j + 1}", float(value), direction) for axis, value, direction in axes if value]
