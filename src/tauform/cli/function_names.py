"""Names of functions on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from tauform.description.robot import Robot


def chosen_functions(robot: Robot, words: Sequence[str]) -> list[str]:
    """Names of functions from the words of the option; `all` leaves out what this robot has no use for."""
    from tauform.codegen.functions import FUNCTIONS
    from tauform.codegen.minimal.problem import has_friction
    from tauform.rigidbody.load import has_load

    # Names may come one by one or with commas; each once, in the order given.
    names = list(dict.fromkeys(name.strip() for word in words for name in word.split(",") if name.strip()))
    if not names:
        raise typer.BadParameter(f"--functions names no function; choose from {', '.join(FUNCTIONS)}")
    if names == ["all"]:
        # a contact changes the torque that joints carry, so friction by load leaves the observer without a model
        unused = {"friction": not has_friction(robot), "momentum_observer": has_load(robot.tree)}
        return [name for name in FUNCTIONS if not unused.get(name)]
    return names
