"""The mass matrix in factors, to solve with it without forming or inverting it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array, joint_vector
from tauform.description.robot import Robot
from tauform.errors import DescriptionError, ShapeError
from tauform.rigidbody.drives import has_coupled_inertia
from tauform.rigidbody.inertia.base_factor import axes_and_factor, mobility, solved
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.sweeps import factorization
from tauform.rigidbody.sweeps.evaluation import evaluate
from tauform.rigidbody.sweeps.pivots import named_pivots


@dataclass(frozen=True, eq=False)
class BodyFactors:
    """Factors by body, about the origin and in the axes of the base; angular components first.

    Attributes:
        H: (..., n, 6) twist of each joint at unit speed.
        K: (..., n, 6) wrench on the parent while the joint yields under a unit torque.
    """

    H: Array
    K: Array


@dataclass(frozen=True, eq=False)
class MassFactor:
    """M(q) = L^T diag(D) L, rotor inertia included.  [Jain1993, Lemmas 4.2 to 4.9]

    The paper's 1 + H Phi K is L^T: entry (j, i) of L is H_i . K_j for every joint i that carries joint j.

    Attributes:
        D: (..., n) inertia that each joint feels while the joints that it carries are free [kg m^2 or kg].
        parents: of the bodies, -1 for the base; of a chain where loops or shafts tie the bodies together.
        bodies: H and K; None where loops or shafts tie the bodies together.
        dense: (..., n, n) rows of L below the diagonal, in that case.
    """

    D: Array
    parents: tuple[int, ...]
    bodies: BodyFactors | None
    dense: Array | None

    def solve(self, x: ArrayLike) -> Array:
        """M^-1 x: the accelerations that torques x cause, velocities and gravity apart, in O(n).  [Lemma 4.4]

        Args:
            x: (..., n); its leading dimensions broadcast against those of q.

        Raises:
            ShapeError: the last dimension differs from the number of joints, batches do not broadcast, or a value is
                not finite.
        """
        b = joint_vector(x, len(self.parents), "x")
        try:
            batch = np.broadcast_shapes(b.shape[:-1], self.D.shape[:-1])
        except ValueError:
            raise ShapeError(f"batch dimensions do not broadcast: x {b.shape}, q {self.D.shape}") from None
        right = np.moveaxis(np.broadcast_to(b, (*batch, b.shape[-1])), -1, 0)
        if self.dense is None:
            return np.moveaxis(solved(self.parents, *self._by_joint(batch), right), 0, -1)
        # Components first, as the factorization of matrices wants them.
        LD = np.moveaxis(self.dense, (-2, -1), (0, 1))
        return np.moveaxis(factorization.solve(LD, self.parents, right), 0, -1)

    @cached_property
    def L(self) -> Array:
        """(..., n, n) unit lower triangular, zero between joints of different branches."""
        n = len(self.parents)
        if self.dense is not None:
            return np.tril(self.dense, -1) + np.eye(n)
        H, K = self._bodies("L").H, self._bodies("L").K
        # carried[j, i]: joint i is on the path from body j to the base.
        carried = np.eye(n, dtype=bool)
        for j, parent in enumerate(self.parents):
            carried[j] |= carried[parent] if parent >= 0 else False
        strictly = carried & ~np.eye(n, dtype=bool)
        # (j, i): K_j . H_i, the wrench of joint j felt at joint i.
        return np.where(strictly, (K[..., :, None, :] * H[..., None, :, :]).sum(axis=-1), np.eye(n))

    @cached_property
    def inverse(self) -> Array:
        """(..., n, n) M^-1, symmetric: a column for each unit torque, O(n^2), nothing inverted but D."""
        n, batch = len(self.parents), self.D.ndim - 1
        # Unit torques as a leading batch: all columns in one pair of sweeps.
        columns = self.solve(np.eye(n).reshape(n, *[1] * batch, n))
        found = np.moveaxis(columns, 0, -1)
        # Both halves from one: rounding must not make an inverse that is not symmetric.
        return np.tril(found) + np.swapaxes(np.tril(found, -1), -1, -2)

    @property
    def logdet(self) -> Array:
        """(...) logarithm of det M, the sum of those of D."""
        # det L = 1.
        total: Array = np.log(self.D).sum(axis=-1)
        return total

    @property
    def H(self) -> Array:
        """(..., n, 6) twist (w, v) of each joint at unit speed, about the base's origin."""
        return self._bodies("H").H

    @property
    def K(self) -> Array:
        """(..., n, 6) gain of each joint: wrench (n, f) on its parent for a unit torque, while the joint yields."""
        return self._bodies("K").K

    @property
    def psi(self) -> Array:
        """(..., n, 6, 6) 1 - K H^T: what passes of a wrench on body k to its parent, the joint yielding."""
        bodies = self._bodies("psi")
        return np.eye(6) - bodies.K[..., :, None] * bodies.H[..., None, :]

    @cached_property
    def Upsilon(self) -> Array:
        """(..., n, 6, 6) acceleration of each body for a unit wrench on it, symmetric.  [Jain1993 (4.19)]"""
        self._bodies("Upsilon")
        H, K, D = self._by_joint(self.D.shape[:-1])
        # The paper's H and K, about one common point.
        Y = mobility(self.parents, H, K, [1 / pivot for pivot in D]).Y
        return np.moveaxis(np.stack(Y), (0, 1, 2), (-3, -2, -1))

    def _bodies(self, name: str) -> BodyFactors:
        if self.bodies is None:
            raise DescriptionError(f"{name}: loops or shafts tie the bodies together; L and D hold the factors")
        return self.bodies

    def _by_joint(self, batch: tuple[int, ...]) -> tuple[list[AnyArray], list[AnyArray], list[AnyArray]]:
        """H, K and D of each joint, components first."""
        bodies = self._bodies("solve")
        shape = (*batch, len(self.parents), 6)
        H, K = (np.moveaxis(np.broadcast_to(rows, shape), (-2, -1), (0, 1)) for rows in (bodies.H, bodies.K))
        return list(H), list(K), list(np.moveaxis(self.D, -1, 0))

    def __repr__(self) -> str:
        return f"MassFactor(D of shape {self.D.shape})"


def factorize(robot: Robot, q: ArrayLike) -> MassFactor:
    """Factors of the mass matrix from articulated inertias, O(n); the matrix is not formed.  [Jain1993, Lemma 4.2]

    Args:
        q: (..., n) joint positions [rad or m].

    Returns:
        D, K, L and the other factors, with `.solve(x)`, `.inverse` and `.logdet`.

    Raises:
        ShapeError: the last dimension differs from robot.n_joints, or a value is not finite.
        SingularMassMatrixError: the mass matrix is not positive definite; the message names the link.
    """
    tree = robot.tree
    with named_pivots(robot):
        if robot.closure is not None or has_coupled_inertia(tree):
            # A matrix that loops or shafts fill has no zeros of branches: it is factored as a chain's.
            chain = tuple(range(-1, robot.n_joints - 1))
            M = np.moveaxis(mass_matrix(robot, q), (-2, -1), (0, 1))
            dense = np.moveaxis(factorization.factorize(M, chain), (0, 1), (-2, -1))
            return MassFactor(np.diagonal(dense, axis1=-2, axis2=-1), chain, None, dense)

        def core(q: AnyArray) -> AnyArray:
            S, factor = axes_and_factor(tree, q)
            rows = zip(factor.pivots, np.moveaxis(S, 1, 0), factor.gains, strict=True)
            # (n, 13, N): pivot, axis and gain in one array, for one evaluation over the batch.
            return np.stack([np.concatenate([pivot[None], axis, gain]) for pivot, axis, gain in rows])

        stacked = evaluate(robot, core, q=q)
        return MassFactor(stacked[..., 0], tree.parents, BodyFactors(stacked[..., 1:7], stacked[..., 7:]), None)
