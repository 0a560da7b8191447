"""Coefficients of robots whose joints follow others linearly: mimic joints, parallelograms.

All joints of the tree are expanded as if they were free; then q_tree = F q + offset is put in, and tau = F^T tau_tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tauform.arrays import Array, read_only
from tauform.closedform.coordinates import Coordinates
from tauform.closedform.expansion.digits import refuse_lost_digits
from tauform.closedform.expansion.dimensionless import units
from tauform.closedform.expansion.estimate import refuse_if_too_large
from tauform.closedform.expansion.expanded import Expanded, joint_rows
from tauform.closedform.expansion.followers import Followed, Following, followed
from tauform.closedform.expansion.sweep import sweep
from tauform.closedform.expansion.terms import Coefficients, terms_of
from tauform.closedform.generators import Generators
from tauform.description.joint import Closure
from tauform.description.joint_types import JointType
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.messages import Reached
from tauform.portable.correct import power
from tauform.portable.products import norm, product
from tauform.wording import call


def expanded_followers(
    robot: Robot,
    free: Sequence[int],
    assumed: scipy.sparse.csr_array,
    fixed: dict[int, float],
    progress: Reached | None,
    memory_limit: float,
) -> Expanded:
    """Coefficients of a robot with linear loops; arguments as of `expanded_tree`, joints of `fixed` those of q.

    Raises:
        ModelError: loops are not linear in q, or follow at odd ratios or by too many turns; or the closed form would
            not fit.
    """
    closure = robot.closure
    if not isinstance(closure, Closure):
        raise ModelError(
            f"derive: {robot.name} has loops that are not linear in q",
            argument="robot",
            value=robot,
            remedy=f"choose a part with {call('load', tip=...)}, or call {call('generate', 'robot, ...')} and "
            f"{call('base_parameters', 'robot')}, which take any robot",
        )
    following = Following.of(closure.F, closure.offset, robot.tree.types, fixed)
    tree = replace(robot, closure=None)
    # Of the tree, which is the larger one: terms merge when followers are put in.
    refuse_if_too_large(tree, memory_limit)
    # Joints that no moving one leads have no velocity: the functions of their Fv and Fc vanish.
    still = np.flatnonzero(~following.rates.any(axis=1)).tolist()
    coefficients = Coefficients.gathered(tree, sweep(tree, {}, progress), still).restricted(assumed)
    rigid = scipy.sparse.diags_array((~np.isin(free, robot.layout.friction)).astype(float))
    terms = terms_of(coefficients, tree, free, {})
    placing = scipy.sparse.csr_array(
        (terms.factor, (terms.target, terms.source)), shape=(robot.n_bodies * terms.n_terms, len(coefficients.keys))
    )
    found = followed(terms.exponents, (placing @ coefficients.matrix @ rigid).tocsr(), following)
    refuse_lost_digits(robot, found, free, assumed, fixed)
    own = joint_rows(tree, coefficients, free)
    return Expanded(
        exponents=found.exponents,
        functions=found.matrix,
        placing=scipy.sparse.eye_array(found.matrix.shape[0], format="csr"),
        rank=_rank_rows(robot, found, following, own, bool(fixed)),
        joint_rows=own,
        coordinates=Coordinates(read_only(np.zeros(robot.n_joints)), read_only(found.scale)),
    )


def _rank_rows(
    robot: Robot, found: Followed, following: Following, own: Array, is_fixed: bool
) -> scipy.sparse.csr_array:
    """Functions that decide which parameters are independent, without units."""
    n, E = robot.n_joints, found.exponents
    p, names = E.shape[1], [joint.name for joint in robot.joints]
    leading = [robot.joints[names.index(name)].type for name in robot.joint_names]
    # Velocity torques are derivatives of the mass matrix: their rows are combinations of its rows.
    told = (E[Generators(n).rates].sum(axis=0) <= 1) | is_fixed
    length, time = units(robot)
    viscous, coulomb, offset = _friction_rows(following, own)
    # What a torque is measured in, and a velocity.
    effort = np.array([power(length, 2 - one.length_power) / (time * time) for one in leading])
    speed = np.array([power(length, one.length_power) / time for one in leading])
    columns = own.shape[2]
    beside = [
        offset / effort[:, None],
        (viscous * speed[:, None] / effort[:, None, None]).reshape(-1, columns),
        (coulomb / effort[:, None]).reshape(-1, columns),
    ]
    sizes = _row_units(E, leading, length, norm(robot.gravity) or 1.0)
    rigid = scipy.sparse.diags_array((told / sizes).reshape(-1)) @ found.matrix
    stacked = scipy.sparse.vstack([rigid, *map(scipy.sparse.csr_array, beside)]).tocsr()
    function = np.arange(stacked.shape[0])
    # An offset and a constant part of gravity are one function: their coefficients stand in one row.
    for constant in np.flatnonzero(~E.any(axis=0)).tolist():
        function[n * p : n * p + n] = constant + p * np.arange(n)
    merged = scipy.sparse.csr_array((np.ones(len(function)), (function, np.arange(len(function)))))
    rows = (merged @ stacked).tocsr()
    rows.eliminate_zeros()
    return rows[np.flatnonzero(np.diff(rows.indptr))]


def _friction_rows(following: Following, own: Array) -> tuple[Array, Array, Array]:
    """Coefficients of friction in each torque: (n, n, k) of qd, (classes, n, k) of signs, (n, k) of 1.

    Joints whose velocities have a fixed ratio change their sign together, and are told apart by nothing.
    """
    F, rates = following.F, following.rates
    # tau_a has F_ia Fv_i F_ib qd_b.
    viscous = sum(np.multiply.outer(np.outer(f, r), row[0]) for f, r, row in zip(F, rates, own, strict=True))
    offset = product(F.T, own[:, 2])
    classes: dict[tuple[float, ...], Array] = {}
    for f, r, row in zip(F, rates, own, strict=True):
        moving = np.flatnonzero(r)
        if len(moving):
            direction = r / r[moving[0]]
            # Rounded: ratios of the same two numbers may differ in their last bits.
            key = tuple(np.round(direction, 12).tolist())
            felt = np.multiply.outer(f * np.sign(r[moving[0]]), row[1])
            classes[key] = classes.get(key, 0.0) + felt
    empty = np.zeros((0, F.shape[1], own.shape[2]))
    return np.asarray(viscous), np.array(list(classes.values())) if classes else empty, offset


def _row_units(E: NDArray[np.int8], leading: Sequence[JointType], length: float, gravity: float) -> Array:
    """(n, p) size of the coefficients in a robot of this length whose parameters have no units."""
    rows = Generators(len(leading))
    # A torque is m l^2 / t^2 of what turns, m l / t^2 of what slides; positions and rates that are lengths take away.
    slides = np.array([one.length_power for one in leading])
    taken = (slides[:, None] * (E[: rows.n] + E[rows.velocities] + E[rows.accelerations])).sum(axis=0)
    powers = 2 - slides[:, None] - taken
    is_gravity = ~E[rows.rates].any(axis=0)
    # m g l in place of m l^2 / t^2.
    powers = powers - is_gravity
    lengths = {int(k): power(length, int(k)) for k in np.unique(powers)}
    sizes: Array = np.vectorize(lengths.__getitem__, otypes=[float])(powers)
    return sizes * np.where(is_gravity, gravity, 1.0)
