"""MotionProblem: what a planned motion is judged by, as a function of its amplitudes, with the exact gradient.

The gradient needs the slopes of one weighted sum of the columns by each state (see slopes), however many amplitudes
the motion has.  Limits are penalties here; the motion that is handed over is scaled to lie within them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tauform.arrays import Array
from tauform.identification.motion.bounds import Bounds
from tauform.identification.motion.clearance import Clearance
from tauform.identification.motion.criterion import Criterion, quality, smooth_quality
from tauform.identification.motion.recorded import Recorded
from tauform.identification.motion.slopes import Columns
from tauform.identification.motion.trajectory import Basis, Trajectory

# Part of the limits that is used while a motion is seen at some states only, and at all of its samples.
LIMIT_SHARE_WHILE_SEARCHING, LIMIT_SHARE_AT_SAMPLES = 0.98, 0.9999
# Weight of the mean square by which a motion passes its limits.
LIMIT_PENALTY = 3000.0


@dataclass(frozen=True, eq=False)
class MotionProblem:
    """Amplitudes z: n positions at the start, in halves of the range, then (n, functions) in `unit`.

    Attributes:
        columns: of the torque, with those that the motion shall show.
        basis: the motion's functions, at the states where it is judged.
        clearance: distances that the motion keeps, if any.
        recorded: what earlier motions showed, where this is a further one.
        soft: of the criterion; the larger, the nearer to the true one.
    """

    columns: Columns
    bounds: Bounds
    basis: Basis
    criterion: Criterion
    clearance: Clearance | None = None
    recorded: Recorded | None = None
    soft: float = 2.0

    @property
    def n_joints(self) -> int:
        """Joints."""
        return len(self.bounds.lower)

    @property
    def duration(self) -> float:
        """Seconds."""
        return float(self.basis.t[-1])

    @cached_property
    def unit(self) -> Array:
        """(n, 1) amplitudes that use about the joint's range or speed."""
        # Columns of the gradient are of one size then, which L-BFGS needs for its first steps.
        by_range = self.bounds.half / np.abs(self.basis.values).max()
        return np.minimum(by_range, self.bounds.speed / np.abs(self.basis.rates).max())[:, None]

    def split(self, z: Array) -> tuple[Array, Array]:
        """(n,) position at the start, and (n, functions) amplitudes."""
        n = self.n_joints
        return self.bounds.centre + self.bounds.half * z[:n], z[n:].reshape(n, -1) * self.unit

    def joined(self, start: Array, amplitudes: Array) -> Array:
        """The inverse of `split`."""
        return np.concatenate([(start - self.bounds.centre) / self.bounds.half, (amplitudes / self.unit).ravel()])

    def states(self, z: Array) -> tuple[Array, Array, Array]:
        """(q, qd, qdd) at the times of the basis."""
        start, a = self.split(z)
        return start + (a @ self.basis.values).T, (a @ self.basis.rates).T, (a @ self.basis.accelerations).T

    def random(self, rng: np.random.Generator, part: float = LIMIT_SHARE_WHILE_SEARCHING) -> Array:
        """Random beginnings and amplitudes, each joint scaled until it uses this part of a limit."""
        n = self.n_joints
        # Starts in the middle half of the range leave room for the motion.
        z = np.concatenate([rng.uniform(-0.5, 0.5, n), rng.normal(size=n * self.basis.n)])
        return self.feasible(z, part, grow=True)

    def following(self, trajectory: Trajectory) -> Array:
        """The motion of this basis that is nearest to a trajectory, its time stretched to ours."""
        own = np.linspace(0.0, 1.0, len(self.basis.t))
        t = (trajectory.t - trajectory.t[0]) / trajectory.duration
        return self._through(np.stack([np.interp(own, t, column) for column in trajectory.q.T], axis=1))

    def joining(self, few: MotionProblem, z: Array) -> Array:
        """The same motion as that of fewer harmonics, with the others at nothing."""
        start, a = few.split(z)
        # Fourier functions on the times of this basis; two of 2 k sines and cosines are spent on rest at the ends.
        own = Basis.fourier(float(self.basis.t[-1]), few.basis.n // 2 + 1, (len(self.basis.t) - 1) / self.basis.t[-1])
        return self._through(start + (a @ own.values).T)

    def _through(self, q: Array) -> Array:
        """The motion nearest to (N, n) positions at the times of the basis."""
        # Least squares on displacements: q(0) is a variable of its own.
        a = np.linalg.lstsq(self.basis.values.T, q - q[0], rcond=None)[0].T
        return self.feasible(self.joined(q[0], a))

    def feasible(self, z: Array, part: float = LIMIT_SHARE_WHILE_SEARCHING, grow: bool = False) -> Array:
        """The motion of each joint scaled to this part of its limits, and moved to lie within its range."""
        b = self.bounds
        start, a = self.split(z)
        q, qd, qdd = self.states(z)
        # (n,) share of each joint's tightest limit that the motion uses.
        use = np.maximum.reduce(
            [
                np.ptp(q, axis=0) / (2 * b.half),
                np.abs(qd).max(axis=0) / b.speed,
                np.abs(qdd).max(axis=0) / b.acceleration,
            ]
        )
        # A joint that does not move uses nothing; it is not blown up without bound.
        scale = part / np.maximum(use, 1e-9)
        a = a * (scale if grow else np.minimum(scale, 1.0))[:, None]
        q = start + (a @ self.basis.values).T
        # Half of what the scaling leaves free: a motion of the part's span always fits between low and high.
        room = (1 - part) / 2 * b.half
        low, high = b.lower + room, b.upper - room
        shift = np.maximum(low - q.min(axis=0), 0.0) + np.minimum(high - q.max(axis=0), 0.0)
        return self.joined(start + shift, a)

    def score(self, z: Array) -> float:
        """The criterion itself, with what is charged for efforts and distances."""
        q, qd, qdd = self.states(z)
        W = self.columns(q, qd, qdd)
        charged = self._effort(W)[0] + (self.clearance.charge(q)[0] if self.clearance else 0.0)
        chosen = W[..., self.columns.chosen]
        if self.recorded is not None:
            return self.recorded.quality(chosen, self.criterion, self.duration) + charged
        return quality(chosen, self.criterion) + charged

    def softened(self, soft: float) -> MotionProblem:
        """The same problem with another softness."""
        return replace(self, soft=soft)

    def cost(self, z: Array) -> tuple[float, Array]:
        """Smooth criterion with penalties for passing limits, and its gradient."""
        q, qd, qdd = self.states(z)
        W = self.columns(q, qd, qdd)
        value, G = self._smooth_quality(W[..., self.columns.chosen])
        charge, weights = self._effort(W)
        # One adjoint pass for criterion and efforts: both are weighted sums of the same columns.
        slopes = self.columns.slopes(q, qd, qdd, self._with(weights, G, W))
        value += charge
        limits = (self.bounds.half, self.bounds.speed, self.bounds.acceleration)
        for k, (x, limit) in enumerate(zip((q - self.bounds.centre, qd, qdd), limits, strict=True)):
            charge, slope = excess(x, limit)
            value += charge
            slopes[k] += slope
        if self.clearance:
            charge, slope = self.clearance.charge(q)
            value += charge
            slopes[0] += slope
        # Chain rule: q, qd and qdd are linear in the amplitudes, and q in the start.
        basis = (self.basis.values, self.basis.rates, self.basis.accelerations)
        by_amplitude = sum(slope.T @ functions.T for slope, functions in zip(slopes, basis, strict=True))
        by_start = slopes[0].sum(axis=0) * self.bounds.half
        return value, np.concatenate([by_start, (np.asarray(by_amplitude) * self.unit).ravel()])

    def _smooth_quality(self, W: Array) -> tuple[float, Array]:
        if self.recorded is not None:
            return self.recorded.smooth_quality(W, self.criterion, self.soft, self.duration)
        return smooth_quality(W, self.criterion, self.soft)

    def _effort(self, W: Array) -> tuple[float, Array | None]:
        """Charge for efforts past their limits, and its slopes by the columns, None where there are no limits."""
        if not np.isfinite(self.bounds.effort).any():
            return 0.0, None
        charge, slope = excess(W @ self.columns.values, self.bounds.effort)
        return charge, slope[..., None] * self.columns.values

    def _with(self, weights: Array | None, G: Array, W: Array) -> Array:
        """Slopes by all columns, from those of efforts and those of the criterion, which sees the chosen columns."""
        if weights is None:
            # Nothing to scatter where the criterion sees every column: no copy of (N, n, P).
            if G.shape == W.shape and isinstance(self.columns.chosen, slice):
                return G
            weights = np.zeros_like(W)
        weights[..., self.columns.chosen] += G
        return weights


def excess(x: Array, limit: Array) -> tuple[float, Array]:
    """Penalty on the mean square by which |x| / limit passes LIMIT_SHARE_WHILE_SEARCHING, and its slopes by x."""
    over = np.maximum(np.abs(x) / limit - LIMIT_SHARE_WHILE_SEARCHING, 0.0)
    return LIMIT_PENALTY * float((over**2).sum()) / len(x), 2 * LIMIT_PENALTY / len(x) * over * np.sign(x) / limit
