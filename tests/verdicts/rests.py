"""Moves from point to point, with friction at rest of any size: how far values are off, and what intervals say.

    python -m verdicts.rests    # the table of docs/mathematics/identification.md, of whatever tauform is imported

Only public names are asked, so that earlier versions of the package can be measured by the same lines.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tauform.errors import TauformError
from verdicts.stands import trapezoids
from verdicts.strangers import GRAVITY, MASS, true_arm

# Friction at rest, in shares of that of motion: none; what a controller leaves, anywhere between the limits; the limit.
HELD = ("none", "any", "full")
LENGTHS, RAMPS, ENCODERS = ((10.0, 15.0), (2.0, 4.0), (0.7, 1.5)), (0.04, 0.1), (0.0, 1e-5)
TORQUE_NOISE, RATE, DURATION = 0.02, 500.0, 60.0


@dataclass(frozen=True)
class Moves:
    """How a robot moves, and what its sensors do.

    Attributes:
        lengths: of its moves [s], between these.
        ramp: time in which it starts, and stops [s].
        pause: between two moves [s].
        encoder: noise of positions [rad or m].
        held: friction at rest, of `HELD`.
    """

    lengths: tuple[float, float]
    ramp: float
    encoder: float
    held: str
    pause: float = 0.05


def slide() -> tuple[tf.Robot, tf.Robot]:
    """A slide that carries 12 kg upwards, as described and as it is."""
    described = replace(tf.random_robot("P", 3, industrial=True), name="slide").without_drives()
    parameters = np.array(described.parameters)
    parameters[0] = MASS
    links = described.with_parameters(parameters).with_gravity((GRAVITY, 0.0, 0.0))
    true = replace(links, joints=(replace(links.joints[0], viscous=20.0, coulomb=15.0),))
    return described.with_gravity(links.gravity), true


def arm() -> tuple[tf.Robot, tf.Robot]:
    """Three turning joints."""
    return true_arm(joints=3)


def recorded(true: tf.Robot, own: Moves, seed: int, rate: float = RATE) -> tf.Recording:
    """A log of these moves; the same draw has the same motion and noise whatever friction at rest is."""
    rng = np.random.default_rng(seed)
    ramps = (own.ramp, own.ramp)
    t, q, qd, qdd = trapezoids(true.n_joints, DURATION, rate, rng, own.lengths, ramps, own.pause)
    # Rounding is no motion: a sign of it would be friction at rest.
    still = (np.abs(qd) < 1e-9) & (qdd == 0)
    tau = tf.inverse_dynamics(true, q, np.where(still, 0.0, qd), qdd)
    noise = TORQUE_NOISE * tau.std(axis=0) * rng.normal(size=tau.shape)
    q = q + own.encoder * rng.normal(size=q.shape)
    return tf.Recording(t, q, tau + noise + friction_at_rest(true, still, own.held, rng))


def friction_at_rest(true: tf.Robot, still: Array, held: str, rng: np.random.Generator) -> Array:
    """(N, n) what it balances, the same throughout each rest."""
    starts = np.diff(still.astype(int), axis=0, prepend=0) > 0
    which = np.cumsum(starts, axis=0)
    shares = rng.uniform(-1, 1, (int(which.max()) + 1, still.shape[1]))
    shares = {"none": 0 * shares, "any": shares, "full": np.sign(shares)}[held]
    limits = np.array([joint.coulomb for joint in true.joints])
    return np.asarray(np.take_along_axis(shares, which, axis=0) * limits * still)


def errors(robots: tuple[tf.Robot, tf.Robot], own: Moves, seed: int) -> tuple[Array, Array, tf.Fit]:
    """(p,) errors of values, (p,) half widths of their 95 % intervals, and the fit."""
    described, true = robots
    fit = tf.identify(described, recorded(true, own, seed), friction="plain", couplings=None)
    return fit.values - fit.design.values_of(true), 1.96 * fit.deviations, fit


def show(seeds: Sequence[int]) -> None:
    """Print rows of Markdown: of the slide's mass and for each friction at rest, error, interval, draws within it."""
    for lengths, ramp, encoder in itertools.product(LENGTHS, RAMPS, ENCODERS):
        cells = [_cell([_mass(Moves(lengths, ramp, encoder, held), seed) for seed in seeds]) for held in HELD]
        told = f"{lengths[0]:g} to {lengths[1]:g} s, ramps of {1e3 * ramp:.0f} ms, encoder of {1e6 * encoder:.0f} um"
        print(f"| {told} | {' | '.join(cells)} |", flush=True)


def _mass(own: Moves, seed: int) -> tuple[float, float]:
    """Error of the slide's mass and half width of its interval, relative to it; not a number where it is refused."""
    try:
        off, half, _ = errors(slide(), own, seed)
    except TauformError:
        return np.nan, np.nan
    return abs(float(off[0])) / MASS, float(half[0]) / MASS


def _cell(found: Sequence[tuple[float, float]]) -> str:
    off, half = np.array(found).T
    within = f"{int((off < half).sum())} of {len(off)}"
    return f"{100 * np.nanmedian(off):.2g} %, {100 * np.nanmedian(half):.2g} %, {within}"


if __name__ == "__main__":
    show(range(int(sys.argv[1]) if len(sys.argv) > 1 else 12))
