"""A robot without units: lengths over a mean length, time such that gravity is one.

In these units gravity and inertia weigh the same whatever the robot's size, so sampled torques show the rank of the
observation matrix as clearly for a robot in millimetres as for one in metres.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import Array, read_only
from tauform.description.robot import GeneralClosure, Robot
from tauform.portable.products import norm


@dataclass(frozen=True, eq=False)
class Dimensionless:
    """The robot in its own units.

    Attributes:
        robot: with scaled lengths and gravity; its inertias are those of the original and mean nothing.
        factors: (n_parameters,) standard parameters without units = factors * parameters.
    """

    robot: Robot
    factors: Array


def dimensionless(robot: Robot) -> Dimensionless:
    """Scale a robot by its mean joint offset and by sqrt(length / gravity)."""
    # Columns in metres and seconds differ by decades, which a rank could take for zeros.
    length, time = units(robot)
    joints = []
    for joint in robot.joints:
        T = np.array(joint.parent_from_joint)
        T[:3, 3] /= length
        # A velocity, in radians or lengths per unit of time.
        width = joint.coulomb_width * time / joint.type.coordinate_unit(length)
        joints.append(replace(joint, parent_from_joint=T, lengths=(), coulomb_width=width))
    drives = tuple(
        term.in_units(length, time, robot.joints[term.joints[0]].type.coordinate_unit(length))
        for term in robot.further_drives
    )
    scaled = replace(
        robot,
        joints=tuple(joints),
        gravity=robot.gravity * (time * time) / length,
        # Part of the links already, whose parameters are factors here.
        payload=None,
        further_drives=drives,
    )
    units_of = np.array([joint.type.coordinate_unit(length) for joint in robot.joints])
    if isinstance(robot.closure, GeneralClosure):
        scaled = replace(scaled, closure=robot.closure.in_units(units_of))
    elif robot.closure:
        # Rows and columns of F carry the units of the joints that they belong to.
        unit = units_of
        names = [joint.name for joint in robot.joints]
        active = unit[[names.index(name) for name in robot.closure.active]]
        closure = replace(
            robot.closure,
            F=read_only(robot.closure.F * active / unit[:, None]),
            offset=read_only(robot.closure.offset / unit),
        )
        scaled = replace(scaled, closure=closure)
    return Dimensionless(scaled, parameter_factors(robot, length, time))


def units(robot: Robot) -> tuple[float, float]:
    """Mean length of the joints' offsets [m], and the time in which gravity falls it [s]; 1 where there is none."""
    # Only those that are there: wrists with many zeros would shrink the mean.
    offsets = np.linalg.norm(robot.tree.translations[:, :, 0], axis=1)
    length = float(offsets[offsets > 0].mean()) if offsets.any() else 1.0
    gravity = norm(robot.gravity)
    return length, float(np.sqrt(length / gravity)) if gravity else 1.0


def parameter_factors(robot: Robot, length: float, time: float) -> Array:
    """(n_parameters,) factor that takes the units of length and time out of each parameter."""
    # A few dimensions, hundreds of parameters.
    factors = {own: _factor(*own, length, time) for own in {p.dimension for p in robot.layout.parameters}}
    return read_only([factors[parameter.dimension] for parameter in robot.layout.parameters])


def _factor(lengths: int, times: int, length: float, time: float) -> float:
    """length**-lengths time**-times in products and one quotient, which are the same on every machine."""
    above = math.prod([length] * -lengths) * math.prod([time] * -times)
    return above / (math.prod([length] * lengths) * math.prod([time] * times))
