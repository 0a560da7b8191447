"""Evaluation, for every algorithm: checks of inputs, broadcasting, loop constraints, and the layout inside.

Outside, the joint is the last dimension: (..., n). Inside, components come first and a single batch dimension
last, (n, N), so that every operation runs over contiguous states; large batches pass through in slices that fit
the cache. With loop constraints, q_tree = F q + offset on the way in and tau = F^T tau_tree on the way out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, joint_vector
from tauform.description.robot import Robot
from tauform.errors import ShapeError
from tauform.portable.products import product
from tauform.rigidbody.sweeps.wrenches import on_bodies, wrench_arrays

STATES_PER_SLICE = 2048

# A core takes (n_bodies, N) arrays and returns one array, its batch dimension last.
Core = Callable[..., AnyArray]


def evaluate(robot: Robot, core: Core, project: int = 0, wrenches: Any = None, **vectors: ArrayLike) -> AnyArray:
    """Run core(*tree_vectors) on a batch; with external wrenches core(*tree_vectors, wrenches=those on bodies).

    Args:
        robot: the robot that the vectors belong to.
        core: takes the vectors as (n_bodies, N), returns (..., N).
        project: how many leading dimensions of the result are joints, to be projected by F^T.
        wrenches: external `Wrenches` or None; (..., 6) by frame, force then moment.
        vectors: named joint vectors of shape (..., n_joints); a vector named q also gets the loop's offset, and
            temperatures and what joints carry belong to the joints that lead the loops.

    Returns:
        The result with its batch dimensions first again.
    """
    names, outside = list(vectors), wrench_arrays(robot, wrenches)
    frames = {name: robot.frame(name) for name in outside}

    def tree_core(*inside: AnyArray) -> AnyArray:
        bodies = [_of_tree(robot, name, array) for name, array in zip(names, inside, strict=False)]
        given = dict(zip(outside, inside[len(names) :], strict=True))
        external = {"wrenches": on_bodies(frames, given)} if given else {}
        return _projected(robot, core(*bodies, **external), project)

    lengths = {**dict.fromkeys(vectors, robot.n_v), "q": robot.n_q, "temperature": robot.n_joints}
    return batched(lengths, tree_core, STATES_PER_SLICE, outside, **vectors)


def batched(
    n: int | Mapping[str, int],
    core: Core,
    states_per_slice: int,
    further: Mapping[str, AnyArray] | None = None,
    /,
    **vectors: ArrayLike,
) -> AnyArray:
    """Run a core on (n, N) slices of named joint vectors of shape (..., n); batch dimensions come first again.

    Args:
        n: length of the vectors, or of each by its name.
        further: arrays of other lengths, checked by who gives them; the core takes them last.

    Raises:
        ShapeError: a vector has another last dimension or holds a value that is not finite, or batches do not fit.
    """
    lengths = dict.fromkeys(vectors, n) if isinstance(n, int) else n
    checked = {name: joint_vector(value, lengths[name], name) for name, value in vectors.items()}
    checked |= further or {}
    try:
        batch = np.broadcast_shapes(*(array.shape[:-1] for array in checked.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in checked.items())
        raise ShapeError(f"batch dimensions do not broadcast: {shapes}") from None
    # One scalar type for all: a complex step in one vector makes every intermediate complex.
    scalar = np.result_type(*checked.values())
    inside = [
        np.ascontiguousarray(np.broadcast_to(array, (*batch, width)).reshape(-1, width).T, dtype=scalar)
        for array in checked.values()
        for width in array.shape[-1:]
    ]
    n_states = inside[0].shape[-1]
    result: AnyArray | None = None
    for k in range(0, max(n_states, 1), states_per_slice):
        part = slice(k, k + states_per_slice)
        values = core(*(array[:, part] for array in inside))
        if result is None:
            result = np.empty((n_states, *values.shape[:-1]), dtype=values.dtype)
        result[part] = np.moveaxis(values, -1, 0)  # while the slice is still in the cache
    assert result is not None
    return result.reshape(batch + result.shape[1:])


def _of_tree(robot: Robot, name: str, inside: AnyArray) -> AnyArray:
    if robot.closure is None:
        return inside
    if name in ("temperature", "carried"):
        names = [joint.name for joint in robot.joints]
        leading = np.zeros((robot.n_bodies, inside.shape[1]), dtype=inside.dtype)
        leading[[names.index(active) for active in robot.closure.active]] = inside
        return leading
    bodies = product(robot.closure.F, inside)
    return bodies + robot.closure.offset[:, None] if name == "q" else bodies


def _projected(robot: Robot, result: AnyArray, dimensions: int) -> AnyArray:
    # F^T on every dimension of joints: tau = F^T tau_tree once, M = F^T M_tree F twice.
    if robot.closure is not None:
        for k in range(dimensions):
            moved = np.moveaxis(result, k, 0)
            users = product(robot.closure.F.T, moved.reshape(len(moved), -1))
            result = np.moveaxis(users.reshape(-1, *moved.shape[1:]), 0, k)
    return result
