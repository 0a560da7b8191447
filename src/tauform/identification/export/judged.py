"""The motion that a fit was judged on, as a written program meets it: states, measured torques, filters.

A row of the verdict is a weighted mean over many states, and sharp friction is evaluated between states too. Here the
same is done to torques in place of columns, so that any function of q, qd, qdd has an error in the verdict's norm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.backends.replay import Kernels, Track, rounded
from tauform.errors import IdentificationError
from tauform.identification.fitted.model import FittedModel
from tauform.identification.regression.rows import RowSource, Stretch
from tauform.identification.signals.filters import Filters
from tauform.identification.signals.fir import decimation, filtered, interpolation, refined
from tauform.wording import argument

FITTED_ROWS = "the fitted recordings"
# States that a program is interpreted at in one go: all its values are held at once.
STATES_PER_SLICE = 5000
# q, qd, qdd and, where friction depends on it, temperature -> torque; (N, n) each.
Torque = Callable[..., AnyArray]


@dataclass(frozen=True, eq=False)
class JudgedMotion:
    """Stretches of recordings in the verdict's filters.

    Attributes:
        stretches: states and measured torques, as they are stored.
        judged: error of the fit there, as it is in the fit's own figures.
        whole: seconds of all that the fit was judged on, of which this may be a part.
        source: which recordings, in words.
    """

    stretches: tuple[Stretch, ...]
    judged: float
    whole: float
    source: str

    @property
    def seconds(self) -> float:
        """Length of what is here."""
        return _seconds(self.stretches)

    @property
    def is_excerpt(self) -> bool:
        """Whether this is a part only."""
        return self.seconds < self.whole

    @cached_property
    def torque_squares(self) -> float:
        """Sum of the squared measured torques of all rows."""
        return sum(float((_rows(stretch, stretch.tau) ** 2).sum()) for stretch in self.stretches)

    def error_of(self, torque: Torque) -> float:
        """RMS error over RMS torque of a function, all joints together: the verdict's figure for it."""
        # Both sides pass the same filter, as in the verdict: noise outside of the motion's band does not count.
        return self._relative(_rows(s, s.tau - computed) for s, computed in self._computed(torque))

    def distance(self, torque: Torque, other: Torque) -> float:
        """The same of the difference of two functions, which bounds that of their errors."""
        pairs = zip(self._computed(torque), self._computed(other), strict=True)
        return self._relative(_rows(s, one - two) for (s, one), (_, two) in pairs)

    def _relative(self, errors: Iterator[Array]) -> float:
        # Guards a recording without torque; any real one is far above.
        return float(np.sqrt(sum(float((e**2).sum()) for e in errors) / max(self.torque_squares, 1e-300)))

    def _computed(self, torque: Torque) -> Iterator[tuple[Stretch, Array]]:
        """Torques at the states of each stretch, as the measured ones stand there."""
        for stretch in self.stretches:
            stride = stretch.strides[0]
            states = _inputs(stretch)
            # Columns were evaluated at every stride-th sample; sharp friction between them too, so that torques are
            # refined first.
            if stride > 1:
                length = (len(stretch.t) - 1) * stride + 1
                states = [refined(x, stride)[:length] for x in states]
            parts = range(0, len(states[0]), STATES_PER_SLICE)
            found = [torque(*(x[first : first + STATES_PER_SLICE] for x in states)) for first in parts]
            torques = np.concatenate(found).astype(np.float64)
            yield stretch, filtered(torques, decimation(stride)[None], stride)[:, 0] if stride > 1 else torques

    def rows_of(self, torque: Torque) -> Array:
        """(R, n) torques of a function at all rows of the verdict, after the filters."""
        return np.concatenate([_rows(stretch, computed) for stretch, computed in self._computed(torque)])

    @cached_property
    def measured(self) -> Array:
        """(R, n) measured torques at all rows of the verdict, after the filters."""
        return np.concatenate([_rows(stretch, stretch.tau) for stretch in self.stretches])

    def states(self) -> tuple[Array, ...]:
        """(R, n) each: q, qd, qdd and, where friction depends on it, temperature at all rows of the verdict."""
        parts = [[x[stretch.rows] for x in _inputs(stretch)] for stretch in self.stretches]
        return tuple(np.concatenate(x) for x in zip(*parts, strict=True))

    def times(self) -> Array:
        """(R,) seconds since the beginning, one recording after the other."""
        start, found = 0.0, []
        for stretches in _by_segment(self.stretches):
            found += [start + stretch.t[stretch.rows] - stretches[0].t[0] for stretch in stretches]
            start += _seconds(stretches)
        return np.concatenate(found)

    def tracks(self) -> tuple[tuple[Track, ...], tuple[Kernels, ...]]:
        """Data for code that repeats this: the states with their measured torques, and the filters."""
        tracks: list[Track] = []
        kernels: list[Kernels] = []
        known: dict[tuple[float, tuple[int, int]], int] = {}
        for stretch in self.stretches:
            # Stretches of one rate and stride share their kernels, which are stored once.
            key = stretch.segment.rate, stretch.strides
            if key not in known:
                known[key] = len(kernels)
                stride = stretch.strides[0]
                thin = decimation(stride) if stride > 1 else np.ones(1)
                kernels.append(Kernels(interpolation(stride), thin, stretch.lowpass))
            judged = np.zeros(len(stretch.t), dtype=bool)
            judged[stretch.rows] = True
            inputs = np.concatenate(_inputs(stretch), axis=1)
            tracks.append(Track(stretch.t, inputs, stretch.tau, judged, known[key], stretch.moving))
        return tuple(tracks), tuple(kernels)


def judged_motion(fit: FittedModel, excerpt: float | None = None) -> JudgedMotion | None:
    """The motion of a fit's verdict, or the first seconds of it; None where the fit was loaded without its recordings.

    That is its validation recordings or, where there are none, what it was fitted to: there every block is held out
    in turn for the verdict, while the model that is shipped has seen them all.

    Raises:
        IdentificationError: the excerpt is no length, or too short for the filters.
    """
    check_excerpt(excerpt)
    # Others alone do not judge: a fit may be asked before they were predicted.
    validated = fit.others is not None and fit.validation is not None
    source = fit.others if validated else fit.source
    if source is None:
        return None
    # Stretches without rows judge nothing.
    stretches = tuple(_stored(stretch, fit.design.is_thermal) for stretch in source.stretches() if len(stretch.rows))
    whole = _seconds(stretches)
    if excerpt is not None and excerpt < whole:
        stretches = _excerpt(source, stretches, excerpt)
    if validated:
        assert fit.validation is not None
        return JudgedMotion(stretches, fit.validation.total, whole, fit.validation.source)
    return JudgedMotion(stretches, fit.residuals.total, whole, FITTED_ROWS)


def check_excerpt(excerpt: float | None, filters: Filters | None = None) -> None:
    """Refuse an excerpt of no length, or within which the filters do not settle; ask before long work."""
    if excerpt is None:
        return
    if not 0 < excerpt < np.inf:
        raise IdentificationError(
            f"{argument('excerpt')} is a length of time in seconds, not {excerpt:g}", argument="excerpt", value=excerpt
        )
    # Both ends are left out, and a row lies between them at the latest after its spacing.
    if filters is not None and excerpt < 2 * filters.settle + 1 / filters.rows:
        raise _too_short(excerpt, filters.settle)


def _too_short(excerpt: float, settle: float) -> IdentificationError:
    return IdentificationError(
        f"{argument('excerpt', excerpt)} is too short, for filters settle in {settle:.2g} s at each end",
        argument="excerpt",
        value=excerpt,
        remedy="ask for more",
    )


def _excerpt(source: RowSource, stretches: tuple[Stretch, ...], seconds: float) -> tuple[Stretch, ...]:
    """The first seconds from the first row on, with rows where the filters have settled."""
    settle = 0.0 if source.filters is None else source.filters.settle
    kept: list[Stretch] = []
    for stretch in stretches:
        period = stretch.strides[0] / stretch.segment.rate
        first, count = int(stretch.rows[0]), int((seconds - _seconds(kept)) / period) + 1
        part = slice(first, first + max(0, count))
        length = len(stretch.t[part])
        # Settle at both ends: the filters are symmetric and look ahead too.
        inner = (stretch.rows >= first + settle / period) & (stretch.rows < first + length - settle / period)
        if inner.any():
            kept.append(_cut(stretch, part, stretch.rows[inner] - first))
    if not kept:
        raise _too_short(seconds, settle)
    return tuple(kept)


def _cut(stretch: Stretch, part: slice, rows: AnyArray) -> Stretch:
    names = ("t", "q", "qd", "qdd", "tau", "temperature", "moving")
    cut: dict[str, Any] = {name: None if (x := getattr(stretch, name)) is None else x[part] for name in names}
    return replace(stretch, **cut, rows=rows)


def _stored(stretch: Stretch, is_thermal: bool) -> Stretch:
    """Plain values, as a file holds them."""
    names = ("t", "q", "qd", "qdd", "tau")
    temperatures = rounded(stretch.temperature) if is_thermal and stretch.temperature is not None else None
    stored: dict[str, Any] = {name: rounded(getattr(stretch, name)) for name in names}
    return replace(stretch, **stored, temperature=temperatures)


def _inputs(stretch: Stretch) -> list[Array]:
    states = [stretch.q, stretch.qd, stretch.qdd]
    return states if stretch.temperature is None else [*states, stretch.temperature]


def _rows(stretch: Stretch, torques: Array) -> Array:
    """(R, n) torques (N, n) at the rows, without rests and after the filter that both sides pass."""
    kernel, torques = stretch.lowpass, stretch.of_motion(torques)
    return torques[stretch.rows] if len(kernel) == 1 else filtered(torques, kernel[None])[stretch.rows, 0]


def _seconds(stretches: Sequence[Stretch]) -> float:
    """Seconds of the recordings that they cover."""
    return sum(float(group[-1].t[-1] - group[0].t[0]) for group in _by_segment(stretches))


def _by_segment(stretches: Sequence[Stretch]) -> list[list[Stretch]]:
    """Stretches of a long segment together: neighbours overlap, since filters reach into each other's states."""
    return [list(group) for _, group in groupby(stretches, key=lambda stretch: id(stretch.segment))]
