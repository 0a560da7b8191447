"""Faults of logs and descriptions, one function each: what is wrong, and which words of a report name it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import signal

import tauform as tf
from tauform.arrays import Array
from verdicts.stands import Stand, gantry, stand

Fields = dict[str, Any]
# A joint that nobody described shows where it changes some torque by so many times its noise.
MIN_CHANGE_OVER_NOISE = 2.0
# Samples of a motion that tell whether it does.
SAMPLES_APART = 10
# Gravity torque of a joint that holds weight, relative to the most loaded joint's; constant ones among preloads.
MIN_SHARE_HELD, CONSTANT_SHARE = 0.3, 0.3


@dataclass(frozen=True, eq=False)
class Case:
    """What a user has, and what nobody has seen.

    Attributes:
        fault: a key of FAULTS.
        described: the robot that is loaded.
        fitted, validation, unseen: recordings; two of three users have a validation recording.
        denied: pattern of sentences that name what it is not.
        named: pattern of the sentences that name the fault; None where nothing has to be named.
    """

    fault: str
    seed: int
    described: tf.Robot
    fitted: tf.Recording | list[tf.Recording]
    validation: tf.Recording | None
    unseen: tf.Recording
    named: re.Pattern[str] | None
    denied: re.Pattern[str] | None = None


@dataclass(frozen=True, eq=False)
class Seeded:
    """A fault in a stand.

    Attributes:
        described, true: the robots in place of the stand's.
        torque: (states, tau, which motion) -> torques before sensors.
        log: (fields of the recording, which motion) -> fields as they are logged.
        words: pattern that names it.
        denied: pattern that names what it is not.
        stand: another one than that of the seed.
        second: the robot of a second fitted recording.
    """

    described: tf.Robot
    true: tf.Robot
    words: str
    torque: Callable[[Fields, Array, int], Array] = lambda states, tau, which: tau
    log: Callable[[Fields, int], Fields] = lambda fields, which: fields
    held: tuple[int, ...] = ()
    denied: str = ""
    stand: Stand | None = None
    second: tf.Robot | None = None


def none(own: Stand, rng: np.random.Generator) -> Seeded:
    return Seeded(own.described, own.true, "")


def lag(own: Stand, rng: np.random.Generator) -> Seeded:
    """Measured velocities behind a first-order filter."""
    seconds = rng.uniform(0.04, 0.25)

    def log(fields: Fields, which: int) -> Fields:
        a = np.exp(-1.0 / (seconds * own.rate))
        qd = np.gradient(fields["q"], 1.0 / own.rate, axis=0)
        return {**fields, "qd": signal.lfilter([1 - a], [1.0, -a], qd, axis=0)}

    return Seeded(own.described, own.true, r"velocit\w+ .*\blags?\b", log=log)


def delay(own: Stand, rng: np.random.Generator) -> Seeded:
    seconds = float(rng.uniform(0.015, 0.06) * rng.choice([-1, 1]))

    def log(fields: Fields, which: int) -> Fields:
        t = fields["t"]
        tau = np.column_stack([np.interp(t - seconds, t, column) for column in fields["tau"].T])
        return {**fields, "tau": tau}

    words = r"torques lag behind" if seconds > 0 else r"torques run ahead"
    return Seeded(own.described, own.true, words, log=log)


def unit(own: Stand, rng: np.random.Generator) -> Seeded:
    """Torques in another unit, motor currents, or positions in degrees."""
    kind = rng.integers(3)
    n = own.true.n_joints
    if kind == 2:
        fields = ("q", "qd")
        return Seeded(
            own.described, own.true, r"degrees",
            log=lambda held, which: {k: np.rad2deg(x) if k in fields else x for k, x in held.items()},
        )  # fmt: skip
    gains = np.full(n, rng.choice([1e3, 1e-3])) if kind == 0 else 1.0 / rng.uniform(8.0, 100.0, n)
    words = r"another unit|torque gain|motor current|is in .*currents"
    return Seeded(own.described, own.true, words, log=lambda held, which: {**held, "tau": gains * held["tau"]})


def sign(own: Stand, rng: np.random.Generator) -> Seeded:
    """Torques of all joints, torques of one, or positions of one with the opposite sign."""
    n = own.true.n_joints
    signs = np.ones(n)
    kind, j = rng.integers(3), int(rng.integers(n))
    signs[j if kind else slice(None)] = -1.0
    fields = ("tau",) if kind < 2 else ("q", "qd")
    words = r"sign" if kind == 0 else rf"sign.*{own.true.joint_names[j]}|{own.true.joint_names[j]}.*sign"
    return Seeded(
        own.described, own.true, words,
        log=lambda held, which: {k: signs * x if k in fields else x for k, x in held.items()},
    )  # fmt: skip


def swap(own: Stand, rng: np.random.Generator) -> Seeded:
    n = own.true.n_joints
    order = np.arange(n)
    i, j = sorted(rng.choice(n, 2, replace=False).tolist())
    order[[i, j]] = j, i
    fields = [("tau",), ("q", "qd"), ("q", "qd", "tau")][int(rng.integers(3))]
    a, b = own.true.joint_names[i], own.true.joint_names[j]
    return Seeded(
        own.described, own.true, rf"{a} and {b} look swapped",
        log=lambda held, which: {k: x[:, order] if k in fields else x for k, x in held.items()},
    )  # fmt: skip


def missing(own: Stand, rng: np.random.Generator) -> Seeded:
    """A joint moves that the description holds still, and its columns are not in the log.

    One whose motion changes the torques of the others by more than their noise: nobody can name what no torque shows.
    """
    n = own.true.n_joints
    order = rng.permutation(np.arange(1, n)).tolist()
    j = next((j for j in order if _shows(own, j)), order[0])
    described = own.described.locked({own.described.joint_names[j]: 0.0})
    words = r"(joint|something).*(moves?|moving).*(description|described)"
    keep = tuple(k for k in range(n) if k != j)
    return Seeded(described, own.true, words, held=keep)


def _shows(own: Stand, j: int) -> bool:
    states = own.states(0)
    still = {name: np.where(np.arange(own.true.n_joints) == j, 0.0, states[name]) for name in ("q", "qd", "qdd")}
    moved, held = (tf.inverse_dynamics(own.true, x["q"], x["qd"], x["qdd"]) for x in (states, still))
    change = np.delete(np.sqrt(((moved - held) ** 2).mean(axis=0)) / own.torque_noise, j)
    return bool(change.max() > MIN_CHANGE_OVER_NOISE)


def mount(own: Stand, rng: np.random.Generator) -> Seeded:
    """Gravity of a robot on a wall, a slope or a ceiling."""
    angle = float(rng.choice([np.pi / 2, np.pi, rng.uniform(0.3, 1.2)]))
    about = rng.uniform(-np.pi, np.pi)
    gravity = 9.81 * np.array([np.sin(angle) * np.cos(about), np.sin(angle) * np.sin(about), -np.cos(angle)])
    words = r"gravity points|gravity acts along|mounted"
    return Seeded(own.described, own.true.with_gravity(gravity), words)


def payload(own: Stand, rng: np.random.Generator) -> Seeded:
    """A load that nobody described, as heavy as half of the arm's weight at its second joint or more."""
    q = rng.uniform(-1.5, 1.5, (100, own.true.n_joints))
    before = np.abs(tf.gravity_torque(own.true, q)).max(axis=0)
    factor, mass = rng.uniform(0.6, 1.2), 1.0
    tool = [0.0, 0.0, 0.1]
    for _ in range(30):
        loaded = own.true.with_payload(tf.Inertia.of(mass, tool, np.eye(3) * 0.003 * mass, inertia_about="com"))
        if (np.abs(tf.gravity_torque(loaded, q)).max(axis=0) - before).max() > factor * before.max():
            break
        mass *= 1.25
    return Seeded(own.described, loaded, r"\bload\b")


def spring(own: Stand, rng: np.random.Generator) -> Seeded:
    """A spring at a joint, or a counterbalance that pulls between two points."""
    j = int(rng.integers(1, own.true.n_joints))
    q = rng.uniform(-1.5, 1.5, (100, own.true.n_joints))
    size = float(np.abs(tf.gravity_torque(own.true, q)).max()) * rng.uniform(0.2, 0.6)
    name = own.true.joint_names[j]
    if rng.random() < 0.5:
        shift, scale = rng.uniform(-1, 1), size

        def torque(states: Fields, tau: Array, which: int) -> Array:
            out = tau.copy()
            # A gas spring of constant force between points at r and R: its lever changes with the angle.
            angle, r, R = states["q"][:, j] + shift, 0.1, 0.3
            out[:, j] += scale * R * np.sin(angle) / np.sqrt(r * r + R * R - 2 * r * R * np.cos(angle))
            return out
    else:

        def torque(states: Fields, tau: Array, which: int) -> Array:
            out = tau.copy()
            out[:, j] += size * states["q"][:, j]
            return out

    return Seeded(own.described, own.true, rf"(K|Ks|Kc)_{j + 1}\b|(spring|counterbalance).*{name}", torque=torque)


def clipping(own: Stand, rng: np.random.Generator) -> Seeded:
    """Torques of a joint that end at a limit of the sensor or of the drive's log."""
    j, share = int(rng.integers(own.true.n_joints)), rng.uniform(0.5, 0.75)
    limits: list[float] = []

    def log(fields: Fields, which: int) -> Fields:
        tau = fields["tau"].copy()
        if not limits:
            limits.append(share * float(np.abs(tau[:, j]).max()))
        tau[:, j] = np.clip(tau[:, j], -limits[0], limits[0])
        return {**fields, "tau": tau}

    return Seeded(
        own.described,
        own.true,
        rf"clipped: .*{own.true.joint_names[j]}",
        log=log,
    )


def warming(own: Stand, rng: np.random.Generator) -> Seeded:
    """Friction that falls while the drives warm up."""
    falls = rng.uniform(0.3, 0.6)

    def torque(states: Fields, tau: Array, which: int) -> Array:
        progress = states["t"] / states["t"][-1] if which == 0 else 1.0 + 0.0 * states["t"]
        return tau - (falls * progress)[:, None] * tf.friction(own.true, states["qd"])

    return Seeded(own.described, own.true, r"friction.*(falls?|grows?|drift|warm)", torque=torque)


def tilt(own: Stand, rng: np.random.Generator) -> Seeded:
    """A base that is some degrees off level, about an axis of the floor."""
    angle, about = np.deg2rad(rng.uniform(5.0, 12.0)), rng.uniform(-np.pi, np.pi)
    gravity = 9.81 * np.array([np.sin(angle) * np.cos(about), np.sin(angle) * np.sin(about), -np.cos(angle)])
    return Seeded(own.described, own.true.with_gravity(gravity), r"tilted|gravity points")


def zero(own: Stand, rng: np.random.Generator) -> Seeded:
    """An encoder whose zero is off, and shows in the torques: that of the first and of the last joint hardly does."""
    least = rng.uniform(0.1, 0.3) * rng.choice([-1, 1])
    order = rng.permutation(np.arange(1, max(2, own.true.n_joints - 1))).tolist()
    # Further off where no joint would show it: what no torque feels is no fault.
    tried = [(j, off) for off in (least, 2 * least, 4 * least) for j in order]
    j, off = next((pair for pair in tried if _zero_shows(own, *pair)), tried[-1])
    shift = np.where(np.arange(own.true.n_joints) == j, off, 0.0)
    return Seeded(
        own.described, own.true, rf"encoder of {own.true.joint_names[j]} is off",
        log=lambda held, which: {k: x + shift if k == "q" else x for k, x in held.items()},
    )  # fmt: skip


def _zero_shows(own: Stand, j: int, off: float) -> bool:
    """Whether no other links explain the torques as well: the masses beyond two parallel axes take on any zero."""
    states = own.states(0)
    q, qd, qdd = (states[name][::SAMPLES_APART] for name in ("q", "qd", "qdd"))
    rigid = own.true.without_drives()
    tau = tf.inverse_dynamics(rigid, q, qd, qdd) / own.torque_noise
    Y = tf.regressor(rigid, q + off * np.eye(rigid.n_joints)[j], qd, qdd)[..., list(tf.base_parameters(rigid).pivots)]
    A = (Y / own.torque_noise[:, None]).reshape(tau.size, -1)
    values = np.linalg.lstsq(A, tau.ravel(), rcond=1e-10)[0]
    left = np.sqrt(((A @ values).reshape(tau.shape) - tau).var(axis=0))
    return bool(left.max() > MIN_CHANGE_OVER_NOISE)


def outlier(own: Stand, rng: np.random.Generator) -> Seeded:
    """A few samples of a position that jump and return, or one of a torque far beyond the others."""
    j, kind = int(rng.integers(own.true.n_joints)), int(rng.integers(2))
    name = own.true.joint_names[j]

    def log(fields: Fields, which: int) -> Fields:
        x, k = fields["tau" if kind else "q"].copy(), len(fields["t"]) // 3
        if kind:
            x[k, j] += 8 * np.ptp(x[:, j])
        else:
            x[k : k + 3, j] += 0.4
        return {**fields, ("tau" if kind else "q"): x}

    return Seeded(own.described, own.true, rf"samples? of {name} (off|at)", log=log)


def slip(own: Stand, rng: np.random.Generator) -> Seeded:
    """A coupling that slips once, so that the encoder counts from another zero."""
    j = int(rng.integers(own.true.n_joints))

    def log(fields: Fields, which: int) -> Fields:
        q = fields["q"].copy()
        q[len(q) // 2 :, j] += 0.15
        return {**fields, "q": q}

    return Seeded(own.described, own.true, rf"position of {own.true.joint_names[j]} steps", log=log)


def frozen(own: Stand, rng: np.random.Generator) -> Seeded:
    """A logger that writes the same sample for a while."""
    seconds = rng.uniform(0.2, 1.5)

    def log(fields: Fields, which: int) -> Fields:
        first, n = len(fields["t"]) // 3, int(seconds * own.rate)
        held = {k: x.copy() for k, x in fields.items()}
        for k in ("q", "qd", "tau"):
            if k in held:
                held[k][first : first + n] = held[k][first]
        return held

    return Seeded(own.described, own.true, r"all columns stand still", log=log)


def gain(own: Stand, rng: np.random.Generator) -> Seeded:
    """A wrong torque constant, or gear ratio, of one joint that holds weight."""
    q = rng.uniform(-1.5, 1.5, (100, own.true.n_joints))
    held = np.abs(tf.gravity_torque(own.true, q)).max(axis=0)
    j = int(rng.choice(np.flatnonzero(held > MIN_SHARE_HELD * held.max())))
    factor = float(rng.uniform(1.3, 2.0) ** rng.choice([-1, 1]))
    gains = np.where(np.arange(own.true.n_joints) == j, factor, 1.0)
    name = own.true.joint_names[j]
    return Seeded(
        own.described, own.true, rf"gain.*{name}|{name}.*gain",
        log=lambda held, which: {**held, "tau": gains * held["tau"]},
    )  # fmt: skip


def preload(own: Stand, rng: np.random.Generator) -> Seeded:
    """A stretched spring, or a constant torque, at a joint that holds weight and moves in a part of its range."""
    q = rng.uniform(-1.5, 1.5, (100, own.true.n_joints))
    held = np.abs(tf.gravity_torque(own.true, q)).max(axis=0)
    j, sense = int(np.argmax(held)), rng.choice([-1, 1])
    size, rest = sense * float(held[j]) * rng.uniform(0.3, 0.7), rng.uniform(1.0, 3.0)
    is_constant = rng.random() < CONSTANT_SHARE
    reach = np.where(np.arange(own.true.n_joints) == j, rng.uniform(0.3, 1.0), 1.0)
    here = replace(own, reach=reach, middle=np.where(reach < 1, rng.uniform(-1.0, 1.0), 0.0))

    def torque(states: Fields, tau: Array, which: int) -> Array:
        out = tau.copy()
        out[:, j] += size * (1.0 if is_constant else (rest + states["q"][:, j]) / 2)
        return out

    name = own.true.joint_names[j]
    words = rf"(K|Ks|Kc|Fp|Fo)_{j + 1}\b|(spring|counterbalance|constant torque).*{name}"
    return Seeded(own.described, own.true, words, torque=torque, stand=here, denied=r"carries a load")


def millimetres(own: Stand, rng: np.random.Generator) -> Seeded:
    """Slides whose positions, and velocities, are logged in millimetres."""
    other = gantry(own.seed)
    slides = np.array([not joint.type.is_angle for joint in other.true.joints])
    scale = np.where(slides, 1e3, 1.0)

    def log(fields: Fields, which: int) -> Fields:
        return {k: x * scale if k in ("q", "qd") else x for k, x in fields.items()}

    return Seeded(other.described, other.true, r"millimetres|unit of positions", log=log, stand=other)


def other_load(own: Stand, rng: np.random.Generator) -> Seeded:
    """A load in one of two fitted recordings."""
    before = np.abs(tf.gravity_torque(own.true, rng.uniform(-1.5, 1.5, (100, own.true.n_joints)))).max()
    mass = float(rng.uniform(0.1, 0.3) * before / 9.81)
    load = tf.Inertia.of(mass, [0.0, 0.0, 0.1], np.eye(3) * 0.003 * mass, inertia_about="com")
    return Seeded(own.described, own.true, r"\bload\b", second=own.true.with_payload(load))


def presliding(own: Stand, rng: np.random.Generator) -> Seeded:
    """Friction that builds up over a deflection after each reversal, as LuGre's does."""
    deflection = 10 ** rng.uniform(-3.3, -2.0)
    joints = own.true.joints
    force = np.array([joint.coulomb for joint in joints])
    true = replace(own.true, joints=tuple(replace(joint, coulomb=0.0) for joint in joints))

    def torque(states: Fields, tau: Array, which: int) -> Array:
        qd, step = states["qd"], 1.0 / own.rate
        # dz/dt = v - |v| z / w, solved for the speed of each sample: z stays within the deflection w.
        z = np.zeros_like(qd)
        kept = np.exp(-np.abs(qd) * step / deflection)
        for k in range(1, len(z)):
            z[k] = np.sign(qd[k]) + (z[k - 1] - np.sign(qd[k])) * kept[k]
        return np.asarray(tau + force * z)

    # A law, and no fault: it need not be named where errors are as quoted, and is no delay.
    return Seeded(own.described, true, "", torque=torque, denied=r"torques (lag|run ahead)")


FAULTS: dict[str, Callable[[Stand, np.random.Generator], Seeded]] = {
    "none": none, "lag": lag, "delay": delay, "unit": unit, "sign": sign, "swap": swap, "missing joint": missing,
    "mount": mount, "payload": payload, "spring": spring, "clipping": clipping, "warming": warming,
    "tilt": tilt, "zero": zero, "outlier": outlier, "slip": slip, "frozen": frozen, "gain": gain, "preload": preload,
    "millimetres": millimetres, "other load": other_load, "presliding": presliding,
}  # fmt: skip


def case(fault: str, seed: int) -> Case:
    """A seeded stand with that fault."""
    own = stand(seed)
    rng = np.random.default_rng([seed, 3])
    seeded = FAULTS[fault](own, rng)

    own = seeded.stand or own

    def recording(which: int, robot: tf.Robot) -> tf.Recording:
        states = own.states(which)
        torque = tf.inverse_dynamics(robot, states["q"], states["qd"], states["qdd"])
        fields = own.measured(states, seeded.torque(states, torque, which), which)
        if seeded.held:
            fields = {k: x if k == "t" else x[:, list(seeded.held)] for k, x in fields.items()}
        return tf.Recording(**seeded.log(fields, which), name=("fitted", "validation", "unseen", "second")[which])

    first = recording(0, seeded.true)
    fitted = first if seeded.second is None else [first, recording(3, seeded.second)]
    validation = recording(1, seeded.true) if seed % 3 else None
    words, denied = (re.compile(x) if x else None for x in (seeded.words, seeded.denied))
    return Case(fault, seed, seeded.described, fitted, validation, recording(2, seeded.true), words, denied)
