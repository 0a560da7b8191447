"""The box of states: the largest magnitude of each input of a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program
from tauform.description.robot import Robot
from tauform.errors import GenerationError, ShapeError
from tauform.messages import no_such


def box(program: Program, ranges: Mapping[str, Any], robot: Robot | None) -> list[Array]:
    """(size,) largest magnitudes of each input port.

    Raises:
        UnknownNameError: a range of no input.
        GenerationError: an input has no finite range.
    """
    names = [port.name for port in program.inputs]
    for name in ranges:
        if name not in names:
            raise no_such("input", name, names)
    return [_limit(program, port, ranges, robot) for port in program.inputs]


def _limit(program: Program, port: Port, ranges: Mapping[str, Any], robot: Robot | None) -> Array:
    given = ranges.get(port.name)
    if given is None and robot is not None:
        given = _of_robot(robot, port)
    if given is None:
        given = program.about.defaults.get(port.name, np.inf)
    try:
        limit: Array = np.abs(np.broadcast_to(np.asarray(given, dtype=np.float64), port.shape).reshape(port.size))
    except ValueError:
        raise ShapeError(f"ranges: {port.name} takes one number or {port.shape}, got {np.shape(given)}") from None
    if not np.isfinite(limit).all():
        raise GenerationError(
            f"rounding_bound: {port.name} of {program.name} has no finite range; name its largest magnitude, "
            f"ranges={{{port.name!r}: ...}}",
            argument="ranges",
        )
    return limit


def _of_robot(robot: Robot, port: Port) -> Any:
    """Limits of the robot's joints, in the place of q and qd."""
    if port.size != robot.n_joints or port.name not in ("q", "qd"):
        return None
    by_name = {joint.name: joint for joint in robot.joints}
    limits = [by_name[name].limits for name in robot.joint_names]
    if port.name == "q":
        return [max(abs(limit.lower), abs(limit.upper)) for limit in limits]
    return [limit.velocity for limit in limits]
