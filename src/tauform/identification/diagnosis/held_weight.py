"""Gravity of another size than described at some joints: which cause explains it best.

With the torque T of the described links and each joint's own friction and rotor F, at the joints j where it differs:

    a torque gain     tau_j = s_j T_j + F_j
    a spring          tau_j = T_j + K q_j + A sin q_j + B cos q_j + F_j      a counterbalance too
    another link      tau   = T + L_k x + F                                  x: ten parameters that link k has more

A free fit hides which it is, for the masses take any of them on where a joint moves little. What is not its weight (a
load's inertia at other joints, a spring that does not know the elbow) tells them apart on held-out stretches of time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.closedform.threads import on_one_thread
from tauform.description.robot import Robot
from tauform.identification.diagnosis.described import MAX_ERROR_OF_USED_JOINT, Described
from tauform.identification.diagnosis.regression import NormalProducts
from tauform.identification.diagnosis.samples import Samples
from tauform.identification.diagnosis.suspicion import GRAVITY, SPOILS, Suspicion
from tauform.messages import percent
from tauform.rigidbody.regressor import regressor
from tauform.wording import argument

# Fall of the logarithms of held-out squares that makes a cause one: the error of a joint is 0.6 times as large.
MIN_LOG_GAIN = -2 * np.log(0.6)
# Causes whose logarithms are so near the best one's are named beside it: errors 1.3 times as large at a joint.
MAX_LOG_RATIO_OF_EQUALS, MOST_NAMED = 2 * np.log(1.3), 3


@dataclass(frozen=True)
class Cause:
    """What would make gravity seem of another size.

    Attributes:
        what: in words.
        kind: "gain", "spring" or "link".
        error: share of the torques that it leaves unexplained on held-out stretches of time, masses as described.
        loss: sum of the logarithms of its squares over the joints at which gravity differs.
    """

    what: str
    kind: str
    error: float
    loss: float


@on_one_thread
def causes_of_gravity(
    robot: Robot, samples: Samples, off: Sequence[int], silent: Sequence[int] = ()
) -> tuple[float, list[Cause]]:
    """The error of the described masses, and the causes that explain it, the best first; none where none does.

    Args:
        off: joints whose gravity differs.
        silent: joints that tell of no gravity, whose gains may be wrong too.
    """
    at, unsure = (np.isin(np.arange(robot.n_joints), joints) for joints in (off, silent))
    # A unit or a gain of all joints is that of silent ones too.
    scaled = at | unsure if (at | unsure).all() else at
    tried = _hypotheses(robot, samples, at, scaled)
    shares = {key: _shares(products, samples) for key, products in tried.items()}
    tells = np.min(list(shares.values()), axis=0) < MAX_ERROR_OF_USED_JOINT**2
    if not (tells & at).any():
        return 0.0, []
    # A load explains a little of careless masses at all joints: those at which gravity differs decide.
    plain, *others = (
        Cause(what, kind, float(np.sqrt(share[tells].mean())), float(np.log(share[tells & at]).sum()))
        for (kind, what), share in shares.items()
    )
    limit = min(plain.loss - MIN_LOG_GAIN, min(own.loss for own in others) + MAX_LOG_RATIO_OF_EQUALS)
    close = sorted((own for own in others if own.loss <= limit), key=lambda own: own.loss)
    links = [own for own in close if own.kind == "link"]
    # Neighbouring links weigh alike.
    return plain.error, [own for own in close if own.kind != "link" or own is links[0]][:MOST_NAMED]


def _hypotheses(
    robot: Robot, samples: Samples, at: AnyArray, scaled: AnyArray
) -> dict[tuple[str, str], NormalProducts]:
    """Products by kind and words, those of the described masses alone first."""
    described, q = Described.of(robot, samples), samples.q
    torque, names = described.torque, robot.joint_names
    which = ", ".join(name for name, is_off in zip(names, at, strict=True) if is_off)
    nothing = np.zeros((0, *torque.shape))
    tried = {
        ("", ""): described.under(nothing, nothing, torque),
        ("gain", f"the torque gain or gear ratio of {which} is wrong"): described.under(
            nothing, (torque * scaled)[None], torque * ~scaled
        ),
        ("spring", f"a spring or a counterbalance acts at {which}"): described.under(
            nothing, described.springs * at, torque
        ),
    }
    Y = np.moveaxis(regressor(robot, q, samples.qd, samples.qdd), -1, 0)
    for k in range(robot.n_bodies):
        products = described.under(Y[robot.layout.link(k)], nothing, torque)
        # A load weighs something; less than described is a lighter link.
        is_load = k == robot.n_bodies - 1 and products.values[0] > 0
        what = "the robot carries a load" if is_load else f"the link of {names[k]} has another mass than described"
        tried["link", what] = products
    return tried


def _shares(products: NormalProducts, samples: Samples) -> Array:
    """(n,) squares that are left over those of the torques, on held-out stretches."""
    left = products.held_out * products.whole.sum(axis=0)
    return np.maximum(left / np.maximum((samples.tau**2).sum(axis=0), 1e-300), 1e-300)


def named(robot: Robot, samples: Samples, ratios: Array, off: Sequence[int]) -> list[Suspicion]:
    """A suspicion that names the causes, where some explain it.

    Args:
        ratios: (n,) identified over described gravity.
        off: joints where it differs.
    """
    before, causes = causes_of_gravity(robot, samples, off, np.flatnonzero(np.isnan(ratios)).tolist())
    if not causes:
        return []
    each = ", ".join(f"{ratios[j]:.2g} times at {robot.joint_names[j]}" for j in off)
    best, *others = (f"{own.what} ({percent(own.error)} left)" for own in causes)
    what = (
        f"{' or '.join([best, *others])}: identified gravity is {each} that of the described masses, which leave "
        f"{percent(before)} of the torques unexplained"
    )
    remedies = list(dict.fromkeys(REMEDIES[own.kind]() for own in causes))
    return [Suspicion(what, "; or ".join(remedies), SPOILS, is_cause=False, about=GRAVITY)]


REMEDIES: dict[str, Callable[[], str]] = {
    "gain": lambda: f"hold a known mass at the tool, compare, and correct {argument('gains')}",
    "spring": lambda: "unhook the spring, or record over more of the joint's range, which tells a spring from a weight",
    "link": lambda: "record without the load, or describe it and the masses",
}
