"""Changes of the parameters that no torque can feel, written in symbols of the geometry.

Six facts of mechanics make them, link by link (Gautier and Khalil; Mayeda):
- revolute joint: matter spread evenly about the joint's axis (Ixx = Iyy, or mz, or m on the axis) moves as if it
  were part of the parent;
- prismatic joint: a pure inertia tensor does not feel the slide, so it too could belong to the parent (a first
  moment likewise, where the parent turns about the slide only);
- a rotor acts like Izz of its link (or its mass, on a slide) where the parent cannot move the same way;
- a link that slides on one that turns about a fixed axis does not show its first moment along that axis;
- links that a loop keeps parallel share their inertia tensors;
- matter at a point where two links of a loop meet may belong to either.
What arrives at the fixed base vanishes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.closedform.base.observation import reachable
from tauform.closedform.base.relations.lengths import named_lengths
from tauform.closedform.base.relations.loop_points import declared_loops, frame_lengths, frame_point, meetings
from tauform.closedform.base.relations.polynomial import Polynomial
from tauform.description.inertia import LINK_PARAMETERS, TENSOR_INDEX
from tauform.description.joint import Joint
from tauform.description.loops.coincidence import Coincidence
from tauform.description.robot import Robot
from tauform.portable.products import chain, product
from tauform.portable.sampling import uniform
from tauform.rigidbody.kinematics import link_placements

# Index into robot.parameters -> coefficient.
NullVector = dict[int, Polynomial]
ONE = Polynomial.constant(1.0)
# Entries of a rotation this close to 0 or +-1 are that.
MAX_ROUNDING_OF_ROTATION = 4 * np.finfo(float).eps
# Relative rotations of two links that agree to this in several states are constant.
MAX_ROTATION_CHANGE = 1e-12


def null_vectors(robot: Robot) -> list[NullVector]:
    """Candidates for every joint; some hold only where motion is restricted, which the caller must check."""
    vectors = []
    for j, joint in enumerate(robot.joints):
        T = _symbolic_transform(joint, j)
        for change in _free_changes(joint):
            vectors.append(_moved_to_parent(robot, j, change, T))
        if joint.type.rotor_like is None:  # a screw: its rotor is like a sum of link parameters with the pitch squared
            continue
        vectors.append(_rotor(robot, j, T))
        if joint.type.screw[1]:  # it shifts its link
            vectors.append(_rotor_and_weight(robot, j, T))
            vectors.append(_moment_along_axis(robot, j))
    return vectors + (_parallel_links(robot) + _shared_points(robot) if robot.closure else [])


def length_values(robot: Robot) -> dict[str, float]:
    """The named lengths of all joints, and of frames that close loops."""
    of_joints = {name: value for j, joint in enumerate(robot.joints) for name, value, _ in named_lengths(joint, j)}
    return {**of_joints, **dict(frame_lengths(robot))}


def _free_changes(joint: Joint) -> list[AnyArray]:
    """Changes of a link's ten parameters that its own joint does not feel."""
    unit = {name: k for k, name in enumerate(LINK_PARAMETERS)}
    groups = joint.type.free_groups
    changes = np.zeros((len(groups), 10))
    for row, group in zip(changes, groups, strict=True):
        row[[unit[name] for name in group]] = 1.0
    return list(changes)


def _symbolic_transform(joint: Joint, j: int) -> tuple[Array, AnyArray]:
    p = np.array([Polynomial({})] * 3, dtype=object)
    for name, _, direction in named_lengths(joint, j):
        p = p + np.array(
            [Polynomial.symbol(name) * float(x) for x in _exact(direction, MAX_ROUNDING_OF_ROTATION)], dtype=object
        )
    return _rotation(joint), p


def _rotation(joint: Joint) -> Array:
    return _exact(joint.parent_from_joint[:3, :3], MAX_ROUNDING_OF_ROTATION)


def _exact(entries: Array, tolerance: float) -> Array:
    nearest = np.round(entries)
    return np.where(np.abs(entries - nearest) <= tolerance, nearest, entries)


def _moved_to_parent(robot: Robot, j: int, change: AnyArray, T: tuple[Array, AnyArray]) -> NullVector:
    own = robot.layout.link(j).start
    vector = {own + k: Polynomial.constant(value) for k, value in enumerate(change) if value}
    parent = robot.joints[j].parent
    if parent >= 0:
        # What moves along with joint j as if it were fixed to the parent is taken from one and given to the other.
        for k, value in enumerate(moved(change, *T)):
            if not value.is_zero:
                vector[robot.layout.link(parent).start + k] = -value
    return vector


def _rotor(robot: Robot, j: int, T: tuple[Array, AnyArray]) -> NullVector:
    rotor, alike = robot.layout.rotor(j), robot.joints[j].type.rotor_like
    assert alike is not None
    if alike != "m":
        return {rotor: ONE, robot.layout.of_link(alike, j): -ONE}
    mass = np.zeros(10)
    mass[0] = 1.0
    return {rotor: -ONE, **_moved_to_parent(robot, j, mass, T)}


def _rotor_and_weight(robot: Robot, j: int, T: tuple[Array, AnyArray]) -> NullVector:
    """A slide on parents that do not turn feels its mass as a rotor and a constant force m (qdd - g)."""
    i, axis = j, np.array([0.0, 0.0, 1.0])
    # The axis in base axes: only its component along gravity weighs.
    while i >= 0:
        axis, i = product(_rotation(robot.joints[i]), axis), robot.joints[i].parent
    weight = Polynomial.constant(float(product(axis, robot.gravity)))
    return {**_rotor(robot, j, T), robot.layout.offset(j): weight}


def _moment_along_axis(robot: Robot, j: int) -> NullVector:
    """First moment of a sliding link along the axis of the nearest joint before it that turns."""
    i, R = j, np.eye(3)
    while i >= 0 and not robot.joints[i].type.screw[0]:
        R, i = product(_rotation(robot.joints[i]), R), robot.joints[i].parent
    first = robot.layout.of_link("mx", j)
    return {first + k: Polynomial.constant(value) for k, value in enumerate(R[2]) if value}


def _parallel_links(robot: Robot) -> list[NullVector]:
    """Inertia tensors of pairs of links that turn together in every state."""
    # Three random states: a rotation that changes at all is the same in them with probability zero.
    q = reachable(robot, uniform(np.random.default_rng(0), -np.pi, np.pi, (3, robot.n_joints)))
    R = np.moveaxis(link_placements(robot, q)[..., :3, :3], 1, 0)  # (n_bodies, states, 3, 3)
    vectors = []
    for j in range(1, robot.n_bodies):
        for i in range(j):
            relative = product(np.swapaxes(R[i], -1, -2), R[j])
            if np.abs(relative - relative[0]).max() <= MAX_ROTATION_CHANGE:
                vectors.extend(_tensors_as_of(robot, i, j, _exact(relative[0], MAX_ROTATION_CHANGE)))
    return vectors


def _shared_points(robot: Robot) -> list[NullVector]:
    """A point mass where two links meet, given to one and taken from the other; also beside it, along the axis."""
    mass = np.eye(10)[0]
    vectors = []
    for meeting in meetings(robot):
        # Planar loops meet on a whole line along their axis.
        for beside in (0.0, 1.0, -1.0) if meeting.sense else (0.0,):
            vector: NullVector = {}
            sides = ((meeting.first, 1.0, beside), (meeting.second, -1.0, beside * meeting.sense))
            for (link, sign, along), point in zip(sides, meeting.points, strict=True):
                shifted = point + np.array([0.0, 0.0, along])
                if link >= 0:
                    for k, value in enumerate(moved(mass, np.eye(3), shifted)):
                        if not value.is_zero:
                            vector[robot.layout.link(link).start + k] = value * sign
            vectors.append(vector)
    return vectors + [_across(robot, loop) for loop in declared_loops(robot)]


def _across(robot: Robot, loop: Coincidence) -> NullVector:
    """Products of inertia across the links of a planar loop, as long as these: d/dt of the loop's closure.

    The vectors d along the links add up to a constant, so the velocities w x d add up to zero, and so does what
    products of inertia (z x d, z) of the links add to the momentum about any axis in the plane.
    """
    names = [joint.name for joint in robot.joints]
    vector: NullVector = {}
    for path, frame, side in zip(loop.paths, loop.frames, (1.0, -1.0), strict=True):
        links = [names.index(step.joint) for step in path.steps]
        # A frame of the link that both paths start from has no link between: its point is that constant's.
        if not links:
            continue
        ends = [_symbolic_transform(robot.joints[k], k)[1] for k in links[1:]] + [frame_point(robot, frame)]
        for k, d in zip(links, ends, strict=True):
            first = robot.layout.of_link("Ixz", k), robot.layout.of_link("Iyz", k)
            for place, value in zip(first, (d[1] * -side, d[0] * side), strict=True):
                if not value.is_zero:
                    vector[place] = value
    return vector


def _tensors_as_of(robot: Robot, i: int, j: int, R: Array) -> list[NullVector]:
    nowhere = np.array([Polynomial({})] * 3, dtype=object)
    vectors = []
    for k in range(4, 10):
        vector = {robot.layout.link(j).start + k: ONE}
        for row, value in enumerate(moved(np.eye(10)[k], R, nowhere)):
            if not value.is_zero:
                vector[robot.layout.link(i).start + row] = -value
        vectors.append(vector)
    return vectors


def moved(parameters: AnyArray, R: Array, p: AnyArray) -> list[Polynomial]:
    """The ten parameters in the parent's frame, symbolic in p; see `description.inertia.parameter_transform`."""
    # m' = m;  h' = R h + m p;  Sigma' = R Sigma R^T + h_R p^T + p h_R^T + m p p^T, with I = tr(Sigma) 1 - Sigma
    mass, tensor = parameters[0], parameters[TENSOR_INDEX]
    h = product(R, parameters[1:4])
    second: Any = chain(R, np.trace(tensor) / 2 * np.eye(3) - tensor, R.T)
    second = [[p[i] * h[j] + p[j] * h[i] + p[i] * p[j] * mass + second[i, j] for j in range(3)] for i in range(3)]
    trace = second[0][0] + second[1][1] + second[2][2]
    result = [Polynomial.constant(mass), *(p[i] * mass + h[i] for i in range(3)), *[ONE] * 6]
    for i in range(3):
        for j in range(i, 3):
            result[TENSOR_INDEX[i, j]] = (trace if i == j else Polynomial({})) - second[i][j]
    return result
