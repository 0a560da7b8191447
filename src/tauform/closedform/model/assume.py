"""Assumptions about parameters: zero, or linear combinations of others.  [Lloyd2021, section 3.3]

An assumption is about robot.parameters: first moments and inertia about the link frame's origin. That an inertia
about the centre of mass is zero is a different statement, quadratic in these, and cannot be assumed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike

from tauform.closedform.base.preference import parameter_index
from tauform.description.fields import number
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.wording import argument

# parameter = 0, another parameter, or {parameter: factor}; or a mask of the parameters that are kept.
Assumption = Mapping[str, float | str | Mapping[str, float]] | Sequence[bool] | ArrayLike


@dataclass(frozen=True, eq=False)
class Assumed:
    """The parameters that stay free and how the standard ones follow from them.

    Attributes:
        free: indices into robot.parameters.
        matrix: (n_parameters, len(free)) sparse; parameters = matrix @ parameters[free].
        tied: indices of parameters that an assumption determines.
    """

    free: tuple[int, ...]
    matrix: scipy.sparse.csr_array
    tied: tuple[int, ...]


def assumptions(robot: Robot, columns: Sequence[int], assume: Assumption | None) -> Assumed:
    """Read `assume` for the columns that take part.

    Raises:
        UnknownNameError: a name is not a parameter of the robot.
        ModelError: a value that is neither zero nor a relation, a relation to a parameter that takes no part,
            assumptions that contradict one another, or that leave nothing.
    """
    size = len(robot.parameters)
    relations = _relations(robot, columns, assume)
    tied = tuple(sorted(relations))
    # Relations may lead to related parameters: only free ones may stand on the right.
    resolved = _resolved(robot, relations)
    free = tuple(c for c in columns if c not in relations)
    place = {c: k for k, c in enumerate(free)}
    # A free parameter is itself.
    triplets = [(c, k, 1.0) for c, k in place.items()]
    chosen = set(columns)
    # A relation of a parameter that takes no part says nothing about the torques: it is not looked at.
    for c, relation in resolved.items():
        for other in relation if c in chosen else ():
            if other not in place:
                tied_to = f"{robot.parameter_names[c]} is related to {robot.parameter_names[other]}"
                remedy = f"name its group in {argument('include')}"
                raise ModelError(f"assume: {tied_to}, which takes no part", argument="assume", remedy=remedy)
            triplets.append((c, place[other], relation[other]))
    if not free:
        raise ModelError("derive: no parameter is left; include a group, or assume less to be zero")
    rows, cols, values = (np.array(part) for part in zip(*triplets, strict=True))
    # standard = matrix @ free: one entry in most rows, so sparse.
    matrix = scipy.sparse.csr_array((values, (rows, cols)), shape=(size, len(free)))
    return Assumed(free, matrix, tied)


def _relations(robot: Robot, columns: Sequence[int], assume: Assumption | None) -> dict[int, dict[int, float]]:
    if assume is None:
        return {}
    if not isinstance(assume, Mapping):
        mask = np.asarray(assume)
        if mask.dtype != bool or mask.shape != (len(robot.parameters),):
            raise ModelError(
                f"assume: a mask needs {len(robot.parameters)} booleans, true where robot.parameter_names is kept, "
                f"got {mask.dtype} of shape {mask.shape}"
            )
        # An empty relation is zero.
        # Parameters that take no part need no relation.
        return {c: {} for c in columns if not mask[c]}
    return {parameter_index(robot, name): _relation(robot, name, value) for name, value in assume.items()}


def _relation(robot: Robot, name: str, value: object) -> dict[int, float]:
    if isinstance(value, str):
        value = {value: 1.0}
    if isinstance(value, Mapping):
        relation = {parameter_index(robot, other): number(f, f"assume: {name}: {other}") for other, f in value.items()}
        # x = a x + ... is an equation to solve, not a relation; its meaning is left to the user.
        if parameter_index(robot, name) in relation:
            raise ModelError(f"assume: {name} is related to itself; leave it out of its own relation")
        return relation
    if isinstance(value, (int, float)) and value == 0:
        return {}
    raise ModelError(
        f"assume: {name} = {value!r} cannot be assumed; a parameter can be 0, equal to another parameter ('Ixx_2'), or "
        "a combination of others ({'Ixx_2': 1.0}); known values belong in bind()"
    )


def _resolved(robot: Robot, relations: dict[int, dict[int, float]]) -> dict[int, dict[int, float]]:
    """Relations in free parameters only; a chain of relations is followed to its end."""
    names = robot.parameter_names

    def resolve(c: int, path: tuple[int, ...]) -> dict[int, float]:
        # A relation that leads back to itself would never end.
        if c in path:
            circle = " -> ".join(names[k] for k in (*path, c))
            raise ModelError(f"assume: the relations contradict one another, they run in a circle: {circle}")
        if c not in relations:
            return {c: 1.0}
        total: dict[int, float] = {}
        for other, factor in relations[c].items():
            for end, inner in resolve(other, (*path, c)).items():
                # Two paths may end at one parameter: their factors add.
                total[end] = total.get(end, 0.0) + factor * inner
        return total

    return {c: resolve(c, ()) for c in relations}
