"""Zero-phase filters, and cut-offs chosen from the spectrum of the motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tauform.arrays import Array
from tauform.errors import RecordingError
from tauform.identification.recording.segments import Segment
from tauform.identification.signals.fir import butterworth, filtered
from tauform.identification.signals.spectrum import MotionSpectrum, motion_spectrum
from tauform.identification.signals.starts import cutoff_of_starts
from tauform.wording import argument

# Cut-off of the torques above the bandwidth of the velocities, wide enough to leave what friction and coupling make,
# and above that of the accelerations, which reach further where motions start and stop at once.
TORQUE_FACTOR, ACCELERATION_FACTOR = 12.0, 3.0
# Cut-off of the positions above that of the torques. More lets noise decide the sign of slow velocities.
POSITION_FACTOR = 2.0
# Cut-offs are at most these shares of half the sampling rate, so that a filter is left at low rates too.
HIGHEST_TORQUE, HIGHEST_POSITION = 0.5, 0.8
# Rows kept per second, relative to the torque's cut-off; at that spacing filtered noise is nearly white.
ROWS_FACTOR = 2.5
# States a second at which columns are evaluated, relative to the position's cut-off.
STATES_FACTOR = 8.0
# Cycles of the positions' cut-off from a step of the acceleration on until velocities are right again: there the step
# answer of the filter has the right area (its error is below 0.005 cycles from here on).
CYCLES_BESIDE_PAUSE = 1.25
# A cut-off this close to half the sampling rate filters nothing.
NEAR_NYQUIST = 0.9


@dataclass(frozen=True)
class Filters:
    """Cut-offs of the zero-phase filters [Hz] and the rate of the rows that remain [Hz].

    Attributes:
        position: of positions and velocities, before differentiation.
        torque: of both sides of the equation, columns and torques alike.
        rows: rows kept per second.
        bandwidth: of the motion, from which the others were chosen; None where the user gave them.
        spectrum: of the quickest recording, that the bandwidth was found in.
    """

    position: float
    torque: float
    rows: float
    bandwidth: float | None = None
    spectrum: MotionSpectrum | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.spectrum, dict):  # as files hold it
            held = {**self.spectrum, "frequencies": tuple(self.spectrum["frequencies"])}
            held["density"] = tuple(tuple(row) for row in held["density"])
            object.__setattr__(self, "spectrum", MotionSpectrum(**held))

    @classmethod
    def of(cls, position: float, torque: float, rows: float | None = None) -> Filters:
        """Filters with given cut-offs."""
        if not (0 < position < np.inf and 0 < torque < np.inf):
            sentence = f"{argument('filters')} needs positive cut-offs in Hz, not {position:g} and {torque:g}"
            raise RecordingError(sentence, argument="filters", value=(position, torque))
        return cls(float(position), float(torque), float(rows or ROWS_FACTOR * torque))

    @property
    def settle(self) -> float:
        """Seconds at each end that the filters have not settled in."""
        return 2.0 / min(self.position, self.torque)

    @property
    def beside_pause(self) -> float:
        """Seconds on either side of a pause in which its filter changes velocities."""
        return CYCLES_BESIDE_PAUSE / self.position


@dataclass(frozen=True)
class Grid:
    """Samples of a segment that are used: the one rule of decimation and settling.

    Attributes:
        states: columns are evaluated at every such sample,
        rows: and of these every such one is kept as a row.
        settle: samples at each end that the filters have not settled in.
    """

    states: int = 1
    rows: int = 1
    settle: int = 0

    @property
    def stride(self) -> int:
        """Samples from one row to the next."""
        return self.states * self.rows

    def n_rows(self, n_samples: int) -> int:
        """Rows of so many samples."""
        return max(0, -(-(n_samples - 2 * self.settle) // self.stride))

    def settled(self, n_states: int, step: int = 1, least: int = 0) -> slice:
        """Every `step`-th of the states between the ends, but no fewer than `least` samples."""
        settle = -(-self.settle // self.states)
        return slice(settle, max(settle + least, n_states - settle), step)


def grid_of(rate: float, filters: Filters | None) -> Grid:
    """The samples that are used of segments of some rate [Hz]: all, where nothing is filtered."""
    if filters is None:
        return Grid()
    states = max(1, int(rate / (STATES_FACTOR * filters.position)))
    return Grid(states, max(1, int(rate / states / filters.rows)), int(np.ceil(filters.settle * rate)))


def choose_filters(segments: Sequence[Segment]) -> Filters:
    """Cut-offs from the data: bands that hold 99 % of the velocities' and of the accelerations' power, times factors.

    The sampling rate bounds them.
    """
    spectra = [motion_spectrum(segment) for segment in segments]
    spectrum = max(spectra, key=lambda found: found.bandwidth)
    quickest = max(found.acceleration_bandwidth for found in spectra)
    nyquist = min(segment.rate for segment in segments) / 2
    torque = max(TORQUE_FACTOR * spectrum.bandwidth, ACCELERATION_FACTOR * quickest)
    torque = min(torque, HIGHEST_TORQUE * nyquist)
    starts = max(cutoff_of_starts(segment, CYCLES_BESIDE_PAUSE) for segment in segments)
    position = min(max(POSITION_FACTOR * torque, starts), HIGHEST_POSITION * nyquist)
    return Filters(position, torque, ROWS_FACTOR * torque, spectrum.bandwidth, spectrum=spectrum)


def lowpass_kernel(rate: float, cutoff: float) -> Array:
    """Kernel of a zero-phase Butterworth low-pass; nothing is done near half the rate."""
    relative = cutoff / (rate / 2)
    return np.ones(1) if relative >= NEAR_NYQUIST else butterworth(relative)


def correlation_of_filters(filters: Filters | None, rate: float) -> Array:
    """Correlations at 0, 1, 2 ... rows of white noise behind the torque's filter, for samples of some rate [Hz]."""
    if filters is None:
        return np.ones(1)
    grid = grid_of(rate, filters)
    kernel = lowpass_kernel(rate / grid.states, filters.torque)
    # Autocorrelation of the kernel is that of filtered white noise, up to its power.
    power = np.correlate(kernel, kernel, mode="full")[len(kernel) - 1 :]
    return np.asarray(power[:: grid.rows] / power[0])


def lowpass(values: Array, rate: float, cutoff: float) -> Array:
    """Zero-phase Butterworth low-pass along the first axis; nothing is done near half the rate."""
    return filtered(values, lowpass_kernel(rate, cutoff)[None])[:, 0]


def central_difference(values: Array, rate: float) -> Array:
    """(x[i+1] - x[i-1]) / (2 h), one-sided at the ends.  [Izaguirre1992, section 7]"""
    return np.gradient(values, 1.0 / rate, axis=0)
