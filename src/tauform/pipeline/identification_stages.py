"""Stages of the main job that need recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tauform.errors import IdentificationError, TauformError
from tauform.identification.fit import Fit
from tauform.identification.recording.recording import Recording
from tauform.identification.verdict.resimulate import validate_by_simulation
from tauform.pipeline.stages import StageLog

# `identify` with everything but its choice of terms.
Fitted = Callable[..., Fit]


def identified_fit(fitted: Fitted, reduced: bool, physical: bool, log: StageLog) -> Fit:
    """The fit with all the terms that held-out blocks ask for, reduced and physical where that was asked for."""
    with log.stage("identification") as describe:
        fit = _refined(fitted(progress=log.progress), reduced, physical, log)
        describe(**_described(fit, f"{len(fit.values)} values, {fit.verdict.grade}"))
    return fit


def _refined(fit: Fit, reduced: bool, physical: bool, log: StageLog) -> Fit:
    try:
        if reduced:
            log.progress("leaving out what the torque does not need")
            fit = fit.reduced()
        if physical:
            log.progress("making links physical")
            fit = fit.physically_consistent()
    except TauformError as error:
        error.finished = fit  # what was asked for is not there, what was found is
        raise
    return fit


def simulated(fit: Fit, recordings: Iterable[Recording], log: StageLog) -> None:
    """The model driven along the recordings; one that does not get there is a finding, no reason to stop."""
    for recording in recordings:
        with log.stage(f"simulation along {recording.name}") as describe:
            try:
                found = validate_by_simulation(fit, recording)
            except IdentificationError as reason:
                describe(outcome=str(reason), status="doubtful")
                # The fit stands: only its simulation is in doubt.
                continue
            check = f"recorded positions, put back every {found.horizon:g} s"
            describe(outcome="largest error, of a joint's travel", check=check, figure=float(found.relative.max()))


def _described(fit: Fit, outcome: str) -> dict[str, object]:
    errors = fit.unseen
    # Usable is doubtful here: the summary asks the user to read the verdict.
    status = "verified" if fit.verdict.grade == "good" else "doubtful"
    return {"outcome": outcome, "status": status, "check": errors.source, "figure": errors.total}
