"""Stages of the main job that need recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.fit import Fit
from tauform.identification.recording.recording import Recording
from tauform.identification.verdict.resimulate import validate_by_simulation
from tauform.pipeline.stages import StageLog

# `identify` with everything but its choice of terms.
Fitted = Callable[..., Fit]


def identified_fit(fitted: Fitted, log: StageLog) -> Fit:
    """The fit with all the terms that held-out blocks ask for."""
    with log.stage("identification") as describe:
        fit = fitted(progress=log.progress)
        describe(**_described(fit, f"{len(fit.values)} values, {fit.verdict.grade}"))
    return fit


def identified_robot(fit: Fit, fitted: Fitted, log: StageLog) -> Robot:
    """The robot that programs are made of: the fit's where it holds nothing else, or of a fit with plain friction.

    Friction that builds up over a velocity, springs and couplings are no parameters of a robot; left out, they
    would take their share of the torque with them, so the others are fitted without them.
    """
    if fit.holds_nothing_else:
        return fit.identified_robot
    with log.stage("identification, plain friction") as describe:
        plain = fitted(friction="plain", couplings=None)
        describe(**_described(plain, f"{len(plain.values)} values, for programs"))
    return plain.identified_robot


def simulated(fit: Fit, recordings: Iterable[Recording], log: StageLog) -> None:
    """The model driven along the recordings; one that does not get there is a finding, no reason to stop."""
    for recording in recordings:
        with log.stage(f"simulation along {recording.name}") as describe:
            try:
                found = validate_by_simulation(fit, recording)
            except IdentificationError as reason:
                describe(outcome=str(reason), status="doubtful")
                continue
            check = f"recorded positions, put back every {found.horizon:g} s"
            describe(outcome="largest error, of a joint's travel", check=check, figure=float(found.relative.max()))


def _described(fit: Fit, outcome: str) -> dict[str, object]:
    errors = fit.unseen
    status = "verified" if fit.verdict.grade == "good" else "doubtful"
    return {"outcome": outcome, "status": status, "check": errors.source, "figure": errors.total}
