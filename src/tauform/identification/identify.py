"""identify: from recordings to a fit, in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from tauform.arrays import Array, read_only
from tauform.closedform.threads import on_one_thread
from tauform.description.parameter_groups import Include
from tauform.description.robot import Robot
from tauform.errors import IdentificationError, RecordingError
from tauform.identification.diagnosis.diagnose import diagnose, find_clipping, find_drift
from tauform.identification.diagnosis.held_joints import find_moving
from tauform.identification.diagnosis.held_weight import named as causes_named
from tauform.identification.diagnosis.loads import find_load_of, find_other_loads
from tauform.identification.diagnosis.moving_base import find_moving_base
from tauform.identification.diagnosis.readings import find_bad_readings
from tauform.identification.diagnosis.samples import sampled
from tauform.identification.diagnosis.small import N_STATES, find_small_faults
from tauform.identification.diagnosis.suspicion import Suspicion
from tauform.identification.fit import Fit
from tauform.identification.gravity import measured_direction
from tauform.identification.recording.recording import Recording
from tauform.identification.recording.rest import resting_joints
from tauform.identification.recording.segments import Segment, shifted, uniform_segments
from tauform.identification.regression.colour import coloured
from tauform.identification.regression.design import DEFAULT_INCLUDE, Design
from tauform.identification.regression.estimators import METHODS, Method, estimate
from tauform.identification.regression.evidence import Evidence
from tauform.identification.regression.excitation import check_excitation, check_include, straightened
from tauform.identification.regression.instruments import NO_REFERENCE
from tauform.identification.regression.outliers import repeatable
from tauform.identification.regression.rows import RowSource
from tauform.identification.regression.terms import Term
from tauform.identification.selection.chosen import Regression, chosen_regression
from tauform.identification.selection.laws import FrictionLaw, asked_terms, check_law
from tauform.identification.selection.velocities import Velocities, settled_velocities
from tauform.identification.signals.differentiate import Smoother, SmootherName
from tauform.identification.signals.filters import Filters, choose_filters, correlation_of_filters
from tauform.identification.verdict.alternatives import PHYSICAL, REDUCED, RIDGE, ROBUST, better_on_held_out
from tauform.identification.verdict.carried import settled_load
from tauform.identification.verdict.plausibility import check_recordings
from tauform.identification.verdict.preloads import find_preloads
from tauform.identification.verdict.scale import gravity_ratios, joints_off, scales_off
from tauform.identification.verdict.validate import (
    held_out_errors,
    inflation_of,
    inflation_of_filters,
    residuals_of,
    validated,
)
from tauform.wording import call

# Growth of the error from held-out blocks to validation recordings that asks for a reason, and that a load leaves.
MIN_GROWTH_OF_OTHERS, MAX_GROWTH_WITH_LOAD = 1.5, 3.0
# Share of the rows at rest from which on it is told.
MIN_SHARE_AT_REST = 0.1


def identify(
    robot: Robot,
    recordings: Recording | Sequence[Recording],
    *,
    include: Include = DEFAULT_INCLUDE,
    order: Sequence[str] = (),
    friction: FrictionLaw = "auto",
    couplings: Literal["auto"] | Sequence[tuple[int, int]] | None = "auto",
    terms: Sequence[Term] = (),
    method: Method = "auto",
    filters: Filters | Literal["auto"] | None = "auto",
    smoother: SmootherName = "lowpass",
    delay: float = 0.0,
    prior: Robot | None = None,
    physical: bool = False,
    validate: Recording | Sequence[Recording] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Fit:
    """Identify base parameters, friction and what else the drives do from recordings of the moving robot.

    Args:
        robot: geometry; its parameters serve as prior and for comparison only.
        recordings: one or several.
        include: groups of parameters to identify, or "declared"; see `Robot.columns`.
        order: parameters, or kinds of them, that are kept rather than regrouped; see `base_parameters`.
        friction: "auto" lets held-out blocks choose beyond Fv qd + Fc sign(qd) + Fo (smooth steps, asymmetry,
            bending, springs, ripple); "plain" takes just these three; the others add that law to every joint:
            "asymmetric", "stribeck", "quadratic", "load" (Coulomb friction that grows with the torque carried) and
            "thermal" (viscous friction that changes with the recorded temperature).
        couplings: "auto" looks for shafts that neighbouring joints turn together; pairs of joint indices (from 0)
            ask for them; None leaves them out.
        terms: drive terms (`tf.Drive.of`, of which the coefficient is identified) and columns that take part in any
            case.
        method: "weighted" (each joint by the size of its residuals), "ordinary", "robust" (rows with large
            residuals count less), "total", "instrumental", "ridge" (towards the prior) or "energy" (the energy model,
            whose values need no accelerations; which friction is taken is still judged by torques); "auto" is
            "weighted", and where that follows noise, held-out blocks choose between it, its reduced and physical
            forms and "ridge"; where a few rows leave far more than the others, between it and "robust".
        filters: cut-offs from the data ("auto"), given ones, or None to take every sample as it is.
        smoother: how positions become velocities and accelerations.
        delay: seconds by which the torques lag behind the positions; they are shifted by that.
        prior: robot with the expected parameters, for "ridge" and for what physical consistency leaves open;
            the robot itself by default.
        physical: constrain every link to be physically consistent (extra `feasible`).
        validate: validation recordings, which are predicted and not fitted; the verdict is on them then. Joints that
            rest throughout one are not judged there.
        progress: called with a few words at each stage.

    Raises:
        RecordingError: a recording cannot be of this robot.
        IdentificationError: the motion leaves parameters open, or torques and positions are out of step.
    """
    say = progress or (lambda words: None)
    recordings = _several(recordings)
    _check_method(method, recordings)
    smooth = Smoother(smoother)
    check_include(robot, include)
    # Everything that can be refused is refused before the first column is evaluated.
    check_law(friction, recordings)
    # Almost aligned axes would add parameters that no measurement shows.
    robot, findings = straightened(robot)
    findings += check_recordings(robot, recordings)
    segments, notes = _segments(recordings, delay)
    findings += notes
    # From the positions' own spectrum: the same cut-off for both sides of tau = A x.
    chosen = choose_filters(segments) if filters == "auto" else filters
    asked = [*terms, *asked_terms(robot, segments, friction, couplings)]
    columns = partial(Design.of, include=include, terms=asked, order=order)
    plain = columns(robot)
    if plain.dependent:
        findings.append(f"no motion tells {', '.join(plain.dependent)} from other values, which hold that torque too")
    say("evaluating columns")
    # Measured velocities that lag are worse than derivatives of positions: they are left out.
    first = settled_velocities(RowSource(plain.carried_by(None), segments, chosen, smooth))
    findings += first.findings

    moving = find_moving(robot, recordings)

    def estimated(carrier: Robot | None) -> Fit:
        own = replace(first, source=replace(first.source, design=plain.carried_by(carrier)))
        auto = friction == "auto", isinstance(couplings, str)
        return _estimated(robot, own, columns, auto, method, prior or robot, tuple(findings), moving, say)

    # Load friction is no linear column: links are found, then the load that they make, in turn.
    fit = settled_load(estimated) if plain.is_loaded else estimated(None)
    # After the fit: unseen recordings must not take part in any choice.
    if validate is not None:
        unseen = _several(validate)
        fit = fit.with_findings(*check_recordings(robot, unseen, may_rest=True))
        others, _ = _segments(unseen, delay)
        silent, notes = resting_joints(robot, others, unseen)
        fit = fit.with_findings(*notes)
        clipped = find_clipping(others, robot.joint_names, unseen=True)
        more = [] if moving else find_moving(robot, [*recordings, *unseen])
        fit = replace(fit, suspicions=(*more, *fit.suspicions, *clipped))
        # Validation is predicted with the states that the fit had: derivatives of positions.
        if segments[0].qd is not None and first.source.segments[0].qd is None:  # they lag
            others = tuple(replace(segment, qd=None, qdd=None) for segment in others)
        assert fit.source is not None
        fit = validated(replace(fit, others=replace(fit.source, segments=others, silent=silent)))
        fit = _with_load_of_validation(fit)
    if physical:
        say("making links physical")
        fit = fit.physically_consistent(prior)
    return fit


# Between its stages, too, threads of small products would wait for one another, at full power.
@on_one_thread
def _estimated(
    robot: Robot,
    velocities: Velocities,
    columns: Callable[[Robot], Design],
    auto: tuple[bool, bool],
    method: Method,
    prior: Robot,
    findings: tuple[str, ...],
    moving: Sequence[Suspicion],
    say: Callable[[str], None],
) -> Fit:
    """The fit of a design, and of the friction and couplings that held-out blocks ask for where these are `auto`."""
    source = velocities.source
    # Before anything is chosen: terms could take on what a swapped column does.
    measure = partial(measured_direction, robot=robot, plain=columns, source=source, auto=auto)
    # Nothing of bad readings is dropped: what is wrong with a log is its owner's to mend, before all else.
    bad = [*moving, *find_bad_readings(source.segments, robot.joint_names)]
    swap, causes = (None, ()) if any(own.is_cause for own in bad) else diagnose(source, measure)
    in_order = swap is None and not any(suspicion.is_cause for suspicion in (*bad, *causes))
    # Springs and friction laws found beside a fault of the log or of the mount would be made up for it.
    regression, more, late = chosen_regression(source, *(auto if in_order else (False, False)), in_order, say)
    regression = replace(regression, choice_cost=velocities.cost * regression.choice_cost)
    check_excitation(regression.design, regression.evidence, regression.rows, has_prior=method == "ridge")
    say("estimating")
    fit = _fit(robot, regression, method, prior, (*findings, *more))
    # Saturated torques bias the fit without leaving large residuals, so they are looked for in the log itself.
    # A log that stands still repeats its largest value too.
    clipped = [] if bad else find_clipping(source.segments, robot.joint_names)
    drift = find_drift(fit.design, fit.values, regression.shown) if in_order else []
    loads = find_other_loads(fit.rigid_robot, fit.design, source) if in_order else []
    # A load of one recording would pass for a tilt of both.
    is_plain = in_order and not (bad or loads or late or causes)
    ratios = gravity_ratios(fit)
    # Another unit of all torques: gains of single joints are no news.
    off = list(range(robot.n_joints)) if scales_off(fit) else joints_off(ratios)
    small = find_small_faults(fit.design, source, measure, off) if is_plain else []
    # What is wrong with a log is not mended by a description.
    if method == "auto" and swap is None and not (causes or small):

        def others(free: Fit) -> dict[str, Callable[[], Fit]]:
            own = replace(regression, evidence=free.evidence)
            made: dict[str, Callable[[], Fit]] = {
                PHYSICAL: lambda: free.physically_consistent(prior),
                REDUCED: free.reduced,
                RIDGE: lambda: _fit(robot, own, "ridge", prior, free.findings),
                ROBUST: lambda: _fit(robot, replace(own, rows=repeatable(own.rows)), "robust", prior, free.findings),
            }
            # Thunks: the alternatives are computed only where the free fit follows noise.
            return {kind: partial(_said, say, kind, make) for kind, make in made.items()}

        fit = better_on_held_out(fit, others)
    if loads or small or bad:
        fit = _without_inventions(fit, more)
    elif is_plain:
        small = [*find_moving_base(fit.design, fit.values, source), *_causes_of_gravity(fit, source, ratios)]
        fit = fit.with_findings(*find_preloads(fit))
    return replace(fit, swap=swap, suspicions=(*bad, *causes, *loads, *small, *late, *clipped, *drift))


def _causes_of_gravity(fit: Fit, source: RowSource, ratios: Array) -> list[Suspicion]:
    """What makes gravity of another size than described, where it is and nothing else explains it."""
    off = joints_off(ratios)
    if not off or fit.robot.closure is not None or fit.design.is_thermal or fit.design.is_loaded or scales_off(fit):
        return []
    return causes_named(fit.robot, sampled(source, N_STATES), ratios, off)


def _without_inventions(fit: Fit, found: Sequence[str]) -> Fit:
    """The fit with one sentence in place of those that offer its terms as physics: a fault makes such terms up."""
    names = [term.name for term in fit.terms]
    kept = tuple(sentence for sentence in fit.findings if sentence not in found)
    said = f"{', '.join(names)}: found beside the fault that the verdict names, and no physics before that is mended"
    return replace(fit, findings=(*kept, said) if names else kept)


def _with_load_of_validation(fit: Fit) -> Fit:
    """The fit with a load of its validation recordings named, where these are predicted far worse."""
    assert fit.validation is not None
    if fit.swap is not None or any(own.is_cause for own in fit.suspicions) or fit.others is None:
        return fit
    if fit.validation.total < MIN_GROWTH_OF_OTHERS * fit.held_out.total:
        return fit
    expected = (MAX_GROWTH_WITH_LOAD * fit.held_out.total / fit.validation.total) ** 2
    found = find_load_of(fit.rigid_robot, fit.design, fit.values, fit.others, expected)
    return replace(fit, suspicions=(*found, *fit.suspicions))


def _said(say: Callable[[str], None], kind: str, make: Callable[[], Fit]) -> Fit:
    """The fit of an alternative, told before it is made."""
    say(f"comparing with a {kind} fit")
    return make()


def _fit(robot: Robot, regression: Regression, method: Method, prior: Robot, findings: tuple[str, ...]) -> Fit:
    # All methods end in values with the same evidence: their covariance is computed the same way.
    estimated = estimate(method, regression.design, regression.evidence, regression.rows, regression.source, prior)
    assert estimated.refit is not None
    residuals = residuals_of(estimated.values, regression.shown, regression.source.segments[0].rate)
    # Filtered neighbours share noise: the covariance of independent rows would be too small.
    of_filters = inflation_of_filters(regression.source.filters, regression.source.segments[0].rate)
    inflation = inflation_of(residuals, of_filters)
    evidence = coloured(
        replace(regression.evidence, counted=estimated.counted),
        estimated,
        regression.shown,
        correlation_of_filters(regression.source.filters, regression.source.segments[0].rate),
    )
    covariance = estimated.covariance(evidence, inflation)
    cost, stretches = regression.choice_cost, regression.stretches
    held_out, seen = held_out_errors(evidence, estimated.refit, estimated.values, cost, stretches)
    findings = (*findings, *_pauses_left_out(evidence, robot.joint_names))
    return Fit(
        robot=robot,
        design=regression.design,
        values=read_only(estimated.values),
        covariance=read_only(covariance),
        sigma=read_only(estimated.sigma),
        evidence=evidence,
        residuals=residuals,
        held_out=held_out,
        choice_cost=regression.choice_cost,
        condition=estimated.condition,
        raw_condition=estimated.raw_condition,
        method=METHODS[method],
        filters=regression.source.filters,
        findings=(*findings, *seen),
        inflation=read_only(inflation),
        weights=read_only(estimated.weights),
        rows=regression.shown,
        source=regression.stretches,
        segments=regression.source.segments,
    )


def _pauses_left_out(evidence: Evidence, names: Sequence[str]) -> list[str]:
    """A sentence on the joints that rest in many of the rows."""
    shares = 1 - evidence.rows_heard / max(1, evidence.n_rows)
    still = [(name, share) for name, share in zip(names, shares.tolist(), strict=True) if share > MIN_SHARE_AT_REST]
    if not still:
        return []
    told = ", ".join(f"{name} {100 * share:.0f} %" for name, share in still)
    return [f"joints at rest, which are neither fitted nor judged there, since friction may have any value: {told}"]


def _segments(recordings: Sequence[Recording], delay: float) -> tuple[tuple[Segment, ...], list[str]]:
    segments: list[Segment] = []
    findings: list[str] = []
    for index, recording in enumerate(recordings):
        parts = uniform_segments(recording, index)
        # Shifted once here: everything behind sees torques and positions of one instant.
        segments += [shifted(segment, delay) for segment in parts.segments]
        findings += parts.findings
    return tuple(segments), findings


def _several(recordings: Recording | Sequence[Recording]) -> list[Recording]:
    several = [recordings] if isinstance(recordings, Recording) else list(recordings)
    for recording in several:
        if not isinstance(recording, Recording):
            raise RecordingError(
                f"expected a Recording, got {type(recording).__name__}",
                argument="recordings",
                value=recording,
                remedy=f"use {call('read_recording', 'path, robot')} or {call('Recording', 't, q, tau')}",
            )
    if not several:
        raise RecordingError("no recordings were given")
    return several


def _check_method(method: str, recordings: Sequence[Recording]) -> None:
    if method not in METHODS:
        raise IdentificationError(f"method: expected one of {', '.join(METHODS)}, got {method!r}")
    if method == "instrumental" and any(recording.reference is None for recording in recordings):
        raise IdentificationError(NO_REFERENCE)
