"""Identification from the energy model, which holds no acceleration.  [Gautier1991, Eqs. 10, 11]

    integral of qd . tau dt = [h(q, qd)]_a^b x + integral of friction's power

between instants a and b: links, rotors and springs by the energy that they store, all other drive terms by their work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from tauform.arrays import Array
from tauform.description.drives.drive import Drive
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.regression.design import Design
from tauform.identification.regression.estimate import Estimate, of_values, solve
from tauform.identification.regression.evidence import Evidence, updated
from tauform.identification.regression.rows import RowSource, Stretch
from tauform.identification.regression.tuning import Tuning
from tauform.rigidbody.energy import energy_regressor

# Time between the two instants of a row [s]: long beside the noise of single samples, short beside a motion.
SECONDS_PER_ROW = 0.1


@dataclass(frozen=True, eq=False)
class EnergyEstimate(Estimate):
    """Values from rows of energy, whose own residuals say how sure they are.

    Attributes:
        variance: of the weighted rows' residuals.
    """

    variance: float = 1.0

    def covariance(self, evidence: Evidence, inflation: Array | float = 1.0) -> Array:
        """(p, p) of the values; windows that do not overlap have independent noise."""
        return self.variance * self.bread


def by_energy(plain: Estimate, tuning: Tuning, source: RowSource) -> Estimate:
    """Least squares on the energy model; joints count by the noise of their torques.

    Raises:
        IdentificationError: the rows are too few, or a term needs accelerations.
    """
    design, evidence = source.design, tuning.evidence
    if design.has_own_columns or design.is_loaded:
        term = "columns of your own" if design.has_own_columns else "friction that depends on load"
        raise IdentificationError(
            f"method energy takes no {term}, which may depend on accelerations; use another method"
        )
    triangles, count = _condensed(plain.sigma, evidence, source)
    everything = np.array(list(triangles.values()))
    values, R, scale = _solved(everything, count)
    p = design.n_columns
    inverse = scipy.linalg.solve_triangular(R, np.eye(p)) / scale[:, None]
    sizes, raw = (np.linalg.svd(x, compute_uv=False) for x in (R, R * scale))
    # R (x, -1) has the squares of the residuals of all rows.
    rest = everything @ np.append(values, -1.0)

    def refit(blocks: Sequence[int]) -> Array:
        # A row's noise is that of all joints, so that other weights take another pass.
        again, _ = _condensed(tuning.residuals(blocks), evidence, source)
        # Intervals from one block into another take part where both do.
        own = [triangle for ends, triangle in again.items() if set(ends) <= set(blocks)]
        return _solved(np.array(own), count)[0]

    found = EnergyEstimate(
        values=values,
        bread=inverse @ inverse.T,
        weights=plain.weights,
        sigma=plain.sigma,
        condition=float(sizes[0] / sizes[-1]),
        raw_condition=float(raw[0] / raw[-1]),
        refit=refit,
        variance=float((rest**2).sum() / max(1, count - p)),
    )
    return of_values(found, values, evidence)


def _condensed(sigma: Array, evidence: Evidence, source: RowSource) -> tuple[dict[tuple[int, int], Array], int]:
    """(p + 1, p + 1) triangles of the rows by the blocks that their intervals start and end in, and how many rows."""
    p = source.design.n_columns
    triangles: dict[tuple[int, int], Array] = {}
    count = 0
    for stretch in source.stretches():
        table, start, end = energy_rows(source.design, stretch, sigma)
        # By identity: segments hold arrays, which do not compare.
        segment = next(k for k, own in enumerate(source.segments) if own is stretch.segment)
        ends = np.column_stack([evidence.block_of(segment, t) for t in (start, end)])
        for first, last in np.unique(ends, axis=0).tolist():
            inside = (ends == (first, last)).all(axis=1)
            before = triangles.get((first, last), np.zeros((p + 1, p + 1)))
            triangles[first, last] = updated(before, table[inside])
        count += len(table)
    return triangles, count


def _solved(triangles: Array, count: int) -> tuple[Array, Array, Array]:
    width = triangles.shape[-1]
    try:
        return solve(updated(np.zeros((width, width)), triangles.reshape(-1, width)))
    except IdentificationError:
        raise IdentificationError(
            f"the energy model leaves parameters open: {count} intervals of {SECONDS_PER_ROW} s for {width - 1} "
            "values, one equation each for all joints; record longer, or use another method"
        ) from None


def energy_rows(design: Design, stretch: Stretch, sigma: Array) -> tuple[Array, Array, Array]:
    """(R, p + 1) changes of energy and work of each column, then the work of the torques, over its noise; and when.

    Returns:
        the rows, and the (R,) times at which their intervals start and end.
    """
    stored, losing = _stored(design, stretch), _power(design, stretch)
    step = np.diff(stretch.t)[:, None]
    power = np.column_stack([losing, (stretch.qd * stretch.tau).sum(axis=1), ((stretch.qd * sigma) ** 2).sum(axis=1)])
    # Trapezoids: the states are smooth between samples.
    work = np.concatenate([np.zeros((1, power.shape[1])), np.cumsum(step * (power[1:] + power[:-1]) / 2, axis=0)])
    knots = _knots(stretch)
    if len(knots) < 2:
        return np.zeros((0, stored.shape[1] + 1)), np.zeros(0), np.zeros(0)
    done = np.diff(work[knots], axis=0)
    # dE + dissipated work = work of the torques: Eq. 11 between two instants.
    columns = np.diff(stored[knots], axis=0) + done[:, :-2]
    # The noise of a sum of N samples of power grows with sqrt(N), as that of their mean square over time does.
    noise = np.sqrt(np.maximum(done[:, -1], 1e-12 * done[:, -1].max(initial=0.0)) * np.mean(step))
    # A robot at rest does no work: such a row says 0 = 0.
    keep = noise > 0
    t = stretch.t[knots]
    return np.column_stack([columns, done[:, -2]])[keep] / noise[keep, None], t[:-1][keep], t[1:][keep]


def _knots(stretch: Stretch) -> Array:
    """Places of the instants among the states, where rows are wanted."""
    rate = 1.0 / np.mean(np.diff(stretch.t)) if len(stretch.t) > 1 else 1.0
    # Intervals that touch and do not overlap, so that their noise is independent.
    every = max(1, round(SECONDS_PER_ROW * rate))
    if not len(stretch.rows):
        return np.zeros(0, dtype=int)
    return np.arange(stretch.rows[0], stretch.rows[-1] + 1, every)


def _robot_with_terms(design: Design) -> tuple[list[int], list[int], Robot]:
    drives = [(k, term) for k, term in enumerate(design.terms) if isinstance(term, Drive)]
    robot = replace(design.robot, further_drives=tuple(term for _, term in drives))
    further = list(range(robot.layout.n)[robot.layout.further])
    places = [*range(design.base.n), *(design.base.n + k for k, _ in drives)]
    return [*design.base.pivots, *further], places, robot


def _stores(design: Design) -> Array:
    """(p,) whether each column stores energy."""
    columns, places, robot = _robot_with_terms(design)
    first = robot.layout.drives.start
    stores = np.zeros(design.n_columns, dtype=bool)
    for column, place in zip(columns, places, strict=True):
        term = robot.drives[column - first] if column >= first else None
        # Links and rotors store kinetic energy, springs potential energy; an offset reads nothing and is taken as work.
        stores[place] = term is None or term.is_inertial or (term.is_conservative and bool(term.reads))
    return stores


def _stored(design: Design, stretch: Stretch) -> Array:
    """(N, p) energy of each column for a value of one."""
    columns, places, robot = _robot_with_terms(design)
    stored = np.zeros((len(stretch.q), design.n_columns))
    stored[:, places] = energy_regressor(robot, stretch.q, stretch.qd)[:, columns]
    return stored * _stores(design)


def _power(design: Design, stretch: Stretch) -> Array:
    """(N, p) power of the columns that store nothing."""
    power, stores = np.zeros((len(stretch.q), design.n_columns)), _stores(design)
    # Accelerations that are no number: nothing here may depend on them.
    unknown = np.full_like(stretch.qd, np.nan)
    for column, joint, torque in design.drive_torques(stretch.q, stretch.qd, unknown, stretch.temperature):
        if not stores[column]:
            power[:, column] += stretch.qd[:, joint] * torque
    return power
