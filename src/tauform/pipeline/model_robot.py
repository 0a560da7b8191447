"""model_robot: the main job, from a robot (and recordings of it) to verified programs, as one pure function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.parameters import base_parameters
from tauform.closedform.model.derive import derive
from tauform.closedform.model.model import ClosedFormModel
from tauform.closedform.profile import Profile
from tauform.codegen.certificate import EXACT_MODEL
from tauform.codegen.request import check_function
from tauform.description.finding import Finding
from tauform.description.robot import GeneralClosure, Robot
from tauform.errors import IdentificationError, ModelError, TauformError
from tauform.identification.fit import Fit
from tauform.identification.identify import identify
from tauform.identification.recording.recording import Recording
from tauform.identification.selection.laws import FrictionLaw
from tauform.identification.verdict.resimulate import validate_by_simulation
from tauform.messages import Progress, counted
from tauform.pipeline.comparison import N_STATES, base_error, closed_form_error
from tauform.pipeline.program_stages import (
    accuracy_curve,
    default_profile,
    exact_programs,
    reduced_program,
)
from tauform.pipeline.robot_model import RobotModel
from tauform.pipeline.stages import StageLog
from tauform.realtime.reduction.reduce import ROUTES, check_guarantee

FUNCTIONS = ("inverse_dynamics", "gravity_torque", "mass_matrix")
RANDOM_STATES = f"Newton-Euler, {N_STATES} states"

# `identify` with everything but its choice of terms.
Identify = Callable[..., Fit]


def model_robot(
    robot: Robot,
    recordings: Recording | Sequence[Recording] = (),
    *,
    validate: Recording | Sequence[Recording] | None = None,
    friction: FrictionLaw = "auto",
    reduced: bool = False,
    physical: bool = False,
    simulate: bool = False,
    delay: float = 0.0,
    functions: Sequence[str] = FUNCTIONS,
    tolerance: float | None = 0.01,
    confidence: float = 0.999,
    profile: Profile | None = None,
    routes: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> RobotModel:
    """Check a robot, identify it from recordings, derive its model, and make the cheapest programs of it.

    A stage that the robot rules out (no closed form of a tree) is said in the summary and left out.

    Args:
        robot: its geometry, and its parameters where there are no recordings.
        recordings: measured motion; the models and programs then have the identified parameters.
        validate: further recordings that are predicted, not fitted.
        friction: what `tauform.identify` looks for in the joints.
        reduced: keep only the values that the torque needs, see `Fit.reduced`.
        physical: identify physically consistent links (extra `feasible`).
        simulate: drive the identified model by the recorded torques and compare positions.
        delay: seconds by which the torques of the recordings lag behind the positions.
        functions: functions to make exact programs of; names of `tauform.generate`.
        tolerance: relative error that the reduced inverse dynamics may have; None makes none.
        confidence: share of the states for which the tolerance must hold.
        profile: states that the reduced program will meet; the robot's joint limits, at ordinary speeds, by default.
        routes: ways to a smaller program that are tried, see `tauform.reduce`; by default all, without that
            of single operations where the exact program is so long that it would take many minutes.
        progress: called with a few words at each stage.

    Raises:
        TauformError: of the stages: a recording that does not fit, an unknown function, a failed verification. What was
            finished all the same, a RobotModel or at least a Fit, is the error's `finished`.
    """
    # Wrong names are refused before an identification that may take minutes.
    check_choices(functions, tolerance, confidence, routes)
    log = StageLog(progress or (lambda words: None))
    several = [recordings] if isinstance(recordings, Recording) else list(recordings)
    findings = _check(robot, log)
    # Everything but the choice of terms, which the stages below may repeat.
    fitted = partial(identify, robot, several, validate=validate, friction=friction, delay=delay)
    fit = identified_fit(fitted, reduced, physical, log) if several else None
    if fit is not None and simulate:
        others = [validate] if isinstance(validate, Recording) else list(validate or ())
        # Validation recordings where there are any: the fit has not seen them.
        simulated(fit, others or several, log)
    try:
        modelled = robot if fit is None else fit.identified_robot
        base = _base(modelled, log)
    except TauformError as error:
        # The fit survives what its models refuse.
        error.finished = fit
        raise
    closed_form = _derive(modelled, log)
    # Of the identified robot: what is judged is what is shipped.
    bound = None if closed_form is None else closed_form.bind(modelled)
    programs = exact_programs(modelled, functions, log)
    states = profile or default_profile(modelled)
    reduction = reduced_program(bound or modelled, programs, states, tolerance, confidence, routes, log)
    # A curve of terms needs terms, and the exact program that the reduction was measured against.
    curve = None if bound is None or reduction is None else accuracy_curve(bound, states, reduction.exact, log)
    made = RobotModel(
        *(robot, modelled, findings, base, closed_form, bound, fit, programs, reduction, curve), tuple(log.stages)
    )
    # Spare stages failed: raised here, with everything else finished.
    log.end(made)
    return made


def check_choices(
    functions: Sequence[str], tolerance: float | None, confidence: float, routes: Sequence[str] | None
) -> None:
    """Refuse what a later stage would; ask before long work.

    Raises:
        ModelError: a tolerance or confidence out of range.
        UnknownNameError: no such function or route.
    """
    for function in functions:
        check_function(function)
    if tolerance is not None:
        # Of inverse dynamics, which is what the main job reduces.
        check_guarantee(tolerance, confidence, "inverse_dynamics", routes or ROUTES)


def _check(robot: Robot, log: StageLog) -> tuple[Finding, ...]:
    with log.stage("check") as describe:
        findings = tuple(robot.check())
        # Doubts alone do not make a stage doubtful: most files raise some.
        unphysical = sum(finding.severity == "unphysical" for finding in findings)
        if findings:
            count = f"{counted(len(findings), 'finding')}, {unphysical} unphysical"
            describe(outcome=count, status="doubtful" if unphysical else "done")
        else:
            describe(outcome="nothing unphysical, nothing almost aligned")
    return findings


def _base(robot: Robot, log: StageLog) -> BaseParameters:
    with log.stage("base parameters") as describe:
        # Declared parameters: those of friction and rotors only where the robot has some.
        base = base_parameters(robot, include="declared")
        describe(
            outcome=f"{base.n} of {len(base.columns)} parameters ({base.composition})",
            status="verified",
            check=RANDOM_STATES,
            figure=base_error(robot, base),
            allowed=EXACT_MODEL,
        )
    return base


def _derive(robot: Robot, log: StageLog) -> ClosedFormModel | None:
    with log.stage("closed form", spare=True) as describe:
        if isinstance(robot.closure, GeneralClosure):
            describe(outcome="none: loops that are not linear in q have no closed form", status="skipped")
            return None
        try:
            model = derive(robot, include="declared")
        except ModelError as reason:  # too large to hold; everything else works without it
            describe(outcome=str(reason), status="skipped")
            return None
        describe(
            outcome=f"{model.n_terms} terms in {model.n_base} base parameters",
            status="verified",
            check=RANDOM_STATES,
            figure=closed_form_error(robot, model),
            allowed=EXACT_MODEL,
        )
        return model
    return None


def identified_fit(fitted: Identify, reduced: bool, physical: bool, log: StageLog) -> Fit:
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
