"""Small faults of a mount or an encoder, and loads of single recordings: tried beside the columns of a fit.

With the columns A of a fit, torques tau(q, qd, qdd; g) of its links, and a load's columns L at the last link:

    a tilted base            tau = A x + sum_k (d tau / d g_k) c_k      c: change of gravity across itself
    an encoder's zero        tau = A x + (d tau / d q_j) c              c: angle by which it is off
    a load in one recording  tau = A x + L y there                      y: its ten inertial parameters

All values are found anew in each, and stretches of time that were held out say what it explains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.description.robot import Robot
from tauform.identification.diagnosis.regression import NormalProducts
from tauform.identification.diagnosis.samples import Samples, sampled
from tauform.identification.diagnosis.suspicion import SPOILS, Suspicion
from tauform.identification.regression.design import Design
from tauform.identification.regression.rows import RowSource
from tauform.rigidbody.gravity import gravity_torque
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.regressor import regressor
from tauform.wording import argument

# States that decide: small faults hide in few.
N_STATES = 800
# Step of the central difference [rad or m].
STEP = 1e-4
# Sum over the joints of the logarithm of squares that a hypothesis must save, its size in spreads over stretches of
# time, in radians, metres, or shares of gravity, and up to which one derivative tells it.
MIN_LOG_GAIN, MIN_SPREADS, LEAST, LARGEST = 0.05, 4.0, 0.01, 0.7
# Hypotheses that explain more than this share of what the best one does are named beside it.
MIN_SHARE_OF_EQUALS = 0.7
# A load is named where it takes away this share of the squares at least: its ten columns explain something by chance.
MIN_SHARE_OF_LOAD = 0.3
# Share of the squared error of a validation recording that a load may leave, where noise does not leave more.
MAX_SHARE_LEFT = 0.05
# A load's mass is known where it is so many times its spread.
MIN_SPREADS_OF_MASS = 3.0


@dataclass(frozen=True, eq=False)
class Trial:
    """What further columns explain beside those of a fit.

    Attributes:
        gain: fall of the logarithms of held-out squares, summed over the joints.
        joint, share: where they explain most, and the share of its held-out squares.
        explained: share of all held-out squares, joints weighted alike.
        own: values of the fit's columns beside them.
        values, spreads: of the further columns; from all stretches, and over stretches that are left out in turn.
    """

    gain: float
    joint: int
    share: float
    explained: float
    own: Array
    values: Array
    spreads: Array

    @classmethod
    def of(cls, A: Array, further: Array, samples: Samples, before: Array) -> Trial:
        """Columns (N, n, p) of the fit and further ones (N, n, k); `before`: shares that the first leave."""
        products = NormalProducts(np.concatenate([A, further], axis=-1), samples.tau, samples.folds)
        ratio = np.maximum(products.held_out(), 1e-300) / np.maximum(before, 1e-300)
        folds, first = range(len(products.whole)), A.shape[-1]
        each = np.array([products.values([k for k in folds if k != out])[first:] for out in folds])
        # Jackknife over stretches of time: residuals of neighbours are alike.
        spreads = np.sqrt((len(each) - 1) * each.var(axis=0))
        joint = int(np.argmin(ratio))
        return cls(
            -float(np.log(ratio).sum()), joint, 1 - float(ratio[joint]), 1 - float(np.exp(np.log(ratio).mean())),
            products.values()[:first], products.values()[first:], spreads,
        )  # fmt: skip

    @property
    def is_known(self) -> bool:
        """Whether some value is far beyond its spread."""
        size, spread = float(np.linalg.norm(self.values)), float(np.linalg.norm(self.spreads))
        return self.gain > MIN_LOG_GAIN and LEAST < size < LARGEST and size > MIN_SPREADS * spread

    def figure(self, names: tuple[str, ...]) -> str:
        """What it explains, in words."""
        return f"that explains {100 * self.share:.0f} % of the squared error of {names[self.joint]} on held-out blocks"


@on_one_thread
def find_small_faults(
    links: Callable[[Array], Robot], design: Design, values: Array, source: RowSource
) -> list[Suspicion]:
    """Suspicions of a tilted base and of encoders whose zero is off, the best first.

    Args:
        links: the robot that values of the columns identify.
        design: columns of the fit.
        values: of the fit.
    """
    robot = links(values)
    if robot.closure is not None or design.is_thermal or design.is_loaded:
        return []
    s = sampled(source, N_STATES)
    A = design.columns(s.q, s.qd, s.qdd)
    if len(s.tau) < A.shape[-1]:
        return []
    plain = A[..., : design.base.n]
    before, before_plain = (NormalProducts(x, s.tau, s.folds).held_out() for x in (A, plain))
    g, names = np.asarray(robot.gravity), robot.joint_names

    def tried(columns: Callable[[Robot], Array]) -> Trial | None:
        trial = Trial.of(A, columns(robot), s, before)
        if not trial.is_known:
            return None
        # Known beside further terms, measured without them: springs and ripple that were found made up for the fault.
        known = Trial.of(plain, columns(links(trial.own)), s, before_plain)
        return replace(trial, values=known.values, spreads=np.hypot(trial.spreads, trial.values - known.values))

    found: list[tuple[float, Suspicion]] = []
    # As shares of gravity, so that sizes compare with angles.
    across = np.linalg.svd(g[None])[2][1:] * np.linalg.norm(g)
    tilt = tried(lambda own: np.stack([gravity_torque(own.with_gravity(x), s.q) for x in across], axis=-1))
    if tilt is not None:
        found.append((tilt.gain, _tilt(tilt, g, across, names)))
    for j in range(len(names)):
        zero = tried(lambda own, j=j: _slope(own, s, j)[..., None])  # type: ignore[misc]
        if zero is not None:
            found.append((zero.gain, _zero(zero, j, names)))
    best = max((gain for gain, _ in found), default=0.0)
    close = [(gain, own) for gain, own in found if gain > MIN_SHARE_OF_EQUALS * best]
    return [own for _, own in sorted(close, key=lambda each: -each[0])]


def _slope(robot: Robot, s: Samples, j: int) -> Array:
    """(N, n) d tau / d q_j."""
    step = STEP * np.eye(s.q.shape[1])[j]
    up, down = (inverse_dynamics(robot, s.q + x, s.qd, s.qdd, drives=False) for x in (step, -step))
    return np.asarray((up - down) / (2 * STEP))


def _tilt(trial: Trial, g: Array, across: Array, names: tuple[str, ...]) -> Suspicion:
    turned = g + trial.values @ across
    turned = turned * np.linalg.norm(g) / np.linalg.norm(turned)
    angle, spread = (float(np.rad2deg(np.linalg.norm(x))) for x in (trial.values, trial.spreads))
    x, y, z = (float(f"{value:.2f}") + 0.0 for value in turned)
    what = (
        f"the base seems tilted by about {angle:.2g} +- {2 * spread:.1g} degrees, so that gravity points along "
        f"({x:g}, {y:g}, {z:g}): {trial.figure(names)}"
    )
    remedy = f"level the base, or load the robot with {argument('gravity', [x, y, z])}, then identify again"
    return Suspicion(what, remedy, SPOILS, is_cause=False)


def _zero(trial: Trial, j: int, names: tuple[str, ...]) -> Suspicion:
    # tau(q - off) = tau - (d tau / d q) off
    off, spread = -float(trial.values[0]), float(trial.spreads[0])
    what = (
        f"the encoder of {names[j]} seems off by about {off:.2g} +- {2 * spread:.1g} (its zero is not the "
        f"description's): {trial.figure(names)}"
    )
    remedy = f"calibrate the zero of {names[j]}, or subtract {off:.2g} from its positions, then identify again"
    return Suspicion(what, remedy, SPOILS, is_cause=False)


@on_one_thread
def find_other_loads(robot: Robot, design: Design, source: RowSource) -> list[Suspicion]:
    """Suspicions of a load that the robot carries in some of its recordings alone."""
    several = sorted({segment.recording for segment in source.segments})
    if len(several) < 2 or robot.closure is not None or design.is_thermal or design.is_loaded:
        return []
    s = sampled(source, N_STATES)
    A, L = design.columns(s.q, s.qd, s.qdd), _load(robot, s)
    before = NormalProducts(A, s.tau, s.folds).held_out()
    trials = [(Trial.of(A, L * (s.recording == k)[:, None, None], s, before), k) for k in several]
    trial, k = max(trials, key=lambda each: each[0].gain)
    if trial.explained < MIN_SHARE_OF_LOAD:
        return []
    more, which = float(trial.values[0]), f"recording {k + 1}"
    if more < 0 and len(several) == 2:  # less in one is more in the other
        more, which = -more, f"recording {several[several.index(k) - 1] + 1}"
    about = f" of about {more:.2g} kg" if more > MIN_SPREADS_OF_MASS * float(trial.spreads[0]) else ""
    what = f"{which} carries a load{about} that the others do not: {trial.figure(robot.joint_names)}"
    remedy = "identify recordings with and without the load apart, or describe the load"
    return [Suspicion(what, remedy, SPOILS, is_cause=False)]


@on_one_thread
def find_load_of(robot: Robot, design: Design, values: Array, source: RowSource, expected: float) -> list[Suspicion]:
    """Suspicions of a load in validation recordings, which the fit has not seen.

    Args:
        values: of the fit, which are taken as they are.
        expected: share of the squared error that stays where the load is all that differs.
    """
    if robot.closure is not None or design.is_thermal or design.is_loaded:
        return []
    s = sampled(source, N_STATES)
    left = s.tau - design.columns(s.q, s.qd, s.qdd) @ values
    products = NormalProducts(_load(robot, s), left, s.folds)
    share = float(np.exp(np.log(np.maximum(products.held_out(), 1e-300)).mean()))
    # A load explains something of any other arm: it has to explain all that is new.
    if share > max(MAX_SHARE_LEFT, expected) or share > 1 - MIN_SHARE_OF_LOAD:
        return []
    folds = range(len(products.whole))
    masses = np.array([products.values([k for k in folds if k != out])[0] for out in folds])
    mass, spread = float(products.values()[0]), float(np.sqrt((len(masses) - 1) * masses.var()))
    if abs(mass) < MIN_SPREADS_OF_MASS * spread:
        return []
    carries = f"carries a load of about {abs(mass):.2g} kg" if mass > 0 else f"lacks about {abs(mass):.2g} kg"
    what = (
        f"in the validation recordings the last link {carries} beside what it has in the fitted ones: that explains "
        f"{100 * (1 - share):.0f} % of the squared error there"
    )
    return [Suspicion(what, "validate with the load of the fitted recordings, or fit both", SPOILS, is_cause=False)]


def _load(robot: Robot, s: Samples) -> Array:
    """(N, n, 10) of a body at the last link."""
    return regressor(robot, s.q, s.qd, s.qdd)[:, :, robot.layout.link(robot.n_bodies - 1)]
