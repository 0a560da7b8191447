"""derive: from a robot's geometry to its closed form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import scipy.sparse

from tauform.arrays import Array, read_only
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.regroup import regroup
from tauform.closedform.expansion.dimensionless import dimensionless
from tauform.closedform.expansion.estimate import MEMORY_LIMIT
from tauform.closedform.expansion.expanded import Expanded, expanded_tree
from tauform.closedform.expansion.expanded_followers import expanded_followers
from tauform.closedform.model.assume import Assumed, Assumption, assumptions
from tauform.closedform.model.beside import columns_beside
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
            others linearly (mimic joints, parallelograms); parameters are those of all joints and links of the tree.
        include: groups of parameters ("link", "rotor", "viscous", "coulomb", "offset"); the default is links, and
            rotors where declared. Friction stands beside the terms, in `joint_terms`. Other drive terms, and Coulomb
            friction that is smooth, are no part of theta: `bind` carries them beside it.
        assume: parameters that are zero or related, {"mx_2": 0, "Iyy_3": "Ixx_3", "m_2": {"mx_2": 0.5}}, or a mask
            over robot.parameter_names that is true where a parameter is kept. These are first moments and inertias
            about the link frame's origin; a zero about the centre of mass is another statement, not a linear one.
        fixed: positions of joints that do not move, by name; joints that follow stay with them. Vectors keep their
            length: what is given of these joints is not read, their velocity and acceleration are zero, their torque
            is what holds them.
        order: parameters to keep first when others are regrouped onto them, see `regroup`.
        absorb_offsets: count joints from other zeros where that makes fewer terms: `model.coordinates`.
        progress: called with the part of the work that is done, 0 to 1.
        memory_limit: bytes; a chain that is estimated to need more is refused before anything is computed.

    Raises:
        ModelError: the robot has loops that are not linear in q, or that follow by so many turns that rounding shows;
            its closed form would not fit, or assumptions contradict one another.
        UnknownNameError: a name is no joint or parameter of the robot.
    """
    # Names first: wrong ones cost no derivation.
    positions = _fixed_positions(robot, fixed or {})
    assumed = assumptions(robot, _columns(robot, include), assume)
    with one_blas_thread():
        if robot.closure is None:
            found = expanded_tree(
                robot, assumed.free, assumed.matrix, positions, absorb_offsets, progress, memory_limit
            )
        else:
            found = expanded_followers(robot, assumed.free, assumed.matrix, positions, progress, memory_limit)
        # Rank over the functions of the state, so that no sample of states decides it.
        base = _regrouped(robot, found.rank, assumed.free, order)
        return _model(robot, found, base, assumed, positions)


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


def _regrouped(
    robot: Robot, rank: scipy.sparse.csr_array, columns: Sequence[int], order: Iterable[str] | None
) -> BaseParameters:
    """Base parameters, decided without units as `base_parameters` does, so that theta means the same there."""
    # Without units: a robot in millimetres must have the base parameters of the same one in metres.
    free = dimensionless(robot)
    # Columns are scaled, never mixed, so that W keeps the zeros of the coefficients.
    W = rank @ scipy.sparse.diags_array(1 / free.factors[list(columns)])
    base = regroup(W, free.robot, columns, order, source="closed_form")
    return base.in_units(robot, free.factors)


def _model(
    robot: Robot, found: Expanded, base: BaseParameters, assumed: Assumed, fixed: dict[int, float]
) -> ClosedFormModel:
    # Coefficients of the pivots alone: those of the other parameters are combinations, which grouping holds.
    place = {column: k for k, column in enumerate(assumed.free)}
    pivots = [place[pivot] for pivot in base.pivots]
    friction = np.isin(base.pivots, robot.layout.friction)
    names = robot.joint_names
    return ClosedFormModel(
        robot_name=robot.name,
        joint_names=names,
        geometry=Geometry.of(robot),
        exponents=found.exponents,
        sparse_reduction=found.torques(pivots, ~friction),
        joint_terms=read_only(found.joint_rows[:, :, pivots]),
        base=base,
        load_grouping=load_grouping(robot, base, set(assumed.free)),
        # Without coefficients: the model keeps which columns there are, not their values.
        further_drives=tuple(term.with_coefficient(0.0) for term in robot.further_drives),
        ties=_ties(assumed),
        fixed={names[i]: position for i, position in fixed.items()},
        coordinates=found.coordinates,
    )


def _ties(assumed: Assumed) -> Array:
    """(t, n_parameters) parameter minus what it was assumed to be."""
    size = assumed.matrix.shape[0]
    ties = np.zeros((len(assumed.tied), size))
    ties[np.arange(len(assumed.tied)), list(assumed.tied)] = 1.0
    # Row t: x_t - (combination of free ones); zero on parameters that keep the assumption.
    ties[:, list(assumed.free)] -= assumed.matrix[list(assumed.tied)].toarray()
    return read_only(ties)
