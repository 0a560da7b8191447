"""derive for robots whose joints follow others linearly: mimic joints, parallelograms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import scipy.sparse

from tauform.arrays import read_only
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.parameters import base_parameters
from tauform.closedform.coordinates import Coordinates
from tauform.closedform.expansion.estimate import refuse_if_too_large
from tauform.closedform.expansion.followers import followed
from tauform.closedform.expansion.sweep import sweep
from tauform.closedform.expansion.terms import Coefficients, terms_of
from tauform.closedform.model.geometry import Geometry
from tauform.closedform.model.loads import load_grouping
from tauform.closedform.model.model import ClosedFormModel
from tauform.closedform.threads import one_blas_thread
from tauform.description.joint import Closure
from tauform.description.parameter_groups import Include
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.messages import Reached
from tauform.wording import call

# Coefficients of all parameters must be those of the base parameters, regrouped, to this share of the largest.
MAX_REGROUPING_ERROR = 1e-8


def derive_followers(
    robot: Robot,
    include: Include | None,
    order: Iterable[str] | None,
    assumes: bool,
    progress: Reached | None,
    memory_limit: float,
) -> ClosedFormModel:
    """The closed form of a robot whose joints follow others linearly; see `derive`.

    Raises:
        ModelError: loops are not linear in q, something is assumed or fixed, or theta should hold more than links and
            rotors.
    """
    closure = robot.closure
    if not isinstance(closure, Closure):
        raise _refused(robot, "loops that are not linear in q")
    # An assumption is about a joint of the tree; what it means for those that follow is open.
    if assumes:
        raise _refused(robot, "joints that follow others, where nothing can be assumed or fixed")
    if robot.further_drives:
        raise _refused(robot, "joints that follow others beside further drive terms")
    columns = robot.columns(include)
    if set(columns) & set(robot.layout.friction):
        raise _refused(robot, "joints that follow others, where theta holds links and rotors alone")
    with one_blas_thread():
        # All joints of the tree as if they were free, then what follows is put in.
        tree = replace(robot, closure=None)
        # Of the tree, which is the larger one: terms merge when followers are put in.
        refuse_if_too_large(tree, memory_limit)
        coefficients = Coefficients.gathered(tree, sweep(tree, {}, progress))
        terms = terms_of(coefficients, tree, range(robot.layout.n), {})
        placed = scipy.sparse.csr_array(
            (terms.factor, (terms.target, terms.source)),
            shape=(robot.n_bodies * terms.n_terms, coefficients.matrix.shape[0]),
        )
        found = followed(
            terms.exponents, (placed @ coefficients.matrix).tocsr(), closure.F, closure.offset, robot.tree.types
        )
        # Of the robot with its closure: fewer parameters can be told apart than of the tree.
        base = base_parameters(robot, include=include, order=order)
        reduction = _reduced(robot, found.matrix, base)
    n = robot.n_joints
    return ClosedFormModel(
        robot_name=robot.name,
        joint_names=robot.joint_names,
        geometry=Geometry.of(robot),
        exponents=found.exponents,
        sparse_reduction=reduction,
        # Friction of followers acts at their own speed, which is no term of a joint of q.
        joint_terms=read_only(np.zeros((n, 3, base.n))),
        base=base,
        load_grouping=load_grouping(robot, base, set(columns)),
        ties=read_only(np.zeros((0, robot.layout.n))),
        fixed={},
        coordinates=Coordinates(read_only(np.zeros(n)), read_only(found.scale)),
    )


def _reduced(robot: Robot, matrix: scipy.sparse.csr_array, base: BaseParameters) -> scipy.sparse.csr_array:
    """(n p, l): columns of the pivots, which all others are combinations of."""
    columns = list(base.columns)
    kept = matrix.tocsc()[:, list(base.pivots)].tocsr()
    # Ranks came from sampled states: the coefficients themselves must agree.
    left = (matrix.tocsc()[:, columns] - kept @ scipy.sparse.csr_array(base.grouping[:, columns])).tocoo()
    if left.nnz and np.abs(left.data).max() > MAX_REGROUPING_ERROR * np.abs(matrix.data).max():
        raise ModelError(f"derive: terms of {robot.name} do not agree with its base parameters; please report this")
    # What cancelled exactly; explicit zeros would count as terms.
    kept.eliminate_zeros()
    kept.sort_indices()
    return kept


def _refused(robot: Robot, kind: str) -> ModelError:
    return ModelError(
        f"derive: {robot.name} has {kind}",
        argument="robot",
        value=robot,
        remedy=f"choose a part with {call('load', tip=...)}, or call {call('generate', 'robot, ...')} and "
        f"{call('base_parameters', 'robot')}, which take any robot",
    )
