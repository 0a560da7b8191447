"""Zero-phase filters, and cut-offs chosen from the spectrum of the motion."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.fft
from scipy import signal

from tauform.arrays import Array
from tauform.errors import RecordingError
from tauform.identification.fir import butterworth, filtered
from tauform.identification.segments import Segment

# Share of the velocities' power that counts as the motion; the rest is ripple and noise.
MOTION_SHARE = 0.99
# Density of the velocities' power, relative to its peak, that ends the motion's band.
VALLEY = 1e-4
# Cut-offs above the motion's bandwidth: wide enough to leave the torques that friction and coupling make.
TORQUE_FACTOR, POSITION_FACTOR = 12.0, 24.0
# Rows kept a second, relative to the torque's cut-off; at that spacing filtered noise is nearly white.
ROWS_FACTOR = 2.5
# States a second at which columns are evaluated, relative to the position's cut-off.
STATES_FACTOR = 8.0
# A cut-off this close to half the sampling rate filters nothing.
NEAR_NYQUIST = 0.9
LONGEST_SPECTRUM = 2_000_000


@dataclass(frozen=True)
class Filters:
    """Cut-offs of the zero-phase filters [Hz] and the rate of the rows that remain [Hz].

    Attributes:
        position: of positions and velocities, before differentiation.
        torque: of both sides of the equation, columns and torques alike.
        rows: rows kept a second.
        bandwidth: of the motion, from which the others were chosen; None where the user gave them.
    """

    position: float
    torque: float
    rows: float
    bandwidth: float | None = None

    @classmethod
    def of(cls, position: float, torque: float, rows: float | None = None) -> Filters:
        """From given cut-offs."""
        if not (0 < position < np.inf and 0 < torque < np.inf):
            raise RecordingError(f"filters= needs positive cut-offs in Hz, not {position:g} and {torque:g}")
        return cls(float(position), float(torque), float(rows or ROWS_FACTOR * torque))

    @property
    def settle(self) -> float:
        """Seconds at each end that the filters have not settled in."""
        return 2.0 / min(self.position, self.torque)


def choose_filters(segments: Sequence[Segment]) -> Filters:
    """Cut-offs from the data: the band that holds 99 % of the velocities' power, times a factor.

    Velocities are taken from the spectrum of the positions, above the floor that its upper half shows.
    """
    bandwidth = max(motion_bandwidth(segment) for segment in segments)
    torque = TORQUE_FACTOR * bandwidth
    return Filters(POSITION_FACTOR * bandwidth, torque, ROWS_FACTOR * torque, bandwidth)


def motion_bandwidth(segment: Segment) -> float:
    """Frequency below which 99 % of the velocities' power lies, for the quickest joint [Hz]."""
    frequencies, power = velocity_spectrum(segment)
    moving = power.any(axis=0)
    if not moving.any():
        raise RecordingError("no joint moves in one of the recordings; leave it out")
    return max(_band(frequencies, column) for column in power[:, moving].T)


def _band(frequencies: Array, power: Array) -> float:
    # Differentiation lifts noise with the square of the frequency: only what comes before the first valley counts.
    edges = np.unique(np.geomspace(1, len(power), 60).astype(int))
    density = np.array([power[a:b].mean() for a, b in itertools.pairwise(edges)])
    peak = int(np.argmax(density[: max(1, int(0.7 * len(density)))]))
    low = np.flatnonzero(density[peak:] < VALLEY * density[peak])
    last = int(edges[peak + low[0]]) if len(low) else len(power)
    share = np.cumsum(power[:last])
    return float(frequencies[np.searchsorted(share, MOTION_SHARE * share[-1])])


def velocity_spectrum(segment: Segment) -> tuple[Array, Array]:
    """Frequencies [Hz] and power density of each joint's velocity, noise floor of the position taken off."""
    n = min(segment.n_samples, LONGEST_SPECTRUM)
    frequencies = np.asarray(np.fft.rfftfreq(n, 1.0 / segment.rate), dtype=np.float64)
    q = np.asarray(segment.q[:n], dtype=np.float64)
    ramp, window = np.linspace(-1.0, 1.0, n), signal.windows.hann(n, sym=False)
    power = np.empty((len(frequencies), q.shape[1]))
    for j, column in enumerate(q.T):  # one at a time: all of them are several times as large in complex numbers
        straight = column - column.mean() - ramp * (ramp @ column / (ramp @ ramp))
        power[:, j] = np.abs(scipy.fft.rfft(straight * window)) ** 2 * (2.0 / (segment.rate * (window @ window)))
    floor = 3.0 * np.median(power[len(power) // 2 :], axis=0)
    return frequencies, np.maximum(power - floor, 0.0) * (2 * np.pi * frequencies[:, None]) ** 2


def lowpass_kernel(rate: float, cutoff: float) -> Array:
    """Of a zero-phase Butterworth low-pass; nothing is done near half the rate."""
    relative = cutoff / (rate / 2)
    return np.ones(1) if relative >= NEAR_NYQUIST else butterworth(relative)


def lowpass(values: Array, rate: float, cutoff: float) -> Array:
    """Zero-phase Butterworth low-pass along the first axis; nothing is done near half the rate."""
    return filtered(values, lowpass_kernel(rate, cutoff)[None])[:, 0]


def central_difference(values: Array, rate: float) -> Array:
    """(x[i+1] - x[i-1]) / (2 h), one-sided at the ends.  [Izaguirre1992, section 7]"""
    return np.gradient(values, 1.0 / rate, axis=0)
