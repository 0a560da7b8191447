"""model_robot: the main job, from a robot (and recordings of it) to verified programs, as one pure function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tauform.arguments import checked_methods
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.parameters import base_parameters
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.derive import derive
from tauform.closedform.model.model import ClosedFormModel
from tauform.closedform.profile import Profile
from tauform.codegen.certificate import EXACT_MODEL
from tauform.codegen.generate import generate
from tauform.codegen.program.program import Program
from tauform.codegen.request import check_function
from tauform.deferred import deferred
from tauform.description.finding import Finding
from tauform.description.robot import Robot
from tauform.errors import GenerationError, ModelError, TauformError, VerificationError
from tauform.escaping.shown import visible
from tauform.identification.export.code import CodeOptions
from tauform.identification.fit import Fit
from tauform.identification.identify import identify
from tauform.identification.recording.recording import Recording
from tauform.identification.selection.laws import FrictionLaw
from tauform.messages import counted
from tauform.pipeline.comparison import N_STATES, base_error, closed_form_error
from tauform.pipeline.defaults import default_profile, default_routes
from tauform.pipeline.identification_stages import identified_fit, simulated
from tauform.pipeline.stages import Progress, Stage, StageLog
from tauform.realtime.reduction.figures import Tradeoff, tradeoff
from tauform.realtime.reduction.reduce import ROUTES, Reduction, check_guarantee, reduce

if TYPE_CHECKING:
    from tauform.report.delivery import Delivery

FUNCTIONS = ("inverse_dynamics", "gravity_torque", "mass_matrix")
# Fresh states of the reduced program, and of each point of the accuracy curve.
N_FRESH, CURVE_STATES = 200_000, 20_000
RANDOM_STATES = f"Newton-Euler, {N_STATES} states"


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class RobotModel:
    """Everything that `model_robot` made.

    Attributes:
        described: the robot as it was given.
        robot: the robot that the models and programs describe: identified where recordings were given.
        findings: what `check` found about the description.
        base: base parameters of the robot.
        closed_form: its closed form; None where it has none (trees, loops) or it would be too large.
        bound: the closed form with the robot's numbers.
        fit: the identification with all the terms that held-out blocks asked for; None without recordings.
        programs: the exact programs, one per function.
        reduction: the cheapest program within the tolerance; None where that was not asked for.
        tradeoff: errors of the closed form with ever fewer terms; None without a closed form or a tolerance.
        stages: what was done and verified, in order.
    """

    described: Robot
    robot: Robot
    findings: tuple[Finding, ...]
    base: BaseParameters
    closed_form: ClosedFormModel | None
    bound: BoundModel | None
    fit: Fit | None
    programs: tuple[Program, ...]
    reduction: Reduction | None
    tradeoff: Tradeoff | None
    stages: tuple[Stage, ...]

    @property
    def delivered(self) -> tuple[Program, ...]:
        """The exact programs, and the reduced one under a name of its own, as C holds them."""
        reduction = self.reduction
        # The exact program again would only be a second name for the first.
        if reduction is None or reduction.route == "exact":
            return self.programs
        return (*self.programs, replace(reduction.program, name=f"{reduction.program.name}_reduced"))

    def write(
        self,
        folder: str | Path,
        *,
        urdf: str | Path | None = None,
        name: str | None = None,
        real: Literal["double", "float"] = "double",
        recording: bool = True,
        excerpt: float | None = None,
        force: bool = False,
        progress: Progress | None = None,
    ) -> Delivery:
        """Write C, its self-test run, models and an HTML report; see `tauform.report.delivery.deliver`."""
        options = CodeOptions(real, recording, excerpt)
        delivered: Delivery = deferred("RobotModel.write")(
            self, folder, urdf=urdf, name=name, options=options, force=force, progress=progress
        )
        return delivered

    def __repr__(self) -> str:
        names = ", ".join(program.name for program in self.programs)
        return f"RobotModel({self.robot.name!r}, {self.base.n} base parameters, programs {names})"

    def __str__(self) -> str:
        """The summary, one line per stage."""
        stages = [f"{s.name}: {s.outcome}; {s.verdict or s.status}" for s in self.stages]
        return "\n".join(map(visible, [repr(self), *stages]))


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
    bound = None if closed_form is None else closed_form.bind(modelled)
    programs = _programs(modelled, functions, log)
    states = profile or default_profile(modelled)
    reduction = _reduce(bound or modelled, programs, states, tolerance, confidence, routes, log)
    curve = None if bound is None or reduction is None else _tradeoff(bound, states, reduction.exact, log)
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
        check_guarantee(tolerance, confidence, "inverse_dynamics", routes or ROUTES)


def _check(robot: Robot, log: StageLog) -> tuple[Finding, ...]:
    with log.stage("check") as describe:
        findings = tuple(robot.check())
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
        if robot.closure is not None:
            describe(outcome="none: closed forms are for robots without loops", status="skipped")
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


def _programs(robot: Robot, functions: Iterable[str], log: StageLog) -> tuple[Program, ...]:
    programs = []
    for function in dict.fromkeys(functions):
        with log.stage(function, spare=True) as describe:
            try:
                program = generate(robot, function)
            # A program that is wrong is never skipped; one that is too long is.
            except VerificationError:
                raise
            except GenerationError as reason:  # too long for one straight line, for example
                describe(outcome=str(reason), status="skipped")
                continue
            describe(outcome=f"{_cost(program)}, {program.algorithm}", **_certificate(program, "textbook,"))
            programs.append(program)
    return tuple(programs)


def _reduce(
    model: Robot | BoundModel,
    programs: Sequence[Program],
    profile: Profile,
    tolerance: float | None,
    confidence: float,
    routes: Sequence[str] | None,
    log: StageLog,
) -> Reduction | None:
    if tolerance is None:
        return None
    with log.stage("inverse_dynamics, reduced", spare=True) as describe:
        known = (program for program in programs if program.name == "inverse_dynamics")
        try:
            # Reused where it was made already.
            exact = next(known, None) or generate(model, "inverse_dynamics")
            options = {"routes": routes or default_routes(exact), "n_fresh": N_FRESH, "exact": exact}
            found = reduce(model, profile, tolerance, confidence, **options, progress=log.progress)  # type: ignore[arg-type]
        except VerificationError:
            raise
        except GenerationError as reason:
            describe(outcome=str(reason), status="skipped")
            return None
        if found.route == "exact":
            describe(outcome=f"nothing smaller keeps {100 * tolerance:.2g} %; take the exact one")
        else:
            saved = 100 * (1 - found.program.n_operations / found.exact.n_operations)
            describe(
                outcome=f"{_cost(found.program)}, {saved:.0f} % fewer",
                **_certificate(found.program, f"exact at {100 * confidence:g} % of"),
            )
        return found
    return None


def _tradeoff(bound: BoundModel, profile: Profile, exact: Program, log: StageLog) -> Tradeoff | None:
    with log.stage("accuracy curve", spare=True) as describe:
        curve = tradeoff(
            bound, profile.suited(bound.beside.robot), n_states=CURVE_STATES, progress=log.progress, exact=exact
        )
        describe(outcome=f"{len(curve.n_kept)} closed forms, {curve.n_kept.min():.0f} terms to {bound.n_terms}")
        return curve
    return None


def _cost(program: Program) -> str:
    return f"{program.n_multiplications} mult + {program.n_additions} add"


def _certificate(program: Program, reference: str) -> dict[str, object]:
    certificate = program.certificate
    if certificate is None:
        return {}
    check = f"{reference} {certificate.states} states"
    return {"status": "verified", "check": check, "figure": certificate.error, "allowed": certificate.tolerance}
