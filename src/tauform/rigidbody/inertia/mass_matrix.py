"""The mass matrix, by either of two algorithms."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import UnknownNameError
from tauform.rigidbody.inertia.composite_rigid_body import composite_rigid_body
from tauform.rigidbody.inertia.gdahj import gdahj
from tauform.rigidbody.sweeps.evaluation import evaluate

MassMatrixMethod = Literal["crba", "gdahj"]
METHODS = {"crba": composite_rigid_body, "gdahj": gdahj}


def mass_matrix(robot: Robot, q: ArrayLike, method: MassMatrixMethod = "crba") -> Array:
    """Mass matrix M(q), rotor inertia included.

    Args:
        q: (..., n) joint positions [rad or m].
        method: "crba" (composite rigid body, link frames) or "gdahj" (Safeea2018, base frame: cheaper for many
            joints; docs/operation_counts.md has the figures).

    Returns:
        (..., n, n), symmetric.

    Raises:
        ShapeError: the last dimension differs from robot.n_joints, or a value is not finite.
        UnknownNameError: no such method.
    """
    if method not in METHODS:
        raise UnknownNameError(f"method: no {method!r}; choose from {', '.join(METHODS)}")
    return evaluate(robot, lambda q: METHODS[method](robot.tree, q), project=2, q=q)
