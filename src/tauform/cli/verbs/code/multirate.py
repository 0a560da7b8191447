"""tauform multirate: the split into a synchronous and a background task, its error, and a run on this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauform.cli.options import NUMBERS, Force, Name, Temperature, need, one_per_joint, temperatures
from tauform.cli.outputs import check_outputs
from tauform.cli.page import Page
from tauform.cli.progress import ProgressDisplay
from tauform.cli.reading import LogOptions, lines, read_from
from tauform.cli.swing import bounds_of_swing, swing
from tauform.cli.verb import verb

if TYPE_CHECKING:
    from tauform.closedform.profile import Profile
    from tauform.description.robot import Robot
    from tauform.realtime.multirate.multirate import MultiRate
    from tauform.realtime.multirate.prediction import Prediction
    from tauform.realtime.multirate.run import MotionFunction, RunReport
    from tauform.realtime.multirate.staleness import Rates


@verb
def multirate(
    robot: Robot,
    tell: ProgressDisplay,
    velocity: Annotated[
        str | None,
        typer.Option(metavar=NUMBERS, help="Bound: one value, or one per joint (default: 2, or what limits allow)."),
    ] = None,
    acceleration: Annotated[str, typer.Option(metavar=NUMBERS, help="Bound: one value, or one per joint.")] = "12",
    control: Annotated[float, typer.Option(help="Period of the synchronous task, in s.")] = 0.001,
    background: Annotated[float, typer.Option(help="Period of the background task, in s.")] = 0.02,
    latency: Annotated[
        float, typer.Option(help="Time from the background's input to the use of its results, in s.")
    ] = 0.0,
    coefficients_every: Annotated[
        int, typer.Option(help="Renew mass matrix and gravity at every so many-th run of the background only.")
    ] = 1,
    error: Annotated[float, typer.Option(help="Find the slowest background within this relative error.")] = 0.01,
    friction: Annotated[
        str, typer.Option(help="Task that makes the friction: background, synchronous.")
    ] = "background",
    parameters: Annotated[
        str, typer.Option(help="baked: numbers folded in; runtime: base parameters theta, an input of the background.")
    ] = "baked",
    payload: Annotated[
        str,
        typer.Option(help="baked, or runtime: ten parameters of the body at the payload's frame, else the tool."),
    ] = "baked",
    temperature: Temperature = None,
    recording: Annotated[list[Path] | None, typer.Option(help="Recorded motion in place of bounds.")] = None,
    run: Annotated[float, typer.Option(help="Run both tasks on this machine for so many seconds.")] = 0.0,
    plot: Annotated[
        Path | None, typer.Option("--plot", "--figure", metavar="FILE", help="Draw the errors: .png .svg .pdf")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Write both tasks as C to this folder.")
    ] = None,
    name: Name = None,
    force: Force = False,
    reading: LogOptions = LogOptions(),
) -> Page:
    """Split inverse dynamics into a few operations at every tick and the rest in the background."""
    import tauform
    from tauform.arguments import check_arguments
    from tauform.codegen.names import c_prefix
    from tauform.realtime.multirate.prediction import check_error
    from tauform.realtime.multirate.run import check_seconds
    from tauform.report.figures.multirate import check_figure, write_multirate_figure

    # what would fail at the end fails at once
    if plot is not None:
        check_figure(plot)
    check_outputs(force, folders=[output], files=[plot])
    # Called for its refusal, before the work.
    c_prefix(name, robot.name)
    need(output, {"--name": name}, "names C functions; give a folder for them with -o")
    check_arguments(tauform.multirate, friction=friction, parameters=parameters, payload=payload)
    check_error(error)
    # Rates check themselves: impossible periods are refused here, before the work.
    rates = tauform.Rates(control, background, latency, coefficients_every)
    if run:
        check_seconds(run, rates)
    bounds = bounds_of_swing(robot, **one_per_joint(robot, velocity=velocity, acceleration=acceleration))
    warm = temperatures(robot, temperature, bool(recording))
    # The bounds as a harmonic swing, also where a recording gives the profile: run and figure need a motion to move by.
    swinging = tauform.Profile.harmonic(*bounds, temperature=warm)
    recordings = reading.recordings(recording, robot, tell)
    profile = tauform.recorded_profile(recordings) if recordings else swinging
    profile.suited(robot)  # before the work
    tell("splitting")
    split = tauform.multirate(robot, friction, parameters=parameters, payload=payload)  # type: ignore[arg-type]
    tell("predicting the error")
    # The error is predicted from the profile and rates alone; no task runs.
    predicted = split.predict(profile, rates)
    tell("looking for the slowest background")
    # The search keeps control period and latency; only the background's period is free.
    slowest = split.slowest_background(profile, error, control, latency, coefficients_every)
    tell(f"running both tasks for {run:g} s" if run else "writing")
    report = _run(split, swinging, swing(*bounds, warm), rates, run) if run else None
    files = split.write_c(output, force=force, name=name) if output is not None else []
    if plot is not None:
        tell("drawing")
        files = [*files, write_multirate_figure(split, swing(*bounds, warm), swinging, rates, plot)]
    # Of recorded motion alone: a harmonic swing has the frequencies that were put into it.
    bands = _bandwidths(robot, recordings)
    page = _page(robot, split, predicted, error, slowest, report, files, bands)
    return replace(page, data={**page.data, "columns": read_from(recordings)}, shown=(*page.shown, *lines(recordings)))


def _run(
    split: MultiRate, swing: Profile, motion: MotionFunction, rates: Rates, seconds: float
) -> tuple[Prediction, RunReport]:
    """The error predicted for a background whose results are in use one tick later, and what a run shows."""
    # A run hands results over at the next tick, so the prediction beside it must count that latency.
    predicted = split.predict(swing, replace(rates, latency=rates.control))
    return predicted, split.run(motion, rates, seconds)


def _bandwidths(robot: Robot, recordings: list[Any]) -> dict[str, float]:
    """Rate at which each group of terms must be renewed along the first recorded motion [Hz]."""
    if not recordings:
        return {}
    from tauform.realtime.multirate.bandwidth import bandwidths
    from tauform.realtime.reduction.recorded import recorded_states

    # The first recording speaks for all: bandwidths of one motion, not of an average.
    rate, (q, qd, qdd, *warm) = recorded_states(recordings[0])[0]
    return vars(bandwidths(robot, q, qd, qdd, rate, warm[0] if warm else None))


def _page(
    robot: Robot,
    split: MultiRate,
    predicted: Prediction,
    error: float,
    slowest: Rates | None,
    ran: tuple[Prediction, RunReport] | None,
    files: list[Path],
    bands: dict[str, float],
) -> Page:
    from rich.text import Text

    from tauform.report.tables import table

    counts = [(program.name, program.n_multiplications, program.n_additions) for program in split.programs]
    joints = zip(robot.joint_names, predicted.rms, predicted.peak, predicted.torque, strict=True)
    shown: list[Any] = [
        Text(f"{split!r}\n", style="bold"),
        table("Programs", ("task", "mult", "add"), counts),
        table("Predicted torque error [N m, N]", ("joint", "RMS error", "largest error", "RMS torque"), joints),
        Text(
            f"RMS error {predicted.relative:.2%} of the torque with a background every {predicted.rates.background:g} s"
        ),
        Text(
            f"slowest background within {error:.2%}: every {slowest.background:.4g} s"
            if slowest
            else f"no background period keeps the error within {error:.2%}"
        ),
    ]
    # Behind the figures that it explains.
    hint = friction_hint(predicted)
    shown += [Text(hint, style="yellow")] if hint else []
    if bands:
        shown.append(table("Bandwidths along the recording", ("of", "Hz"), bands.items()))
    if ran is not None:
        shown.append(Text(f"{ran[1]}; predicted before the run {ran[0].relative:.2%}"))
    shown += [Text(f"wrote {file}", style="green") for file in files]
    data = {
        "robot": robot.name,
        "programs": {name: {"multiplications": m, "additions": a} for name, m, a in counts},
        "rms": predicted.rms,
        "peak": predicted.peak,
        "torque": predicted.torque,
        "relative_error": predicted.relative,
        "slowest_background": slowest.background if slowest else None,
        "relative_error_with_synchronous_friction": predicted.relative_without_friction,
        "run": _run_data(ran),
        "bandwidths": bands,
        "files": files,
    }
    return Page(data, tuple(shown))


def friction_hint(predicted: Prediction) -> str | None:
    """Remedy where late friction makes most of the error; None where it does not."""
    # Half: below it, friction is not what makes most of the error, and the hint would mislead.
    if predicted.relative_without_friction > 0.5 * predicted.relative:
        return None
    return (
        "Coulomb friction jumps when a joint turns round, which the background notices late: most of this error. "
        f"With --friction synchronous it is {predicted.relative_without_friction:.2%}"
    )


def _run_data(ran: tuple[Prediction, RunReport] | None) -> dict[str, Any] | None:
    if ran is None:
        return None
    predicted, report = ran
    return {
        "ticks": report.n_ticks,
        "updates": report.n_updates,
        "missed": report.missed,
        "rms": report.rms,
        "relative_error": report.relative,
        "predicted": predicted.relative,
    }
