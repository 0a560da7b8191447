"""Refusals of the verbs that identify, before they identify."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from tauform.description.robot import Robot
    from tauform.identification.export.code import CodeOptions
    from tauform.identification.recording.recording import Recording
    from tauform.identification.signals.filters import Filters


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
    from tauform.closedform.base.conic import semidefinite_solver
    from tauform.identification.export.urdf import check_urdf, source_of

    # Words first: these refusals cost nothing.
    check_arguments(tauform.identify, **choices)
    if physical:
        # Called for its error where no solver is installed.
        semidefinite_solver()
    if urdf is not None:
        check_urdf(robot, source_of(urdf))


def check_stored(
    options: CodeOptions, recordings: Sequence[Recording], filters: Filters | Literal["auto"] = "auto"
) -> None:
    """Refuse an excerpt that the filters of these recordings leave nothing of.

    Raises:
        TauformError: the excerpt is too short, or a recording is.
    """
    from tauform.identification.export.judged import check_excerpt
    from tauform.identification.recording.segments import uniform_segments
    from tauform.identification.signals.filters import choose_filters

    if options.excerpt is None or not recordings:
        return
    # The identification will choose the same: cut-offs are those of the motion.
    segments = [segment for recording in recordings for segment in uniform_segments(recording).segments]
    check_excerpt(options.excerpt, choose_filters(segments) if filters == "auto" else filters)
