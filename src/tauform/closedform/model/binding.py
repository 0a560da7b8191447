"""Binding: numbers of a robot in the structure of its dynamics, and what theta cannot hold beside it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, fixed_array, read_only
from tauform.closedform.model.beside import columns_beside, terms_beside
from tauform.closedform.model.bound import BoundModel
from tauform.description.drives.drive import Drive
from tauform.description.geometry import difference
from tauform.description.inertia import Inertia
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.escaping.shown import visible
from tauform.portable.products import product, sparse_product
from tauform.wording import call

if TYPE_CHECKING:
    from tauform.closedform.model.model import ClosedFormModel

# Assumptions that are broken by less than this share hold (a description written and read again).
MAX_BREACH_OF_ASSUMPTION = 1e-9


def bound_model(
    model: ClosedFormModel,
    values: Robot | ArrayLike,
    payload: Inertia | None,
    friction: ArrayLike | None,
    drives: Sequence[Drive] | None,
) -> BoundModel:
    """A closed form with numbers; see `ClosedFormModel.bind`."""
    # A robot is checked against the geometry; plain numbers are taken as they are.
    theta = model.theta(values) if isinstance(values, Robot) else model.base.checked(values)
    if payload is not None:
        theta = read_only(theta + product(load_grouping_of(model), payload.parameters))
    if friction is not None:
        carried = fixed_array(friction, (model.geometry.n_bodies, 3), "friction")
    else:
        nothing = np.zeros((model.geometry.n_bodies, 3))
        carried = _carried(model, values) if isinstance(values, Robot) else nothing
    # With friction given, the robot's own is replaced, not added to.
    if drives is None:
        drives = terms_beside(values) if isinstance(values, Robot) else ()
    model.base.refuse_load(drives, "bind")
    # A joint that is held has no velocity, hence no viscous and no Coulomb friction; its offset still acts.
    carried = _felt(model, carried)
    # Summed in a fixed order: bound models are written to files and searched over.
    coefficients = sparse_product(model.sparse_reduction, theta).reshape(model.n_joints, model.n_terms)
    return BoundModel(
        name=model.robot_name,
        joint_names=model.joint_names,
        exponents=model.exponents,
        coefficients=read_only(coefficients),
        joint_coefficients=read_only(product(model.joint_terms, theta) + carried),
        carried=carried,
        base=model.base,
        theta=theta,
        model=model,
        drives=tuple(drives),
    )


def theta_of(model: ClosedFormModel, robot: Robot) -> Array:
    """(l,) base parameters of a robot; see `ClosedFormModel.theta`."""
    # Compared as robots, so that a change in any placement is named by its joint.
    derived_for = model.geometry.robot(model.robot_name, model.joint_names)
    differs = difference(derived_for, robot)
    if differs:
        raise ModelError(
            f"bind: the model of {model.robot_name} was derived for another robot than {robot.name}, which differs "
            f"in {differs}",
            argument="robot",
            value=robot,
            remedy=f"call {call('derive')} on this robot",
        )
    parameters = _standard(model, robot)
    # Relative to the terms of each relation: parameters span many orders of magnitude.
    sizes = product(np.abs(model.ties), np.abs(parameters))
    errors = np.abs(product(model.ties, parameters)) / np.maximum(sizes, 1e-300)
    if (errors > MAX_BREACH_OF_ASSUMPTION).any():
        worst = model.ties[int(np.argmax(errors))]
        # The tied parameter has coefficient one in its row.
        name = model.base.layout.names[int(np.argmax(worst == 1.0))]
        broken = int((errors > MAX_BREACH_OF_ASSUMPTION).sum())
        warnings.warn(
            f"{visible(robot.name)} breaks {broken} of the assumptions of this model (one is about {name}); what "
            "they leave out is missing from its torques",
            stacklevel=4,
        )
    return model.base.values(parameters)


def load_grouping_of(model: ClosedFormModel) -> Array:
    """(l, 10) what a body at the tool adds to theta.

    Raises:
        ModelError: an assumption about the tool's link rules a load out.
    """
    if model.load_grouping is None:
        raise ModelError(
            f"payload: the model of {model.robot_name} assumes something about the tool's link; derive it "
            "without that assumption, since a load can have any inertia"
        )
    return model.load_grouping


def _felt(model: ClosedFormModel, friction: Array) -> Array:
    """(n_bodies, 3) friction without what depends on velocities of fixed joints."""
    felt = np.zeros_like(friction)
    moving = model.geometry.moving_bodies(model.moving)
    felt[moving] = friction[moving]
    felt[:, 2] = friction[:, 2]
    return read_only(felt)


def _carried(model: ClosedFormModel, robot: Robot) -> Array:
    """(n_bodies, 3) friction of the robot that takes no part here; warns of links and rotors that take none."""
    # By name: the robot may have further drive terms, or fewer, than the one that was derived.
    absent = np.array(robot.parameters)
    held = {*model.base.columns, *np.flatnonzero(model.ties.any(axis=0))}  # of what is assumed away `theta` warns
    known = {model.base.layout.names[k] for k in held}
    beside = set(columns_beside(robot))
    absent[[k for k, name in enumerate(robot.parameter_names) if name in known or k in beside]] = 0.0
    # A view: what is left in `absent` afterwards are links and rotors.
    of_joints = robot.layout.by_joint(absent)
    friction = read_only(of_joints[:, 1:].copy())
    of_joints[:, 1:] = 0.0
    if absent.any():
        names = [robot.parameter_names[k] for k in np.flatnonzero(absent)]
        shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        warnings.warn(
            f"{shown} of {visible(robot.name)} take no part in this model and are missing from its torques; derive "
            'it with include="declared"',
            stacklevel=5,
        )
    return friction


def _standard(model: ClosedFormModel, robot: Robot) -> Array:
    """(base.layout.n,) the robot's parameters; its further drive terms may be others than those derived with."""
    own = dict(zip(robot.parameter_names, robot.parameters.tolist(), strict=True))
    # Terms that the model knows and the robot lacks are zero.
    return np.array([own.get(name, 0.0) for name in model.base.layout.names])
