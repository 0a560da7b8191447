"""Torques beside those of the described masses: mount, sign, unit and load told apart in one small regression.

With G_k the torques that hold the described links under a unit of gravity along axis k, I their inertial torques, L a
load at the last link, and for each joint friction and a rotor F (Fv qd + Fc sign(qd) + Fo + Ia qdd):

    as described    tau = sum_k g_k G_k + I            + F
    other signs     tau = s_j (sum_k g_k G_k + I)      + F     one s_j for each joint
    other mount     tau = sum_k gamma_k G_k + I        + F     one gamma for all joints
    a load          tau = sum_k g_k G_k + I + L x      + F     x: its ten inertial parameters
    springs         tau = sum_k g_k G_k + I + S_j y_j  + F     S: of a joint's own position

Held-out stretches of time say which leaves least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.description.robot import Robot
from tauform.identification.diagnosis.direction import Measure
from tauform.identification.diagnosis.regression import NormalProducts
from tauform.identification.diagnosis.samples import Samples
from tauform.identification.diagnosis.suspicion import GAIN, GRAVITY, SPOILS, Suspicion
from tauform.messages import percent
from tauform.rigidbody.gravity import gravity_torque
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.regressor import regressor
from tauform.wording import argument

# Relative error of the described masses that needs no explanation; real arms and careless masses are below it.
MAX_ERROR_OF_DESCRIBED_MASSES = 0.25
# A hypothesis explains where it leaves less than this, and than this part of what the described masses leave.
MAX_ERROR_EXPLAINED, MAX_ERROR_RATIO_EXPLAINED = 0.2, 0.6
# A joint takes part where some hypothesis leaves less than this of its torque.
MAX_ERROR_OF_USED_JOINT = 0.5
# Hypotheses that leave less than so many times the best one's error are named beside it.
MAX_ERROR_RATIO_OF_EQUALS = 1.3
# A direction of gravity counts as another one from this angle on [rad]; its size may differ by this factor.
MIN_GRAVITY_ANGLE, MAX_GRAVITY_FACTOR = 0.15, 1.6
# Share of a joint's torque that its described links make where its sign tells.
MIN_SHARE_FOR_SIGN = 0.3
# A load's mass is known where it is so many times its spread over the stretches of time that tell it.
MIN_SPREADS_OF_MASS = 3.0
# Factors of torques that careless masses explain, and from which on they are those of another unit.
MAX_FACTOR_OF_MASSES, MAX_FACTOR_OF_GAINS = 1.3, 5.0
# Width of the friction's step, relative to a joint's usual speed.
STEP_WIDTH_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class Described:
    """Columns of the described robot at some samples; the last axis is the joint's.

    Attributes:
        gravity: (3, N, n) torque for a unit of gravity along each axis.
        inertial: (N, n) without gravity.
        load: (10, N, n) of a body at the last link; none for robots with loops.
        drives: (4, N, n) of a joint's own friction and rotor.
    """

    robot: Robot
    samples: Samples
    gravity: Array
    inertial: Array
    load: Array
    drives: Array

    @classmethod
    def of(cls, robot: Robot, samples: Samples) -> Described:
        """The columns of a robot."""
        q, qd, qdd = samples.q, samples.qd, samples.qdd
        # Gravity is linear in its vector: three columns describe every mount.
        gravity = np.array([gravity_torque(robot.with_gravity(axis), q) for axis in np.eye(3)])
        inertial = inverse_dynamics(robot.with_gravity(np.zeros(3)), q, qd, qdd, drives=False)
        last = robot.layout.link(robot.n_bodies - 1)
        load = np.moveaxis(regressor(robot, q, qd, qdd)[:, :, last], -1, 0)
        speed = np.maximum(np.abs(qd).mean(axis=0), 1e-12)
        drives = np.array([qd, np.tanh(qd / (STEP_WIDTH_SHARE * speed)), np.ones_like(qd), qdd])
        return cls(robot, samples, gravity, inertial, load if robot.closure is None else load[:0], drives)

    @property
    def torque(self) -> Array:
        """(N, n) of the links as they are described."""
        return np.tensordot(np.asarray(self.robot.gravity), self.gravity, axes=1) + self.inertial

    @property
    def springs(self) -> Array:
        """(3, N, n) of a joint's own position: a spring, and a weight or a force between two points."""
        kinds = {joint.name: joint.type.is_angle for joint in self.robot.joints}
        turns = np.array([kinds[name] for name in self.robot.joint_names])
        q = self.samples.q
        return np.array([q, np.sin(q) * turns, np.cos(q) * turns])

    def under(self, shared: Array, own: Array, known: Array) -> NormalProducts:
        """Products under a hypothesis.

        Args:
            shared: (K, N, n) columns with one value for all joints.
            own: (K, N, n) columns with a value for each joint; friction and rotors are added.
            known: (N, n) torque that is taken as it is.
        """
        n = self.samples.tau.shape[1]
        of_joints = np.concatenate([own, self.drives])
        A = np.zeros((*self.samples.tau.shape, len(shared) + n * len(of_joints)))
        A[:, :, : len(shared)] = np.moveaxis(shared, 0, -1)
        for j in range(n):
            first = len(shared) + j * len(of_joints)
            A[:, j, first : first + len(of_joints)] = of_joints[:, :, j].T
        return NormalProducts.of(A, self.samples.tau - known, self.samples.folds)


@on_one_thread
def compare_with_description(robot: Robot, samples: Samples, measure: Measure) -> list[Suspicion]:
    """Suspicions about mount, signs and load, the best first; none where the described masses explain the torques.

    Args:
        measure: the direction of gravity by all rows, from one near it.
    """
    described = Described.of(robot, samples)
    nothing, torque = np.zeros((0, *samples.tau.shape)), described.torque
    hypotheses = {
        "as described": described.under(nothing, nothing, torque),
        "signs": described.under(nothing, torque[None], 0 * torque),
        "mount": described.under(described.gravity, nothing, described.inertial),
        "load": described.under(described.load, nothing, torque),
        # Springs are found, and named, beside free masses: here they keep a load from being blamed for them.
        "springs": described.under(nothing, described.springs, torque),
    }
    shares = {name: _shares(products, samples) for name, products in hypotheses.items()}
    # A joint that no hypothesis explains is noise, or has a fault of its own.
    # One joint without a signal must not hide what the others say.
    tells = np.min(list(shares.values()), axis=0) < MAX_ERROR_OF_USED_JOINT**2
    left = {name: float(np.sqrt(share[tells].mean())) if tells.any() else 0.0 for name, share in shares.items()}
    if left["as described"] < MAX_ERROR_OF_DESCRIBED_MASSES:
        return []
    limit = min(MAX_ERROR_EXPLAINED, MAX_ERROR_RATIO_EXPLAINED * left["as described"])
    told: dict[str, Callable[[Described, NormalProducts], Suspicion | None]]
    told = {"signs": _signs, "mount": partial(_mount, measure), "load": _load, "springs": lambda *_: None}
    best = min(left[name] for name in told)
    close = sorted((left[name], name) for name in told if left[name] <= min(limit, MAX_ERROR_RATIO_OF_EQUALS * best))
    suspicions = [(error, told[name](described, hypotheses[name])) for error, name in close]
    figures = f"of the torques unexplained instead of {percent(left['as described'])}, masses as described"
    return [
        replace(s, what=f"{s.what}: that leaves {percent(error)} {figures}") for error, s in suspicions if s is not None
    ]


def _shares(products: NormalProducts, samples: Samples) -> Array:
    """(n,) squares that are left over those of the torques, on held-out stretches."""
    left = products.held_out * products.whole.sum(axis=0)
    return left / np.maximum((samples.tau**2).sum(axis=0), 1e-300)


def _signs(described: Described, products: NormalProducts) -> Suspicion | None:
    """Joints whose links' torque has the opposite sign, or another size."""
    gains, names = products.values[::5], described.robot.joint_names
    torque, tau = described.torque, described.samples.tau
    tells = np.abs(gains) * torque.std(axis=0) > MIN_SHARE_FOR_SIGN * tau.std(axis=0)
    wrong = [j for j in np.flatnonzero(tells) if gains[j] < 0]
    if not wrong:
        return _sizes(gains, np.flatnonzero(tells).tolist(), names)
    # A joint that holds and moves nothing does not tell its sign: it has that of all others.
    is_all = len(wrong) == tells.sum()
    which = "all joints" if is_all else ", ".join(names[j] for j in wrong)
    turns = [-1 if is_all or j in wrong else 1 for j in range(len(gains))]
    remedy = f"turn the torques: {argument('gains', turns)}, then identify again"
    return Suspicion(f"the torques of {which} have the opposite sign", remedy)


def _sizes(gains: Array, tells: list[int], names: Sequence[str]) -> Suspicion | None:
    """Torques of another size; another unit of all is told by the fit's values."""
    off = [j for j in tells if abs(np.log(gains[j])) > np.log(MAX_FACTOR_OF_MASSES)]
    if not off or all(abs(np.log(gains[j])) > np.log(MAX_FACTOR_OF_GAINS) for j in tells):
        return None
    each = ", ".join(f"{gains[j]:.2g} times at {names[j]}" for j in off)
    what = f"the torques are {each} those of the described masses (a torque gain, a gear ratio, or other masses)"
    remedy = f"hold a known mass at the tool, compare, and correct {argument('gains')} or the masses"
    return Suspicion(what, remedy, SPOILS, is_cause=False, about=GAIN)


def _mount(measure: Measure, described: Described, products: NormalProducts) -> Suspicion | None:
    """Gravity that points elsewhere than the description says."""
    gamma, g = products.values[:3], np.asarray(described.robot.gravity)
    sizes = np.linalg.norm(gamma), max(float(np.linalg.norm(g)), 1e-300)
    angle = float(np.arccos(np.clip(gamma @ g / (sizes[0] * sizes[1]), -1, 1)))
    if angle < MIN_GRAVITY_ANGLE or not 1 / MAX_GRAVITY_FACTOR < sizes[0] / sizes[1] < MAX_GRAVITY_FACTOR:
        return None
    # Described masses tell that it is so; where exactly, the identified ones know better.
    found = measure(gamma * (sizes[1] / sizes[0]))
    x, y, z = found.rounded
    what = (
        f"gravity points along ({x:g}, {y:g}, {z:g}) in the base frame, {found.figure} from the described direction: "
        "the robot is mounted otherwise"
    )
    return Suspicion(what, f"load the robot with {argument('gravity', (x, y, z))}, then identify again")


def _load(described: Described, products: NormalProducts) -> Suspicion | None:
    """A body at the last link; the fit is right, of the robot with its load."""
    masses = products.left_out[:, 0]
    mass, spread = float(masses.mean()), float(masses.std())
    if mass < -MIN_SPREADS_OF_MASS * spread:
        return None
    # Few joints show the moments of a load, and not its mass.
    about = f" of about {mass:.2g} kg" if mass > MIN_SPREADS_OF_MASS * spread else ""
    what = f"the robot carries a load{about} that is not described"
    remedy = "record without the load, or describe it; the fit is of the robot with its load"
    return Suspicion(what, remedy, SPOILS, is_cause=False, about=GRAVITY)
