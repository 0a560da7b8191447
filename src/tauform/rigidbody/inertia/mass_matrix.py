"""The mass matrix, by the cheaper of two algorithms."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import UnknownNameError
from tauform.rigidbody.inertia.composite_rigid_body import composite_rigid_body
from tauform.rigidbody.inertia.gdahj import gdahj
from tauform.rigidbody.sweeps.evaluation import evaluate

MassMatrixMethod = Literal["auto", "crba", "gdahj"]
METHODS = {"crba": composite_rigid_body, "gdahj": gdahj}
# With this many joints GDAHJ, direct kinematics included, takes fewer operations than CRBA in frames of a DH table.
MANY_JOINTS = 17


def mass_matrix(robot: Robot, q: ArrayLike, method: MassMatrixMethod = "auto") -> Array:
    """Mass matrix M(q), rotor inertia included.

    Args:
        q: (..., n) joint positions [rad or m].
        method: "crba" (composite rigid body, link frames), "gdahj" (Safeea2018, base frame: cheaper for many
            joints; docs/operation_counts.md has the figures), or "auto", which takes the cheaper.

    Returns:
        (..., n, n), symmetric.

    Raises:
        ShapeError: the last dimension differs from robot.n_joints, or a value is not finite.
        UnknownNameError: no such method.
    """
    if method == "auto":
        method = "gdahj" if robot.n_bodies >= MANY_JOINTS else "crba"
    if method not in METHODS:
        raise UnknownNameError(f"method: no {method!r}; choose from auto, {', '.join(METHODS)}")
    # Projected on both sides where loops tie joints: F^T M F.
    return evaluate(robot, lambda q: METHODS[method](robot.tree, q), project=2, q=q)
