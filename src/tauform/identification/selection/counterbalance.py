"""Counterbalances: what is left at a joint and is a function of its position alone, as a force between two points.

With the points at r and R from the joint's axis, at an angle phi = q - alpha, and l their distance,

    F dl/dq = F r R sin(phi) / l,   l^2 = r^2 + R^2 - 2 r R cos(phi).

A linear spring K (l - l_0) dl/dq is K r R sin(phi) less K l_0 dl/dq, and a gas spring, whose force grows about
linearly with its stroke, is the same: with sines and cosines beside it, one shape stands for all three. Its two
constants, alpha and r / R, are found on a few hundred states, at joints that hold weight, as there is nothing else to
balance; held-out blocks then decide whether it takes part. Blocks that judge choices do not take part in any of this.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.description.drives import Drive
from tauform.description.robot import Robot
from tauform.identification.diagnosis.masses import has_masses
from tauform.identification.diagnosis.samples import Samples, sampled
from tauform.identification.regression.design import Design
from tauform.identification.regression.rows import RowSource
from tauform.rigidbody.gravity import gravity_torque

# Shapes that are compared before the best is refined.
ANGLES, RATIOS = np.arange(24) * np.pi / 12, (0.15, 0.3, 0.5, 0.7, 0.85)
# Share of a joint's residual squares that a counterbalance has to explain to be a candidate.
MIN_EXPLAINED_SHARE = 0.5
# What it may leave, relative to a linear spring about the joint.
MAX_LEFT_BESIDE_SPRING = 0.7
# Gravity torque of a joint that may need a balance, relative to the most loaded joint's.
MIN_GRAVITY_SHARE = 0.1
# Distance of the outer point from the axis [m]: torques tell the shape, and not the size of a lever.
LEVER_LENGTH = 0.3
# Columns weaker than this beside the strongest span nothing; a shape must have this share of its squares outside.
MIN_SHARE_OF_SPAN, MIN_FRESH_SHARE = 1e-8, 1e-6


@on_one_thread
def counterbalances(source: RowSource) -> dict[int, Drive]:
    """Joint -> the force between two points that explains most of what the plain columns leave there."""
    design, robot = source.design, source.design.robot
    if robot.closure is not None:
        return {}
    turning = [j for j, joint in enumerate(robot.joints) if joint.type.is_angle]
    samples = sampled(source).choosing
    if samples.tau.size < 2 * design.n_columns:
        return {}
    # Alone, and beside sines and cosines, which a spring of finite stiffness needs.
    alone = _Span.of(design, samples)
    beside = _Span.of(design.with_terms([*design.terms, *_harmonics(turning)]), samples, alone.weights)
    found: dict[int, Drive] = {}
    for j in _bearing(robot, samples, turning):
        shape, share = max((own.best_shape(samples.q, j) for own in (alone, beside)), key=lambda one: one[1])
        term = between_points(robot, j, *shape)
        if share > MIN_EXPLAINED_SHARE and term.name not in design.names:
            found[j] = term
    return found


def _harmonics(joints: list[int]) -> list[Drive]:
    return [Drive.of(shape, j) for j in joints for shape in ("sine", "cosine")]


def _bearing(robot: Robot, samples: Samples, turning: list[int]) -> list[int]:
    """Joints of these that hold weight in the recorded postures; all where nobody described masses."""
    if not has_masses(robot):
        return turning
    held = np.abs(gravity_torque(robot, samples.q)).max(axis=0)
    return [j for j in turning if held[j] > MIN_GRAVITY_SHARE * held.max()]


def between_points(robot: Robot, joint: int, angle: float, ratio: float) -> Drive:
    """A force from a point of the link before a joint, at that angle about its axis, to one of its link."""
    own = robot.joints[joint]
    at = ratio * LEVER_LENGTH * np.array([np.cos(angle), np.sin(angle), 0.0])
    inner = own.parent_from_joint[:3, :3] @ at + own.parent_from_joint[:3, 3]
    ends = (own.parent, tuple(np.round(inner, 6).tolist())), (joint, (LEVER_LENGTH, 0.0, 0.0))
    return Drive.of("force", ends=ends).placed(robot.tree.parents)


@dataclass(frozen=True, eq=False)
class _Span:
    """What columns can explain at some samples, each joint weighted by what is left there.

    Attributes:
        basis: (N, n, k) orthonormal.
        left: (N, n) weighted torque outside of it.
        weights: (n,).
    """

    basis: Array
    left: Array
    weights: Array

    @classmethod
    def of(cls, design: Design, samples: Samples, weights: Array | None = None) -> _Span:
        A = design.columns(samples.q, samples.qd, samples.qdd)
        if weights is None:
            # By the torques' sizes first, then by what is left.
            first = cls.of(design, samples, 1.0 / np.maximum(np.sqrt((samples.tau**2).mean(axis=0)), 1e-300))
            weights = first.weights / np.maximum(np.sqrt((first.left**2).mean(axis=0)), 1e-6)
        rows = (A * weights[:, None]).reshape(-1, A.shape[-1])
        size = np.linalg.norm(rows, axis=0)
        U, sizes, _ = np.linalg.svd(rows / np.where(size > 0, size, 1.0), full_matrices=False)
        U = U[:, sizes > MIN_SHARE_OF_SPAN * sizes[0]]
        tau = (samples.tau * weights).ravel()
        left = (tau - U @ (U.T @ tau)).reshape(samples.tau.shape)
        return cls(U.reshape(*samples.tau.shape, -1), left, weights)

    def best_shape(self, q: Array, joint: int) -> tuple[tuple[float, float], float]:
        """Angle and ratio of the shape that explains most of what is left at a joint, and which share of it."""
        from scipy import optimize

        q, basis, left = q[:, joint], self.basis[:, joint], self.left[:, joint]
        squares = max(float(left @ left), 1e-300)

        def explained(column: Array) -> float:
            size = float(column @ column)
            fresh = size - float(((basis.T @ column) ** 2).sum())
            return float(column @ left) ** 2 / max(fresh, MIN_FRESH_SHARE * size) / squares

        def share(angle: float, ratio: float) -> float:
            return explained(np.sin(q - angle) / np.sqrt(1 + ratio**2 - 2 * ratio * np.cos(q - angle)))

        start = max(((angle, ratio) for angle in ANGLES for ratio in RATIOS), key=lambda shape: share(*shape))
        if share(*start) < MIN_EXPLAINED_SHARE / 2:
            return (float(start[0]), start[1]), 0.0
        bounds = [(None, None), (RATIOS[0] / 2, 1 - (1 - RATIOS[-1]) / 2)]
        best = optimize.minimize(lambda x: -share(*x), start, method="Nelder-Mead", bounds=bounds).x
        shape = round(float(best[0]), 4), round(float(best[1]), 4)
        # A spring about the joint has no constants to choose: where it does about as well, it is the simpler law.
        is_better = 1 - share(*shape) < MAX_LEFT_BESIDE_SPRING * (1 - explained(q))
        return shape, share(*shape) if is_better else 0.0
