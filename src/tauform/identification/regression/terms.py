"""Terms beside the base parameters: drive terms of the robot, and columns of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.description.drives import CoupledCoulomb, CoupledInertia, CoupledViscous, Drive

Torque = Callable[[Array, Array, Array], Array]


@dataclass(frozen=True, eq=False)
class Column:
    """A column of the user's own: function(q, qd, qdd) -> (N, n) torque for a coefficient of one.

    No robot, file or code holds a function of Python; these refuse it by its name.

    Attributes:
        is_sharp: False says that it neither jumps nor bends, so that fewer samples of it do.
    """

    name: str
    function: Torque
    meaning: str = "given by the user"
    is_sharp: bool = True

    def torque(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(N, n) torque for a coefficient of one."""
        return np.asarray(self.function(q, qd, qdd), dtype=np.float64)


# One column beside the base parameters.
Term = Drive | Column


def coupling(i: int, j: int, width: float = 0.0, sense: int = 1) -> tuple[Drive, Drive, Drive]:
    """The three terms of a shaft that joints i and j of the tree (from 0) turn together, as in many wrists."""
    return (
        CoupledInertia(joints=(i, j), sense=sense),
        CoupledViscous(joints=(i, j), sense=sense),
        CoupledCoulomb(joints=(i, j), sense=sense, width=width),
    )
