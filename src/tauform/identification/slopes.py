"""Base columns of the regressor along a motion, and the exact slopes of a weighted sum of them by every state.

Torques come from a Lagrangian that is quadratic in velocities and, joint by joint, in sine and cosine (or in the
position of a sliding joint).  So each slope is a finite combination of shifted values, without any step to be small,
and compiled columns can give it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tauform.arrays import Array
from tauform.closedform.base import base_parameters
from tauform.codegen.kernel import compile as compiled
from tauform.description.robot import ParameterGroup, Robot
from tauform.errors import GenerationError
from tauform.rigidbody.regressor import regressor

# f'(0) = sum WEIGHTS f(SHIFTS) for every f of the harmonics 0, 1 and 2.
SHIFTS = np.array([1, 3, 5, 7]) * np.pi / 4
WEIGHTS = np.array([1, -1, 1, -1]) / (8 * np.sin(SHIFTS / 2) ** 2)
# The same for polynomials of degree two, in as many points.
STEPS, STEP_WEIGHTS = np.array([1.0, -1.0, 1.0, -1.0]), np.array([0.25, -0.25, 0.25, -0.25])
# Step of the complex step, where there is no kernel.
TINY = 1e-30


class BaseColumns:
    """(N, n, p) columns of the base parameters, compiled where that is possible."""

    def __init__(self, robot: Robot, include: tuple[ParameterGroup, ...] | None) -> None:
        self.robot = robot
        self.pivots = list(base_parameters(robot, include=include).pivots)
        self.kernel: Callable[..., Array] | None = None
        # Compiled columns come with those of friction where the robot has any; these are asked for without.
        smooth = replace(
            robot, joints=tuple(replace(joint, viscous=0.0, coulomb=0.0, offset=0.0) for joint in robot.joints)
        )
        if robot.closure is None and list(base_parameters(smooth).pivots) == self.pivots:
            try:
                self.kernel = compiled(smooth, "base_regressor")
            except GenerationError:
                self.kernel = None
        joints = {joint.name: joint for joint in robot.joints}
        self.turning = np.array([joints[name].is_revolute for name in robot.joint_names])

    def __call__(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(..., n, p) at states (..., n)."""
        if self.kernel is not None:
            return self.kernel(q, qd, qdd)
        return regressor(self.robot, q, qd, qdd)[..., self.pivots]

    def with_slopes(
        self, q: Array, qd: Array, qdd: Array, weigh: Callable[[Array], tuple[float, Array]]
    ) -> tuple[float, Array]:
        """weigh's value of the columns, and its (3, N, n) slopes by q, qd and qdd.

        Args:
            weigh: gives a value and its (N, n, p) slopes by the columns.
        """
        return (self._stepped if self.kernel is None else self._shifted)(q, qd, qdd, weigh)

    def _shifted(
        self, q: Array, qd: Array, qdd: Array, weigh: Callable[[Array], tuple[float, Array]]
    ) -> tuple[float, Array]:
        n_states, n = q.shape
        n_moved = 1 + 7 * n
        moved = np.tile(np.stack([q, qd, qdd])[:, None], (1, n_moved, 1, 1))
        for j in range(n):
            of_q, of_qd = 1 + 4 * j, 1 + 4 * n + 2 * j
            moved[0, of_q : of_q + 4, :, j] += (SHIFTS if self.turning[j] else STEPS)[:, None]
            moved[1, of_qd, :, j] += 1.0
            moved[1, of_qd + 1, :, j] -= 1.0
            moved[2, 1 + 6 * n + j, :, j] += 1.0
        W = self(*moved.reshape(3, -1, n)).reshape(n_moved, n_states, n, -1)
        value, G = weigh(W[0])
        # One number a state: the batch of columns is only ever summed against the same weights.
        sums = np.einsum("ktx,tx->kt", W.reshape(n_moved, n_states, -1), G.reshape(n_states, -1))
        weights = np.where(self.turning[:, None], WEIGHTS, STEP_WEIGHTS)
        by_q = np.einsum("js,jst->tj", weights, sums[1 : 1 + 4 * n].reshape(n, 4, n_states))
        pairs = sums[1 + 4 * n : 1 + 6 * n].reshape(n, 2, n_states)
        return value, np.stack([by_q, (pairs[:, 0] - pairs[:, 1]).T / 2, (sums[1 + 6 * n :] - sums[0]).T])

    def _stepped(
        self, q: Array, qd: Array, qdd: Array, weigh: Callable[[Array], tuple[float, Array]]
    ) -> tuple[float, Array]:
        value, G = weigh(self(q, qd, qdd))
        n = q.shape[1]
        # All 3 n directions of all states in one batch of complex steps.
        moved = np.tile(np.stack([q, qd, qdd]).astype(complex), (3 * n, 1, 1, 1))
        for k in range(3 * n):
            moved[k, k // n, :, k % n] += 1j * TINY
        slopes = self(moved[:, 0], moved[:, 1], moved[:, 2]).imag / TINY
        return value, np.einsum("tjp,ktjp->kt", G, slopes).reshape(3, n, -1).swapaxes(1, 2)
