"""Condensed: what the logs of a unit say, as one small triangle per joint and recording; they add up in any order."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from tauform.archives import unpacked as unpacked_arrays
from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.fleet.evidence.faults import Fault, faults_of, load_directions
from tauform.fleet.evidence.moving import travel_of
from tauform.fleet.evidence.noise import Colour, noise_of
from tauform.fleet.evidence.own import Own
from tauform.fleet.sources.reading import LogFile, Reading, name_of
from tauform.identification.fit import Fit
from tauform.identification.regression.colour import root_of
from tauform.identification.regression.evidence import Evidence
from tauform.identification.regression.rows import RowSource

# Sums of squares of larger numbers are not finite.
LARGEST_NUMBER = 1e100


@dataclass(frozen=True, eq=False)
class Thermal:
    """How values change with temperature, which is taken off.

    Attributes:
        reference: (n,) temperature of the joints that all estimates are of [degrees Celsius].
        slopes: (p,) change of each value per kelvin of its joint.
        lowest, highest: (n,) temperatures that the slopes were found between.
    """

    reference: Array
    slopes: Array
    lowest: Array
    highest: Array


@dataclass(frozen=True, eq=False)
class Plan:
    """What every worker needs: the pooled model's columns, filters and values, and how logs are read.

    Attributes:
        robot: of all units.
        source: design, filters and smoother; its segments are none.
        reading: how logs become recordings.
        values, covariance: (p,), (p, p) of the pooled fit.
        weights, inflation: (n,) of the joints' rows, and of their variance by correlation in time, of a usual unit.
        colour: how much more than that it is for single values and faults.
        travel: (n,) the furthest that the joints travelled in a recording of the pooled fit.
        thermal: what temperature does to friction, where it is known.
    """

    robot: Robot
    source: RowSource
    reading: Reading
    values: Array
    covariance: Array
    weights: Array
    inflation: Array
    colour: Colour
    travel: Array
    thermal: Thermal | None = None

    @classmethod
    def of(cls, fit: Fit, robot: Robot, reading: Reading, own: Sequence[Own] = (), n_logs: int = 0) -> Plan:
        """The plan of a fit on some of `n_logs` logs, whose noise each by itself shows in `own`."""
        assert fit.source is not None
        sigma, inflation, colour = noise_of(fit, own)
        # A log alone would be too short for a kernel to pay, all of them are not.
        longest = max(segment.n_samples for segment in fit.source.segments)
        # Without segments: samples would travel to every worker.
        source = replace(fit.source, segments=(), silent=(), expected=n_logs * longest)
        travel = np.max([travel_of(segment.q) for segment in fit.source.segments], axis=0)
        return cls(robot, source, reading, fit.values, fit.covariance, 1.0 / sigma, inflation, colour, travel)

    @cached_property
    def deviations(self) -> Array:
        """(p,) standard deviations of the pooled values."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @cached_property
    def root(self) -> Array:
        """(p, p) L with L L' = covariance."""
        return root_of(self.covariance)

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """What may be wrong with a unit; once per plan, for they are asked for by each."""
        return tuple(faults_of(self.source.design, self.values))

    @cached_property
    def load(self) -> Array:
        """(p, 4) change of the values by a body at the tool; see `load_directions`."""
        return load_directions(self.source.design)

    @property
    def torque_units(self) -> tuple[str, ...]:
        """(n,) N m or N."""
        units = {joint.name: joint.type.effort_unit for joint in self.robot.joints}
        return tuple(units[name] for name in self.robot.joint_names)

    @property
    def shape(self) -> tuple[int, int]:
        """Joints and columns of the triangles: those of the model, then the predicted torque of every joint."""
        return len(self.weights), len(self.values) + len(self.weights)


@dataclass(frozen=True, eq=False)
class Window:
    """One recording of a unit, condensed.

    Attributes:
        start, end: [s] on the clock of the log.
        period: seconds between samples.
        n_samples: samples of all files.
        evidence: one triangle per joint; its columns are `Plan.shape`.
        files: the logs that it was joined from.
        prints: of what each of them holds, see `print_of`.
        excerpt: (m, 1 + 2n) its first rows, for pages: time [s], then measured torques, then those that the pooled
            values predict.
        temperature: (n,) mean of the joints [degrees Celsius]; empty where it was not recorded.
    """

    start: float
    end: float
    period: float
    n_samples: int
    evidence: Evidence
    files: tuple[str, ...]
    prints: tuple[int, ...]
    excerpt: Array = field(default_factory=lambda: np.zeros((0, 0)))
    temperature: Array = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False)
class UnitLogs:
    """All windows of a unit, and the files that were set aside, each with a reason; files by `LogFile.mark`.

    Attributes:
        passing: marks of those that were set aside for what may pass: storage or disk failed, another log is the same.
    """

    unit: str
    windows: tuple[Window, ...]
    excluded: tuple[tuple[str, str], ...]
    passing: frozenset[str] = frozenset()

    def covers(self, files: Iterable[LogFile]) -> bool:
        """Whether it was made of these files, no more and no less."""
        held = {mark for window in self.windows for mark in window.files} | {mark for mark, _ in self.excluded}
        return held == {file.mark for file in files}


def merged(parts: Sequence[Evidence]) -> Evidence:
    """All blocks of several windows, as if they had been one recording's."""
    return Evidence(
        np.concatenate([part.triangles for part in parts]),
        np.concatenate([part.counts for part in parts]),
        # Blocks keep which window they came from.
        tuple(k for k, part in enumerate(parts) for _ in part.recordings),
        np.max([part.peaks for part in parts], axis=0),
        np.max([part.torque_peaks for part in parts], axis=0),
    )


def one_block(evidence: Evidence) -> Evidence:
    """All windows in one triangle per joint."""
    n, k = evidence.n_joints, evidence.n_columns + 1
    stacked = evidence.triangles.transpose(1, 0, 2, 3).reshape(n, -1, k)
    triangles: Array = np.asarray(np.linalg.qr(stacked, mode="r"))[None]
    count = np.array([evidence.n_rows])
    return Evidence(triangles, count, (0,), evidence.peaks, evidence.torque_peaks)


def arrays_of(logs: UnitLogs) -> dict[str, Any]:
    """A unit's evidence as arrays by name, for checkpoints."""
    # What may pass is not kept: the next run looks again.
    kept = [pair for pair in logs.excluded if pair[0] not in logs.passing]
    arrays: dict[str, Any] = {"excluded": np.array(kept, dtype=str).reshape(-1, 2)}
    for k, window in enumerate(logs.windows):
        arrays[f"{k}_span"] = np.array([window.start, window.end, window.period, float(window.n_samples)])
        arrays[f"{k}_files"] = np.array(window.files, dtype=str)
        arrays[f"{k}_prints"] = np.array(window.prints, dtype=np.int64)
        arrays[f"{k}_excerpt"] = window.excerpt
        arrays[f"{k}_temperature"] = window.temperature
        for name in ("triangles", "counts", "peaks", "torque_peaks"):
            arrays[f"{k}_{name}"] = getattr(window.evidence, name)
    return arrays


def unpacked(unit: str, data: bytes, shape: tuple[int, int]) -> UnitLogs | None:
    """An archive of `arrays_of`; None where it is damaged or of another model: the logs are read again then.

    Args:
        shape: joints and columns of the model, `Plan.shape`.
    """
    try:
        # Sizes are checked before anything is unpacked.
        held = unpacked_arrays(io.BytesIO(data))
        count = sum(name.endswith("_span") for name in held)
        windows = tuple(_window(held, k, shape) for k in range(count))
        excluded = tuple((str(mark), str(why)) for mark, why in _texts(held["excluded"], 2))
        for mark in (*(mark for window in windows for mark in window.files), *(mark for mark, _ in excluded)):
            name_of(mark)
    except (ValueError, KeyError, TypeError, MemoryError):  # arrays of other shapes and types raise all of these
        return None
    return UnitLogs(unit, windows, excluded)


def _window(held: Mapping[str, AnyArray], k: int, shape: tuple[int, int]) -> Window:
    """The k-th window.

    Raises:
        ValueError: of another model, or damaged.
    """
    n, p = shape
    span, counts, triangles, peaks, torque_peaks, excerpt, temperature = (
        held[f"{k}_{name}"]
        for name in ("span", "counts", "triangles", "peaks", "torque_peaks", "excerpt", "temperature")
    )
    shown = (len(excerpt), 1 + 2 * n if len(excerpt) else excerpt.shape[-1])
    wanted = [((len(counts), n, p + 1, p + 1), triangles), ((n, p), peaks), ((n,), torque_peaks), ((4,), span)]
    for size, array in [*wanted, (shown, excerpt), ((n if len(temperature) else 0,), temperature)]:
        # A checkpoint of another design has other shapes; numbers whose squares are none mark a damaged one.
        if array.shape != size or array.dtype != np.float64 or not (np.abs(array) < LARGEST_NUMBER).all():
            raise ValueError("of another model")
    start, end, period, n_samples = span.tolist()
    whole = counts.dtype.kind == "i" and counts.ndim == 1 and counts.min() >= 1
    if not (whole and end > start and period > 0 and n_samples >= 1):
        raise ValueError("no recording")
    files = _texts(held[f"{k}_files"], 1)
    prints = held[f"{k}_prints"]
    if not len(files) or prints.shape != files.shape or prints.dtype != np.int64:
        raise ValueError("of no file")
    evidence = Evidence(triangles, counts, (0,) * len(counts), peaks, torque_peaks)
    own = tuple(map(str, files)), tuple(prints.tolist())
    return Window(start, end, period, int(n_samples), evidence, *own, excerpt, temperature)


def _texts(array: AnyArray, n_dimensions: int) -> AnyArray:
    if array.dtype.kind != "U" or array.ndim != n_dimensions:
        raise ValueError("no names")
    return array
