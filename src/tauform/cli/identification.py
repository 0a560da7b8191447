"""Refusals of the verbs that identify, before they read a log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tauform.description.robot import Robot


def check_identification(robot: Robot, *, physical: bool, urdf: Path | None, **choices: Any) -> None:
    """Refuse choices that do not exist, a URDF that cannot be written, and a solver that is not there.

    Args:
        urdf: file to copy, or `new`; None where no URDF is asked for.
        choices: arguments of `tauform.identify`.

    Raises:
        TauformError: what the identification would end in.
    """
    import tauform
    from tauform.arguments import check_arguments
    from tauform.closedform.base.physical import semidefinite_solver
    from tauform.identification.export.urdf import check_urdf, source_of

    # Words first: these refusals cost nothing.
    check_arguments(tauform.identify, **choices)
    if physical:
        # Called for its error where no solver is installed.
        semidefinite_solver()
    if urdf is not None:
        check_urdf(robot, source_of(urdf))
