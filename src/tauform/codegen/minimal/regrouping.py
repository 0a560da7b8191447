"""Regrouping: use the freedom that null vectors leave to make chosen parameters vanish.

A null vector touches a body and its parent, so a dozen of the eleven places per body: rows are held sparse, as
dictionaries from place to number. A search regroups hundreds of times, and dense rows would be zeros for the most part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tauform.arrays import Array
from tauform.portable.factorization import MAX_TIE_DIFFERENCE

Row = dict[int, float]

# Share of a vector's size below which its numbers are rounding; a pivot may magnify what is left out 200 times.
ROUNDING = 1e-14
# A parameter vanishes only by a change that moves no other by more than 200 times as much. Frames that are almost
# aligned offer changes of a million times, whose large numbers of opposite sign would cost single precision its digits.
WEAKEST_PIVOT = 5e-3


class Freedom:
    """Changes of the parameters that no torque can show.

    Args:
        null: (k, 11 n) null vectors, from `null_vectors`.
    """

    def __init__(self, null: Array) -> None:
        self._rows: list[Row] = [{int(k): float(row[k]) for k in np.flatnonzero(row)} for row in null]
        # A vector's size is fixed at the start: shares stay comparable while rows shrink.
        self._sizes = [max(map(abs, row.values())) for row in self._rows]
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
        rows, sizes = [row.copy() for row in self._rows], self._sizes
        # Place -> rows that hold it, so that an elimination touches those alone.
        readers: dict[int, set[int]] = {}
        for k, row in enumerate(rows):
            for place in row:
                readers.setdefault(place, set()).add(k)
        for place in order:
            among = sorted(readers.get(place, ()))
            if not among:
                continue
            shares = [abs(rows[k][place]) / sizes[k] for k in among]
            # Nearly equal shares count as equal: rounding of another machine must not choose another pivot.
            least = (1 - MAX_TIE_DIFFERENCE) * max(shares)
            pivot = next(k for k, share in zip(among, shares, strict=True) if share >= least)
            if abs(rows[pivot][place]) <= WEAKEST_PIVOT * sizes[pivot]:
                continue
            scale = rows[pivot][place]
            vector = {k: number / scale for k, number in rows[pivot].items()}
            for k in among:
                changed = {} if k == pivot else _without(rows[k], place, vector, ROUNDING * sizes[k])
                # The index of readers follows the rows.
                for gone in rows[k].keys() - changed.keys():
                    readers[gone].discard(k)
                for new in changed.keys() - rows[k].keys():
                    readers.setdefault(new, set()).add(k)
                rows[k] = changed
            yield place, vector


def _without(row: Row, place: int, vector: Row, smallest: float) -> Row:
    """The row less so much of the vector that its number at the place vanishes; rounding errors become zeros."""
    weight, changed = row[place], row.copy()
    for k, number in vector.items():
        changed[k] = changed.get(k, 0.0) - weight * number
    changed[place] = 0.0
    return {k: number for k, number in changed.items() if abs(number) > smallest}
