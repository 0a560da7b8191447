"""Names of MATLAB: of its many letters only the first count, so that two long names could become one."""

from __future__ import annotations

from tauform.codegen.names import c_prefix
from tauform.errors import GenerationError
from tauform.escaping.shown import shortened

# Letters of a name that count (namelengthmax), and those of a prefix, so that the longest of our functions fits behind.
LONGEST_NAME, LONGEST_PREFIX = 63, 31


def matlab_prefix(name: str | None, robot: str) -> str:
    """An identifier, as in C, that leaves room for the names of functions.

    Raises:
        GenerationError: the user's own is too long, or no identifier.
    """
    found = c_prefix(name, robot)
    # A robot's own long name is shortened; a name that the user chose is not changed quietly.
    if name is None and len(found) > LONGEST_PREFIX:
        return shortened(found, robot, LONGEST_PREFIX)
    if len(found) > LONGEST_PREFIX:
        raise GenerationError(
            f"name: MATLAB's names have {LONGEST_NAME} letters, of which a prefix may take {LONGEST_PREFIX}, "
            f"not {len(found)}; take a shorter one"
        )
    return found


def matlab_name(name: str) -> str:
    """The name, if all its letters count.

    Raises:
        GenerationError: it is too long.
    """
    if len(name) > LONGEST_NAME:
        raise GenerationError(
            f"write: {name} has {len(name)} letters, MATLAB's names have {LONGEST_NAME}; take a shorter name="
        )
    return name
