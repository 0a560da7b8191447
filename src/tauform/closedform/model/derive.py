"""derive: from a robot's geometry to its closed form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tauform.arrays import Array, read_only
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.regroup import regroup
from tauform.closedform.coordinates import Coordinates
from tauform.closedform.expansion.dimensionless import dimensionless, units
from tauform.closedform.expansion.estimate import ALWAYS_FITS, MEMORY_LIMIT, refuse_if_too_large, terms_of_first
from tauform.closedform.expansion.offsets import fewest_terms, with_zeros
from tauform.closedform.expansion.rows import Keys
from tauform.closedform.expansion.sweep import COULOMB, GRAVITY, INERTIA, VISCOUS, sweep
from tauform.closedform.expansion.terms import Coefficients, Terms, terms_of
from tauform.closedform.model.assume import Assumed, Assumption, assumptions
from tauform.closedform.model.beside import columns_beside
from tauform.closedform.model.derive_followers import derive_followers
from tauform.closedform.model.geometry import Geometry
from tauform.closedform.model.loads import load_grouping
from tauform.closedform.model.model import ClosedFormModel
from tauform.closedform.threads import one_blas_thread
from tauform.description.fields import number
from tauform.description.parameter_groups import JOINT_GROUPS, Include
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.messages import Reached, no_such
from tauform.wording import call


def derive(
    robot: Robot,
    *,
    include: Include | None = None,
    assume: Assumption | None = None,
    fixed: Mapping[str, float] | None = None,
    order: Iterable[str] | None = None,
    absorb_offsets: bool = True,
    progress: Reached | None = None,
    memory_limit: float = MEMORY_LIMIT,
) -> ClosedFormModel:
    """Closed-form dynamics of a chain or tree in base parameters.  [Lloyd2021, section 3.6]

    Args:
        robot: a chain or tree of revolute and prismatic joints; only its geometry and gravity count. Joints may follow
            others linearly (mimic joints, parallelograms); theta then holds links and rotors, and nothing is assumed.
        include: groups of parameters ("link", "rotor", "viscous", "coulomb", "offset"); the default is links, and
            rotors where declared. Friction stands beside the terms, in `joint_terms`. Other drive terms, and Coulomb
            friction that is smooth, are no part of theta: `bind` carries them beside it.
        assume: parameters that are zero or related, {"mx_2": 0, "Iyy_3": "Ixx_3", "m_2": {"mx_2": 0.5}}, or a mask
            over robot.parameter_names that is true where a parameter is kept. These are first moments and inertias
            about the link frame's origin; a zero about the centre of mass is another statement, not a linear one.
        fixed: positions of joints that do not move, by name. Vectors keep their length: what is given of these joints
            is not read, their velocity and acceleration are zero, their torque is what holds them.
        order: parameters to keep first when others are regrouped onto them, see `regroup`.
        absorb_offsets: count joints from other zeros where that makes fewer terms: `model.coordinates`.
        progress: called with the part of the work that is done, 0 to 1.
        memory_limit: bytes; a chain that is estimated to need more is refused before anything is computed.

    Raises:
        ModelError: the robot has loops that are not linear in q, its closed form would not fit, or assumptions
            contradict one another.
        UnknownNameError: a name is no joint or parameter of the robot.
    """
    if robot.closure is not None:
        return derive_followers(robot, include, order, assume is not None or bool(fixed), progress, memory_limit)
    # Names first: wrong ones cost no derivation.
    positions = _fixed_positions(robot, fixed or {})
    assumed = assumptions(robot, _columns(robot, include), assume)
    with one_blas_thread():
        offsets = _offsets(robot, positions) if absorb_offsets else np.zeros(robot.n_bodies)
        # The same links, seen from other zeros of the joints: only functions of q change.
        counted = with_zeros(robot, offsets)
        # Terms grow exponentially with the joints: what will not fit is refused before any work.
        refuse_if_too_large(counted, memory_limit)
        # First all coefficients of all standard parameters, then what is assumed, then the rank: later steps only
        # shrink.
        coefficients = Coefficients.gathered(counted, sweep(counted, positions, progress), positions)
        # parameters = matrix free: assumptions are products with the sparse matrix.
        coefficients = coefficients.restricted(assumed.matrix)
        terms = terms_of(coefficients, robot, assumed.free, positions)
        rows = _rank_rows(robot, coefficients, terms, assumed.free, positions)
        # Rank over the functions of the state, so that no sample of states decides it.
        base = _regrouped(robot, coefficients, rows, assumed.free, order)
        model = _model(robot, coefficients, terms, base, assumed, positions)
        return replace(model, coordinates=Coordinates.from_zeros(offsets))


def _offsets(robot: Robot, fixed: dict[int, float]) -> Array:
    """Offsets for the fewest terms; those of long robots are told by their first joints."""

    def n_terms(other: Robot) -> int:
        return terms_of_first(other, min(other.n_bodies, ALWAYS_FITS), fixed)

    return fewest_terms(robot, fixed, n_terms)


def _columns(robot: Robot, include: Include | None) -> tuple[int, ...]:
    """Columns of theta: all but drive terms that are no products of generators, which `bind` carries beside it.

    Raises:
        ModelError: `include` names such terms, of which nothing can be derived.
    """
    # Drive terms that are products of generators (rotors, plain friction, shared rotors) may be part of theta.
    beside = set(columns_beside(robot))
    asked = robot.columns(include)
    named = [group for group in include or () if group not in ("link", "declared", *JOINT_GROUPS, "coupled_inertia")]
    if include != "declared" and named:  # a text is a sequence too
        raise ModelError(
            f"include: theta of a closed form cannot hold {named[0]}",
            argument="include",
            value=include,
            remedy="leave it out: bind(robot) carries such terms beside theta, and "
            f"{call('base_parameters')} and {call('regressor')} hold their columns",
        )
    return tuple(column for column in asked if column not in beside)


def _fixed_positions(robot: Robot, fixed: Mapping[str, float]) -> dict[int, float]:
    names = robot.joint_names
    for name in fixed:
        if name not in names:
            raise no_such("fixed: joint", name, names)
    return {names.index(name): number(position, f"fixed: {name}") for name, position in fixed.items()}


def _rank_rows(
    robot: Robot, coefficients: Coefficients, terms: Terms, columns: Sequence[int], fixed: dict[int, float]
) -> Keys:
    """Functions that decide which parameters are independent."""
    # Kind of each function: inertia, gravity, velocity, friction.
    kind = coefficients.layout.parts(coefficients.keys)[0]
    used: NDArray[np.bool_] = (abs(coefficients.matrix) @ np.isin(columns, robot.layout.friction)) > 0
    # Rows that no term is made of cannot tell parameters apart.
    used[terms.source] = True
    if not fixed:
        # Velocity torques are derivatives of the mass matrix: their rows are combinations of its rows.
        used &= np.isin(kind, (INERTIA, GRAVITY, VISCOUS, COULOMB))
    return np.flatnonzero(used)


def _regrouped(
    robot: Robot, coefficients: Coefficients, rows: Keys, columns: Sequence[int], order: Iterable[str] | None
) -> BaseParameters:
    """Base parameters, decided without units as `base_parameters` does, so that theta means the same there."""
    # Without units: a robot in millimetres must have the base parameters of the same one in metres.
    free, length = dimensionless(robot), units(robot)[0]
    row_units = coefficients.units(robot, length)[rows]
    # From the robot's units to none, column by column.
    factors = free.factors[list(columns)]
    # Rows and columns are scaled, never mixed, so that W keeps the zeros of the coefficients.
    W = scipy.sparse.diags_array(1 / row_units) @ coefficients.matrix[rows] @ scipy.sparse.diags_array(1 / factors)
    base = regroup(W, free.robot, columns, order, source="closed_form")
    return base.in_units(robot, free.factors)


def _model(
    robot: Robot,
    coefficients: Coefficients,
    terms: Terms,
    base: BaseParameters,
    assumed: Assumed,
    fixed: dict[int, float],
) -> ClosedFormModel:
    # Coefficients of the pivots alone: those of the other parameters are combinations, which grouping holds.
    place = {column: k for k, column in enumerate(assumed.free)}
    # Columns are picked in csc form; the rows are read in csr form below.
    kept = coefficients.matrix.tocsc()[:, [place[pivot] for pivot in base.pivots]].tocsr()
    friction = np.isin(base.pivots, robot.layout.friction)
    # Friction goes to the joint terms; in E its functions would be sign(qd), which is no product of generators.
    rigid = kept @ scipy.sparse.diags_array((~friction).astype(float))
    names = robot.joint_names
    return ClosedFormModel(
        robot_name=robot.name,
        joint_names=names,
        geometry=Geometry.of(robot),
        exponents=terms.exponents,
        sparse_reduction=_placed_rows(rigid, terms, robot.n_bodies),
        joint_terms=_joint_terms(kept, coefficients, friction, robot.n_bodies),
        base=base,
        load_grouping=load_grouping(robot, base, set(assumed.free)),
        # Without coefficients: the model keeps which columns there are, not their values.
        further_drives=tuple(term.with_coefficient(0.0) for term in robot.further_drives),
        ties=_ties(assumed),
        fixed={names[i]: position for i, position in fixed.items()},
        coordinates=Coordinates.plain(len(names)),
    )


def _placed_rows(rows: scipy.sparse.csr_array, terms: Terms, n: int) -> scipy.sparse.csr_array:
    """(n p, l): each target's row, scaled."""
    # One entry per target: which function it comes from, and by what factor.
    selection = scipy.sparse.csr_array(
        (terms.factor, (terms.target, terms.source)), shape=(n * terms.n_terms, rows.shape[0])
    )
    placed = (selection @ rows).tocsr()
    placed.eliminate_zeros()
    # Sorted and without zeros: saved files are the same on every machine.
    placed.sort_indices()
    return placed


def _joint_terms(
    kept: scipy.sparse.csr_array, coefficients: Coefficients, friction: NDArray[np.bool_], n: int
) -> Array:
    """(n, 3, l): viscous, Coulomb, offset."""
    layout = coefficients.layout
    result = np.zeros((n, 3, kept.shape[1]))
    # An offset is a constant, which is what a gravity term without functions of q is.
    for k, kind in enumerate((VISCOUS, COULOMB, GRAVITY) if friction.any() else ()):
        keys = np.array([layout.key(kind, 0, 0, i) for i in range(n)])
        at = np.searchsorted(coefficients.keys, keys)
        for i, (key, row) in enumerate(zip(keys, at, strict=True)):
            # `searchsorted` gives a place also where the key is absent.
            if row < len(coefficients.keys) and coefficients.keys[row] == key:
                result[i, k] = kept[[row]].toarray()[0] * friction
    return read_only(result)


def _ties(assumed: Assumed) -> Array:
    """(t, n_parameters) parameter minus what it was assumed to be."""
    size = assumed.matrix.shape[0]
    ties = np.zeros((len(assumed.tied), size))
    ties[np.arange(len(assumed.tied)), list(assumed.tied)] = 1.0
    # Row t: x_t - (combination of free ones); zero on parameters that keep the assumption.
    ties[:, list(assumed.free)] -= assumed.matrix[list(assumed.tied)].toarray()
    return read_only(ties)
