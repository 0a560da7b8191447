"""Values per joint on the command line: states of a robot."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tauform.arrays import Array
    from tauform.description.robot import Robot

VALUES = "n numbers, or joint=value for some (the others are zero); separated by commas or spaces"


def joint_values(robot: Robot, text: str, name: str) -> Array:
    """(n,) values from the text of an option: all of them in order, or some by joint."""
    import numpy as np

    from tauform.errors import ShapeError, UnknownNameError

    words = text.replace(",", " ").split()
    values = np.zeros(robot.n_joints)
    # From the right: a joint's name may hold "=", its value never does.
    named = [word.rpartition("=") for word in words if "=" in word]
    try:
        if not named:
            numbers = [float(word) for word in words]
            if words and len(numbers) != robot.n_joints:
                expected = f"{robot.n_joints} number{'s' * (robot.n_joints != 1)}"
                raise ShapeError(f"--{name}: expected {expected}, got {len(numbers)}; or name the joints")
            values[: len(numbers)] = numbers
            return values
        # A mixture leaves open which joints the bare numbers belong to.
        if len(named) != len(words):
            raise ShapeError(f"--{name}: name every joint (joint=value) or none, in {text!r}")
        for joint, _, value in named:
            if joint not in robot.joint_names:
                raise UnknownNameError(f"--{name}: no joint {joint!r}; known: {', '.join(robot.joint_names)}")
            values[robot.joint_names.index(joint)] = float(value)
    except ValueError as error:
        # ShapeError is a ValueError too; it already says what is wrong.
        if isinstance(error, ShapeError):
            raise
        raise ShapeError(f"--{name}: expected numbers like 0.1 or {robot.joint_names[0]}=0.1, got {text!r}") from None
    return values
