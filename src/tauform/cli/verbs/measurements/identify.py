"""tauform identify: recordings in, a judged model out, with report, URDF and C on request."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauform.cli.function_names import chosen_functions
from tauform.cli.identification import check_identification, check_stored
from tauform.cli.options import (
    CodeFunctions,
    Delay,
    Excerpt,
    Force,
    FrictionOption,
    Name,
    NoRecording,
    Physical,
    RealOption,
    Reduce,
    Simulate,
    Validate,
    need,
)
from tauform.cli.outputs import Writing, check_outputs
from tauform.cli.page import Page
from tauform.cli.progress import ProgressDisplay
from tauform.cli.reading import LogOptions, read_from
from tauform.cli.verb import verb
from tauform.escaping.shown import visible

if TYPE_CHECKING:
    from tauform.description.robot import Robot
    from tauform.identification.export.proof import Proof
    from tauform.identification.export.urdf import WrittenUrdf
    from tauform.identification.fit import Fit
    from tauform.identification.recording.recording import Recording
    from tauform.identification.verdict.resimulate import Resimulation


@verb
def identify(
    robot: Robot,
    tell: ProgressDisplay,
    logs: Annotated[list[Path], typer.Argument(metavar="LOG", help="Recordings: .csv .npz .parquet .mat .db3 .mcap")],
    validate: Validate = None,
    report: Annotated[Path | None, typer.Option(metavar="HTML", help="Write a page with plots and tables.")] = None,
    code: Annotated[Path | None, typer.Option(metavar="DIR", help="Write C99 of the identified model.")] = None,
    functions: CodeFunctions = None,
    identified: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the identified robot, to go on with: .toml .urdf")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the fit: .json to read, .npz to load.")
    ] = None,
    urdf: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="IN OUT", help="Copy a URDF with the identified inertias (IN new: write one)."),
    ] = None,
    method: Annotated[
        str, typer.Option(help="auto, weighted, ordinary, robust, total, instrumental, ridge or energy.")
    ] = "auto",
    friction: FrictionOption = "auto",
    couplings: Annotated[bool, typer.Option(help="Look for drives that neighbouring joints share.")] = True,
    physical: Physical = False,
    reduce: Reduce = False,
    simulate: Simulate = False,
    smoother: Annotated[
        str, typer.Option(metavar="NAME", help="lowpass, central, savitzky_golay, spline or kalman.")
    ] = "lowpass",
    cutoff: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="POSITION TORQUE", help="Cut-offs of the filters, in Hz; from the data by default."),
    ] = None,
    delay: Delay = 0.0,
    real: RealOption = "double",
    excerpt: Excerpt = None,
    no_recording: NoRecording = False,
    name: Name = None,
    force: Force = False,
    reading: LogOptions = LogOptions(),
) -> Page:
    """Identify base parameters, friction and couplings from recordings, and judge them on unseen data."""
    import tauform as tf
    from tauform.identification.export.code import CodeOptions, write_code
    from tauform.identification.export.urdf import source_of
    from tauform.identification.signals.filters import Filters

    # what would fail at the end fails at once
    check_outputs(force, folders=[code], files=[report, save, identified, urdf[1] if urdf else None])
    idle = {
        "--name": name,
        "--functions": functions,
        "--real": real != "double",
        "--excerpt": excerpt,
        "--no-recording": no_recording,
    }
    need(code, idle, "is about C; give a folder for it with --code")
    names = chosen_functions(robot, functions or ["inverse_dynamics"])
    options = CodeOptions(real, not no_recording, excerpt, tuple(names))
    # Named once: the same words are checked here and passed on below.
    choices = {"method": method, "friction": friction, "smoother": smoother, "delay": delay}
    check_identification(robot, physical=physical, urdf=urdf[0] if urdf else None, **choices)
    _check_artefacts(robot, save, identified, code, name)
    filters = "auto" if cutoff is None else Filters.of(*cutoff)
    # Validation logs are read with the same options: one convention of columns and units for all.
    recordings, others = reading.recordings(logs, robot, tell), reading.recordings(validate, robot, tell)
    check_stored(options, recordings, filters)  # type: ignore[arg-type]
    fit = tf.identify(
        robot,
        recordings,
        couplings="auto" if couplings else None,
        filters=filters,  # type: ignore[arg-type]
        validate=others or None,
        progress=tell,
        **choices,  # type: ignore[arg-type]
    )
    writing = Writing()
    # After the fit: a failed refinement leaves the plain fit standing, and is reported as a failure.
    fit, is_whole = _refined(fit, reduce, physical, writing)
    followed = [(log.name, _followed(fit, log)) for log in others or recordings] if simulate else []
    # Fit and report are written even where a refinement failed: the search for the cause needs them.
    writing.keep(save, fit.save)
    writing.keep(report, fit.report)
    writing.keep(identified, lambda path: fit.identified_robot.save(path).path)
    written, shipped = None, None
    if is_whole:  # else they would not be what was asked for
        shipped = writing.attempt(lambda: write_code(fit, code, name, options, force)) if code else None
        writing.written += shipped.files if shipped else []
        written = writing.attempt(lambda: fit.write_urdf(source_of(urdf[0]), urdf[1])) if urdf else None
        writing.written += [written.path] if written else []
    proof = shipped.proof if shipped else None
    page = _page(fit, writing, followed, written, proof)
    return replace(page, data={**page.data, "columns": read_from([*recordings, *others])})


def _check_artefacts(
    robot: Robot, save: Path | None, identified: Path | None, code: Path | None, name: str | None
) -> None:
    """Refuse files that cannot hold such a fit."""
    from tauform.codegen.names import c_prefix
    from tauform.description.formats.save import check_format
    from tauform.identification.export.save import check_save

    if save is not None:
        check_save(save)
    if identified is not None:
        check_format(identified)
    if code is not None:
        # Made for its refusal only: the prefix is built again when code is written.
        c_prefix(name, robot.name)


def _refined(fit: Fit, reduce: bool, physical: bool, writing: Writing) -> tuple[Fit, bool]:
    """The fit reduced and physical as far as that works, and whether all of it did."""
    # Reduced first: physical consistency is then asked of the parameters that remain.
    for wanted, step in ((reduce, lambda fit: fit.reduced()), (physical, lambda fit: fit.physically_consistent())):
        if wanted:
            fit = writing.attempt(partial(step, fit)) or fit
    return fit, not writing.failures


def _followed(fit: Fit, log: Recording) -> Resimulation | str:
    """The model along a recording, or why it did not get there: a finding, no reason to withhold the fit."""
    import tauform as tf
    from tauform.errors import IdentificationError

    try:
        return tf.validate_by_simulation(fit, log)
    except IdentificationError as error:
        return str(error)


def _page(
    fit: Fit,
    writing: Writing,
    followed: list[tuple[str, Resimulation | str]],
    urdf: WrittenUrdf | None,
    proof: Proof | None,
) -> Page:
    from rich.text import Text

    from tauform.identification.export.save import summary
    from tauform.report.tables import table

    errors, before = fit.unseen, fit.compared_with()
    # Held-out samples and recordings of their own are separate evidence; both totals stand in the title.
    totals = ", ".join(f"{e.source} {100 * e.total:.2f} %" for e in (fit.held_out, fit.validation) if e is not None)
    joints = zip(
        fit.robot.joint_names,
        100 * before.error_before.joints,
        100 * fit.residuals.relative,
        100 * errors.joints,
        errors.rms,
        fit.unfiltered.rms,
        # Joints that carry no gravity have no ratio.
        [ratio if isfinite(ratio) else None for ratio in fit.verdict.gravity_ratios],
        strict=True,
    )
    heading = (
        "joint",
        "described [%]",
        "fit [%]",
        f"{errors.source} [%]",
        "absolute [N m, N]",
        "unfiltered [N m, N]",
        "gravity / described",
    )
    # A value at its limit of zero has no relative deviation.
    relative = [100 * share if isfinite(share) else None for share in fit.relative_deviations.tolist()]
    # "moved" is the step away from the described value, in standard deviations.
    values = zip(fit.names, before.before, fit.values, fit.deviations, relative, before.moved, strict=True)
    columns = ("name", "described", "value", "deviation", "deviation [%]", "moved [deviations]")
    shown: list[Any] = [
        Text(f"{visible(fit.robot.name)}: {fit.verdict}", style="bold"),
        *(Text(f"  {sentence}") for sentence in fit.findings),
        *(Text(f"  next: {sentence}") for sentence in fit.verdict.next),
        table(f"Errors after filtering ({totals})", heading, joints),
        # A simulation that did not get to its end is a sentence; the others are tables below.
        *(Text(f"simulation along {name}: {why}") for name, why in followed if isinstance(why, str)),
        *(
            table(
                f"Positions of the model driven by the torques of {name}, put back every {check.horizon:g} s",
                ("joint", "RMS [rad or m]", "largest [rad or m]", "largest [% of travel]"),
                zip(fit.robot.joint_names, check.rms, check.largest, 100 * check.relative, strict=True),
            )
            for name, check in followed
            if not isinstance(check, str)
        ),
        table("Identified values", columns, values),
        *(Text(f"wrote {path}") for path in writing.written),
        *(Text(f"  {sentence}") for sentence in (urdf.findings if urdf else ())),
        *(Text(f"  {sentence}") for sentence in (proof.sentences if proof else ())),
    ]
    moved = {
        name: {"finding": check}
        if isinstance(check, str)
        else {"rms": check.rms.tolist(), "relative": check.relative.tolist()}
        for name, check in followed
    }
    data = {**summary(fit), "simulation": moved, "written": writing.written, "failures": writing.failures}
    data |= {"urdf_findings": urdf.findings if urdf else (), "urdf_loss": asdict(urdf.loss) if urdf else None}
    data |= {"torque_error": proof.described() if proof else None}
    return Page(data, tuple(shown), doubt_of(fit), writing.failure)


def doubt_of(fit: Fit) -> str | None:
    """Why a fit must not be relied on, if so."""
    if fit.verdict.grade != "not trustworthy":
        return None
    return f"{fit.robot.name}: the fit is not trustworthy; what was written is to look into it, not to drive the robot"
