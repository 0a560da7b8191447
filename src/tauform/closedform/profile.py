"""Profile: the states that a model will meet, as ranges or as recorded trajectories."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tauform.arguments import checked_methods
from tauform.arrays import Array, joint_vector, read_only
from tauform.description.drives.friction import ABSOLUTE_ZERO, OPERATING_TEMPERATURES
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.messages import counted
from tauform.portable.elementwise import sin_cos
from tauform.wording import argument, call

VECTORS = ("q", "qd", "qdd", "temperature")
# A recording is cut into so many blocks, fitted to and held out by turns.
N_BLOCKS = 20
# Bounds of velocity and acceleration.
SPEEDS = {"slow": (0.1, 1.0), "fast": (1.0, 10.0)}
# q, qd, qdd and, where the profile has them, temperatures: (N, n) each.
States = tuple[Array, ...]


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Profile:
    """Where q, qd and qdd lie, and the temperatures where friction depends on them.

    Attributes:
        lower, upper: (3, n) bounds of q, qd, qdd, or (4, n) with those of the temperatures.
        recorded: (3, N, n) or (4, N, n) states of trajectories, or None where states are spread evenly between the
            bounds.
        name: used in reports.
    """

    lower: Array
    upper: Array
    recorded: Array | None = None
    name: str = "profile"

    @classmethod
    def ranges(
        cls,
        n_joints: int,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        name: str = "profile",
        temperature: ArrayLike | None = None,
    ) -> Profile:
        """States spread evenly between bounds.

        Args:
            q, qd, qdd: one number b for all joints (-b to b), or (n,) of them, or (2, n) lower and upper bounds.
            temperature: of the joints [degrees Celsius], where friction depends on it: two numbers, the lowest and the
                highest, or (2, n) of them.

        Raises:
            ModelError: bounds that are not numbers of such a shape, not finite, or the wrong way round.
        """
        # zip stops at three: temperature is handled below.
        bounds = [_bounds(value, n_joints, key) for key, value in zip(VECTORS, (q, qd, qdd), strict=False)]
        bounds += [] if temperature is None else [_temperatures(temperature, n_joints)]
        rows = np.array(bounds)
        return cls(read_only(rows[:, 0]), read_only(rows[:, 1]), None, name)

    @classmethod
    def slow(cls, n_joints: int, temperature: ArrayLike | None = None) -> Profile:
        """Profile within a turn, 0.1 rad/s and 1 rad/s^2; temperatures as in `ranges`.  [Lloyd2021, section 4.3]"""
        return cls.ranges(n_joints, np.pi, *SPEEDS["slow"], "slow", temperature)

    @classmethod
    def fast(cls, n_joints: int, temperature: ArrayLike | None = None) -> Profile:
        """Profile within a turn, 1 rad/s and 10 rad/s^2; temperatures as in `ranges`.  [Lloyd2021, section 4.3]"""
        return cls.ranges(n_joints, np.pi, *SPEEDS["fast"], "fast", temperature)

    @classmethod
    def within(
        cls,
        robot: Robot,
        speed: str = "slow",
        *,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        temperature: ArrayLike | None = None,
    ) -> Profile:
        """The slow or the fast profile, narrowed to the robot's limits of position and velocity.

        Args:
            velocity, acceleration: in place of the profile's own, one number or (n,).
            temperature: lowest and highest of the joints [degrees Celsius], as in `ranges`; where friction depends on
                it and none is given, -10 to 80.

        Raises:
            ModelError: no such speed, or bounds that are not numbers of such a shape.
        """
        if speed not in SPEEDS:
            raise ModelError(f'speed: expected "slow" or "fast", got {speed!r}')
        V, A = SPEEDS[speed]
        rates = V if velocity is None else velocity, A if acceleration is None else acceleration
        warm = usual_temperatures(robot) if temperature is None else temperature
        wide = cls.ranges(robot.n_joints, np.pi, *rates, speed, warm)
        lower, upper = wide.lower.copy(), wide.upper.copy()
        limits = {joint.name: joint.limits for joint in robot.joints}
        for i, name in enumerate(robot.joint_names):
            known = limits[name]
            # Narrowed, never widened: the profile's turn, or what the joint's limits leave of it.
            low, high = max(lower[0, i], known.lower), min(upper[0, i], known.upper)
            # limits that lie beyond a turn altogether are taken as they are
            lower[0, i], upper[0, i] = (low, high) if low <= high else (known.lower, known.upper)
            lower[1, i], upper[1, i] = max(lower[1, i], -known.velocity), min(upper[1, i], known.velocity)
        return cls(read_only(lower), read_only(upper), None, speed)

    @classmethod
    def trajectory(
        cls,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        name: str = "trajectory",
        temperature: ArrayLike | None = None,
    ) -> Profile:
        """States of one or more trajectories, (N, n) each; temperatures where friction depends on them.

        Raises:
            ModelError: the arrays are empty or differ in shape, or a temperature lies below absolute zero.
            ShapeError: a value is not finite.
        """
        shape = np.shape(q)
        given: dict[str, ArrayLike] = dict(zip(VECTORS, (q, qd, qdd), strict=False))
        given |= {} if temperature is None else {"temperature": temperature}
        if len(shape) != 2 or not shape[0] or any(np.shape(value) != shape for value in given.values()):
            shapes = ", ".join(f"{key} {np.shape(value)}" for key, value in given.items())
            raise ModelError(
                f"{name}: {', '.join(given)} need the same shape (N, n) with at least one state, got {shapes}"
            )
        states = np.array([joint_vector(value, shape[1], key) for key, value in given.items()])
        _refuse_colder(states[3:])
        # Bounds of a trajectory are what it reaches.
        return cls(read_only(states.min(axis=1)), read_only(states.max(axis=1)), read_only(states), name)

    @classmethod
    def harmonic(
        cls,
        centre: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        n_states: int = 20_000,
        rng: np.random.Generator | None = None,
        name: str = "harmonic",
        temperature: ArrayLike | None = None,
    ) -> Profile:
        """States of joints that swing, out of step with one another, so that each just reaches its bounds.

        A joint with velocity bound V and acceleration bound A swings by V^2 / A about its centre at A / V rad/s:
        the slowest motion that reaches both.

        Args:
            centre: (n,) middle positions.
            velocity, acceleration: (n,) bounds, positive.
            temperature: lowest and highest of the joints [degrees Celsius], as in `ranges`.

        Raises:
            ModelError: shapes that differ, or a bound that is not positive.
        """
        try:
            middle, V, A = (np.atleast_1d(np.asarray(x, dtype=np.float64)) for x in (centre, velocity, acceleration))
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"{name}: centre, velocity and acceleration must be numbers, one per joint") from None
        if not (middle.shape == V.shape == A.shape and middle.ndim == 1 and (V > 0).all() and (A > 0).all()):
            raise ModelError(f"{name}: centre, velocity and acceleration need (n,) numbers each, the bounds positive")
        rng = np.random.default_rng(0) if rng is None else rng
        # one phase of each joint in each of n equal parts of a turn: reversals, though rare, get their share
        parts = rng.permuted(np.tile(np.arange(n_states), (len(middle), 1)), axis=1).T
        phase = 2 * np.pi * ((parts + rng.random((n_states, len(middle)))) / n_states - 0.5)
        s, c = sin_cos(phase)
        # q = c + V^2/A sin, qd = V cos, qdd = -A sin at the rate A/V.
        q, qd, qdd = middle + V * V / A * s, V * c, -A * s
        if temperature is None:
            return cls.trajectory(q, qd, qdd, name)
        low, high = _temperatures(temperature, len(middle))
        return cls.trajectory(q, qd, qdd, name, low + (high - low) * rng.random(q.shape))

    @property
    def n_joints(self) -> int:
        """Length of q."""
        return int(self.lower.shape[1])

    def sample(self, n_states: int, rng: np.random.Generator) -> States:
        """(n_states, n) q, qd, qdd, and temperatures if any: spread evenly, or drawn from the recorded states."""
        if self.recorded is not None:
            # With replacement: a sample may be larger than the recording.
            return tuple(self.recorded[:, rng.integers(0, self.recorded.shape[1], n_states)])
        return tuple(
            low + (high - low) * rng.random((n_states, self.n_joints))
            for low, high in zip(self.lower, self.upper, strict=True)
        )

    def suited(self, robot: Robot) -> Profile:
        """The profile as functions of a robot take it: with temperatures where its friction depends on them.

        Raises:
            ModelError: friction depends on temperature, and the profile has none.
        """
        n_rows, known = 3 + robot.needs_temperature, len(self.lower)
        if known < n_rows:
            raise ModelError(
                f"{self.name}: friction of {robot.name} depends on temperature, and the profile has none",
                argument="temperature",
                remedy=f"give {argument('temperature')}, the lowest and the highest that joints will have [degrees "
                "Celsius]; a trajectory or recording needs those of its states",
            )
        # More than needed is cut, so that functions of robots without such friction take the profile.
        if known == n_rows:
            return self
        recorded = None if self.recorded is None else self.recorded[:n_rows]
        return replace(self, lower=self.lower[:n_rows], upper=self.upper[:n_rows], recorded=recorded)

    def halves(self) -> tuple[Profile, Profile]:
        """States to fit to and states to verify on: every second block of recorded ones each, ranges for both.

        Neighbours in a recording are nearly the same state, so blocks are held out, not single states.
        """
        # Ranges give fresh states at every draw; there is nothing to hold out.
        if self.recorded is None or self.recorded.shape[1] < 2:
            return self, self
        # Blocks, not single samples: neighbours are nearly the same state.
        blocks = np.array_split(np.arange(self.recorded.shape[1]), N_BLOCKS)
        seen, unseen = (np.concatenate(blocks[k::2]) for k in (0, 1))
        fitted, held_out = (replace(self, recorded=self.recorded[:, part]) for part in (seen, unseen))
        return fitted, held_out

    def check_limits(self, robot: Robot) -> None:
        """Refuse a profile that leaves the robot's joint limits.

        Raises:
            ModelError: another number of joints, or a bound beyond a limit; the message names the joint.
        """
        if self.n_joints != robot.n_joints:
            raise ModelError(f"{self.name}: describes {self.n_joints} joints, {robot.name} has {robot.n_joints}")
        limits = {joint.name: joint.limits for joint in robot.joints}
        for i, joint in enumerate(robot.joint_names):
            # By name: joints that follow others are not in q.
            known = limits[joint]
            _inside(self, "q", i, joint, 0, known.lower, known.upper)
            _inside(self, "qd", i, joint, 1, -known.velocity, known.velocity)

    def __repr__(self) -> str:
        kind = "ranges" if self.recorded is None else f"{self.recorded.shape[1]} recorded states"
        return f"Profile({self.name!r}, {counted(self.n_joints, 'joint')}, {kind})"


def usual_temperatures(robot: Robot) -> tuple[float, float] | None:
    """Lowest and highest temperature of a profile where none is given; None where friction does not depend on it."""
    return OPERATING_TEMPERATURES if robot.needs_temperature else None


# A limit may be rounded in the description; this much beyond it, relative to the range, still counts as inside.
# Measured motions overshoot, and their derivatives ring.
LIMIT_SLACK, RECORDED_SLACK = 1e-6, 0.05


def _inside(profile: Profile, key: str, i: int, joint: str, row: int, lower: float, upper: float) -> None:
    low, high = float(profile.lower[row, i]), float(profile.upper[row, i])
    # Relative to the bound itself, whatever its unit.
    slack = (LIMIT_SLACK if profile.recorded is None else RECORDED_SLACK) * max(abs(low), abs(high))
    if low < lower - slack or high > upper + slack:
        remedy = "check the units of the motion and the limits of the description"
        if profile.recorded is None:
            presets = " or ".join(argument("profile", name) for name in ("slow", "fast"))
            remedy = f"{call('Profile.within', 'robot')} ({presets}) stays inside"
        raise ModelError(
            f"{profile.name}: {key} of joint {joint!r} runs from {low:.4g} to {high:.4g}, outside its limits "
            f"{lower:.4g} to {upper:.4g}",
            argument="profile",
            value=profile,
            remedy=remedy,
        )


def _bounds(value: ArrayLike, n: int, key: str) -> Array:
    """(2, n) lower and upper bounds."""
    try:
        array = np.asarray(value, dtype=np.float64)
        # One bound is symmetric about zero; a pair is taken as given.
        low, high = (array[0], array[1]) if array.ndim == 2 else (-array, array)
        bounds = np.array([np.broadcast_to(low, n), np.broadcast_to(high, n)])
    except (TypeError, ValueError, OverflowError, IndexError):
        raise ModelError(
            f"{key}: expected one bound, {n} bounds, or a (2, {n}) array of lower and upper bounds, got {value!r:.60}"
        ) from None
    if not np.isfinite(bounds).all() or (bounds[0] > bounds[1]).any():
        raise ModelError(f"{key}: bounds must be finite, and the lower one below the upper, got {value!r:.60}")
    return bounds


def _temperatures(value: ArrayLike, n: int) -> Array:
    """(2, n) lowest and highest temperatures."""
    # Two numbers are lowest and highest for all joints: (2, 1) broadcasts to (2, n).
    pair = np.asarray(value) if np.shape(value) != (2,) else np.asarray(value)[:, None]
    if np.ndim(pair) != 2:
        raise ModelError(f"temperature: expected the lowest and the highest [degrees Celsius], got {value!r:.60}")
    bounds = _bounds(pair.tolist(), n, "temperature")
    _refuse_colder(bounds)
    return bounds


def _refuse_colder(temperatures: Array) -> None:
    if temperatures.size and temperatures.min() < ABSOLUTE_ZERO:
        raise ModelError(f"temperature: {temperatures.min():g} lies below absolute zero ({ABSOLUTE_ZERO:g} degrees C)")
