"""Forward dynamics: the accelerations that torques cause."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array, joint_vector
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.errors import UnknownNameError
from tauform.rigidbody.articulated_body import articulated_body
from tauform.rigidbody.composite_rigid_body import composite_rigid_body
from tauform.rigidbody.friction import friction, joint_friction
from tauform.rigidbody.gravity import bias_torque
from tauform.rigidbody.inverse_dynamics import newton_euler
from tauform.rigidbody.mass_matrix import mass_matrix
from tauform.rigidbody.sweeps.evaluation import evaluate
from tauform.rigidbody.sweeps.factorization import factorize, solve
from tauform.rigidbody.sweeps.pivots import named_pivots

ForwardMethod = Literal["aba", "mass_matrix"]


def forward_dynamics(robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, method: ForwardMethod = "aba") -> Array:
    """Accelerations qdd = M^-1 (tau - C qd - g - friction), the inverse of `inverse_dynamics`.

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        tau: (..., n) joint torques or forces [N m or N].
        method: "aba" (articulated body, O(n)) or "mass_matrix" (composite rigid body and a factorisation). With
            loop constraints the bodies are not free of each other, and the projected mass matrix is factorised.

    Returns:
        (..., n) accelerations.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        SingularMassMatrixError: the mass matrix is not positive definite; the message names the link.
        UnknownNameError: no such method.
    """
    cores = {"aba": articulated_body, "mass_matrix": solved_by_mass_matrix}
    if method not in cores:
        raise UnknownNameError(f"method: no {method!r}; choose from {', '.join(cores)}")
    with named_pivots(robot):
        if robot.closure is not None:
            return _with_loops(robot, q, qd, tau)
        tree = robot.tree

        def core(q: AnyArray, qd: AnyArray, tau: AnyArray) -> AnyArray:
            return cores[method](tree, q, qd, tau - joint_friction(tree, qd))

        return evaluate(robot, core, q=q, qd=qd, tau=tau)


def solved_by_mass_matrix(tree: Tree, q: AnyArray, qd: AnyArray, tau: AnyArray) -> AnyArray:
    """(n, N) accelerations from M qdd = tau - C qd - g, friction left out; arrays of any scalar."""
    factors = factorize(composite_rigid_body(tree, q), tree.parents)
    return solve(factors, tree.parents, tau - newton_euler(tree, q, qd, 0 * qd))


def _with_loops(robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> AnyArray:
    right = joint_vector(tau, robot.n_joints, "tau") - bias_torque(robot, q, qd) - friction(robot, qd)
    M = np.moveaxis(mass_matrix(robot, q), (-2, -1), (0, 1))
    chain = tuple(range(-1, robot.n_joints - 1))
    return np.moveaxis(solve(factorize(M, chain), chain, np.moveaxis(right, -1, 0)), 0, -1)
