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
from tauform.errors import ModelError
from tauform.realtime.multirate.tasks import beside_torque
from tauform.rigidbody.gravity import bias_torque, gravity_torque
from tauform.rigidbody.inertia.mass_matrix import mass_matrix

# A signal's bandwidth holds this share of the power of its variation.
POWER_SHARE = 0.95
FEWEST_SAMPLES = 64


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
