"""Which rows of a log are kept: those in which a column, the trigger, says so."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.errors import RecordingError
from tauform.identification.logs.column_names import listed
from tauform.identification.logs.column_numbers import by_number
from tauform.wording import argument

# Two-character signs stand before their first characters, else ">=" would read as ">".
COMPARISON = re.compile(r"(.+?)\s*(==|!=|>=|<=|=|>|<)\s*([^=<>!]+)")
COMPARISONS: dict[str, Callable[[Array, float], AnyArray]] = {
    "=": operator.eq, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge, "<": operator.lt,
    "<=": operator.le,
}  # fmt: skip


@dataclass(frozen=True)
class Trigger:
    """A column, and which of its values mean that a row is kept."""

    text: str
    column: str
    comparison: str
    value: float

    @classmethod
    def of(cls, text: str) -> Trigger:
        """Condition from "run" (not zero), "run=3", "phase>0.5" and the like.

        Raises:
            RecordingError: it compares with something that is not a number.
        """
        match = COMPARISON.fullmatch(text.strip())
        # A bare column is a flag: any value but zero keeps the row.
        if match is None:
            return cls(text, text.strip(), "!=", 0.0)
        try:
            return cls(text, match[1], match[2], float(match[3]))
        except ValueError:
            raise RecordingError(
                f"{argument('trigger', text)} compares with {match[3]!r}, which is not a number",
                argument="trigger",
                value=text,
                remedy=f"give a column, or one with a value, {argument('trigger', 'run>0')}",
            ) from None

    def column_in(self, names: Sequence[str], source: str) -> str:
        """Name of the column, which may be given by number.

        Raises:
            RecordingError: there is no such column.
        """
        # A number stands for a place, unless a column has it as its name.
        (name,) = by_number([self.column], names, source)
        if name not in names:
            raise RecordingError(
                f"{source}: no column {self.column!r} for {argument('trigger')}; it has {listed(names)}",
                argument="trigger",
                value=self.text,
            )
        return name

    def keeps(self, values: Array) -> AnyArray:
        """(N,) which rows are kept."""
        return np.asarray(COMPARISONS[self.comparison](values, self.value))


class Ranges:
    """Counts what a trigger keeps, piece by piece."""

    def __init__(self, trigger: Trigger, source: str) -> None:
        self.trigger, self.source = trigger, source
        self.n_kept = self.n_rows = self.n_ranges = 0
        self.smallest, self.largest = np.inf, -np.inf
        self._was_on = False

    def add(self, values: Array) -> AnyArray:
        """(N,) which of the next rows are kept."""
        kept = self.trigger.keeps(values)
        # The state at the end of the piece before: a range across pieces counts once.
        before = np.concatenate([[self._was_on], kept[:-1]])
        self.n_ranges += int((kept & ~before).sum())
        self.n_kept, self.n_rows = self.n_kept + int(kept.sum()), self.n_rows + len(kept)
        # For the message, if nothing is kept.
        self.smallest, self.largest = min(self.smallest, values.min()), max(self.largest, values.max())
        self._was_on = bool(kept[-1]) if len(kept) else self._was_on
        return kept

    def finding(self) -> str:
        """What was kept, in words.

        Raises:
            RecordingError: nothing was.
        """
        text = self.trigger.text
        if not self.n_kept:
            raise RecordingError(
                f"{self.source}: {argument('trigger', text)} holds nowhere: its column lies between {self.smallest:g} "
                f"and {self.largest:g}",
                argument="trigger",
                value=text,
            )
        ranges = f"{self.n_ranges} range{'s' * (self.n_ranges > 1)}"
        return f"{self.source}: {text} keeps {self.n_kept} of {self.n_rows} samples, in {ranges}"
