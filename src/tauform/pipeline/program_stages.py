"""Stages of the main job that make programs: exact ones, the reduced one, and the curve between both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tauform.closedform.model.bound import BoundModel
from tauform.closedform.profile import Profile, usual_temperatures
from tauform.closedform.reduction.tradeoff import Tradeoff
from tauform.codegen.generate import generate
from tauform.codegen.program.program import Program
from tauform.description.robot import GeneralClosure, Robot
from tauform.errors import GenerationError, VerificationError
from tauform.pipeline.motion import coordinate_ranges
from tauform.pipeline.stages import StageLog
from tauform.realtime.reduction.figures import tradeoff
from tauform.realtime.reduction.reduce import ROUTES, Reduction, reduce
from tauform.wording import call

# Fresh states of the reduced program, and of each point of the accuracy curve.
N_FRESH, CURVE_STATES = 200_000, 20_000

# Bounds of the states that a reduced program is made for, where a joint has no limits; those of Lloyd2021, "fast".
SPEED, ACCELERATION = 1.0, 10.0
# Operations of the longest exact program from which single ones are left out one after the other.
MAX_PRUNED_OPERATIONS = 1000


def exact_programs(robot: Robot, functions: Iterable[str], log: StageLog) -> tuple[Program, ...]:
    """The exact program of each function; one that is too long is said in its stage and left out."""
    programs = []
    # Each once, in the order that was asked for.
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


def reduced_program(
    model: Robot | BoundModel,
    programs: Sequence[Program],
    profile: Profile,
    tolerance: float | None,
    confidence: float,
    routes: Sequence[str] | None,
    log: StageLog,
) -> Reduction | None:
    """The cheapest inverse dynamics within a tolerance; None where none is asked for or the exact one cannot be."""
    if tolerance is None:
        return None
    with log.stage("inverse_dynamics, reduced", spare=True) as describe:
        # Single operations alone can go, of programs that solve the loop: it takes a minute, and is asked for by name.
        if routes is None and isinstance(model, Robot) and isinstance(model.closure, GeneralClosure):
            describe(outcome=f"not tried for loops that bend; {call('reduce')} does", status="skipped")
            return None
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
        # Said as a result: nobody need wonder why there is no reduced program.
        if found.route == "exact":
            describe(outcome=f"nothing smaller keeps {100 * tolerance:.2g} %; take the exact one{_why(found)}")
        else:
            saved = 100 * (1 - found.program.n_operations / found.exact.n_operations)
            describe(
                outcome=f"{_cost(found.program)}, {saved:.0f} % fewer",
                **_certificate(found.program, f"exact at {100 * confidence:g} % of"),
            )
        return found
    return None


def _why(found: Reduction) -> str:
    """Why the exact program won, where it is not for its accuracy."""
    is_definite = found.candidates[0].verification.definite
    return " (its mass matrix is not positive definite)" if is_definite is False else ""


def accuracy_curve(bound: BoundModel, profile: Profile, exact: Program, log: StageLog) -> Tradeoff | None:
    """Errors and operations of the closed form with ever fewer terms."""
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


def default_profile(robot: Robot) -> Profile:
    """Positions within the joints' limits at ordinary speeds: 1 rad/s (m/s) and 10 rad/s^2, or the limits' if lower."""
    # By name: q holds the joints that lead loops.
    speeds = {joint.name: joint.limits.velocity for joint in robot.joints}
    # A slow joint is not asked for more than it can do.
    fastest = np.array([min(SPEED, speeds[name]) for name in robot.joint_names])
    bounds = coordinate_ranges(robot).T, fastest, ACCELERATION
    return Profile.ranges(robot.n_joints, *bounds, name="joint limits", temperature=usual_temperatures(robot))


def default_routes(exact: Program) -> tuple[str, ...]:
    """The routes that take minutes at most; leaving out single operations takes the square of their number."""
    return tuple(route for route in ROUTES if route != "operations" or exact.n_operations <= MAX_PRUNED_OPERATIONS)
