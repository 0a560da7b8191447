"""Evaluation, for every algorithm: checks of inputs, broadcasting, loop constraints, and the layout inside.

Outside, the joint is the last dimension: (..., n). Inside, components come first and a single batch dimension
last, (n, N), so that every operation runs over contiguous states; large batches pass through in slices that fit
the cache. With linear loop constraints, q_tree = F q + offset on the way in and tau = F^T tau_tree on the way out; with
general ones q_tree = f(q), qd_tree = G qd, qdd_tree = G qdd + Gdot qd and tau = G^T tau_tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, joint_vector
from tauform.description.joint import Closure
from tauform.description.robot import Robot
from tauform.errors import DescriptionError, ModelError, ShapeError
from tauform.portable.products import product
from tauform.rigidbody.sweeps.wrenches import on_bodies, wrench_arrays

STATES_PER_SLICE = 2048
# Quantities of the joints that lead loops.
OF_LEADING = ("temperature", "carried")
# Accelerations, and the velocities that bend their way along a loop.
RATE_OF = {"qdd": "qd", "qdd_r": "qd_r"}

# A core takes (n_bodies, N) arrays and returns one array, its batch dimension last.
Core = Callable[..., AnyArray]


def evaluate(
    robot: Robot,
    core: Core,
    project: int = 0,
    wrenches: Any = None,
    bending: Any = None,
    several_coordinates: Any = False,
    **vectors: ArrayLike,
) -> AnyArray:
    """Run core(*tree_vectors) on a batch; with external wrenches core(*tree_vectors, wrenches=those on bodies).

    Args:
        robot: the robot that the vectors belong to.
        core: takes the vectors as (n_bodies, N), returns (..., N).
        project: how many leading dimensions of the result are joints, to be projected by F^T.
        wrenches: external `Wrenches` or None; (..., 6) by frame, force then moment.
        bending: (TreeMotion) -> what the rate of G adds to the projected result, where loops have one.
        several_coordinates: whether the core takes joints with several velocities.
        vectors: named joint vectors of shape (..., n_joints); a vector named q also gets the loop's offset, and
            temperatures and what joints carry belong to the joints that lead the loops.

    Returns:
        The result with its batch dimensions first again.

    Raises:
        ModelError: a joint has several velocities, and the core counts on one.
        ShapeError: a vector has another last dimension or holds a value that is not finite, or batches do not fit.
    """
    # Refused by name: a core that writes q[i] would read coordinates of another joint.
    if not several_coordinates and robot.n_v != robot.n_joints:
        name = next(joint.name for joint in robot.joints if joint.type.n_v > 1)
        raise ModelError(f"joint {name!r} of {robot.name} has several velocities; only inverse_dynamics takes them")
    # Further batches of six numbers, which broadcast with the vectors.
    names, outside = list(vectors), wrench_arrays(robot, wrenches)
    frames = {name: robot.frame(name) for name in outside}

    def tree_core(*inside: AnyArray) -> AnyArray:
        # Wrenches follow the vectors, hence not strict.
        loops = tree_motion(robot, dict(zip(names, inside, strict=False)))
        given = dict(zip(outside, inside[len(names) :], strict=True))
        external = {"wrenches": on_bodies(frames, given)} if given else {}
        result = loops.projected(core(*loops.vectors.values(), **external), project)
        return result if bending is None or loops.Gdot is None else result + bending(loops)

    return batched(_lengths(robot, vectors), tree_core, STATES_PER_SLICE, outside, **vectors)


def check_batches(robot: Robot, wrenches: Any = None, **vectors: ArrayLike) -> None:
    """Refuse what `evaluate` refuses, where a function combines several evaluations.

    Raises:
        ShapeError: a vector has another last dimension or holds a value that is not finite, or batches do not fit.
    """
    _checked(_lengths(robot, vectors), wrench_arrays(robot, wrenches), vectors)


def _lengths(robot: Robot, vectors: Iterable[str]) -> dict[str, int]:
    # q may be longer than qd (quaternions); temperatures are one per joint whatever its coordinates.
    return {**dict.fromkeys(vectors, robot.n_v), "q": robot.n_q, "temperature": robot.n_joints}


def _checked(
    lengths: Mapping[str, int], further: Mapping[str, AnyArray], vectors: Mapping[str, ArrayLike]
) -> tuple[dict[str, AnyArray], tuple[int, ...]]:
    """The vectors and further arrays, and the dimensions of their batch."""
    checked = {name: joint_vector(value, lengths[name], name) for name, value in vectors.items()} | dict(further)
    try:
        return checked, np.broadcast_shapes(*(array.shape[:-1] for array in checked.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in checked.items())
        raise ShapeError(f"batch dimensions do not broadcast: {shapes}") from None


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
    checked, batch = _checked(lengths, further or {}, vectors)
    # One scalar type for all: a complex step in one vector makes every intermediate complex.
    scalar = np.result_type(*checked.values())
    inside = [
        np.ascontiguousarray(np.broadcast_to(array, (*batch, width)).reshape(-1, width).T, dtype=scalar)
        for array in checked.values()
        for width in array.shape[-1:]
    ]
    n_states = inside[0].shape[-1]
    result: AnyArray | None = None
    # An empty batch is evaluated once, for the shape of its result.
    for k in range(0, max(n_states, 1), states_per_slice):
        part = slice(k, k + states_per_slice)
        values = core(*(array[:, part] for array in inside))
        if result is None:
            result = np.empty((n_states, *values.shape[:-1]), dtype=values.dtype)
        result[part] = np.moveaxis(values, -1, 0)  # while the slice is still in the cache
    assert result is not None
    return result.reshape(batch + result.shape[1:])


@dataclass(frozen=True, eq=False)
class TreeMotion:
    """Joint vectors of the tree, (n_bodies, N) by name, and the Jacobian of its joints by q.

    Attributes:
        G: (n_bodies, n_joints), with a batch dimension last for general loops; None where all joints are free.
        Gdot: its rate; None where it is zero or no velocity is given.
    """

    vectors: Mapping[str, AnyArray]
    G: AnyArray | None = None
    Gdot: AnyArray | None = None

    def projected(self, result: AnyArray, dimensions: int) -> AnyArray:
        """G^T on leading dimensions of joints: tau = G^T tau_tree once, M = G^T M_tree G twice."""
        if self.G is not None:
            for k in range(dimensions):
                result = np.moveaxis(weighted_by(self.G, np.moveaxis(result, k, 0)), 0, k)
        return result


def tree_motion(robot: Robot, vectors: Mapping[str, AnyArray]) -> TreeMotion:
    """The tree's joint vectors from those of q, (n_joints, N) by name; q, qd and qdd (qd_r, qdd_r) belong together."""
    closure = robot.closure
    if closure is None:
        return TreeMotion(vectors)
    if isinstance(closure, Closure):
        return TreeMotion({name: _linear(robot, closure, name, x) for name, x in vectors.items()}, closure.F)
    velocity = vectors.get("qd")
    if "q" not in vectors:
        raise DescriptionError(f"robot {robot.name!r} has loops whose Jacobian depends on the position; give q as well")
    # Solved once for all vectors: closing a loop takes several iterations.
    q, G, Gdot = closure.at(vectors["q"], velocity)
    moved: dict[str, AnyArray] = {}
    for name, x in vectors.items():
        if name == "q":
            moved[name] = q
        elif name in OF_LEADING:
            moved[name] = _at_leading(robot, x)
        else:
            # qd_tree = G qd; qdd_tree = G qdd + Gdot qd
            moved[name] = (G * x).sum(axis=1)
            before = RATE_OF.get(name, "")
            if before in vectors:
                assert Gdot is not None
                moved[name] = moved[name] + (Gdot * vectors[before]).sum(axis=1)
    return TreeMotion(moved, G, Gdot)


def weighted_by(G: AnyArray, values: AnyArray) -> AnyArray:
    """G^T values: the first dimension is the tree's joints, the last one states."""
    if G.ndim == 2:
        inner = values.shape[1:]
        # Sizes in full: of a batch without states NumPy cannot infer them.
        return product(G.T, values.reshape(len(values), math.prod(inner))).reshape(G.shape[1], *inner)
    shape = (*G.shape[:2], *[1] * (values.ndim - 2), G.shape[-1])
    return (G.reshape(shape) * values[:, None]).sum(axis=0)


def _linear(robot: Robot, closure: Closure, name: str, inside: AnyArray) -> AnyArray:
    if name in OF_LEADING:
        return _at_leading(robot, inside)
    bodies = product(closure.F, inside)
    return bodies + closure.offset[:, None] if name == "q" else bodies


def _at_leading(robot: Robot, inside: AnyArray) -> AnyArray:
    names = [joint.name for joint in robot.joints]
    leading = np.zeros((robot.n_bodies, inside.shape[1]), dtype=inside.dtype)
    leading[[names.index(active) for active in robot.joint_names]] = inside
    return leading
