"""The direction of gravity in the base frame, with its interval: of a base that stands otherwise than described.

With g on the sphere of its known size, e_1 and e_2 across it, and the columns A(g) of base parameters x,

    tau = A(g) x + sum_k c_k G_k(x),   G_k the torques of the links x under gravity along e_k,

is solved for x and c together, and g turned by c, until it stays. x is free, so that described masses do not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.description.robot import Robot
from tauform.identification.diagnosis.regression import NormalProducts
from tauform.identification.diagnosis.samples import Samples
from tauform.identification.regression.design import Design
from tauform.messages import with_interval
from tauform.rigidbody.gravity import gravity_torque

# Turns that follow each other, and the turn that ends them [rad].
MOST_TURNS, SMALLEST_TURN = 8, 1e-5
# Half width of a 95 % interval, in standard deviations.
NORMAL_95 = 1.96


@dataclass(frozen=True, eq=False)
class Direction:
    """Gravity as torques show it.

    Attributes:
        described, gravity: (3,) [m/s^2].
        covariance: (2, 2) of its turns about the two axes across it [rad^2]; None where the motion does not tell it.
    """

    described: Array
    gravity: Array
    covariance: Array | None = None

    @property
    def angle(self) -> float:
        """Between both [deg]."""
        a, b = (x / np.linalg.norm(x) for x in (self.described, self.gravity))
        # By both, for a cosine is blind at small angles.
        return float(np.rad2deg(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)))

    @property
    def deviation(self) -> float:
        """Of the angle [deg]; infinite where it is not known."""
        if self.covariance is None:
            return float("inf")
        away = across(self.gravity) @ self.described
        size = float(np.linalg.norm(away))
        # No direction leads away from the described one where both agree: any may.
        variance = away @ self.covariance @ away / size**2 if size > 0 else np.linalg.eigvalsh(self.covariance)[-1]
        return float(np.rad2deg(np.sqrt(max(float(variance), 0.0))))

    @property
    def rounded(self) -> list[float]:
        """To two decimals."""
        return [float(f"{x:.2f}") + 0.0 for x in self.gravity]

    @property
    def figure(self) -> str:
        """The angle in words."""
        return f"{with_interval(self.angle, NORMAL_95 * self.deviation)} degrees"

    def turned(self, turns: Array) -> Direction:
        """Turned by small angles about the two axes across it."""
        size = np.linalg.norm(self.gravity)
        g = self.gravity + size * (turns @ across(self.gravity))
        return replace(self, gravity=g * (size / np.linalg.norm(g)))


# From a direction that explains the torques to the one that explains them best.
Measure = Callable[[Array], Direction]


def across(gravity: Array) -> Array:
    """(2, 3) unit vectors across a direction and each other."""
    return np.asarray(np.linalg.svd(np.asarray(gravity)[None])[2][1:])


def turning_columns(links: Robot, gravity: Array, q: Array) -> Array:
    """(N, n, 2) torque for a turn of gravity of one radian about each axis across it."""
    size = np.linalg.norm(gravity)
    return np.stack([gravity_torque(links.with_gravity(size * e), q) for e in across(gravity)], axis=-1)


def links_of(design: Design, values: Array) -> Robot:
    """The robot of a design's base parameters, whatever else it has."""
    base = design.base
    return design.robot.with_base_parameters(values[: base.n], base)


@on_one_thread
def settled_direction(start: Direction, plain: Callable[[Robot], Design], robot: Robot, s: Samples) -> Direction:
    """The direction that explains samples best, found from one near it.

    Args:
        plain: columns without terms that were chosen, of a robot.
    """
    found = start
    for _ in range(MOST_TURNS):
        design = plain(robot.with_gravity(found.gravity))
        A = design.columns(s.q, s.qd, s.qdd)
        values = NormalProducts.of(A, s.tau, s.folds).values
        G = turning_columns(links_of(design, values), found.gravity, s.q)
        turns = NormalProducts.of(np.concatenate([A, G], axis=-1), s.tau, s.folds).values[-2:]
        found = found.turned(turns)
        if np.abs(turns).max() < SMALLEST_TURN:
            break
    return found
