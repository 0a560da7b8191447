"""Synthetic versions of failures on strangers' recordings, and what one default call makes of them.

    python -m verdicts.strangers    # the table of docs/mathematics/identification.md, of whatever tauform is imported

Only public names are asked, so that earlier versions of the package can be measured by the same lines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import signal

import tauform as tf
from tauform.arrays import Array
from tauform.errors import TauformError
from verdicts.stands import fourier, trapezoids

Motion = tuple[Array, Array, Array, Array]
GRAVITY, MASS = 9.81, 12.0


@dataclass(frozen=True, eq=False)
class Stranger:
    """What a user has, and the truth.

    Attributes:
        described: the robot that is loaded.
        recording: of the robot as it is.
        unseen: (q, qd, qdd, tau) of another motion, without noise.
    """

    described: tf.Robot
    recording: tf.Recording
    unseen: tuple[Array, Array, Array, Array]


@dataclass(frozen=True, eq=False)
class Found:
    """What one default call makes of it.

    Attributes:
        fit: None where the call refuses.
        grade: of the verdict, or "refused".
        error: relative torque error on the unseen motion.
        quoted: the error that the verdict rests on.
        said: all sentences.
    """

    fit: tf.Fit | None
    grade: str
    error: float
    quoted: float
    said: str


def found(case: Stranger) -> Found:
    """Identify by one default call."""
    try:
        fit = tf.identify(case.described, case.recording)
    except TauformError as error:
        return Found(None, "refused", float("nan"), float("nan"), str(error))
    *states, tau = case.unseen
    if tau.shape[-1] != fit.robot.n_joints:
        error = float("nan")
    else:
        error = float(np.sqrt(((fit.predict(*states) - tau) ** 2).sum() / (tau**2).sum()))
    said = "; ".join((*fit.verdict.reasons, *fit.findings))
    return Found(fit, fit.verdict.grade, error, fit.unseen.total, said)


def true_arm(width: float = 0.0, joints: int = 4) -> tuple[tf.Robot, tf.Robot]:
    """A chain as described, without drives, and as it is: other links, rotors and friction with steps of a width."""
    described = replace(tf.random_robot("R" * joints, 7, industrial=True), name="arm").without_drives()
    rng = np.random.default_rng(11)
    parameters = np.array(described.parameters)
    for i in range(described.n_bodies):
        parameters[described.layout.link(i)] *= rng.uniform(0.9, 1.1)
    links = described.with_parameters(parameters)
    q, qd, qdd = rng.normal(size=(3, 300, joints))
    carried = tf.inverse_dynamics(links, q, qd, qdd).std(axis=0)
    own = np.maximum(carried, 0.1 * carried.max())[:, None] * [0.05, 0.1, 0.25, 0.01]
    true = tuple(
        replace(joint, rotor_inertia=a, viscous=v, coulomb=c, offset=o, coulomb_width=width)
        for joint, (a, v, c, o) in zip(links.joints, own.tolist(), strict=True)
    )
    return described, replace(links, joints=true)


def recorded(
    true: tf.Robot, path: Motion, *, noise: float = 0.03, encoder: float = 5e-5, seed: int = 5, qd: Array | None = None
) -> tf.Recording:
    """A motion as sensors see it; torque noise in shares of each joint's torque."""
    t, q, rates, qdd = path
    rng = np.random.default_rng(seed)
    tau = tf.inverse_dynamics(true, q, rates, qdd)
    tau = tau + noise * tau.std(axis=0) * rng.normal(size=tau.shape)
    return tf.Recording(t, q + encoder * rng.normal(size=q.shape), tau, qd)


def moved(true: tf.Robot, seed: int = 101, duration: float = 20.0) -> tuple[Array, Array, Array, Array]:
    """States and torques of a motion that nobody recorded."""
    _, q, qd, qdd = fourier(true.n_joints, duration, 100.0, np.random.default_rng(seed))
    return q, qd, qdd, tf.inverse_dynamics(true, q, qd, qdd)


def slow_logger() -> Stranger:
    """30 samples per second of coarse encoders: without a filter, differences are mostly noise."""
    described, true = true_arm()
    t, q, qd, qdd = fourier(4, 60.0, 15.0, np.random.default_rng(1))
    # Half as far in half the time: up to 1.2 Hz.
    path = t / 2, q / 2, qd, 2 * qdd
    return Stranger(described, recorded(true, path, encoder=5e-4), moved(true))


def slide() -> Stranger:
    """A slide that moves from point to point: its accelerations are steps, of which a narrow filter takes a part."""
    described = replace(tf.random_robot("P", 3, industrial=True), name="slide").without_drives()
    parameters = np.array(described.parameters)
    parameters[0] = MASS
    links = described.with_parameters(parameters).with_gravity((GRAVITY, 0.0, 0.0))
    true = replace(links, joints=(replace(links.joints[0], viscous=20.0, coulomb=15.0),))
    path = trapezoids(1, 60.0, 500.0, np.random.default_rng(2), lengths=(2.0, 4.0), ramps=(0.08, 0.15))
    return Stranger(described.with_gravity(links.gravity), recorded(true, path, noise=0.02), moved(true))


def lagging() -> Stranger:
    """Measured velocities behind a first-order filter of 0.19 s."""
    described, true = true_arm()
    path = fourier(4, 25.0, 200.0, np.random.default_rng(3))
    a = np.exp(-1.0 / (0.19 * 200.0))
    qd = signal.lfilter([1 - a], [1.0, -a], path[2], axis=0)
    return Stranger(described, recorded(true, path, qd=qd), moved(true))


def step(width: float) -> Stranger:
    """Coulomb friction that turns over within a speed, or at once."""
    described, true = true_arm(width)
    path = fourier(4, 25.0, 200.0, np.random.default_rng(4))
    return Stranger(described, recorded(true, path), moved(true))


def sideways() -> Stranger:
    """An arm on a wall, described as it would stand on the floor."""
    described, true = true_arm()
    true = true.with_gravity((GRAVITY, 0.0, 0.0))
    path = fourier(4, 25.0, 200.0, np.random.default_rng(5))
    return Stranger(described, recorded(true, path), moved(true))


def missing_joint() -> Stranger:
    """A joint that moves and is locked in the description, its columns left out of the log."""
    described, true = true_arm(joints=5)
    path = fourier(5, 25.0, 200.0, np.random.default_rng(6))
    whole, kept = recorded(true, path), [0, 1, 3, 4]
    log = tf.Recording(whole.t, np.asarray(whole.q)[:, kept], np.asarray(whole.tau)[:, kept])
    q, qd, qdd, tau = moved(true)
    locked = described.locked({described.joint_names[2]: 0.0})
    return Stranger(locked, log, (q[:, kept], qd[:, kept], qdd[:, kept], tau[:, kept]))


def short() -> Stranger:
    """Five seconds of motion, which free values follow into the noise."""
    described, true = true_arm(joints=6)
    t, q, qd, qdd = (x[:500] for x in fourier(6, 25.0, 100.0, np.random.default_rng(7)))
    return Stranger(described, recorded(true, (t, q, qd, qdd)), moved(true))


STRANGERS: dict[str, Callable[[], Stranger]] = {
    "30 Hz": slow_logger,
    "trapezoids": slide,
    "lagging velocity": lagging,
    "soft step": lambda: step(0.03),
    "sharp step": lambda: step(0.0),
    "sideways": sideways,
    "missing joint": missing_joint,
    "5 s": short,
}


def mass_off(case: Found) -> tuple[float, float]:
    """Relative error of a slide's moving mass, and the half-width of its 95 % interval."""
    assert case.fit is not None
    k = int(np.argmin(np.abs(case.fit.values - MASS)))
    return float(case.fit.values[k] / MASS - 1), float(2 * case.fit.relative_deviations[k])


if __name__ == "__main__":
    for name, make in STRANGERS.items():
        own = found(make())
        print(f"{name}: {own.grade}, {100 * own.error:.2f} % on unseen motion, {100 * own.quoted:.2f} % quoted")
        if name == "trapezoids":
            print("    moving mass off by {:.2%}, interval {:.2%}".format(*mass_off(own)))
        print("   ", own.said[:600])
