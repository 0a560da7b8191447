"""Regrouping: use the freedom that null vectors leave to make chosen parameters vanish.

A null vector touches a body and its parent, so a dozen of the eleven places per body: rows are held sparse, as
dictionaries from place to number. A search regroups hundreds of times, and dense rows would be zeros for the most part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tauform.arrays import Array
from tauform.portable.factorization import MAX_TIE_DIFFERENCE

Row = dict[int, float]

# Share of a vector's size below which its numbers are rounding; a pivot may magnify what is left out 200 times.
ROUNDING = 1e-14
# A parameter vanishes only by a change that moves no other by more than 200 times as much. Frames that are almost
# aligned offer changes of a million times, whose large numbers of opposite sign would cost single precision its digits.
WEAKEST_PIVOT = 5e-3


class _Step(NamedTuple):
    """Elimination of one place: the vector, and of each row what it becomes, which places it loses and gains."""

    vector: Row
    changes: list[tuple[int, Row, tuple[int, ...], tuple[int, ...]]]


class Eliminations(NamedTuple):
    """Eliminations so far, by place and the identity of rows; and the rows that they start from, by content."""

    made: dict[tuple[int, ...], _Step | None]
    rows: dict[tuple[object, ...], Row]


class Freedom:
    """Changes of the parameters that no torque can show.

    Args:
        null: (k, 11 n) null vectors, from `null_vectors`.
        done: eliminations so far; frames that share vectors share them.
    """

    def __init__(self, null: Array, done: Eliminations | None = None) -> None:
        self._rows: list[Row] = [{} for _ in null]
        # Place -> rows that hold it, so that an elimination touches those alone.
        self._readers: dict[int, set[int]] = {}
        held = np.nonzero(null)
        for k, place, number in zip(*(part.tolist() for part in (*held, null[held])), strict=True):
            self._rows[k][place] = number
            self._readers.setdefault(place, set()).add(k)
        # A vector's size is fixed at the start: shares stay comparable while rows shrink.
        self._sizes = [max(map(abs, row.values())) for row in self._rows]
        self.done = Eliminations({}, {}) if done is None else done
        self._rows = [self.done.rows.setdefault((k, *row.items()), row) for k, row in enumerate(self._rows)]
        self._pivots: dict[tuple[int, ...], list[tuple[int, Row]]] = {}

    def regrouped(self, parameters: Array, order: Sequence[int]) -> Array:
        """The parameters (n, 11, k) with as many as possible made zero, those first in `order` (flat places) first."""
        values = parameters.reshape(-1, parameters.shape[-1])
        # Each run-time input has its own column; the moves are linear and act on all alike.
        columns = [self._regrouped(column, tuple(order)) for column in values.T.tolist()]
        return np.array(columns).T.reshape(parameters.shape)

    def _regrouped(self, values: list[float], order: tuple[int, ...]) -> list[float]:
        if order not in self._pivots:  # frames that are turned regroup in the same order again
            self._pivots[order] = list(self._eliminated(order))
        for place, vector in self._pivots[order]:
            value = values[place]
            if value:
                for k, weight in vector.items():
                    values[k] -= weight * value
                values[place] = 0.0
        # Relative to the largest parameter: differences of equal numbers leave rounding.
        smallest = ROUNDING * max(map(abs, values))
        return [value if abs(value) > smallest else 0.0 for value in values]

    def _eliminated(self, order: Sequence[int]) -> Iterator[tuple[int, Row]]:
        """Places that can vanish, each with the vector that takes it away, scaled to one there; in order."""
        rows, readers = self._rows.copy(), {place: held.copy() for place, held in self._readers.items()}
        for place in order:
            among = sorted(readers.get(place, ()))
            step = self._step(place, among, rows) if among else None
            if step is None:
                continue
            for k, changed, gone, new in step.changes:
                rows[k] = changed
                # The index of readers follows the rows.
                for other in gone:
                    readers[other].discard(k)
                for other in new:
                    readers.setdefault(other, set()).add(k)
            yield place, step.vector

    def _step(self, place: int, among: list[int], rows: list[Row]) -> _Step | None:
        """The elimination of a place from the rows that hold it; orders that differ in one place share most of them."""
        # Rows are never changed and kept by the steps that made them: the same object has the same numbers.
        key, made = (place, *[id(rows[k]) for k in among]), self.done.made
        if key not in made:
            made[key] = self._made_step(place, among, rows)
        return made[key]

    def _made_step(self, place: int, among: list[int], rows: list[Row]) -> _Step | None:
        sizes = self._sizes
        shares = [abs(rows[k][place]) / sizes[k] for k in among]
        # Nearly equal shares count as equal: rounding of another machine must not choose another pivot.
        least = (1 - MAX_TIE_DIFFERENCE) * max(shares)
        pivot = next(k for k, share in zip(among, shares, strict=True) if share >= least)
        scale = rows[pivot][place]
        if abs(scale) <= WEAKEST_PIVOT * sizes[pivot]:
            return None
        vector = {k: number / scale for k, number in rows[pivot].items()}
        changes = []
        for k in among:
            changed = {} if k == pivot else _without(rows[k], place, vector, ROUNDING * sizes[k])
            gone, new = rows[k].keys() - changed.keys(), changed.keys() - rows[k].keys()
            changes.append((k, changed, tuple(gone), tuple(new)))
        return _Step(vector, changes)


def _without(row: Row, place: int, vector: Row, smallest: float) -> Row:
    """The row less so much of the vector that its number at the place vanishes; rounding errors become zeros."""
    weight, changed = row[place], row.copy()
    for k, number in vector.items():
        changed[k] = changed.get(k, 0.0) - weight * number
    changed[place] = 0.0
    return {k: number for k, number in changed.items() if abs(number) > smallest}
