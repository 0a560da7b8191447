"""Regrouping: which columns of a coefficient matrix are independent, and how the others fold into them.

Gautier1991: W x has l independent columns; walking through the columns in an order of preference, a column is kept
when the kept ones do not span it, and is regrouped onto them when they do, W2 = W1 beta. Then theta = x1 + beta x2.

The decision is free of units: columns and rows are scaled to their own size first, and the threshold lies in the
gap between the residuals that are rounding and those that are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from tauform.arrays import Array
from tauform.closedform.baseset import BaseParameters
from tauform.closedform.preference import order_of_preference
from tauform.description.robot import Robot
from tauform.errors import ShapeError

# Residuals below this part of a column are rounding, above the other never are; between them the widest gap decides.
ROUNDING, CERTAIN = 1e-14, 1e-5
# A gap narrower than this factor is worth a warning.
SAFE_GAP = 1e3
# Rows kept for each column when a tall matrix is shortened by random combinations of its rows.
ROWS_PER_COLUMN = 4
SEED = 1991


def regroup(
    W: Any, robot: Robot, columns: Sequence[int], order: Iterable[str] | None = None, source: str = "matrix"
) -> BaseParameters:
    """Base parameters from a noise-free matrix W whose columns belong to robot.parameters[columns].

    Args:
        W: (rows, len(columns)) dense or scipy.sparse; torques or their coefficients for each unit parameter.
        robot: names the parameters.
        columns: index into robot.parameters of each column of W.
        order: names (`Izz_2`, or a kind such as `Ia` for all joints) to keep first; the rest follow in the
            default order of Gautier1991: links ascending, XX XY XZ YY YZ ZZ MX MY MZ M Ia, then friction.
        source: what W was made from, for the summary.

    Raises:
        ShapeError: W does not have one column a parameter, or holds values that are not finite.
        UnknownNameError: a name in `order` is not a parameter of the robot.
    """
    columns = tuple(int(c) for c in columns)
    if np.ndim(W) != 2 or W.shape[1] != len(columns):
        raise ShapeError(f"W: expected (rows, {len(columns)}), one column a parameter, got {np.shape(W)}")
    position = {c: k for k, c in enumerate(columns)}
    preferred = [position[c] for c in order_of_preference(robot, columns, order)]
    scaled = scale(without_rounding(W, robot, columns))
    split = eliminate(scaled.matrix, preferred)
    grouping = np.zeros((len(split.kept), len(robot.parameters)))
    # In scaled columns W2 D2 = W1 D1 beta, so beta in the parameters' own units is D1 beta D2^-1.
    own_units = split.beta * scaled.columns[split.folded] / scaled.columns[split.kept][:, None]
    at = np.array(columns, dtype=int)
    grouping[np.arange(len(split.kept)), at[split.kept]] = 1.0
    grouping[:, at[split.folded]] = own_units
    return BaseParameters.of(
        robot,
        columns=columns,
        pivots=at[split.kept],
        no_effect=at[split.without_effect],
        grouping=grouping,
        gap=split.gap,
        condition=split.condition,
        findings=_findings(split),
        source=source,
    )


def without_rounding(W: Any, robot: Robot, columns: Sequence[int]) -> Any:
    """W as a sparse matrix, without the columns that hold nothing but rounding.

    What a column could have been follows from the physics: kinematics are shared, so a first moment could weigh as
    much as any other first moment or as gravity, and a mass as a first moment times the robot's reach.
    """
    sparse = scipy.sparse.csr_array(W)
    if not np.isfinite(sparse.data).all():
        raise ShapeError("W: holds a value that is not finite")
    sizes = _extent(sparse, axis=0)
    kinds = np.array([robot.parameter_names[c].rsplit("_", 1)[0] for c in columns])
    largest = {kind: sizes[kinds == kind].max(initial=0.0) for kind in set(kinds)}
    tensor = max((size for kind, size in largest.items() if kind.startswith("I")), default=0.0)
    gravity = float(np.linalg.norm(robot.gravity))
    moment = max(largest.get("mx", 0.0), largest.get("my", 0.0), largest.get("mz", 0.0), gravity)
    reach = float(np.abs(robot.tree.translations).sum())
    possible = {"m": max(largest.get("m", 0.0), reach * moment), "mx": moment, "my": moment, "mz": moment}
    floor = np.array([possible.get(kind, tensor if kind.startswith("I") else largest[kind]) for kind in kinds])
    return sparse.multiply((sizes > ROUNDING * floor)[None, :].astype(float)).tocsr()


@dataclass(frozen=True, eq=False)
class Scaled:
    """matrix = diag(rows) W diag(1 / columns), shortened; columns of W that are zero stay zero."""

    matrix: Array
    columns: Array


def scale(W: Any) -> Scaled:
    """Scale rows and columns to unit size and shorten W to a few rows a column (rank and null space are kept).

    Rows are scaled too: where lengths are tiny, gravity's rows would drown those of the inertia.
    """
    sparse = scipy.sparse.csr_array(W)
    columns = np.ones(sparse.shape[1])
    for _ in range(3):
        rows = _safe(_extent(sparse, axis=1))
        sparse = sparse.multiply(1.0 / rows[:, None]).tocsr()
        size = _safe(_extent(sparse, axis=0))
        sparse = sparse.multiply(1.0 / size[None, :]).tocsr()
        columns *= size
    matrix = _shortened(sparse)
    norms = np.linalg.norm(matrix, axis=0)
    norms[norms == 0] = 1.0
    return Scaled(matrix / norms, columns * norms)


def _extent(sparse: Any, axis: int) -> Array:
    if 0 in sparse.shape:
        return np.zeros(sparse.shape[1 - axis])
    return np.asarray(abs(sparse).max(axis=axis).toarray(), dtype=float).ravel()


def _safe(size: Array) -> Array:
    return np.where(size > 0, size, 1.0)


def _shortened(sparse: Any) -> Array:
    n_rows, n_columns = sparse.shape
    wanted = ROWS_PER_COLUMN * n_columns
    if n_rows <= 2 * wanted:
        return np.asarray(sparse.toarray(), dtype=float)
    # Each row is added, with a random weight, to one row of the short matrix.
    rng = np.random.default_rng(SEED)
    place, weight = rng.integers(0, wanted, n_rows), rng.uniform(0.5, 1.0, n_rows) * rng.choice((-1, 1), n_rows)
    combine = scipy.sparse.csr_array((weight, (place, np.arange(n_rows))), shape=(wanted, n_rows))
    return np.asarray((combine @ sparse).toarray(), dtype=float)


@dataclass(frozen=True, eq=False)
class Split:
    """Columns kept, folded into them (W[:, folded] = W[:, kept] @ beta), and without effect."""

    kept: list[int]
    folded: list[int]
    without_effect: list[int]
    beta: Array
    gap: float
    condition: float
    smallest_kept: float
    largest_folded: float


def eliminate(matrix: Array, preferred: Sequence[int]) -> Split:
    """Keep or fold the unit columns of a matrix, in the order of preference."""
    threshold = rank_threshold(matrix)
    basis = np.zeros((matrix.shape[0], 0))
    kept, folded, without_effect = [], [], []
    smallest_kept, largest_folded = 1.0, 0.0
    for k in preferred:
        column = matrix[:, k]
        if not column.any():
            without_effect.append(k)
            continue
        residual = column - basis @ (basis.T @ column)
        residual -= basis @ (basis.T @ residual)  # twice is enough (Kahan)
        size = float(np.linalg.norm(residual))
        if size > threshold:
            kept.append(k)
            basis = np.column_stack([basis, residual / size])
            smallest_kept = min(smallest_kept, size)
        else:
            folded.append(k)
            largest_folded = max(largest_folded, size)
    beta, condition = _fold(matrix, kept, folded)
    gap = smallest_kept / max(largest_folded, np.finfo(float).eps)
    return Split(
        kept=sorted(kept),
        folded=sorted(folded),
        without_effect=sorted(without_effect),
        beta=beta,
        gap=gap,
        condition=condition,
        smallest_kept=smallest_kept,
        largest_folded=largest_folded,
    )


def rank_threshold(matrix: Array) -> float:
    """Where rounding ends: the middle of the widest gap between residuals of a pivoted QR."""
    _, R, _ = scipy.linalg.qr(matrix, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
    floor = ROUNDING * np.sqrt(len(diagonal))
    levels = np.unique(np.clip(np.concatenate([diagonal, [floor, CERTAIN]]), floor, CERTAIN))
    widest = int(np.argmax(levels[1:] / levels[:-1]))
    return float(np.sqrt(levels[widest] * levels[widest + 1]))


def _fold(matrix: Array, kept: list[int], folded: list[int]) -> tuple[Array, float]:
    kept, folded = sorted(kept), sorted(folded)
    if not kept:
        return np.zeros((0, len(folded))), 1.0
    W1, W2 = matrix[:, kept], matrix[:, folded]
    Q, R = np.linalg.qr(W1)
    beta = scipy.linalg.solve_triangular(R, Q.T @ W2)
    beta += scipy.linalg.solve_triangular(R, Q.T @ (W2 - W1 @ beta))
    condition = float(np.linalg.cond(R))
    # Entries at the level of rounding are zeros of the exact relation.
    beta[np.abs(beta) <= 8 * np.finfo(float).eps * condition] = 0.0
    return beta, condition


def _findings(split: Split) -> tuple[str, ...]:
    if split.gap >= SAFE_GAP:
        return ()
    return (
        f"The rank was decided by a narrow gap: the weakest independent column keeps {split.smallest_kept:.1e} of "
        f"itself, the strongest dependent one {split.largest_folded:.1e}; check for nearly aligned axes (snap=).",
    )
