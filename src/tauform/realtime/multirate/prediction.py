"""Torque error of a multi-rate computation, predicted from rates and bounds; and measured on a trajectory.

At time t the synchronous task uses what the background computed from states that are ages c and d old:

    e(t) = (M(q(t - c)) - M(q(t))) qdd(t) + gravity(t - c) - gravity(t) + velocity(t - d) - velocity(t) .

Over a short age the motion goes on as a swing with the frequency w that its accelerations and velocities show, so the
earlier state follows from the present one:

    q(t - d) = q - sin(w d) / w qd + (1 - cos(w d)) / w^2 qdd,    qd(t - d) = cos(w d) qd - sin(w d) / w qdd .

No trajectory is replayed: states of a profile are enough. Temperatures change too slowly to count; friction that
depends on load is never late by itself, but made of what the others left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import Array
from tauform.closedform.profile import Profile, States
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.portable.products import norm
from tauform.realtime.drives import of_velocity
from tauform.realtime.multirate.run import MotionFunction
from tauform.realtime.multirate.staleness import Rates
from tauform.realtime.multirate.tasks import Results, Tasks, with_gravity
from tauform.rigidbody.friction import friction

N_STATES = 20_000
# Ages that stand for all that a run met.
RUN_AGES = 40
# The slowest background is searched to this precision, up to this many seconds.
PERIOD_TOLERANCE, LONGEST_PERIOD = 1e-3, 10.0


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """Torque error that a split will cause.

    Attributes:
        rates: of the two tasks.
        rms: (n,) root mean square of each joint's error [N m or N].
        peak: (n,) largest error met over the states and ages.
        torque: (n,) root mean square of the torque itself.
        over_states: (N, n) root mean square over the ages, at each state; in the order of a recorded trajectory.
        without_friction: (n,) what rms would be if the synchronous task made the friction.
    """

    rates: Rates
    rms: Array
    peak: Array
    torque: Array
    over_states: Array
    without_friction: Array

    @property
    def total(self) -> float:
        """Root mean square of the error's norm."""
        return norm(self.rms)

    @property
    def relative(self) -> float:
        """The same, relative to the root mean square of the torque's norm."""
        return self.total / norm(self.torque)

    @property
    def relative_without_friction(self) -> float:
        """The relative error if the synchronous task made the friction."""
        return norm(self.without_friction) / norm(self.torque)

    def __repr__(self) -> str:
        return f"Prediction(RMS error {self.relative:.3%} of the torque, background every {self.rates.background:g} s)"


def predict(
    split: Tasks,
    profile: Profile,
    rates: Rates,
    n_states: int = N_STATES,
    rng: np.random.Generator | None = None,
    ages: Array | None = None,
) -> Prediction:
    """Torque error over the states of a profile; see `Tasks.predict`."""
    profile.check_limits(split.robot)
    profile = profile.suited(split.robot)
    if profile.recorded is None:
        states = profile.sample(n_states, np.random.default_rng(0) if rng is None else rng)
    else:
        # In their order, not sampled: errors are given over the trajectory.
        states = tuple(profile.recorded)
    # What a background without delay would give: the exact torque, by the same programs.
    torque = split.tick(split.renewed(states), states)
    # Errors with and without stale friction side by side: the difference says whether friction should move to the
    # synchronous task.
    square, smooth = np.zeros_like(torque), np.zeros(split.robot.n_joints)
    peak = np.zeros(split.robot.n_joints)
    for weight, error, of_friction in _errors(split, states, torque, rates.ages() if ages is None else _met(ages)):
        square += weight * error**2
        smooth += weight * ((error - of_friction) ** 2).mean(axis=0)
        peak = np.maximum(peak, np.abs(error).max(axis=0))
    rms = np.sqrt(square.mean(axis=0))
    size = np.sqrt((torque**2).mean(axis=0))
    return Prediction(rates, rms, peak, size, np.sqrt(square), np.sqrt(smooth))


def _errors(
    split: Tasks, states: States, torque: Array, ages: tuple[Array, Array, Array]
) -> Iterator[tuple[float, Array, Array]]:
    """Weight, torque error (N, n) and the part of it that stale friction makes, for each pair of ages."""
    swing = _swing(states)
    # Ages of the velocity torques repeat for every age of the coefficients.
    stored: dict[float, tuple[Results, Array]] = {}
    for of_coefficients, of_rest, weight in zip(*(x.tolist() for x in ages), strict=True):
        # Coefficients need positions alone.
        M, gravity = split.coefficients_kernel(_earlier(states, of_coefficients, swing)[0])
        if of_rest not in stored:
            before = _earlier(states, of_rest, swing)
            stale = _rubbing(split.robot, before) - _rubbing(split.robot, states)
            stored[of_rest] = split.rest(before), stale if split.stores_friction else 0.0 * stale
        rest, of_friction = stored[of_rest]
        yield weight, split.tick(with_gravity(M, gravity, rest), states) - torque, of_friction


def _rubbing(robot: Robot, motion: States) -> Array:
    """Friction that either task can make."""
    rubbing = of_velocity(robot)
    return friction(rubbing, motion[1], temperature=motion[3] if rubbing.needs_temperature else None)


def _swing(states: States) -> Array:
    """(n,) frequency with which each joint swings [rad/s]: that of a sine with these accelerations and velocities."""
    # The ratio of both RMS values is w for a pure swing, and a fair mean for sums of them.
    fast, rates = (np.sqrt((x**2).mean(axis=0)) for x in (states[2], states[1]))
    swing: Array = fast / np.maximum(rates, 1e-300)
    return swing


def _earlier(states: States, age: float, swing: Array) -> States:
    """States at an earlier time of a motion that swings on: accelerations are not asked for, temperatures hold."""
    q, qd, qdd = states[:3]
    phase = np.minimum(swing * age, np.pi)  # a swing does not go further back than half of it
    # sinc instead of sin(w d) / w: a joint that does not swing has w = 0.
    sine, cosine = age * np.sinc(phase / np.pi), np.cos(phase)
    versine = 0.5 * (age * np.sinc(phase / 2 / np.pi)) ** 2
    return q - sine * qd + versine * qdd, cosine * qd - sine * qdd, *states[2:]


def _met(ages: Array) -> tuple[Array, Array, Array]:
    """A few ages that stand for all that a run met."""
    # By age, then evenly through the order: quantiles of what the run met, in pairs that occurred together.
    order = np.argsort(ages[1], kind="stable")
    chosen = order[np.linspace(0, len(order) - 1, min(RUN_AGES, len(order))).round().astype(int)]
    return ages[0, chosen], ages[1, chosen], np.full(len(chosen), 1 / len(chosen))


def measure(split: Tasks, times: Array, motion: MotionFunction, rates: Rates) -> Array:
    """(N, n) torque errors of a run: the background holds its results between updates.

    Args:
        times: (N,) ticks of the synchronous task, from 0 on.
        motion: q, qd, qdd of the trajectory at given times, and temperatures where friction depends on them.
    """
    states = motion(times)
    renewed, latest = rates.sources(times)
    M, gravity = split.coefficients_kernel(motion(renewed)[0])
    held = with_gravity(M, gravity, split.rest(motion(latest)))
    error: Array = split.tick(held, states) - split.tick(split.renewed(states), states)
    return error


def check_error(error: float) -> None:
    """Raise ModelError for an error that no share of the torque is."""
    if not 0 < error < 1:
        raise ModelError(f"error: expected a share of the torque between 0 and 1 (0.01 is 1 %), got {error}")


def slowest_background(
    split: Tasks,
    profile: Profile,
    error: float,
    control: float,
    latency: float = 0.0,
    coefficients_every: int = 1,
) -> Rates | None:
    """The longest background period within an error; see `Tasks.slowest_background`."""
    check_error(error)
    fastest = Rates(control, control, latency, coefficients_every)

    def fits(period: float) -> bool:
        # Fewer states: the bisection asks many times.
        return predict(split, profile, replace(fastest, background=period), n_states=4000).relative <= error

    short, long = control, max(LONGEST_PERIOD, 2 * control)
    # Even a background at every tick is a latency late.
    if not fits(short):
        return None
    if fits(long):
        return replace(fastest, background=long)
    while long - short > PERIOD_TOLERANCE * long:
        # Halve the ratio while periods differ by orders of magnitude, then the difference.
        middle = 0.5 * (short + long) if long < 2 * short else (short * long) ** 0.5
        short, long = (middle, long) if fits(middle) else (short, middle)
    return replace(fastest, background=short)
