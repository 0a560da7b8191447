"""Scaling of an observation or coefficient matrix, so that no decision about its rank depends on units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from tauform.arrays import AnyArray, Array
from tauform.closedform.expansion.dimensionless import parameter_factors, units
from tauform.description.inertia import FIRST_MOMENTS, MOMENTS_OF_INERTIA
from tauform.description.robot import Robot
from tauform.errors import ShapeError
from tauform.portable.products import norm
from tauform.portable.sampling import uniform

# A column below this part of what it could have been holds nothing but rounding.
ROUNDING = 1e-14
# An axis this close to the vertical [rad] is vertical: descriptions give pi to thirteen digits at most.
MAX_ANGLE_OF_VERTICAL = 1e-12
# Rows kept for each column when a tall matrix is shortened by random combinations of its rows.
ROWS_PER_COLUMN = 4
PLACES_PER_ROW = 4
# Kinds of parameters that are moments of inertia.
INERTIAS = (*MOMENTS_OF_INERTIA, "Ia")
SEED = 1991


@dataclass(frozen=True, eq=False)
class Entries:
    """The entries of a sparse matrix, one by one."""

    rows: AnyArray
    columns: AnyArray
    values: Array
    shape: tuple[int, int]

    @classmethod
    def of(cls, W: Any) -> Entries:
        """Scaling of a dense or scipy.sparse matrix.

        Raises:
            ShapeError: a value is not finite.
        """
        if scipy.sparse.issparse(W):
            triplets = W.tocoo()
            entries = cls(triplets.row, triplets.col, np.asarray(triplets.data, dtype=float), W.shape)
        else:
            dense = np.asarray(W, dtype=float)
            # Exact zeros need no place.
            rows, columns = np.nonzero(dense)
            entries = cls(rows, columns, dense[rows, columns], dense.shape)
        if not np.isfinite(entries.values).all():
            raise ShapeError("W: holds a value that is not finite")
        return entries

    def row_sizes(self) -> Array:
        """Largest absolute value of each row."""
        return _largest(self.rows, self.values, self.shape[0])

    def column_sizes(self) -> Array:
        """Largest absolute value of each column."""
        return _largest(self.columns, self.values, self.shape[1])


@dataclass(frozen=True, eq=False)
class Scaled:
    """A few random combinations of the rows of W, its columns divided by `columns`; zero columns stay zero.

    Attributes:
        matrix: the combinations, in unit columns.
        columns: what each column of W was divided by.
        strength: how much of its weight each first moment shows; 1 for other columns and without gravity.
    """

    matrix: Array
    columns: Array
    strength: Array


def scale(W: Any, robot: Robot, columns: Sequence[int]) -> Scaled:
    """Scale rows and columns to unit size and shorten W to a few rows per column (rank and null space are kept).

    Rows are scaled too: where lengths are tiny, gravity's rows would drown those of the inertia. But a row is
    enlarged only by what its units can explain; a row of mere rounding must not be taken for a function.
    """
    entries = _without_rounding(Entries.of(W), robot, columns)
    strength = _strength(entries, robot, columns)
    length, time = units(robot)
    # In these units the inertia of revolute joints has size one; gravity and slides differ by powers of both.
    factors = length * length * parameter_factors(robot, length, time)[list(columns)]
    entries = replace(entries, values=entries.values / factors[entries.columns])
    fall = time * time
    # The largest enlargement that powers of length and time explain.
    smallest_row = 1.0 / max(1.0, length, fall, length * fall)
    row_sizes = np.maximum(entries.row_sizes(), smallest_row)
    entries = replace(entries, values=entries.values / row_sizes[entries.rows])
    return _in_unit_columns(entries, factors, strength)


def equilibrated(W: Any) -> Scaled:
    """Scale and shorten coefficients that are known to hold no rounding: each row and column to its own size."""
    entries = Entries.of(W)
    rows = entries.row_sizes()
    entries = replace(entries, values=entries.values / rows[entries.rows])
    return _in_unit_columns(entries, np.ones(entries.shape[1]), np.ones(entries.shape[1]))


def _in_unit_columns(entries: Entries, factors: Array, strength: Array) -> Scaled:
    sizes = entries.column_sizes()
    # A zero column stays zero; dividing by one leaves it so.
    sizes[sizes == 0] = 1.0
    matrix = _shortened(replace(entries, values=entries.values / sizes[entries.columns]))
    # Twice, since random combinations change the norms of columns that were equal.
    norms = np.linalg.norm(matrix, axis=0)
    norms[norms == 0] = 1.0
    return Scaled(matrix / norms, factors * sizes * norms, strength)


def _strength(entries: Entries, robot: Robot, columns: Sequence[int]) -> Array:
    sizes = entries.column_sizes()
    moments = np.array([robot.layout.parameters[c].kind in FIRST_MOMENTS for c in columns], dtype=bool)
    weight = norm(robot.gravity)
    return np.where(moments & (sizes > 0), sizes / weight, 1.0) if weight else np.ones(len(sizes))


def _without_rounding(entries: Entries, robot: Robot, columns: Sequence[int]) -> Entries:
    """Drop columns that hold nothing but rounding.

    What a column could have been follows from the physics: kinematics are shared, so a first moment could weigh as
    much as any other first moment or as gravity, and a mass as a first moment times the robot's reach.
    """
    sizes = entries.column_sizes()
    kinds = np.array([robot.layout.parameters[c].kind for c in columns])
    largest = {kind: sizes[kinds == kind].max(initial=0.0) for kind in np.unique(kinds)}
    tensor = ROUNDING * max((size for kind, size in largest.items() if kind in INERTIAS), default=0.0)
    moments = ROUNDING * max(largest.get(kind, 0.0) for kind in FIRST_MOMENTS)
    moment = max(moments, MAX_ANGLE_OF_VERTICAL * norm(robot.gravity))
    # Lengths from joint to joint, added: no point of the robot is farther.
    reach = float(np.abs(robot.tree.translations).sum())
    floors = {"m": max(ROUNDING * largest.get("m", 0.0), reach * moment), **dict.fromkeys(FIRST_MOMENTS, moment)}
    floors |= dict.fromkeys(INERTIAS, tensor)
    floor = np.array([floors.get(kind, 0.0) for kind in kinds])
    keep = (sizes > floor)[entries.columns]
    return Entries(entries.rows[keep], entries.columns[keep], entries.values[keep], entries.shape)


def _largest(places: AnyArray, values: Array, length: int) -> Array:
    sizes = np.zeros(length)
    # maximum.at: places repeat, and plain indexing would keep the last only.
    np.maximum.at(sizes, places, np.abs(values))
    return sizes


def _shortened(entries: Entries) -> Array:
    n_rows, n_columns = entries.shape
    wanted = ROWS_PER_COLUMN * n_columns
    # Short enough already.
    if n_rows <= 2 * wanted:
        return _dense(entries, entries.rows, entries.values, n_rows)
    # Each row is added, with random weights, to a few rows of the short matrix: with one only, two rows that alone
    # carry some direction could land on the same place and lose it.
    # The same random numbers for every robot: base parameters must not depend on chance.
    rng = np.random.default_rng(SEED)
    short = np.zeros((wanted, n_columns))
    for _ in range(PLACES_PER_ROW):
        places, weights = (
            rng.integers(0, wanted, n_rows),
            uniform(rng, 0.5, 1.0, (n_rows,)) * rng.choice((-1, 1), n_rows),
        )
        short += _dense(entries, places[entries.rows], entries.values * weights[entries.rows], wanted)
    return short


def _dense(entries: Entries, rows: AnyArray, values: Array, n_rows: int) -> Array:
    n_columns = entries.shape[1]
    # One pass over the entries: flat places counted with their values as weights.
    dense: AnyArray = np.bincount(rows * n_columns + entries.columns, values, n_rows * n_columns)
    return dense.reshape(n_rows, n_columns)
