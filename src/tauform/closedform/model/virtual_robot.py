"""The robot of a bound model: virtual links that hold theta, so that every algorithm of robots takes the model too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tauform.closedform.model.beside import stands_beside
from tauform.description.robot import Robot
from tauform.portable.products import product

if TYPE_CHECKING:
    from tauform.closedform.model.bound import BoundModel


def virtual_robot(bound: BoundModel) -> Robot:
    """A robot of these dynamics; each base parameter becomes the value of the parameter it grew from."""
    base, model = bound.base, bound.model
    parameters = np.zeros(base.layout.n)
    # All other parameters zero: each pivot has theta as its only base parameter.
    parameters[list(base.pivots)] = bound.theta
    # tie @ parameters = 0, with one parameter that takes no part and follows from the others
    for tie in model.ties:
        tied = np.setdiff1d(np.flatnonzero(tie), base.columns)
        parameters[tied] = -product(tie, parameters)
    # Friction that theta does not hold acts on the joints as before; a view, so parameters change.
    base.layout.by_joint(parameters)[:, 1:] += bound.carried
    # A model from a file knows its geometry only.
    robot = base.robot or model.geometry.robot(bound.name, bound.joint_names)
    robot = replace(robot, further_drives=model.further_drives).with_parameters(parameters)
    # Smooth Coulomb friction takes the place of the sharp one of its joint; both would act twice.
    beside = {(term.shape, term.joints) for term in bound.drives}
    own = [term for term in robot.drives if not stands_beside(term) and (term.shape, term.joints) not in beside]
    return robot.with_drives([*own, *bound.drives])
