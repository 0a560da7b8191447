"""Small faults of a mount, an encoder or a drive: tried beside the columns of a fit.

With the columns A of a fit and torques tau(q, qd, qdd; g) of its links,

    a tilted base        tau = A x + sum_k (d tau / d c_k) c_k   c: turns of gravity across itself
    an encoder's zero    tau = A x + (d tau / d q_j) c           c: angle by which it is off
    a gain of a joint    tau = A x + tau_j c                     c: by how much the gain is more than one

All values are found anew in each, and stretches of time that were held out say what it explains. Springs and ripple
that a fit found may be made up for a fault: a hypothesis may take their place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.identification.diagnosis.direction import Direction, Measure, across
from tauform.identification.diagnosis.regression import NormalProducts
from tauform.identification.diagnosis.samples import Samples, sampled
from tauform.identification.diagnosis.suspicion import GAIN, SPOILS, Suspicion
from tauform.identification.diagnosis.trial import SPREADS_OF_95, Trial
from tauform.identification.regression.design import Design
from tauform.identification.regression.rows import RowSource
from tauform.messages import with_interval
from tauform.wording import argument

# States that decide: small faults hide in few.
N_STATES = 800
# Step of the central difference [rad or m].
STEP = 1e-4
# Sum over the joints of the logarithm of squares that a hypothesis must save, and its size in spreads over stretches of
# time.
MIN_LOG_GAIN, MIN_SPREADS = 0.05, 4.0
# Sizes, in radians, metres or shares of a gain, from which on a fault is worth a word, and up to which one derivative
# tells it; a gain's column is exact.
LEAST, LARGEST, LEAST_GAIN, LARGEST_GAIN = 0.01, 0.7, 0.05, 20.0
# Passes in which the columns of a hypothesis are those of the links that it finds.
N_PASSES = 3
# Hypotheses that explain more than this share of what the best one does are named beside it.
MIN_SHARE_OF_EQUALS = 0.7


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A fault.

    Attributes:
        columns: (N, n, k, L) of its values, for a value of one of each of the links' L base parameters.
        told: the suspicion that names it.
        sizes: between which it is named.
        is_possible: whether values are those of such a fault.
    """

    columns: Callable[[], Array]
    told: Callable[[Trial], Suspicion]
    sizes: tuple[float, float] = (LEAST, LARGEST)
    is_possible: Callable[[Trial], bool] = lambda trial: True


class Tried:
    """Hypotheses tried beside the columns of a fit, and beside its base parameters alone."""

    def __init__(self, design: Design, samples: Samples) -> None:
        s, self.samples = samples, samples
        self.links = design.links
        self.A = design.columns(s.q, s.qd, s.qdd)
        whole = NormalProducts.of(self.A, s.tau, s.folds)
        self.before = whole.held_out
        self.plain = [whole, whole.first(design.base.n)] if design.terms else [whole]

    def best(self, hypothesis: Hypothesis) -> Trial | None:
        """The better of both; None where it explains nothing, or nothing that is known."""
        columns = hypothesis.columns()
        trials = [self._of(plain, columns) for plain in self.plain]
        best = max((own for own in trials if hypothesis.is_possible(own)), key=lambda trial: trial.gain, default=None)
        if best is None:
            return None
        return best if best.is_known(MIN_LOG_GAIN, *hypothesis.sizes, MIN_SPREADS) else None

    def _of(self, plain: NormalProducts, columns: Array) -> Trial:
        s, tried, A = self.samples, plain, self.A[..., : plain.sides.shape[-1]]
        for _ in range(N_PASSES):
            tried = plain.beside(A, columns @ tried.values[self.links], s.tau, s.folds)
        return Trial.of(tried, columns.shape[-2], self.before)


@on_one_thread
def find_small_faults(design: Design, source: RowSource, measure: Measure, off: Sequence[int] = ()) -> list[Suspicion]:
    """Suspicions of a tilted base, of encoders whose zero is off, and of gains of single joints, the best first.

    Args:
        design: columns of the fit.
        measure: the direction of gravity by all rows, from one near it.
        off: joints whose gravity is of another size than described.
    """
    robot = design.robot
    if robot.closure is not None or design.is_thermal or design.is_loaded:
        return []
    s = sampled(source, N_STATES)
    if len(s.tau) < design.n_columns:
        return []
    tried = Tried(design, s)
    hypotheses = [_tilt(design, s, measure)]
    for j in range(robot.n_joints):
        hypotheses.append(_zero(design, s, j))
        # Gains show relative to each other: where gravity tells which are wrong, the others are right.
        if not off or list(off) == [j]:
            hypotheses.append(_gain(design, tried, j))
    found = [(trial, own) for own in hypotheses if (trial := tried.best(own)) is not None]
    best = max((trial.gain for trial, _ in found), default=0.0)
    close = [(trial, own) for trial, own in found if trial.gain > MIN_SHARE_OF_EQUALS * best]
    return [own.told(trial) for trial, own in sorted(close, key=lambda each: -each[0].gain)]


def _tilt(design: Design, s: Samples, measure: Measure) -> Hypothesis:
    robot = design.robot
    g, names = np.asarray(robot.gravity), robot.joint_names

    def told(trial: Trial) -> Suspicion:
        found = measure(Direction(g, g).turned(trial.values).gravity)
        x, y, z = found.rounded
        what = (
            f"the base is tilted by {found.figure}: gravity points along ({x:g}, {y:g}, {z:g}) in the base frame; "
            + trial.figure(names)
        )
        remedy = f"level the base, or load the robot with {argument('gravity', (x, y, z))}, then identify again"
        return Suspicion(what, remedy, SPOILS, is_cause=False)

    def columns() -> Array:
        still, size = 0 * s.q, np.linalg.norm(g)
        turned = [replace(design, robot=robot.with_gravity(size * e)) for e in across(g)]
        return np.stack([own.link_columns(s.q, still, still) for own in turned], axis=-2)

    return Hypothesis(columns, told)


def _zero(design: Design, s: Samples, j: int) -> Hypothesis:
    robot = design.robot
    name, step = robot.joint_names[j], STEP * np.eye(robot.n_joints)[j]
    unit = "rad" if robot.joints[j].type.is_angle else "m"

    def columns() -> Array:
        up, down = (design.link_columns(s.q + x, s.qd, s.qdd) for x in (step, -step))
        return np.asarray((up - down) / (2 * STEP))[..., None, :]

    def told(trial: Trial) -> Suspicion:
        # tau(q - off) = tau - (d tau / d q) off
        off, half = -float(trial.values[0]), SPREADS_OF_95 * float(trial.spreads[0])
        what = (
            f"the encoder of {name} is off by {with_interval(off, half)} {unit} (its zero is not the description's); "
            + trial.figure(robot.joint_names)
        )
        remedy = f"calibrate the zero of {name}, or subtract {off:.2g} {unit} from its positions, then identify again"
        return Suspicion(what, remedy, SPOILS, is_cause=False)

    return Hypothesis(columns, told)


def _gain(design: Design, tried: Tried, j: int) -> Hypothesis:
    robot = design.robot
    name = robot.joint_names[j]

    def columns() -> Array:
        # Friction and rotors are the joint's own, and as free under any gain.
        torque = np.zeros((*tried.A.shape[:2], 1, len(tried.links)))
        torque[:, j, 0] = tried.A[:, j, tried.links]
        return torque

    def told(trial: Trial) -> Suspicion:
        factor, half = 1 + float(trial.values[0]), SPREADS_OF_95 * float(trial.spreads[0])
        what = (
            f"the torque gain of {name} is {with_interval(factor, half)} times that of the other joints; "
            + trial.figure(robot.joint_names)
        )
        gains = [float(f"{1 / factor:.3g}") if k == j else 1 for k in range(robot.n_joints)]
        remedy = f"check the torque constant and gear ratio of {name}, or convert: {argument('gains', gains)}"
        return Suspicion(what, remedy, SPOILS, is_cause=False, about=GAIN)

    # A gain of zero, within its interval, is none: torques that have nothing to do with the links'.
    def is_possible(trial: Trial) -> bool:
        return abs(1 + float(trial.values[0])) > SPREADS_OF_95 * float(trial.spreads[0])

    return Hypothesis(columns, told, (LEAST_GAIN, LARGEST_GAIN), is_possible)
