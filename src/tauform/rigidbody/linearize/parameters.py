"""Sensitivity of accelerations, and of a whole trajectory, to the parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, fixed_array, joint_vector
from tauform.description.parameter_groups import Include
from tauform.description.robot import Robot
from tauform.errors import ShapeError, UnknownNameError
from tauform.rigidbody.drives import matrix_parents
from tauform.rigidbody.forward_dynamics import forward_dynamics
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.linearize.geometry import geometry_names, linearize_forward_geometry
from tauform.rigidbody.linearize.state_space import state_space, zero_order_hold
from tauform.rigidbody.load import has_load, load_gains
from tauform.rigidbody.regressor import chosen_columns, regressor
from tauform.rigidbody.sweeps.factorization import factorize, solve
from tauform.rigidbody.sweeps.pivots import named_pivots


def linearize_forward_parameters(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    include: Include | None = None,
    temperature: ArrayLike | None = None,
) -> Array:
    """Derivative of `forward_dynamics` by the parameters, -M^-1 Y (that of `inverse_dynamics` is `regressor`).

    Friction that depends on load also grows with the links: G (M qdd + C qd + g) + other = tau with the load's gain G,
    so that columns which are not of links and rotors are divided by G.

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        tau: (..., n) joint torques or forces [N m or N].
        include: groups of parameters ("link", "rotor", "viscous", ...); None takes all.
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.

    Returns:
        (..., n, n_parameters), columns in the order of robot.parameter_names.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        SingularMassMatrixError: the mass matrix is not positive definite; the message names the link.
        UnknownNameError: `include` names a group that does not exist.
    """
    # At fixed torque, 0 = dtau = Y dpi + M dqdd.
    qdd = forward_dynamics(robot, q, qd, tau, temperature=temperature)
    Y = regressor(robot, q, qd, qdd, include, temperature)
    if has_load(robot.tree):
        gains = 1 + load_gains(robot, qd, inverse_dynamics(robot, q, qd, qdd, drives=False))[..., None]
        # Columns of links and rotors pass through the load's gain as the torque does, so that it cancels in them.
        inertial = np.array([own.is_inertial for own in robot.layout.parameters])[chosen_columns(robot, include)]
        Y = np.where(inertial, Y, Y / gains)
    M = np.moveaxis(mass_matrix(robot, q), (-2, -1), (0, 1))
    # Loops fill the matrix: no zeros of branches.
    parents = matrix_parents(robot.tree) if robot.closure is None else tuple(range(-1, robot.n_joints - 1))
    with named_pivots(robot):
        columns = solve(factorize(M, parents), parents, -np.moveaxis(Y, (-2, -1), (0, 1)))
    return np.moveaxis(columns, (0, 1), (-2, -1))


@dataclass(frozen=True, eq=False)
class TrajectorySensitivity:
    """Sensitivity of a trajectory under given torques to the parameters.

    Attributes:
        names: of the parameters, or of the displacements of joints.
        dq: (T, n, n_parameters) derivative of the positions at each sample.
        dqd: (T, n, n_parameters) derivative of the velocities.
    """

    names: tuple[str, ...]
    dq: Array
    dqd: Array

    def __repr__(self) -> str:
        return f"TrajectorySensitivity({self.dq.shape[0]} samples, {len(self.names)} parameters)"


def trajectory_sensitivity(
    robot: Robot,
    t: ArrayLike,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    include: Include | None = None,
    temperature: ArrayLike | None = None,
    by: Literal["parameters", "geometry"] = "parameters",
) -> TrajectorySensitivity:
    """Derivative of a trajectory by the parameters or the geometry, the torques and the initial state held.

    The linearised equations dx' = A(t) dx - [0; M^-1 Y] are integrated between samples with the mean of their ends,
    exactly in dx: the error falls with the square of the time step.

    Args:
        t: (T,) rising times [s].
        q: (T, n) joint positions [rad or m].
        qd: (T, n) joint velocities.
        tau: (T, n) joint torques or forces [N m or N].
        include: groups of parameters; None takes all.
        temperature: (T, n) of the joints [degrees Celsius]; needed where friction depends on it.
        by: "parameters", or "geometry": the placement of the joints, columns as of `linearize_forward_geometry`.

    Raises:
        ShapeError: times do not rise, or an array has another shape.
        SingularMassMatrixError: the mass matrix is not positive definite; the message names the link.
        UnknownNameError: `include` names a group that does not exist, or no such `by`.
    """
    if by not in ("parameters", "geometry"):
        raise UnknownNameError(f'by: no {by!r}; choose "parameters" or "geometry"')
    times = fixed_array(t, np.shape(t), "t")
    if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0).all():
        raise ShapeError(f"t: expected at least two rising times of shape (T,), got shape {times.shape}")
    for name, values in (("q", q), ("qd", qd), ("tau", tau)):
        if joint_vector(values, robot.n_joints, name).shape != (len(times), robot.n_joints):
            raise ShapeError(f"{name}: expected shape {(len(times), robot.n_joints)}, got {np.shape(values)}")
    A = state_space(robot, q, qd, tau, temperature=temperature).A
    if by == "geometry":
        names, forcing = geometry_names(robot), linearize_forward_geometry(robot, q, qd, tau, temperature)
    else:
        names = tuple(np.array(robot.parameter_names)[chosen_columns(robot, include)].tolist())
        forcing = linearize_forward_parameters(robot, q, qd, tau, include, temperature)
    # Parameters act on accelerations alone: positions have no forcing of their own.
    E = np.concatenate([0 * forcing, forcing], axis=-2)
    # With B = 1 the held input is the integral of exp(A s), exact for a constant A.
    unit = np.broadcast_to(np.eye(A.shape[-1]), A[1:].shape)
    # The mean of both ends: second order in the step, and exact for a constant A.
    transition, held = zero_order_hold((A[1:] + A[:-1]) / 2, unit, np.diff(times))
    # The initial state does not depend on the parameters.
    x = np.zeros_like(E)
    for k in range(len(times) - 1):
        x[k + 1] = transition[k] @ x[k] + held[k] @ ((E[k] + E[k + 1]) / 2)
    return TrajectorySensitivity(names, x[:, : robot.n_joints], x[:, robot.n_joints :])
