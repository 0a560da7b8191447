"""Torque error of a multi-rate computation, foretold from rates and bounds; and measured on a trajectory.

At time t the synchronous task uses what the background computed from the state an age d earlier:

    e(t, d) = (M(q(t - d)) - M(q(t))) qdd(t) + stored(t - d) - stored(t) .

Over the short time d the motion goes on with its velocity and acceleration, so the earlier state follows from the
present one: q - d qd + d^2/2 qdd, qd - d qdd. No trajectory is replayed: states of a profile are enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.closedform.profile import Profile
from tauform.errors import ModelError
from tauform.realtime.multirate import MultiRate
from tauform.realtime.run import Motion
from tauform.realtime.staleness import Rates

N_STATES = 20_000
# The slowest background is searched to this precision, up to this many seconds.
PERIOD_TOLERANCE, LONGEST_PERIOD = 1e-3, 10.0


@dataclass(frozen=True, eq=False)
class Prediction:
    """Torque error that a split will cause.

    Attributes:
        rates: of the two tasks.
        rms: (n,) root mean square of each joint's error [N m or N].
        peak: (n,) largest error met over the states and ages.
        torque: (n,) root mean square of the torque itself.
        over_states: (N, n) root mean square over the ages, at each state; in the order of a recorded trajectory.
    """

    rates: Rates
    rms: Array
    peak: Array
    torque: Array
    over_states: Array

    @property
    def total(self) -> float:
        """Root mean square of the error's norm."""
        return float(np.linalg.norm(self.rms))

    @property
    def relative(self) -> float:
        """The same, relative to the root mean square of the torque's norm."""
        return self.total / float(np.linalg.norm(self.torque))


def predict(
    split: MultiRate, profile: Profile, rates: Rates, n_states: int = N_STATES, rng: np.random.Generator | None = None
) -> Prediction:
    """Torque error over the states of a profile; states of a trajectory are taken in their order.

    Args:
        profile: bounds of the motion (`Profile.harmonic`, `Profile.ranges`), or a planned trajectory.
        rates: periods and latency.
        n_states: states to sample from bounds.

    Raises:
        ModelError: the profile belongs to a robot with another number of joints.
    """
    if profile.n_joints != split.robot.n_joints:
        raise ModelError(
            f"{profile.name}: describes {profile.n_joints} joints, {split.robot.name} has {split.robot.n_joints}"
        )
    if profile.recorded is None:
        q, qd, qdd = profile.sample(n_states, np.random.default_rng(0) if rng is None else rng)
    else:
        q, qd, qdd = profile.recorded
    now = split.results(q, qd)
    torque = split.torque(*now, qd, qdd)
    square, peak = np.zeros_like(torque), np.zeros(split.robot.n_joints)
    for age, weight in zip(*rates.ages(), strict=True):
        before = split.results(q - age * qd + 0.5 * age**2 * qdd, qd - age * qdd)
        error = split.torque(*before, qd, qdd) - torque
        square += weight * error**2
        peak = np.maximum(peak, np.abs(error).max(axis=0))
    rms = np.sqrt(square.mean(axis=0))
    return Prediction(rates, rms, peak, np.sqrt((torque**2).mean(axis=0)), np.sqrt(square))


def measure(split: MultiRate, times: Array, motion: Motion, rates: Rates) -> Array:
    """(N, n) torque errors of a run: the background holds its results between updates.

    Args:
        times: (N,) ticks of the synchronous task, from 0 on.
        motion: q, qd, qdd of the trajectory at given times.
    """
    q, qd, qdd = motion(times)
    now = split.results(q, qd)
    held = split.results(*motion(rates.source(times))[:2])
    error: Array = split.torque(*held, qd, qdd) - split.torque(*now, qd, qdd)
    return error


def slowest_background(
    split: MultiRate, profile: Profile, error: float, control: float, latency: float = 0.0
) -> Rates | None:
    """Rates with the longest background period whose relative error (RMS) stays below a bound; None where none does.

    Raises:
        ModelError: the bound is not between 0 and 1.
    """
    if not 0 < error < 1:
        raise ModelError(f"error: expected a share of the torque between 0 and 1 (0.01 is 1 %), got {error}")

    def fits(period: float) -> bool:
        return predict(split, profile, Rates(control, period, latency), n_states=4000).relative <= error

    short, long = control, max(LONGEST_PERIOD, 2 * control)
    if not fits(short):
        return None
    if fits(long):
        return Rates(control, long, latency)
    while long - short > PERIOD_TOLERANCE * long:
        middle = 0.5 * (short + long) if long < 2 * short else (short * long) ** 0.5
        short, long = (middle, long) if fits(middle) else (short, middle)
    return Rates(control, short, latency)
