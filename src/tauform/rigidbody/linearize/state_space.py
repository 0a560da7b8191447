"""State-space models of a robot near a state or along a trajectory: what LQR, MPC and observers start from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.errors import MissingExtraError, ModelError
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.linearize.forward import linearize_forward

# A mode counts as uncontrollable where [A - lambda 1, B] falls this far below full rank, relative to its norm.
CONTROLLABILITY_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class StateSpace:
    """xdot = A x + B u, or with a time step x_next = A x + B u, for small x = (dq, dqd) and u = dtau.

    Attributes:
        A: (..., 2n, 2n).
        B: (..., 2n, n).
        joint_names: of the coordinates.
        dt: time step [s] of a discrete model; None for a continuous one.
    """

    A: Array
    B: Array
    joint_names: tuple[str, ...]
    dt: float | None = None

    def discretized(self, dt: float) -> StateSpace:
        """The exact model under inputs held for dt seconds (zero-order hold)."""
        if self.dt is not None:
            raise ModelError(f"the model already has a time step of {self.dt:g} s; discretize the continuous one")
        if not (np.isfinite(dt) and dt > 0):
            raise ModelError(f"dt: expected a positive time step in seconds, got {dt!r}")
        # Overflow is told below, in words.
        with np.errstate(over="ignore", invalid="ignore"):
            A, B = zero_order_hold(self.A, self.B, np.asarray(dt))
        if not (np.isfinite(A).all() and np.isfinite(B).all()):
            raise ModelError(f"dt: over {dt:g} s the state grows beyond all numbers; take a shorter step")
        return replace(self, A=A, B=B, dt=float(dt))

    @property
    def eigenvalues(self) -> AnyArray:
        """(..., 2n) of A, in 1/s (of a discrete model, of one step)."""
        return np.linalg.eigvals(self.A)

    @property
    def damping(self) -> Array:
        """(..., 2n) damping ratio of each eigenvalue: 1 settles without overshoot, negative grows."""
        poles = self.eigenvalues
        if self.dt is not None:
            # A discrete pole z = exp(s dt) is taken back to s, for which damping is defined.
            poles = np.log(poles.astype(complex)) / self.dt
        # A pole at zero neither settles nor grows.
        size = np.abs(poles)
        return np.where(size > 0, -poles.real / np.where(size > 0, size, 1), 0.0)

    @property
    def is_controllable(self) -> Any:
        """(...) whether the inputs reach every mode (Popov-Belevitch-Hautus test)."""
        n = self.A.shape[-1]
        poles = self.eigenvalues
        # One test per eigenvalue: [A - lambda 1, B] loses rank exactly where no input reaches the mode.
        shifted = self.A[..., None, :, :] - poles[..., None, None] * np.eye(n)
        B = np.broadcast_to(self.B[..., None, :, :], (*poles.shape, *self.B.shape[-2:]))
        singular = np.linalg.svd(np.concatenate([shifted, B], axis=-1), compute_uv=False)
        return np.all(singular[..., -1] > CONTROLLABILITY_TOLERANCE * singular[..., 0], axis=-1)

    def to_control(self) -> Any:
        """The model as a control.StateSpace whose outputs are its states.

        Raises:
            MissingExtraError: python-control is not installed.
            ModelError: this is a batch of models; take one of them.
        """
        try:
            import control
        except ImportError:
            raise MissingExtraError("python-control is not installed; pip install 'tauform[control]'") from None
        if self.A.ndim != 2:
            raise ModelError(f"a batch of {self.A.shape[:-2]} models; python-control takes one: index A and B first")
        n = self.A.shape[0]
        states = [f"{kind}_{name}" for kind in ("q", "qd") for name in self.joint_names]
        inputs = [f"tau_{name}" for name in self.joint_names]
        # python-control takes a model without a time step for a continuous one.
        timing = () if self.dt is None else (self.dt,)
        C, D = np.eye(n), np.zeros((n, self.B.shape[1]))
        return control.ss(self.A, self.B, C, D, *timing, states=states, inputs=inputs, outputs=states)

    def __repr__(self) -> str:
        kind = "continuous" if self.dt is None else f"dt = {self.dt:g} s"
        return f"StateSpace(A {self.A.shape}, B {self.B.shape}, {kind})"


def state_space(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    dt: float | None = None,
    temperature: ArrayLike | None = None,
    drives: bool = True,
) -> StateSpace:
    """Linear model of the robot near a state, or near each state of a trajectory, all drive terms included.

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities; None is rest.
        tau: (..., n) joint torques or forces [N m or N]; None takes those that hold the velocity (qdd = 0).
        dt: time step [s] to discretise with, exactly for inputs held constant; None stays continuous.
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.
        drives: False leaves out what `friction` returns; rotors stay.

    Returns:
        A and B with x = (q - q0, qd - qd0) and u = tau - tau0, batched as the inputs are.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        SingularMassMatrixError: the mass matrix is not positive definite; the message names the link.
        ModelError: dt is not positive.
    """
    qd = np.zeros(robot.n_joints) if qd is None else qd
    if tau is None:
        # An equilibrium, or steady motion: without tau the model holds where nothing accelerates.
        tau = inverse_dynamics(robot, q, qd, np.zeros(robot.n_joints), temperature, drives)
    forward = linearize_forward(robot, q, qd, tau, temperature=temperature, drives=drives)
    zero, one = np.zeros_like(forward.dq), np.broadcast_to(np.eye(robot.n_joints), forward.dq.shape)
    # [[0, 1], [dqdd/dq, dqdd/dqd]]
    A = np.concatenate([np.concatenate([zero, one], axis=-1), np.concatenate([forward.dq, forward.dqd], axis=-1)], -2)
    model = StateSpace(A, np.concatenate([zero, forward.dtau], axis=-2), robot.joint_names)
    return model if dt is None else model.discretized(dt)


def zero_order_hold(A: Array, B: Array, dt: Array) -> tuple[Array, Array]:
    """exp(A dt) and its integral times B: the exact step under held inputs; batches broadcast."""
    n, m = B.shape[-2:]
    block = np.zeros((*A.shape[:-2], n + m, n + m))
    # exp of [[A, B], [0, 0]] holds both results: no inverse of A, which may be singular.
    block[..., :n, :n], block[..., :n, n:] = A, B
    step = expm(block * np.asarray(dt)[..., None, None])
    return step[..., :n, :n], step[..., :n, n:]
