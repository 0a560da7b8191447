"""External wrenches: what the surroundings do to links, on its way from the caller to the sweeps.

Outside, a wrench is force then moment in the axes of a named frame, the moment about that frame's origin, acting on the
robot. Inside it is (moment, force) in the frame of the link that the frame belongs to, (6, N), as all wrenches here.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, joint_vector
from tauform.description.joint import Frame
from tauform.description.robot import Robot
from tauform.errors import ArgumentError
from tauform.rigidbody.sweeps.spatial import Transform, wrench_to_parent

# Frame -> (..., 6); users write it, textbook functions take it.
Wrenches = Mapping[str, ArrayLike]
# Link -> (6, N), what sweeps subtract from the wrench that a body's motion needs.
BodyWrenches = Mapping[int, AnyArray]


def wrench_arrays(robot: Robot, wrenches: Wrenches | None) -> dict[str, AnyArray]:
    """The wrenches as checked arrays (..., 6), by the name of their frame.

    Raises:
        ArgumentError: not a dict of frames.
        UnknownNameError: no such frame.
        ShapeError: another last dimension than 6, or a value that is not finite.
    """
    if wrenches is None:
        return {}
    if not isinstance(wrenches, Mapping):
        raise ArgumentError(
            f"wrenches: expected a dict from frames to arrays of shape (..., 6), got {wrenches!r:.60}",
            argument="wrenches",
            value=wrenches,
            remedy=f"write {{{robot.tool.name!r}: [fx, fy, fz, mx, my, mz]}}",
        )
    return {
        robot.frame(name).name: joint_vector(value, 6, f"wrenches[{name!r}]", "force, then moment")
        for name, value in wrenches.items()
    }


def on_bodies(frames: Mapping[str, Frame], arrays: Mapping[str, AnyArray]) -> dict[int, AnyArray]:
    """Sum of the wrenches on each link, in its own frame, from (6, N) arrays; what acts on the base moves nothing."""
    sums: dict[int, AnyArray] = {}
    for name, array in arrays.items():
        frame = frames[name]
        # The base is held by the ground, whatever pushes it.
        if frame.link < 0:
            continue
        link_from_frame = Transform(frame.link_from_frame[:3, :3, None], frame.link_from_frame[:3, 3, None])
        # Users write force first, as sensors do; spatial vectors have the moment first.
        moved = wrench_to_parent(link_from_frame, np.concatenate([array[3:], array[:3]]))
        sums[frame.link] = sums[frame.link] + moved if frame.link in sums else moved
    return sums


def less_wrenches(biases: list[AnyArray], wrenches: BodyWrenches | None) -> list[AnyArray]:
    """Wrenches that joints have to pass on, without what comes from outside."""
    return [b - wrenches[i] if i in wrenches else b for i, b in enumerate(biases)] if wrenches else biases
