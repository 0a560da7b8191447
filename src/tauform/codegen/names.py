"""The prefix of all names in written C, of its files and build targets: the user's own, or one of the robot's name."""

from __future__ import annotations

from tauform.errors import GenerationError
from tauform.escaping.c import LONGEST_NAME, build_name


def c_prefix(name: str | None, robot: str) -> str:
    """The prefix that was asked for, as it stands, or the robot's name with what C or a build does not take replaced.

    Raises:
        GenerationError: the name that was asked for is no identifier of C, or C, make or CMake uses it already.
    """
    usable = build_name(robot or "model" if name is None else name)
    if name is not None and name != usable:
        raise GenerationError(
            f"name: {name!r:.{LONGEST_NAME}} cannot begin the names of C functions, files and build targets; take "
            f"letters, digits and _, a letter first, and no word of C, of its library or of CMake, such as {usable!r}"
        )
    return usable
