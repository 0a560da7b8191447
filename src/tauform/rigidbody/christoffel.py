"""Coefficients D_ijk of products of velocities, by Christoffel symbols.  [Izaguirre1992, Eq. 1]"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array, joint_vector
from tauform.description.robot import Robot
from tauform.rigidbody.coriolis import coriolis_matrix


def christoffel_coefficients(robot: Robot, q: ArrayLike) -> Array:
    """D_ijk of the velocity torques, tau_i = sum over j, k of D_ijk qd_j qd_k.

    D_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, symmetric in j and k: D_ijj are centrifugal, 2 D_ijk with j < k
    are Coriolis coefficients.

    Args:
        q: (..., n) joint positions [rad or m].

    Returns:
        (..., n, n, n) with the indices i, j, k.

    Raises:
        ShapeError: the last dimension differs from robot.n_joints, or a value is not finite.
    """
    positions: AnyArray = joint_vector(q, robot.n_joints, name="q")
    # C of Christoffel symbols is linear in velocities: C(q, e_k)_ij = D_ijk.
    unit = np.eye(robot.n_joints)
    C = coriolis_matrix(robot, positions[..., None, :], unit)
    return np.moveaxis(C, -3, -1)
