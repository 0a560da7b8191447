"""Base parameters of chains, trees and robots with loop constraints.  [Gautier1991]"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike

from tauform.arguments import Natural
from tauform.arrays import read_only
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.elimination import RankMethod
from tauform.closedform.base.observation import dynamic_matrix, energy_matrix, velocity_free_matrix
from tauform.closedform.base.regroup import regroup
from tauform.closedform.base.relations.relations import exact_grouping, symbolic_relations
from tauform.closedform.expansion.dimensionless import dimensionless
from tauform.closedform.expansion.estimate import MEMORY_LIMIT, refuse_if_too_large
from tauform.closedform.expansion.expanded_followers import expanded_followers
from tauform.closedform.expansion.sweep import sweep
from tauform.closedform.expansion.terms import Coefficients
from tauform.description.parameter_groups import Include
from tauform.description.robot import GeneralClosure, Robot
from tauform.errors import ModelError
from tauform.wording import argument

RegressorSource = Literal["dynamic", "velocity_free", "energy", "closed_form"]
SAMPLED = {"dynamic": dynamic_matrix, "velocity_free": velocity_free_matrix, "energy": energy_matrix}
SOURCES: tuple[RegressorSource, ...] = ("dynamic", "velocity_free", "energy", "closed_form")
# Fixed: base parameters must not depend on chance; the year of the paper.
SEED = 1991
# The time grows with the cube of their number: a minute for so many.
MAX_COLUMNS = 1500


def base_parameters(
    robot: Robot,
    method: RankMethod = "qr",
    source: RegressorSource = "dynamic",
    include: Include | None = None,
    order: Iterable[str] | None = None,
    seed: Natural = SEED,
) -> BaseParameters:
    """The minimal set of parameters that determines the dynamics, and how it is made of the standard ones.

    Args:
        robot: chain, tree, or robot with loop constraints.
        method: "qr" (parameters are regrouped onto those earlier in the order), "svd" (the same by the null space),
            or "qr_pivoted" (keeps the best conditioned columns, whatever the order).
        source: what is observed at random states: "dynamic" torques, "velocity_free" torques, "energy"; or the
            coefficients of the "closed_form" (no loops but those that are linear in q).
        include: groups of parameters, see `Robot.columns`.
        order: names to keep first, such as "Izz_2", or kinds, such as "Ia" for all motor inertias; the others follow
            in the default order: links ascending, XX XY XZ YY YZ ZZ MX MY MZ M Ia, then friction.
        seed: of the random states.

    Raises:
        ModelError: an unknown method or source, more parameters than can be told apart in minutes, or an order together
            with "qr_pivoted".
        UnknownNameError: a name in `include` or `order` does not exist.
    """
    if source not in SOURCES:
        raise ModelError(f"source: expected one of {', '.join(SOURCES)}, got {source!r}")
    # Pivoting would ignore the order without a word.
    if order is not None and method == "qr_pivoted":
        raise ModelError('order: "qr_pivoted" chooses the columns itself; use method "qr" or "svd" with an order')
    columns = robot.columns(include)
    if len(columns) > MAX_COLUMNS:
        raise ModelError(
            f"base_parameters: {robot.name} has {len(columns)} parameters, more than {MAX_COLUMNS} take hours",
            argument="robot",
            value=robot,
            remedy=f"take a part of the robot ({argument('tip')}, {argument('lock')})",
        )
    # The same robot in other units must have the same base parameters, by name and by number.
    scaled = dimensionless(robot)
    W = observed(scaled.robot, columns, source, seed)
    base = regroup(W, scaled.robot, columns, order, method=method, source=source)
    base = base.in_units(robot, scaled.factors)
    # Entries that symbols of the geometry explain get their exact values in place of numeric ones.
    return replace(base, grouping=read_only(exact_grouping(robot, base, symbolic_relations(robot, base))))


def observed(robot: Robot, columns: Sequence[int], source: str, seed: int = SEED) -> Any:
    """The matrix W that the decision is made from, a column for each of these parameters; sparse for closed forms."""
    if source == "closed_form":
        return closed_form_matrix(robot, columns)
    return SAMPLED[source](robot, columns, np.random.default_rng(seed))


def with_base_parameters(robot: Robot, theta: ArrayLike, base: BaseParameters | None = None) -> Robot:
    """A robot with these dynamics; see `Robot.with_base_parameters`."""
    base = base_parameters(robot) if base is None else base.of_robot(robot)
    base.refuse_load(robot.further_drives, "with_base_parameters")
    parameters = np.array(robot.parameters)
    # Virtual links: theta at the pivots alone, which have it as their only base parameter.
    parameters[list(base.columns)] = 0.0
    parameters[list(base.pivots)] = base.checked(theta)
    return robot.with_parameters(parameters)


def closed_form_matrix(robot: Robot, columns: Sequence[int]) -> Any:
    """Sparse coefficients of the closed form, one row per function of the state, one column per standard parameter.

    Raises:
        ModelError: the robot has loops that are not linear in q, or its closed form would not fit.
    """
    if isinstance(robot.closure, GeneralClosure):
        raise ModelError(
            f"{robot.name}: loops that are not linear in q have no closed form; use source dynamic, velocity_free or "
            "energy"
        )
    # Further terms that count as friction are no products of generators, so E has no row for them.
    further = set(range(robot.layout.n)[robot.layout.further]) & set(robot.layout.friction)
    beside = [robot.parameter_names[k] for k in columns if k in further]
    if beside:
        raise ModelError(
            f"{robot.name}: {beside[0]} is no term of the closed form; use source dynamic, velocity_free or energy"
        )
    if robot.closure is not None:
        own = np.arange(len(columns))
        chosen = scipy.sparse.csr_array((np.ones(len(own)), (np.array(columns), own)), (robot.layout.n, len(own)))
        return expanded_followers(robot, columns, chosen, {}, None, MEMORY_LIMIT).rank
    # Refused by an estimate, before memory runs out.
    refuse_if_too_large(robot, MEMORY_LIMIT)
    return Coefficients.gathered(robot, sweep(robot, {})).matrix[:, list(columns)]
