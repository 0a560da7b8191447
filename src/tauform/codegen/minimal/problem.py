"""Problem: a robot prepared for tracing, with its parameters as numbers or as functions of run-time inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.closedform.base.parameters import base_parameters
from tauform.codegen.minimal.bodies import Bodies
from tauform.codegen.minimal.equivalence import null_vectors
from tauform.codegen.minimal.search import FrameSearch
from tauform.codegen.minimal.straighten import straightened
from tauform.description.inertia import LINK_PARAMETERS, parameter_transform
from tauform.description.joint import Frame
from tauform.description.robot import Robot
from tauform.errors import GenerationError
from tauform.portable.products import product
from tauform.rigidbody.load import leading_joints

Parameters = Literal["baked", "runtime"]
PayloadBinding = Literal["baked", "runtime"]


@dataclass(frozen=True, eq=False)
class RuntimePort:
    """A block of parameters that the program reads at run time, with the name of each entry."""

    name: str
    entries: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """Problem that a tracer works on.

    Attributes:
        bodies: geometry and inertias; parameters are affine in the run-time inputs.
        drives: (n_drives, 1 + inputs) coefficients of all drive terms.
        ports: the run-time inputs, in order.
        defaults: values of the run-time inputs that describe this robot.
        grouping: (l, layout.n) theta from the standard parameters, where theta is such an input.
        frames: those that feel an external wrench, an input each.
    """

    robot: Robot
    bodies: Bodies
    drives: Array
    ports: tuple[RuntimePort, ...]
    defaults: tuple[Array, ...]
    grouping: Array | None = None
    frames: tuple[Frame, ...] = ()

    @cached_property
    def search(self) -> FrameSearch:
        """Where searches of all functions and algorithms start."""
        return FrameSearch(self.bodies, null_vectors(self.bodies))


def problem_of(
    robot: Robot, parameters: Parameters = "baked", payload: PayloadBinding = "baked", wrenches: Sequence[str] = ()
) -> Problem:
    """Prepare a robot.

    Args:
        parameters: "baked" folds the robot's numbers in; "runtime" makes its base parameters an input `theta`.
        payload: "runtime" makes the ten parameters of the body at `load_frame` an input `payload`.
        wrenches: frames or links whose external wrench is an input.
    """
    for name, value in (("parameters", parameters), ("payload", payload)):
        if value not in ("baked", "runtime"):
            raise GenerationError(f'{name}: expected "baked" or "runtime", got {value!r}')
    # The load that the description has is a default of the input, not part of the numbers.
    bare = robot.with_payload(None) if payload == "runtime" else robot
    blocks = []
    ports: list[RuntimePort] = []
    defaults: list[Array] = []
    constant = bare.parameters[:, None]
    grouping = None
    if parameters == "runtime":
        names, grouping, places = _theta(bare)
        # theta stands at its pivots and everything else is zero: a robot of virtual links with the same torques.
        constant = np.zeros_like(constant)
        # Column k of the block is one at the pivot of theta_k.
        blocks.append(np.eye(len(constant))[:, places])
        ports.append(RuntimePort("theta", names))
        defaults.append(product(grouping, bare.parameters))
    if payload == "runtime":
        # A load adds to the parameters of the link that carries it: ten columns, linear.
        blocks.append(payload_columns(robot))
        ports.append(RuntimePort("payload", LINK_PARAMETERS))
        carried = robot.payload.inertia.parameters if robot.payload else np.zeros(10)
        defaults.append(np.array(carried))
    # parameters = affine[:, 0] + affine[:, 1:] @ inputs, for links and drive terms alike.
    affine = np.hstack([constant, *blocks])
    links, joints = (np.moveaxis(part(affine.T), 0, -1) for part in (robot.layout.by_link, robot.layout.by_joint))
    frames = tuple(robot.frame(name) for name in wrenches)
    # Frames are straightened before any search: a cheap rotation is a better start for every algorithm.
    bodies = straightened(Bodies.of(robot.tree, links, joints[:, 0], frames))
    return Problem(robot, bodies, affine[robot.layout.drives], tuple(ports), tuple(defaults), grouping, frames)


def wrench_port(frame: Frame) -> str:
    """Name of the input that holds the external wrench at a frame."""
    return f"wrench_{frame.name}"


def _theta(robot: Robot) -> tuple[tuple[str, ...], Array, list[int]]:
    """Names and grouping of the run-time parameters, and the standard parameters that they stand in for.

    Friction stands beside the base parameters, in the order of robot.parameters: an offset torque must not take over
    the weight of a slide, which gravity_torque and bias_torque count and friction does not.
    """
    base = base_parameters(robot)
    # Friction and the like are run-time parameters too; each is its own, so they need no grouping.
    losses = set(robot.columns("declared")) - set(base.columns)
    names = {**dict(zip(base.pivots, base.names, strict=True)), **{k: robot.parameter_names[k] for k in losses}}
    alone = np.eye(len(robot.parameters))
    rows = {**dict(zip(base.pivots, base.grouping, strict=True)), **{k: alone[k] for k in losses}}
    # In the order of robot.parameters, so that structs in C list a link's values together.
    places = sorted(rows)
    return tuple(names[k] for k in places), np.array([rows[k] for k in places]), places


def has_friction(robot: Robot) -> bool:
    """Whether any drive term beside rotors acts."""
    # Rotors are inertia, not friction.
    return any(term.coefficient and not term.is_inertial for term in robot.drives)


def load_frame(robot: Robot) -> Frame:
    """Frame of the body that the robot carries: where it is described, else the tool."""
    return robot.frame(robot.payload.frame) if robot.payload else robot.tool


def payload_columns(robot: Robot) -> Array:
    """(n_parameters, 10) what the ten parameters of a body at the load's frame add to the robot's."""
    frame = load_frame(robot)
    if frame.link < 0:
        raise GenerationError(f"payload: frame {frame.name!r} is fixed to the base; a load there moves with nothing")
    columns = np.zeros((robot.layout.n, len(LINK_PARAMETERS)))
    # Ten parameters in the frame's axes, as those about the link's origin.
    columns[robot.layout.link(frame.link)] = parameter_transform(frame.link_from_frame)
    return columns


def tree_coordinates(robot: Robot, values: AnyArray, is_position: bool) -> AnyArray:
    """Joint coordinates of the tree from those the user holds: F q + offset where loops are closed."""
    if robot.closure is None:
        return values
    rows = [_weighted(row, values) for row in robot.closure.F]
    # Offsets belong to positions only; rates of constants are zero.
    if is_position:
        rows = [row + offset for row, offset in zip(rows, robot.closure.offset.tolist(), strict=True)]
    return np.array(rows, dtype=object)


def user_efforts(robot: Robot, values: Sequence[Any]) -> AnyArray:
    """F^T tau of the tree's torques."""
    if robot.closure is None:
        return np.array(values, dtype=object)
    return np.array([_weighted(column, values) for column in robot.closure.F.T], dtype=object)


def at_leading_joints(robot: Robot, values: AnyArray) -> AnyArray:
    """Values of the coordinates in q at their joints of the tree, zero at joints that follow."""
    if robot.closure is None:
        return values
    spread = np.zeros(robot.n_bodies, dtype=object)
    spread[leading_joints(robot)] = values
    return spread


def user_matrix(robot: Robot, matrix: AnyArray) -> AnyArray:
    """F^T M F of a matrix over the tree's joints."""
    if robot.closure is None:
        return np.asarray(matrix, dtype=object)
    half = [user_efforts(robot, row) for row in np.asarray(matrix, dtype=object)]
    # Rows, then columns: F^T (M F) with the zeros of F left out.
    return np.array([user_efforts(robot, column) for column in np.array(half).T], dtype=object).T


def _weighted(weights: Any, values: Any) -> Any:
    total: Any = 0.0
    for weight, value in zip(weights, values, strict=True):
        # The graph drops products with the number zero, and additions to it.
        total = total + float(weight) * value
    return total
