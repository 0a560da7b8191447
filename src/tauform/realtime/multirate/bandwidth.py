"""Bandwidth of each group of terms along a trajectory: how often the background must renew it.

Kircanski (in Izaguirre1992) found the spectra of positions and velocities alike and that of accelerations about
five times as wide: what depends on positions and velocities may be computed less often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import signal

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import ModelError, RecordingError
from tauform.identification.recording.recording import Recording
from tauform.identification.recording.segments import uniform_segments
from tauform.realtime.multirate.tasks import beside_torque
from tauform.rigidbody.christoffel import christoffel_coefficients
from tauform.rigidbody.gravity import bias_torque, gravity_torque
from tauform.rigidbody.inertia.mass_matrix import mass_matrix

# A signal's bandwidth holds this share of the power of its variation.
POWER_SHARE = 0.95
FEWEST_SAMPLES = 64
# Share of the largest coefficient of its kind below which a variation is rounding.
MAX_ROUNDING_SHARE = 1e-9


@dataclass(frozen=True)
class Bandwidths:
    """Frequencies below which 95 % of the variation's power lies [Hz], over all joints together.

    Attributes:
        position, velocity, acceleration: of the joints.
        inertia: of the mass matrix; gravity, velocity_torque: of the stored torques, friction with the latter.
        inertial_torque: of M qdd, which the synchronous task makes.
    """

    position: float
    velocity: float
    acceleration: float
    inertia: float
    gravity: float
    velocity_torque: float
    inertial_torque: float


def bandwidths(
    robot: Robot, q: Array, qd: Array, qdd: Array, rate: float, temperature: Array | None = None
) -> Bandwidths:
    """Bandwidths along a uniformly sampled trajectory, (N, n) each.

    Raises:
        ModelError: fewer than 64 samples.
    """
    if len(q) < FEWEST_SAMPLES:
        raise ModelError(f"bandwidths: {len(q)} samples are too few for a spectrum; give at least {FEWEST_SAMPLES}")
    M, gravity = mass_matrix(robot, q), gravity_torque(robot, q)
    signals = {
        "position": q,
        "velocity": qd,
        "acceleration": qdd,
        "inertia": M.reshape(len(q), -1),
        "gravity": gravity,
        # Friction changes with velocities, so it counts with their torques.
        "velocity_torque": bias_torque(robot, q, qd) - gravity + beside_torque(robot, q, qd, temperature),
        "inertial_torque": (M @ qdd[..., None])[..., 0],
    }
    return Bandwidths(**{name: bandwidth(values, rate) for name, values in signals.items()})


@dataclass(frozen=True, eq=False)
class CoefficientBandwidths:
    """Bandwidth of each coefficient of the dynamics along a motion, and how much it varies.  [Kircanski1986]

    Attributes:
        names: such as D_12, D_2 or D_122, joints counted from 1.
        bandwidth: [Hz], frequency below which 95 % of the variation's power lies; 0 of constants.
        deviation: standard deviation over the motion.
        largest: largest size.
    """

    names: tuple[str, ...]
    bandwidth: Array
    deviation: Array
    largest: Array

    def table(self, most: int | None = None) -> list[tuple[str, float, float, float]]:
        """(name, bandwidth, deviation, largest), the widest first; constants left out."""
        order = [int(k) for k in np.argsort(-self.bandwidth, kind="stable") if self.bandwidth[k] > 0]
        rows = zip(*(x.tolist() for x in (self.bandwidth, self.deviation, self.largest)), strict=True)
        listed = list(zip(self.names, rows, strict=True))
        return [(listed[k][0], *listed[k][1]) for k in order[:most]]


def coefficient_bandwidths(robot: Robot, recording: Recording) -> CoefficientBandwidths:
    """Bandwidth of each D_ij, D_i and D_ijk along a recorded motion: how often a background must renew it.

    Args:
        recording: of the robot, 64 samples at least; its longest stretch at an even rate is taken.

    Raises:
        ModelError: fewer than 64 samples.
        RecordingError: the recording has another number of joints, or gaps leave too little.
    """
    if recording.n_joints != robot.n_joints:
        joints = f"{recording.n_joints} joints recorded, {robot.name} has {robot.n_joints}"
        raise RecordingError(f"{recording.name}: {joints}")
    segment = max(uniform_segments(recording).segments, key=lambda part: part.n_samples)
    if segment.n_samples < FEWEST_SAMPLES:
        few = f"{segment.n_samples} samples are too few for a spectrum"
        raise ModelError(f"{recording.name}: {few}; give at least {FEWEST_SAMPLES}")
    q, n = np.asarray(segment.q, dtype=np.float64), robot.n_joints
    # By symmetry half of M, and of each D_i, is all of it.
    half = np.array([i * n + j for i in range(n) for j in range(i, n)])
    kinds = [
        mass_matrix(robot, q).reshape(len(q), -1)[:, half],
        gravity_torque(robot, q),
        christoffel_coefficients(robot, q).reshape(len(q), n, -1)[:, :, half].reshape(len(q), -1),
    ]
    kinds = [np.where(np.ptp(x, axis=0) > MAX_ROUNDING_SHARE * np.abs(x).max(), x, x[:1]) for x in kinds]
    columns = np.concatenate(kinds, axis=1)
    found = np.array([bandwidth(column[:, None], segment.rate) for column in columns.T])
    return CoefficientBandwidths(_names(n), found, columns.std(axis=0), np.abs(columns).max(axis=0))


def _names(n: int) -> tuple[str, ...]:
    """D_ij, D_i, D_ijk in the order of the columns; with ten joints or more indices are set apart."""
    pairs = [(i, j) for i in range(1, n + 1) for j in range(i, n + 1)]
    indices = [*pairs, *((i,) for i in range(1, n + 1)), *((i, *pair) for i in range(1, n + 1) for pair in pairs)]
    return tuple("D_" + ("" if n < 10 else ",").join(map(str, index)) for index in indices)


def bandwidth(values: Array, rate: float, share: float = POWER_SHARE) -> float:
    """Frequency below which this share of the power of the columns' variation lies [Hz]; 0 for constants.

    Columns count by their relative variation, so that light joints are heard too.
    """
    spread = values.std(axis=0)
    # A constant divided by its spread would be nothing but rounding.
    moving = spread > 1e-9 * max(float(np.abs(values).max()), 1e-300)
    if not moving.any():
        return 0.0
    # Each column in units of its spread: a heavy joint must not decide alone.
    frequencies, power = signal.periodogram(values[:, moving] / spread[moving], rate, window="hann", axis=0)
    # Power of all columns together, summed from zero frequency up.
    total = np.cumsum(power.sum(axis=1))
    return float(frequencies[np.searchsorted(total, share * total[-1])])
