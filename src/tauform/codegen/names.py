"""The prefix of all names in written C: the user's own, or one made of the robot's name."""

from __future__ import annotations

from tauform.codegen.backends.c.config import identifier
from tauform.errors import GenerationError


def c_prefix(name: str | None, robot: str) -> str:
    """The prefix that was asked for, as it stands, or the robot's name with what C does not allow replaced.

    Raises:
        GenerationError: the name that was asked for is no identifier of C, or clashes with one that is printed.
    """
    usable = identifier(robot or "model" if name is None else name)
    if name is not None and name != usable:
        raise GenerationError(
            f"name: {name!r} cannot begin the names of C functions; take letters, digits and _, a letter first, and no "
            f"word of C, such as {usable!r}"
        )
    return usable
