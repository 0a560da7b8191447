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
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.description.robot import Robot
from tauform.identification.diagnosis.direction import Direction, Measure, links_of, turning_columns
from tauform.identification.diagnosis.regression import NormalProducts
from tauform.identification.diagnosis.samples import Samples, sampled
from tauform.identification.diagnosis.suspicion import GAIN, SPOILS, Suspicion
from tauform.identification.diagnosis.trial import SPREADS_OF_95, Trial
from tauform.identification.regression.design import Design
from tauform.identification.regression.rows import RowSource
from tauform.messages import with_interval
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
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
        columns: (N, n, k) of its values, for the links that are identified beside it.
        told: the suspicion that names it.
        sizes: between which it is named.
    """

    columns: Callable[[Robot], Array]
    told: Callable[[Trial], Suspicion]
    sizes: tuple[float, float] = (LEAST, LARGEST)


class Tried:
    """Hypotheses tried beside the columns of a fit, and beside its base parameters alone."""

    def __init__(self, design: Design, samples: Samples) -> None:
        self.samples = samples
        further = design.with_terms(()) if design.terms else None
        self.designs = [design] if further is None else [design, further]
        s = samples
        self.A = [own.columns(s.q, s.qd, s.qdd) for own in self.designs]
        self.before = NormalProducts(self.A[0], s.tau, s.folds).held_out()

    def best(self, hypothesis: Hypothesis) -> Trial | None:
        """The better of both; None where it explains nothing, or nothing that is known."""
        trials = [self._of(k, hypothesis) for k in range(len(self.A))]
        best = max(trials, key=lambda trial: trial.gain)
        return best if best.is_known(MIN_LOG_GAIN, *hypothesis.sizes, MIN_SPREADS) else None

    def _of(self, k: int, hypothesis: Hypothesis) -> Trial:
        A, design, s = self.A[k], self.designs[k], self.samples
        own = NormalProducts(A, s.tau, s.folds).values()
        for _ in range(N_PASSES):
            trial = Trial.of(A, hypothesis.columns(links_of(design, own)), s, self.before)
            own = trial.own
        return trial


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
    hypotheses = [_tilt(robot, s, measure)]
    for j in range(robot.n_joints):
        hypotheses.append(_zero(robot, s, j))
        # Gains show relative to each other: where gravity tells which are wrong, the others are right.
        if not off or list(off) == [j]:
            hypotheses.append(_gain(robot, s, j))
    found = [(trial, own) for own in hypotheses if (trial := tried.best(own)) is not None]
    best = max((trial.gain for trial, _ in found), default=0.0)
    close = [(trial, own) for trial, own in found if trial.gain > MIN_SHARE_OF_EQUALS * best]
    return [own.told(trial) for trial, own in sorted(close, key=lambda each: -each[0].gain)]


def _tilt(robot: Robot, s: Samples, measure: Measure) -> Hypothesis:
    g, names = np.asarray(robot.gravity), robot.joint_names

    def told(trial: Trial) -> Suspicion:
        found = measure(Direction(g, g).turned(trial.values).gravity)
        x, y, z = found.rounded
        what = (
            f"the base is tilted by {found.figure}: gravity points along ({x:g}, {y:g}, {z:g}) in the base frame; "
            + trial.figure(names)
        )
        remedy = f"level the base, or load the robot with {argument('gravity', [x, y, z])}, then identify again"
        return Suspicion(what, remedy, SPOILS, is_cause=False)

    return Hypothesis(lambda own: turning_columns(own, g, s.q), told)


def _zero(robot: Robot, s: Samples, j: int) -> Hypothesis:
    name, step = robot.joint_names[j], STEP * np.eye(robot.n_joints)[j]
    unit = "rad" if robot.joints[j].type.is_angle else "m"

    def columns(own: Robot) -> Array:
        up, down = (inverse_dynamics(own, s.q + x, s.qd, s.qdd, drives=False) for x in (step, -step))
        return np.asarray((up - down) / (2 * STEP))[..., None]

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


def _gain(robot: Robot, s: Samples, j: int) -> Hypothesis:
    name = robot.joint_names[j]

    def columns(own: Robot) -> Array:
        # Friction and rotors are the joint's own, and as free under any gain.
        torque = np.zeros((*s.tau.shape, 1))
        torque[:, j, 0] = inverse_dynamics(own, s.q, s.qd, s.qdd, drives=False)[:, j]
        return torque

    def told(trial: Trial) -> Suspicion:
        factor, half = 1 + float(trial.values[0]), SPREADS_OF_95 * float(trial.spreads[0])
        what = (
            f"the torque gain of {name} is {with_interval(factor, half)} times that of the other joints; "
            + trial.figure(robot.joint_names)
        )
        gains = ",".join(f"{1 / factor:.3g}" if k == j else "1" for k in range(robot.n_joints))
        remedy = f"check the torque constant and gear ratio of {name}, or convert: {argument('gains', gains)}"
        return Suspicion(what, remedy, SPOILS, is_cause=False, about=GAIN)

    return Hypothesis(columns, told, (LEAST_GAIN, LARGEST_GAIN))
