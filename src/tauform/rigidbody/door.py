"""The door of every algorithm: checks, broadcasting, loop constraints, and the layout inside.

Outside, the joint is the last dimension: (..., n). Inside, components come first and a single batch dimension
last, (n, N), so that every operation runs over contiguous states; large batches pass through in slices that fit
the cache. With loop constraints, q_tree = F q + offset on the way in and tau = F^T tau_tree on the way out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, joint_vector
from tauform.description.robot import Robot
from tauform.errors import ShapeError

STATES_PER_SLICE = 2048

# A core takes (n_bodies, N) arrays and returns one array, its batch dimension last.
Core = Callable[..., AnyArray]


def evaluate(robot: Robot, core: Core, project: int = 0, **vectors: ArrayLike) -> AnyArray:
    """Run core(*tree_vectors) on a batch.

    Args:
        robot: the robot that the vectors belong to.
        core: takes the vectors as (n_bodies, N), returns (..., N).
        project: how many leading dimensions of the result are joints, to be projected by F^T.
        vectors: named joint vectors of shape (..., n_joints); a vector named q also gets the loop's offset.

    Returns:
        The result with its batch dimensions first again.
    """
    checked = {name: joint_vector(value, robot.n_joints, name) for name, value in vectors.items()}
    try:
        batch = np.broadcast_shapes(*(array.shape[:-1] for array in checked.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in checked.items())
        raise ShapeError(f"batch dimensions do not broadcast: {shapes}") from None
    # One scalar type for all: a complex step in one vector makes every intermediate complex.
    scalar = np.result_type(*checked.values())
    inside = [_inside(robot, name, array.astype(scalar, copy=False), batch) for name, array in checked.items()]
    n_states = inside[0].shape[-1]
    slices = [slice(k, k + STATES_PER_SLICE) for k in range(0, max(n_states, 1), STATES_PER_SLICE)]
    result: AnyArray | None = None
    for part in slices:
        values = _projected(robot, core(*(array[:, part] for array in inside)), project)
        if result is None:
            result = np.empty((n_states, *values.shape[:-1]), dtype=values.dtype)
        result[part] = np.moveaxis(values, -1, 0)  # while the slice is still in the cache
    assert result is not None
    return result.reshape(batch + result.shape[1:])


def _inside(robot: Robot, name: str, array: AnyArray, batch: tuple[int, ...]) -> AnyArray:
    flat = np.broadcast_to(array, (*batch, array.shape[-1])).reshape(-1, array.shape[-1])
    inside: AnyArray = np.ascontiguousarray(flat.T)
    if robot.closure is None:
        return inside
    inside = robot.closure.F @ inside
    return inside + robot.closure.offset[:, None] if name == "q" else inside


def _projected(robot: Robot, result: AnyArray, dimensions: int) -> AnyArray:
    if robot.closure is not None:
        for k in range(dimensions):
            result = np.moveaxis(np.tensordot(robot.closure.F.T, result, axes=(1, k)), 0, k)
    return result


def zeros_like_states(n: int, *arrays: Any) -> AnyArray:
    """(n, N) zeros with the batch length and scalar type of the given arrays."""
    kind = np.result_type(*arrays)
    shape = np.broadcast_shapes(*(np.shape(array)[-1:] for array in arrays))
    return np.zeros((n, *shape), dtype=kind)
