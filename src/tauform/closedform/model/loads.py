"""What a load at the tool adds to theta."""

from __future__ import annotations

from collections.abc import Container

from tauform.arrays import Array, read_only
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.expansion.basis import placed_ten
from tauform.description.robot import Robot
from tauform.portable.products import product


def load_grouping(robot: Robot, base: BaseParameters, free: Container[int]) -> Array | None:
    """(l, 10) of a body in the tool's axes; None where parameters of its link are not free.

    Args:
        free: parameters that nothing is assumed about.
    """
    tool = robot.tool
    # A load is part of the last link: it can be added only while all ten of that link's parameters are free.
    own = robot.layout.link(tool.link)
    if tool.link < 0 or not all(column in free for column in range(robot.layout.n)[own]):
        return None
    link_from_tool = tool.link_from_frame[None]
    # A body in the tool's axes, moved to the link's origin, then grouped like the link's own parameters.
    return read_only(product(base.grouping[:, own], placed_ten(link_from_tool[:, :3, :3], link_from_tool[:, :3, 3])[0]))
