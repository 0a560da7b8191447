"""excite: a motion that shows the base parameters, within the robot's limits.

The criterion's derivative needs that of a fixed weighted sum of the columns by each state (see slopes), however many
amplitudes the trajectory has.  The condition number is that of the base regressor itself, columns not scaled.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg
import scipy.optimize
from numpy.typing import ArrayLike

from tauform.arrays import Array
from tauform.description.robot import ParameterGroup, Robot
from tauform.errors import IdentificationError
from tauform.identification.slopes import BaseColumns
from tauform.identification.trajectory import FourierBasis, Trajectory
from tauform.rigidbody.inverse_dynamics import inverse_dynamics

Criterion = Literal["condition", "d_optimal"]
# States at which the criterion is evaluated; the trajectory itself is finer.
N_STATES = 60
# Limits of joints that declare none.
DEFAULT_RANGE, DEFAULT_SPEED, DEFAULT_ACCELERATION = np.pi / 2, 2.0, 5.0
# Part of the limits that is used, and weight of the penalty for passing them.
MARGIN, PENALTY = 0.98, 50.0
# Random motions that are compared before any is improved.
N_RANDOM = 200
# (softness, iterations): every beginning is improved by the first, the best POLISHED of them by the others, whose
# criterion comes closer and closer to the true condition number.
ROUGH: tuple[tuple[int, int], ...] = ((2, 150),)
POLISH: tuple[tuple[int, int], ...] = ((4, 300), (12, 400), (40, 300))
POLISHED = 1 / 3


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
    n_starts: int = 16,
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
        n_starts: random beginnings that are improved; the best third of them to the end.
        max_seconds: time to stop at; a search that ends before depends on the seed alone.
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
    found = sorted((problem.random(rng) for _ in range(max(N_RANDOM, n_starts))), key=problem.score)[:n_starts]
    begin = time.monotonic()

    def passed(*_: Array) -> None:
        part = (time.monotonic() - begin) / max_seconds
        if progress is not None:
            progress(min(1.0, part))
        if part > 1:
            raise StopIteration

    best = found[0]
    for stages, count in ((ROUGH, n_starts), (POLISH, max(1, round(POLISHED * n_starts)))):
        found = sorted((problem.improved(z, stages, passed) for z in found[:count]), key=problem.score)
        best = min(best, found[0], key=problem.score)
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
        self.robot, self.bounds, self.basis = robot, bounds, basis
        self.include, self.criterion = include, criterion
        self.columns = BaseColumns(robot, include)
        self.softness = ROUGH[0][0]
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
        W = self.columns(*self.states(z))
        if self.criterion == "condition":
            return float(np.log(np.linalg.cond(W.reshape(-1, W.shape[-1]))))
        return self._criterion(W)[0]

    def improved(self, z: Array, stages: Sequence[tuple[int, int]], callback: Callable[[Array], None]) -> Array:
        """Local optimum from a beginning, brought back within the limits."""
        best = at = z
        for self.softness, iterations in stages:
            last = [at]

            def watch(x: Array, last: list[Array] = last) -> None:
                last[0] = x.copy()
                callback(x)

            # Few variables and a narrow valley: the whole Hessian is worth its memory.
            with contextlib.suppress(StopIteration):
                scipy.optimize.minimize(
                    self.cost, at, jac=True, method="BFGS", callback=watch, options={"maxiter": iterations}
                )
            at = last[0]
            best = min(best, self.feasible(at), key=self.score)
        return best

    def cost(self, z: Array) -> tuple[float, Array]:
        """Criterion with a penalty for passing limits, and its gradient."""
        q, qd, qdd = self.states(z)
        value, gradient = self.columns.with_slopes(q, qd, qdd, self._criterion)
        penalty, slopes = self._penalty(q, qd, qdd)
        total = [g + s for g, s in zip(gradient, slopes, strict=True)]
        basis = (self.basis.values, self.basis.rates, self.basis.accelerations)
        slope = np.asarray(sum(g.T @ b.T for g, b in zip(total, basis, strict=True))) * self.unit
        at_start = total[0].sum(axis=0) * (self.bounds.upper - self.bounds.lower) / 2
        return value + penalty, np.concatenate([at_start, slope.ravel()])

    def _criterion(self, W: Array) -> tuple[float, Array]:
        """log condition (or minus log determinant), and its derivative by every entry of W."""
        flat = W.reshape(-1, W.shape[-1])
        # The few columns of the triangular factor have the same sizes and directions.
        _, sizes, Vt = scipy.linalg.svd(np.linalg.qr(flat, mode="r"))
        small = max(float(sizes[-1]), 1e-12 * float(sizes[0]))
        known = np.maximum(sizes, small)
        if self.criterion == "condition":
            # Smooth stand-ins for the largest and the smallest: with k = softness, (sum of sizes^2k)^(1/2k) and its
            # inverse; where singular values cross, the true ones have a kink that stops a quasi-Newton method.
            k = self.softness
            ratio = known / sizes[0]
            high, low = ratio ** (2 * k), (ratio[-1] / ratio) ** (2 * k)
            share = high / high.sum() - low / low.sum()
            value = (np.log(high.sum()) + np.log(low.sum())) / (2 * k) - np.log(ratio[-1])
        else:
            share, value = np.full(len(sizes), -2.0), -2 * np.log(known).sum()
        return float(value), (flat @ ((Vt.T * (share / known**2)) @ Vt)).reshape(W.shape)

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
        fine = Problem(
            self.robot, self.bounds, FourierBasis.of(duration, harmonics, rate), self.include, self.criterion
        )
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
        W = self.columns(q[::step], qd[::step], qdd[::step]).reshape(-1, len(self.columns.pivots))
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
