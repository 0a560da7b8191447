"""Why a parameter cannot be identified, and what would expose it: found by trying, not from a rule book."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tauform.arrays import Array
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.mounting import mounted
from tauform.closedform.base.observation import ROWS_PER_COLUMN, dynamic_matrix, random_states
from tauform.closedform.base.parameters import SEED, base_parameters
from tauform.closedform.base.preference import parameter_index
from tauform.closedform.base.regroup import regroup
from tauform.closedform.expansion.dimensionless import dimensionless
from tauform.description.parameter_groups import Include
from tauform.description.robot import Robot
from tauform.errors import UnknownNameError
from tauform.rigidbody.regressor import regressor

RegroupingStatus = Literal["alone", "sum", "folded", "no effect"]
BASE_MOTIONS = (*(f"sliding along {axis}" for axis in "xyz"), *(f"turning about {axis}" for axis in "xyz"))


@dataclass(frozen=True, eq=False)
class Explanation:
    """Explanation of one parameter: how the torques depend on it.

    Attributes:
        parameter: its name.
        status: "alone" (a base parameter as it stands), "sum" (a base parameter into which others are folded),
            "folded" (it shows only inside others) or "no effect".
        within: base parameters that contain it, with the coefficient as text.
        reason: why, in words.
        exposed_by: mountings, motions and sensors that would show it by itself.
        shown_by: those that would give it an effect, though still mixed with others.
    """

    parameter: str
    status: RegroupingStatus
    within: dict[str, str]
    reason: str
    exposed_by: tuple[str, ...]
    shown_by: tuple[str, ...]

    def __str__(self) -> str:
        lines = [self.reason]
        if self.exposed_by:
            lines.append("It could be told by itself with: " + "; ".join(self.exposed_by) + ".")
        if self.shown_by:
            lines.append("It would take effect, mixed with others, with: " + "; ".join(self.shown_by) + ".")
        if self.status != "alone" and not self.exposed_by:
            lines.append(
                "No mounting, no motion of the base and no force sensor at the base or at its own joint tells it from "
                "the others; weigh or model the link itself."
            )
        return "\n".join(lines)


def explain(robot: Robot, parameter: str, include: Include | None = None) -> Explanation:
    """Why a standard parameter is or is not identifiable from joint torques, and what would expose it.

    Each remedy was tried: the rank analysis is run again with gravity tilted, with the base moving in each of six
    ways (torques of the robot's own joints only), and with a six-axis force sensor under the base or in front of
    the parameter's own joint.

    Args:
        parameter: a name of robot.parameter_names, such as "Izz_2".
        include: groups of parameters that are taken to be unknown; those of `base_parameters` if not given.

    Raises:
        UnknownNameError: no such parameter, or its group is not included.
    """
    index = parameter_index(robot, parameter)
    columns = robot.columns(include)
    if index not in columns:
        raise UnknownNameError(
            f"parameter {parameter!r} takes no part; include its group (link, rotor, viscous, coulomb, offset)"
        )
    base = base_parameters(robot, include=include)
    status = _status(base, parameter)
    within = {
        relation.name: str(relation.terms[parameter]) for relation in base.relations if parameter in relation.terms
    }
    # What is known alone needs no advice.
    tried: dict[str, RegroupingStatus] = {}
    if status != "alone":
        # The rank analysis is run again for each remedy; none is assumed to help.
        tried = {name: _status(other, parameter) for name, other in _variants(robot, columns, index).items()}
    exposed = tuple(name for name, seen in tried.items() if seen == "alone")
    # Only for parameters without effect: others show in sums already.
    shown = tuple(name for name, seen in tried.items() if status == "no effect" and seen in ("sum", "folded"))
    return Explanation(parameter, status, within, _reason(base, parameter, status, within), exposed, shown)


def _status(base: BaseParameters, parameter: str) -> RegroupingStatus:
    if parameter in base.no_effect:
        return "no effect"
    # Folded into others, where it is no pivot.
    if parameter in base.regrouped:
        return "folded"
    return "alone" if parameter in base.alone else "sum"


def _reason(base: BaseParameters, parameter: str, status: RegroupingStatus, within: dict[str, str]) -> str:
    if status == "alone":
        return f"{parameter} is a base parameter as it stands: torques determine it."
    if status == "no effect":
        return f"{parameter} has no effect: no motion of the joints makes any of their torques depend on it."
    sums = ", ".join(within)
    if status == "sum":
        others = ", ".join(name for relation in base.relations if relation.name in within for name in relation.terms)
        return f"{parameter} shows only in the sum {sums}, together with {others.replace(parameter + ', ', '', 1)}."
    return f"{parameter} is folded into {sums}: no motion of the joints tells it from the parameters regrouped there."


def _variants(robot: Robot, columns: Sequence[int], index: int) -> dict[str, BaseParameters]:
    """The rank analysis of the same columns under other mountings, motions and sensors."""
    # Without units, as the base parameters themselves are decided.
    scaled = dimensionless(robot).robot
    rng = np.random.default_rng(SEED)
    variants = {}
    # A unit vector along no axis: a mounting in general position.
    tilted = scaled.with_gravity(np.array([0.48, 0.6, 0.64]))
    variants["a tilted mounting (gravity in a general direction)"] = dynamic_matrix(tilted, columns, rng)
    for k, motion in enumerate(BASE_MOTIONS):
        variants[f"a base that moves, {motion}"] = _extended_matrix(scaled, columns, rng, moving=k)
    variants["a six-axis force sensor under the base"] = _extended_matrix(scaled, columns, rng)
    # The first joint that the parameter belongs to.
    body = robot.layout.parameters[index].joints[0]
    at_joint = f"a six-axis force sensor at joint {robot.joints[body].name!r}"
    variants[at_joint] = _extended_matrix(scaled, columns, rng, joint=body)
    return {name: regroup(W, scaled, columns) for name, W in variants.items()}


def _extended_matrix(
    robot: Robot, columns: Sequence[int], rng: np.random.Generator, moving: int | None = None, joint: int | None = None
) -> Array:
    """Torques at random states with six freedoms inserted: one moves unmeasured, or all rest and are measured."""
    extended = mounted(robot, joint)
    q, qd, qdd = random_states(extended.robot, ROWS_PER_COLUMN * len(columns) // robot.n_joints + 1, rng)
    # A sensor measures the torque of a freedom at rest; a motion is one that nobody measures.
    still = [place for k, place in enumerate(extended.freedoms) if k != moving]
    for vector in (q, qd, qdd):
        vector[:, still] = 0.0
    Y = regressor(extended.robot, q, qd, qdd)[..., extended.columns[list(columns)]]
    if moving is not None:
        # A moving base is not measured: only the robot's own torques are left.
        Y = np.delete(Y, list(extended.freedoms), axis=1)
    return Y.reshape(-1, len(columns))
