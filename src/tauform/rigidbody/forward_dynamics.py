"""Forward dynamics: the accelerations that torques cause."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array, joint_vector
from tauform.description.drives.groups import JointState
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.errors import UnknownNameError
from tauform.rigidbody.articulated_body import articulated_body
from tauform.rigidbody.drives import friction_torque, has_coupled_inertia, matrix_parents, temperatures
from tauform.rigidbody.gravity import bias_torque
from tauform.rigidbody.inertia.composite_rigid_body import composite_rigid_body
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.inverse_dynamics import newton_euler
from tauform.rigidbody.load import driving_torque, has_load, load_gains, refuse_strong_load
from tauform.rigidbody.sweeps.evaluation import check_batches, evaluate
from tauform.rigidbody.sweeps.factorization import factorize, solve
from tauform.rigidbody.sweeps.pivots import named_pivots
from tauform.rigidbody.sweeps.wrenches import BodyWrenches, Wrenches

ForwardMethod = Literal["aba", "mass_matrix"]


def forward_dynamics(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    method: ForwardMethod = "aba",
    temperature: ArrayLike | None = None,
    drives: bool = True,
    wrenches: Wrenches | None = None,
) -> Array:
    """Accelerations qdd = M^-1 (tau - C qd - g - friction + J^T w), the inverse of `inverse_dynamics`.

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        tau: (..., n) joint torques or forces [N m or N].
        method: "aba" (articulated body, O(n)) or "mass_matrix" (composite rigid body and a factorisation). With
            loop constraints or coupled rotors the bodies are not free of each other, and the mass matrix is
            factorised.
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.
        drives: True takes all drive terms; False leaves out what `friction` returns; rotors stay.
        wrenches: (..., 6) by frame: force then moment that the surroundings exert on the robot, in the axes and about
            the origin of a frame or link of that name.

    Returns:
        (..., n) accelerations.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints (6 of wrenches), or a value is not finite.
        SingularMassMatrixError: the mass matrix is not positive definite; the message names the link.
        UnknownNameError: no such method or frame.
        DescriptionError: friction depends on temperature, and none is given; or friction by load is so large that
            torques leave the acceleration open.
    """
    cores = {"aba": articulated_body, "mass_matrix": solved_by_mass_matrix}
    if method not in cores:
        raise UnknownNameError(f"method: no {method!r}; choose from {', '.join(cores)}")
    robot = robot if drives else robot.rigid
    # Friction that takes more than the torque it depends on has no unique acceleration.
    refuse_strong_load(robot)
    tree, given = robot.tree, temperatures(robot, temperature)
    with named_pivots(robot):
        if robot.closure is not None:
            return _with_loops(robot, q, qd, tau, given, wrenches)
        # A shaft between two joints is inertia that no single body holds: the articulated sweep cannot see it.
        algorithm = solved_by_mass_matrix if has_coupled_inertia(tree) else cores[method]

        def core(
            q: AnyArray,
            qd: AnyArray,
            tau: AnyArray,
            temperature: AnyArray | None = None,
            wrenches: BodyWrenches | None = None,
        ) -> AnyArray:
            driving = driving_torque(tree, JointState(q, qd, temperature=temperature), tau)
            return algorithm(tree, q, qd, driving, wrenches)

        return evaluate(robot, core, 0, wrenches, q=q, qd=qd, tau=tau, **given)


def solved_by_mass_matrix(
    tree: Tree, q: AnyArray, qd: AnyArray, tau: AnyArray, wrenches: BodyWrenches | None = None
) -> AnyArray:
    """(n, N) accelerations from M qdd = tau - C qd - g + J^T w, friction left out; arrays of any scalar."""
    # Zeros of M between branches are known from the tree, unless shafts couple them.
    parents = matrix_parents(tree)
    # M qdd = tau - (C qd + g - J^T w), the bias being the torque of a motion without acceleration.
    right = tau - newton_euler(tree, q, qd, 0 * qd, wrenches)
    return solve(factorize(composite_rigid_body(tree, q), parents), parents, right)


def _with_loops(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    given: dict[str, ArrayLike],
    wrenches: Wrenches | None,
) -> AnyArray:
    def other(q: AnyArray, qd: AnyArray, temperature: AnyArray | None = None) -> AnyArray:
        return friction_torque(robot.tree, JointState(q, qd, temperature=temperature))

    # Checked together: below, several evaluations would each see a part.
    check_batches(robot, wrenches, q=q, qd=qd, tau=tau, **given)
    # Loops tie bodies together, so the mass matrix is that of q, F^T M F, and full.
    driving = joint_vector(tau, robot.n_joints, "tau") - evaluate(robot, other, project=1, q=q, qd=qd, **given)
    # Fl below one keeps the sign of the torque that the joint carries, so that one division solves for it.
    if has_load(robot.tree):
        driving = driving / (1 + load_gains(robot, qd, driving))
    right = driving - bias_torque(robot, q, qd, wrenches)
    M = np.moveaxis(mass_matrix(robot, q), (-2, -1), (0, 1))
    # As of a chain: F^T M F has no zeros that the tree would tell.
    chain = tuple(range(-1, robot.n_joints - 1))
    return np.moveaxis(solve(factorize(M, chain), chain, np.moveaxis(right, -1, 0)), 0, -1)
