"""Expanded: all coefficients of a robot's dynamics for its free parameters, before any parameter is regrouped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tauform.arrays import Array, Mask
from tauform.closedform.coordinates import Coordinates
from tauform.closedform.expansion.dimensionless import units
from tauform.closedform.expansion.estimate import ALWAYS_FITS, refuse_if_too_large, terms_of_first
from tauform.closedform.expansion.offsets import fewest_terms, with_zeros
from tauform.closedform.expansion.sweep import COULOMB, GRAVITY, INERTIA, VISCOUS, sweep
from tauform.closedform.expansion.terms import Coefficients, Terms, terms_of
from tauform.description.robot import Robot
from tauform.messages import Reached


@dataclass(frozen=True, eq=False)
class Expanded:
    """The terms of a robot and their coefficients; columns are its free parameters.

    Attributes:
        exponents: (5 n, p) the paper's E.
        functions: (m, n_free) coefficients of functions of the state.
        placing: (n p, m) which of them stand at each term of each torque, and by what factor.
        rank: (r, n_free) rows without units of length and time that tell the parameters apart, friction included.
        joint_rows: (n_bodies, 3, n_free) friction of each joint of the tree: factors of its velocity, sign and 1.
        coordinates: what the functions of E are taken of.
    """

    exponents: NDArray[np.int8]
    functions: scipy.sparse.csr_array
    placing: scipy.sparse.csr_array
    rank: scipy.sparse.csr_array
    joint_rows: Array
    coordinates: Coordinates

    def torques(self, columns: Sequence[int], rigid: Mask) -> scipy.sparse.csr_array:
        """(n p, len(columns)) coefficients of these parameters in each torque, those of friction left out."""
        # Columns are picked in csc form; the rows are read in csr form below.
        kept = self.functions.tocsc()[:, list(columns)].tocsr()
        # In E the functions of friction would be sign(qd), which is no product of generators.
        placed = (self.placing @ kept @ scipy.sparse.diags_array(rigid.astype(float))).tocsr()
        placed.eliminate_zeros()
        # Sorted and without zeros: saved files are the same on every machine.
        placed.sort_indices()
        return placed


def expanded_tree(
    robot: Robot,
    free: Sequence[int],
    assumed: scipy.sparse.csr_array,
    fixed: dict[int, float],
    absorb_offsets: bool,
    progress: Reached | None,
    memory_limit: float,
) -> Expanded:
    """Coefficients of a chain or tree.

    Args:
        free: indices of the free parameters.
        assumed: (n_parameters, n_free) parameters = assumed @ free ones.

    Raises:
        ModelError: the closed form would not fit.
    """
    offsets = _offsets(robot, fixed) if absorb_offsets else np.zeros(robot.n_bodies)
    # The same links, seen from other zeros of the joints: only functions of q change.
    counted = with_zeros(robot, offsets)
    # Terms grow exponentially with the joints: what will not fit is refused before any work.
    refuse_if_too_large(counted, memory_limit)
    # First all coefficients of all standard parameters, then what is assumed: later steps only shrink.
    coefficients = Coefficients.gathered(counted, sweep(counted, fixed, progress), fixed).restricted(assumed)
    terms = terms_of(coefficients, robot, free, fixed)
    n = robot.n_bodies
    # One entry per target: which function it comes from, and by what factor.
    placing = scipy.sparse.csr_array(
        (terms.factor, (terms.target, terms.source)), shape=(n * terms.n_terms, len(coefficients.keys))
    )
    return Expanded(
        exponents=terms.exponents,
        functions=coefficients.matrix,
        placing=placing,
        rank=_rank_rows(robot, coefficients, terms, free, bool(fixed)),
        joint_rows=joint_rows(robot, coefficients, free),
        coordinates=Coordinates.from_zeros(offsets),
    )


def _offsets(robot: Robot, fixed: dict[int, float]) -> Array:
    """Offsets for the fewest terms; those of long robots are told by their first joints."""

    def n_terms(other: Robot) -> int:
        return terms_of_first(other, min(other.n_bodies, ALWAYS_FITS), fixed)

    return fewest_terms(robot, fixed, n_terms)


def _rank_rows(
    robot: Robot, coefficients: Coefficients, terms: Terms, free: Sequence[int], is_fixed: bool
) -> scipy.sparse.csr_array:
    """Functions that decide which parameters are independent, without units."""
    # Kind of each function: inertia, gravity, velocity, friction.
    kind = coefficients.layout.parts(coefficients.keys)[0]
    used: Mask = (abs(coefficients.matrix) @ np.isin(free, robot.layout.friction)) > 0
    # Rows that no term is made of cannot tell parameters apart.
    used[terms.source] = True
    if not is_fixed:
        # Velocity torques are derivatives of the mass matrix: their rows are combinations of its rows.
        used &= np.isin(kind, (INERTIA, GRAVITY, VISCOUS, COULOMB))
    rows = np.flatnonzero(used)
    row_units = coefficients.units(robot, units(robot)[0])[rows]
    return (scipy.sparse.diags_array(1 / row_units) @ coefficients.matrix[rows]).tocsr()


def joint_rows(robot: Robot, coefficients: Coefficients, free: Sequence[int]) -> Array:
    """(n_bodies, 3, n_free): viscous, Coulomb, offset of each joint of a tree."""
    friction, layout = np.isin(free, robot.layout.friction), coefficients.layout
    result = np.zeros((robot.n_bodies, 3, len(free)))
    # An offset is a constant, which is what a gravity term without functions of q is.
    for k, kind in enumerate((VISCOUS, COULOMB, GRAVITY) if friction.any() else ()):
        keys = np.array([layout.key(kind, 0, 0, i) for i in range(robot.n_bodies)])
        at = np.searchsorted(coefficients.keys, keys)
        for i, (key, row) in enumerate(zip(keys, at, strict=True)):
            # `searchsorted` gives a place also where the key is absent.
            if row < len(coefficients.keys) and coefficients.keys[row] == key:
                result[i, k] = coefficients.matrix[[row]].toarray()[0] * friction
    return result
