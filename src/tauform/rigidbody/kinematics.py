"""Kinematics: placements of frames, and how they move with the joints."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.joint import Frame
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.errors import UnknownNameError
from tauform.rigidbody.sweeps.base_frame import base_placements, joint_axes
from tauform.rigidbody.sweeps.evaluation import evaluate
from tauform.rigidbody.sweeps.motion import transforms_of
from tauform.rigidbody.sweeps.spatial import ANGULAR, LINEAR, Transform, compose, cross, joint_transform, rotate_back


def forward_kinematics(robot: Robot, q: ArrayLike, frame: str | None = None) -> Array:
    """Placement of a frame in the base, base_from_frame.

    Args:
        q: (..., n) joint positions [rad or m].
        frame: name of a frame or link; None is the tool (robot.tip, or the last link).

    Returns:
        (..., 4, 4) homogeneous transforms.

    Raises:
        ShapeError: the last dimension differs from robot.n_joints, or a value is not finite.
        UnknownNameError: no such frame.
    """
    place = robot.tool if frame is None else robot.frame(frame)
    return evaluate(robot, lambda q: homogeneous(frame_placement(robot.tree, q, place)), q=q)


def link_placements(robot: Robot, q: ArrayLike) -> Array:
    """Placement of every link in the base, in the order of robot.links.

    Args:
        q: (..., n) joint positions [rad or m].

    Returns:
        (..., n_bodies, 4, 4) homogeneous transforms.

    Raises:
        ShapeError: the last dimension differs from robot.n_joints, or a value is not finite.
    """

    def core(q: AnyArray) -> AnyArray:
        placements = base_placements(robot.tree, transforms_of(robot.tree, q))
        return np.stack([homogeneous(X) for X in placements])

    return evaluate(robot, core, q=q)


def jacobian(robot: Robot, q: ArrayLike, frame: str | None = None, axes: Literal["world", "local"] = "world") -> Array:
    """Jacobian of a frame: (w, v) = J qd, angular velocity first, then the velocity of the frame's origin.

    Args:
        q: (..., n) joint positions [rad or m].
        frame: name of a frame or link; None is the tool.
        axes: "world" gives w and v in the axes of the base, "local" in the axes of the frame itself; both are
            those of the frame's own origin.

    Returns:
        (..., 6, n); rows w_x, w_y, w_z, v_x, v_y, v_z.

    Raises:
        ShapeError: the last dimension differs from robot.n_joints, or a value is not finite.
        UnknownNameError: no such frame or axes.
    """
    if axes not in ("world", "local"):
        raise UnknownNameError(f'axes: no {axes!r}; choose "world" or "local"')
    place = robot.tool if frame is None else robot.frame(frame)

    # `project` acts on leading dimensions: the joints come first inside, and last for users.
    def core(q: AnyArray) -> AnyArray:
        return np.swapaxes(frame_jacobian(robot.tree, q, place, axes == "local"), 0, 1)

    return np.swapaxes(evaluate(robot, core, project=1, q=q), -1, -2)


def frame_placement(tree: Tree, q: AnyArray, frame: Frame) -> Transform:
    """base_from_frame; arrays of any scalar."""
    T = frame.link_from_frame
    X = Transform(
        np.broadcast_to(T[:3, :3, None], (3, 3, *q.shape[1:])), np.broadcast_to(T[:3, 3, None], (3, *q.shape[1:]))
    )
    # Tip to base along one path: other branches do not move the frame.
    for i in tree.ancestors(frame.link):
        X = compose(joint_transform(tree, i, q[i]), X)
    return X


def frame_jacobian(tree: Tree, q: AnyArray, frame: Frame, local: bool) -> AnyArray:
    """(6, n, N) Jacobian of the frame's origin, in base axes or its own; arrays of any scalar."""
    placements = base_placements(tree, transforms_of(tree, q))
    place = frame_placement(tree, q, frame)
    S = joint_axes(tree, placements)
    # slides alone have axes of plain numbers, and moments of whatever q is
    J = np.zeros(S.shape, dtype=np.result_type(S, place.p))
    path = list(tree.ancestors(frame.link))
    # velocity of the frame's origin: v + w x p
    w, v = S[ANGULAR, path], S[LINEAR, path] + cross(S[ANGULAR, path], place.p[:, None])
    if local:
        w, v = rotate_back(place.R[:, :, None], w), rotate_back(place.R[:, :, None], v)
    J[:, path] = np.concatenate([w, v])
    return J


def homogeneous(X: Transform) -> AnyArray:
    """(4, 4, N)."""
    top = np.concatenate([X.R, X.p[:, None]], axis=1)
    bottom = np.zeros_like(top[:1])
    # An addition keeps the scalar's own type, which writing a plain 1 would not.
    bottom[0, 3] = bottom[0, 3] + 1
    return np.concatenate([top, bottom])
