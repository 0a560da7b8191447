"""Spectrum of a recorded motion, and the band that holds it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import scipy.fft

from tauform.arrays import Array
from tauform.errors import RecordingError
from tauform.identification.recording.segments import Segment

# Share of the velocities' power that counts as the motion; the rest is ripple and noise.
MOTION_SHARE = 0.99
# Density of the velocities' power, relative to its peak, that ends the motion's band.
MIN_MOTION_DENSITY = 1e-4
# The floor of the noise, relative to the median power of the positions in the upper half of the spectrum.
NOISE_FLOOR_FACTOR = 3.0
N_BINS = 60
LONGEST_SPECTRUM = 2_000_000


@dataclass(frozen=True)
class MotionSpectrum:
    """Power density of each joint's velocity, in bins that widen with the frequency.

    Attributes:
        bandwidth: frequency below which 99 % of the power lies above the noise, for the quickest joint [Hz].
        frequencies: (bins,) [Hz].
        density: (n, bins) [(rad/s)^2/Hz or (m/s)^2/Hz], noise included.
        acceleration_bandwidth: the same as bandwidth for the accelerations.
    """

    bandwidth: float
    frequencies: tuple[float, ...]
    density: tuple[tuple[float, ...], ...]
    acceleration_bandwidth: float = 0.0


def motion_spectrum(segment: Segment) -> MotionSpectrum:
    """Spectrum of the velocities, taken from that of the positions.

    Raises:
        RecordingError: no joint moves.
    """
    frequencies, positions = position_spectrum(segment)
    squares = (2 * np.pi * frequencies[:, None]) ** 2
    floor = NOISE_FLOOR_FACTOR * np.median(positions[len(positions) // 2 :], axis=0)
    motion, noisy = np.maximum(positions - floor, 0.0) * squares, positions * squares
    moving = motion.any(axis=0)
    if not moving.any():
        raise RecordingError("no joint moves in one of the recordings; leave it out")
    edges = np.unique(np.geomspace(1, len(frequencies), N_BINS).astype(int))
    bands = np.array([_bands(frequencies, column, edges) for column in motion[:, moving].T])
    bandwidth, quickest = (float(x) for x in bands.max(axis=0))
    density = np.array([noisy[a:b].mean(axis=0) for a, b in itertools.pairwise(edges)]).T
    middle = [float(frequencies[a:b].mean()) for a, b in itertools.pairwise(edges)]
    return MotionSpectrum(bandwidth, tuple(middle), tuple(tuple(row) for row in density.tolist()), quickest)


def _bands(frequencies: Array, power: Array, edges: Array) -> tuple[float, float]:
    """Frequencies below which 99 % of the power of a velocity, and of its acceleration, lie."""
    # Differentiation lifts noise with the square of the frequency: only what comes before the first valley counts.
    density = np.array([power[a:b].mean() for a, b in itertools.pairwise(edges)])
    peak = int(np.argmax(density[: max(1, int(0.7 * len(density)))]))
    low = np.flatnonzero(density[peak:] < MIN_MOTION_DENSITY * density[peak])
    last = int(edges[peak + low[0]]) if len(low) else len(power)
    shares = (np.cumsum(power[:last] * frequencies[:last] ** k) for k in (0, 2))
    velocity, acceleration = (frequencies[np.searchsorted(x, MOTION_SHARE * x[-1])] for x in shares)
    return float(velocity), float(acceleration)


def position_spectrum(segment: Segment) -> tuple[Array, Array]:
    """Frequencies [Hz] and power density (N, n) of each joint's position without its drift."""
    n = min(segment.n_samples, LONGEST_SPECTRUM)
    frequencies = np.asarray(np.fft.rfftfreq(n, 1.0 / segment.rate), dtype=np.float64)
    q = np.asarray(segment.q[:n], dtype=np.float64)
    # Hann's, periodic.
    ramp, window = np.linspace(-1.0, 1.0, n), 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)
    power = np.empty((len(frequencies), q.shape[1]))
    for j, column in enumerate(q.T):  # one at a time: all of them are several times as large in complex numbers
        straight = column - column.mean() - ramp * (ramp @ column / (ramp @ ramp))
        power[:, j] = np.abs(scipy.fft.rfft(straight * window)) ** 2 * (2.0 / (segment.rate * (window @ window)))
    return frequencies, power
