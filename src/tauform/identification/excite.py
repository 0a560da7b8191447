"""excite: a motion that shows the base parameters, within the robot's limits.

The criterion's derivative needs that of u' Y(q, qd, qdd) v for fixed vectors: 3 n complex steps of the regressor at
each state, however many amplitudes the trajectory has.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg
import scipy.optimize
from numpy.typing import ArrayLike

from tauform.arrays import Array
from tauform.closedform.base import base_parameters
from tauform.description.robot import ParameterGroup, Robot
from tauform.errors import IdentificationError
from tauform.identification.trajectory import FourierBasis, Trajectory
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.regressor import regressor

Criterion = Literal["condition", "d_optimal"]
# States at which the criterion is evaluated; the trajectory itself is finer.
N_STATES = 60
# Limits of joints that declare none.
DEFAULT_RANGE, DEFAULT_SPEED, DEFAULT_ACCELERATION = np.pi / 2, 2.0, 5.0
# Part of the limits that is used, and weight of the penalty for passing them.
MARGIN, PENALTY = 0.98, 50.0
SOFTNESS = 3
TINY = 1e-30


@dataclass(frozen=True, eq=False)
class Bounds:
    """(n,) limits of positions (lower, upper), speeds, accelerations and efforts."""

    lower: Array
    upper: Array
    speed: Array
    acceleration: Array
    effort: Array

    @property
    def centre(self) -> Array:
        """(n,) middle of the positions."""
        return (self.lower + self.upper) / 2


def excite(
    robot: Robot,
    *,
    duration: float = 10.0,
    harmonics: int = 5,
    rate: float = 100.0,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    position: tuple[ArrayLike, ArrayLike] | None = None,
    include: tuple[ParameterGroup, ...] | None = None,
    criterion: Criterion = "condition",
    n_starts: int = 3,
    max_seconds: float = 40.0,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """A periodic trajectory, at rest at both ends, that shows every base parameter as evenly as it can.

    Args:
        duration: of one period [s].
        harmonics: of the Fourier series.
        rate: samples a second of the result.
        velocity, acceleration: (n,) or one number; the robot's limits, or 2 and 5 per s, by default.
        position: (lower, upper), the robot's limits by default.
        include: groups of parameters to show; link and declared rotors by default.
        criterion: "condition" of the base regressor, or "d_optimal" (determinant of the information).
        n_starts: random beginnings that are improved.
        max_seconds: time to stop at.
        seed: of the random beginnings.
        progress: called with the part of max_seconds that has passed.

    Raises:
        IdentificationError: limits leave no motion, or even the slowest motion passes the efforts.
    """
    bounds = _bounds(robot, velocity, acceleration, position)
    if criterion not in ("condition", "d_optimal"):
        raise IdentificationError(f"criterion: expected condition or d_optimal, got {criterion!r}")
    problem = Problem(robot, bounds, FourierBasis.of(duration, harmonics, N_STATES / duration), include, criterion)
    rng = np.random.default_rng(seed)
    starts = sorted((problem.random(rng) for _ in range(20 * n_starts)), key=lambda z: problem.score(z))[:n_starts]
    deadline = time.monotonic() + max_seconds
    begin = time.monotonic()

    def passed(_: Array) -> None:
        if progress is not None:
            progress(min(1.0, (time.monotonic() - begin) / max_seconds))
        if time.monotonic() > deadline:
            raise StopIteration

    best = starts[0]
    for k, start in enumerate(starts):
        deadline = begin + max_seconds * (k + 1) / n_starts
        found = problem.improved(start, passed)
        best = min(best, found, key=problem.score)
    return problem.trajectory(best, rate)


class Problem:
    """The criterion and its derivative as functions of the amplitudes."""

    def __init__(
        self,
        robot: Robot,
        bounds: Bounds,
        basis: FourierBasis,
        include: tuple[ParameterGroup, ...] | None,
        criterion: Criterion,
    ) -> None:
        self.robot, self.bounds, self.basis, self.criterion = robot, bounds, basis, criterion
        self.pivots = list(base_parameters(robot, include=include).pivots)
        self.shape = (robot.n_joints, basis.n)
        # Unit amplitudes use about the joint's range and speed.
        reach = np.minimum(
            (bounds.upper - bounds.lower) / 2 / np.abs(basis.values).max(), bounds.speed / np.abs(basis.rates).max()
        )
        self.unit = reach[:, None] * np.ones(self.shape)

    def split(self, z: Array) -> tuple[Array, Array]:
        """(n,) position at both ends, and (n, functions) amplitudes."""
        n = self.robot.n_joints
        half = (self.bounds.upper - self.bounds.lower) / 2
        return self.bounds.centre + half * z[:n], z[n:].reshape(self.shape) * self.unit

    def states(self, z: Array) -> tuple[Array, Array, Array]:
        """(q, qd, qdd) at the coarse states."""
        start, a = self.split(z)
        return start + (a @ self.basis.values).T, (a @ self.basis.rates).T, (a @ self.basis.accelerations).T

    def random(self, rng: np.random.Generator) -> Array:
        """Random beginnings and amplitudes, scaled until the trajectory touches its limits."""
        n = self.robot.n_joints
        return self.feasible(
            np.concatenate([rng.uniform(-0.5, 0.5, n), rng.normal(size=self.shape).ravel()]), grow=True
        )

    def feasible(self, z: Array, grow: bool = False) -> Array:
        """The motion of each joint scaled to its limits, and moved to lie within its range."""
        n, b = self.robot.n_joints, self.bounds
        q, qd, qdd = self.states(z)
        width = b.upper - b.lower
        use = np.maximum.reduce(
            [np.ptp(q, axis=0) / width, np.abs(qd).max(axis=0) / b.speed, np.abs(qdd).max(axis=0) / b.acceleration]
        )
        scale = MARGIN / np.maximum(use, 1e-9)
        if not grow:
            scale = np.minimum(scale, 1.0)
        scaled = np.concatenate([z[:n], (z[n:].reshape(self.shape) * scale[:, None]).ravel()])
        q = self.states(scaled)[0]
        room = (1 - MARGIN) / 2 * width
        shift = np.maximum(b.lower + room / 2 - q.min(axis=0), 0) + np.minimum(b.upper - room / 2 - q.max(axis=0), 0)
        return np.concatenate([scaled[:n] + shift / (width / 2), scaled[n:]])

    def matched(self, other: Problem, z: Array) -> Array:
        """The same motion in this problem's units."""
        n = self.robot.n_joints
        return np.concatenate([z[:n], (z[n:].reshape(self.shape) * other.unit / self.unit).ravel()])

    def score(self, z: Array) -> float:
        """The criterion alone, without its smoothing."""
        W = self._columns(*self.states(z))
        if self.criterion == "condition":
            return float(np.log(np.linalg.cond(W.reshape(-1, W.shape[-1]))))
        return self._criterion(W)[0]

    def improved(self, z: Array, callback: Callable[[Array], None]) -> Array:
        """Local optimum from a beginning, brought back within the limits."""
        best = [z]

        def watch(x: Array) -> None:
            candidate = self.feasible(x)
            if self.score(candidate) < self.score(best[0]):
                best[0] = candidate
            callback(x)

        with contextlib.suppress(StopIteration):
            scipy.optimize.minimize(self.cost, z, jac=True, method="L-BFGS-B", callback=watch, options={"maxiter": 400})
        return best[0]

    def cost(self, z: Array) -> tuple[float, Array]:
        """Criterion with a penalty for passing limits, and its gradient."""
        q, qd, qdd = self.states(z)
        W = self._columns(q, qd, qdd)
        value, G = self._criterion(W)
        # All 3 n directions of all states in one batch of complex steps.
        n = self.robot.n_joints
        moved = np.tile(np.stack([q, qd, qdd]).astype(complex), (3 * n, 1, 1, 1))
        for k in range(3 * n):
            moved[k, k // n, :, k % n] += 1j * TINY
        slopes_of_W = self._columns(moved[:, 0], moved[:, 1], moved[:, 2]).imag / TINY
        gradient = np.einsum("tjp,ktjp->kt", G, slopes_of_W).reshape(3, n, -1).swapaxes(1, 2)
        penalty, slopes = self._penalty(q, qd, qdd)
        total = [g + s for g, s in zip(gradient, slopes, strict=True)]
        basis = (self.basis.values, self.basis.rates, self.basis.accelerations)
        slope = np.asarray(sum(g.T @ b.T for g, b in zip(total, basis, strict=True))) * self.unit
        at_start = total[0].sum(axis=0) * (self.bounds.upper - self.bounds.lower) / 2
        return value + penalty, np.concatenate([at_start, slope.ravel()])

    def _columns(self, q: Array, qd: Array, qdd: Array) -> Array:
        return regressor(self.robot, q, qd, qdd)[..., self.pivots]

    def _criterion(self, W: Array) -> tuple[float, Array]:
        """log condition (or minus log determinant), and its derivative by every entry of W."""
        flat = W.reshape(-1, W.shape[-1])
        U, sizes, Vt = scipy.linalg.svd(flat, full_matrices=False)
        small = max(float(sizes[-1]), 1e-12 * float(sizes[0]))
        if self.criterion == "condition":
            # Smooth stand-ins for the largest and the smallest: with k = SOFTNESS, (sum of sizes^2k)^(1/2k) and its
            # inverse; where singular values cross, the true ones have a kink that stops a quasi-Newton method.
            ratio = np.maximum(sizes, small) / sizes[0]
            high, low = ratio ** (2 * SOFTNESS), (ratio[-1] / ratio) ** (2 * SOFTNESS)
            share = (high / high.sum() - low / low.sum()) / np.maximum(sizes, small)
            value = (np.log(high.sum()) + np.log(low.sum())) / (2 * SOFTNESS) - np.log(ratio[-1])
            return float(value), ((U * share) @ Vt).reshape(W.shape)
        G = -2 * (U / np.maximum(sizes, small)) @ Vt
        return float(-2 * np.log(np.maximum(sizes, small)).sum()), G.reshape(W.shape)

    def _penalty(self, q: Array, qd: Array, qdd: Array) -> tuple[float, list[Array]]:
        b = self.bounds
        half = (b.upper - b.lower) / 2
        total, slopes = 0.0, []
        for x, limit in ((q - b.centre, half), (qd, b.speed), (qdd, b.acceleration)):
            over = np.maximum(np.abs(x) / limit - MARGIN, 0.0)
            total += PENALTY * float((over**2).sum())
            slopes.append(2 * PENALTY * over * np.sign(x) / limit)
        return total, slopes

    def trajectory(self, z: Array, rate: float) -> Trajectory:
        """The fine trajectory, slowed down where efforts ask for it."""
        duration = float(self.basis.t[-1])
        harmonics = self.basis.n // 2 + 1
        fine = Problem(self.robot, self.bounds, FourierBasis.of(duration, harmonics, rate), None, self.criterion)
        start, a = fine.split(fine.feasible(fine.matched(self, z)))
        findings: list[str] = []
        for slower in 1.2 ** np.arange(12):
            basis = FourierBasis.of(duration * slower, harmonics, rate)
            # The same path in more time: the basis scales with the period.
            q = start + (a / slower @ basis.values).T
            qd, qdd = (a / slower @ basis.rates).T, (a / slower @ basis.accelerations).T
            effort = np.abs(inverse_dynamics(self.robot, q, qd, qdd)).max(axis=0)
            if (effort <= self.bounds.effort).all():
                break
        else:
            worst = self.robot.joint_names[int(np.argmax(effort / self.bounds.effort))]
            raise IdentificationError(
                f"joint {worst!r} passes its effort limit even when moved slowly; narrow its range"
            )
        if slower > 1:
            findings.append(f"slowed down to {duration * slower:.1f} s to stay within effort limits")
        step = max(1, len(q) // (4 * N_STATES))
        W = self._columns(q[::step], qd[::step], qdd[::step]).reshape(-1, len(self.pivots))
        return Trajectory(basis.t, q, qd, qdd, self.robot.joint_names, float(np.linalg.cond(W)), tuple(findings))


def _bounds(
    robot: Robot,
    velocity: ArrayLike | None,
    acceleration: ArrayLike | None,
    position: tuple[ArrayLike, ArrayLike] | None,
) -> Bounds:
    joints = {joint.name: joint for joint in robot.joints}
    limits = [joints[name].limits for name in robot.joint_names]
    n = robot.n_joints

    def known(values: list[float], fallback: float, given: ArrayLike | None) -> Array:
        if given is not None:
            return np.broadcast_to(np.asarray(given, dtype=np.float64), (n,))
        array = np.array(values)
        return np.where(np.isfinite(array) & (array > 0), array, fallback)

    finite = np.array([np.isfinite(limit.lower) and np.isfinite(limit.upper) for limit in limits])
    lower = np.where(finite, [limit.lower for limit in limits], -DEFAULT_RANGE)
    upper = np.where(finite, [limit.upper for limit in limits], DEFAULT_RANGE)
    if position is not None:
        lower, upper = (np.broadcast_to(np.asarray(p, dtype=np.float64), (n,)) for p in position)
    bounds = Bounds(
        lower=lower,
        upper=upper,
        speed=known([limit.velocity for limit in limits], DEFAULT_SPEED, velocity),
        acceleration=known([np.inf] * n, DEFAULT_ACCELERATION, acceleration),
        effort=np.array([limit.effort if limit.effort > 0 else np.inf for limit in limits]),
    )
    for j, name in enumerate(robot.joint_names):
        if not (bounds.upper[j] > bounds.lower[j] and bounds.speed[j] > 0 and bounds.acceleration[j] > 0):
            raise IdentificationError(f"joint {name!r}: its limits leave no motion; widen or lock it")
    return bounds
