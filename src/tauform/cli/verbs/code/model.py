"""tauform model: the main job, from a robot (and recordings of it) to verified C and a report, in one command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauform.cli.function_names import chosen_functions
from tauform.cli.identification import check_identification, check_stored
from tauform.cli.options import (
    Delay,
    Excerpt,
    Force,
    FrictionOption,
    FunctionsOption,
    Name,
    NoRecording,
    Physical,
    RealOption,
    Reduce,
    Simulate,
    Validate,
    need,
)
from tauform.cli.outputs import check_outputs
from tauform.cli.page import Page
from tauform.cli.progress import ProgressDisplay
from tauform.cli.reading import LogOptions
from tauform.cli.verb import verb
from tauform.cli.verbs.measurements.identify import doubt_of
from tauform.errors import TauformError
from tauform.escaping.shown import visible

if TYPE_CHECKING:
    from tauform.description.robot import Robot
    from tauform.pipeline.robot_model import RobotModel
    from tauform.report.delivery import Delivery


@verb
def model(
    robot: Robot,
    tell: ProgressDisplay,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="Folder to write.")],
    logs: Annotated[
        list[Path] | None, typer.Argument(metavar="LOG", help="Recordings to identify the robot from.")
    ] = None,
    validate: Validate = None,
    friction: FrictionOption = "auto",
    reduce: Reduce = False,
    physical: Physical = False,
    simulate: Simulate = False,
    delay: Delay = 0.0,
    urdf: Annotated[
        Path | None,
        typer.Option(metavar="IN", help="Copy this URDF with identified inertias to OUT/robot.urdf; new: write one."),
    ] = None,
    functions: FunctionsOption = None,
    tolerance: Annotated[
        float, typer.Option(help="Relative error that the reduced program may have; 0 makes none.")
    ] = 0.01,
    confidence: Annotated[float, typer.Option(help="Share of the states for which that must hold.")] = 0.999,
    route: Annotated[
        list[str] | None,
        typer.Option(metavar="ROUTE", help="Way to reduce: terms, parameters, velocity, operations; repeatable."),
    ] = None,
    real: RealOption = "double",
    excerpt: Excerpt = None,
    no_recording: NoRecording = False,
    name: Name = None,
    force: Force = False,
    reading: LogOptions = LogOptions(),
) -> Page:
    """Check, identify, derive, reduce and generate: C that passed its self-test, models, and an HTML report."""
    from tauform.codegen.names import c_prefix
    from tauform.identification.export.code import CodeOptions
    from tauform.pipeline.model_robot import FUNCTIONS, check_choices, model_robot
    from tauform.report.delivery import deliver

    # what would fail at the end fails at once
    check_outputs(force, folders=[output])
    # Called for its refusal: the prefix is built again when C is written.
    c_prefix(name, robot.name)
    # Options that no identification would use are refused, else they seem to have had an effect.
    idle = {"--validate": validate, "--simulate": simulate, "--urdf": urdf, "--physical": physical, "--delay": delay}
    idle |= {
        "--friction": friction != "auto",
        "--reduce": reduce,
        "--excerpt": excerpt,
        "--no-recording": no_recording,
    }
    need(logs, idle, "belongs to an identification; give a recording to identify from too")
    need(tolerance, {"--route": route}, "reduces a program, which --tolerance 0 does not; leave one of them out")
    names = chosen_functions(robot, functions or FUNCTIONS)
    # All that can be refused is refused before the logs are read, which may take minutes.
    check_choices(names, tolerance or None, confidence, route)
    options = CodeOptions(real, not no_recording, excerpt)
    check_identification(robot, physical=physical, urdf=urdf, friction=friction, delay=delay)
    recordings, others = (reading.recordings(paths, robot, tell) for paths in (logs, validate))
    # The excerpt is one of these logs: its length is known only now.
    check_stored(options, recordings)
    making = partial(
        model_robot,
        robot,
        recordings,
        validate=others or None,
        friction=friction,  # type: ignore[arg-type]  # checked above
        reduced=reduce,
        physical=physical,
        simulate=simulate,
        delay=delay,
        functions=names,
        tolerance=tolerance or None,
        confidence=confidence,
        routes=route,
        progress=tell,
    )
    # A failure keeps what was finished before: minutes of identification are not thrown away.
    made, failed = _made(making, output, force)
    place = None if urdf is None else str(urdf)
    writing = partial(deliver, made, output, urdf=place, name=name, options=options, force=force, progress=tell)
    # Written even where a stage failed: what was verified is of use without it.
    written, not_written = _written(writing)
    # Exit code 1 and a sentence: a doubtful fit is an answer, and no failure.
    doubt = None if made.fit is None else doubt_of(made.fit)
    # Where files are missing too, "everything else" would be untrue.
    failures = [*failed, *not_written]
    if failed and not not_written:
        failures.append(f"everything else is in {output}")
    return Page(describe(made, written), shown(made, written), doubt, "; ".join(failures) or None)


def _made(making: Callable[[], RobotModel], output: Path, force: bool) -> tuple[RobotModel, list[str]]:
    """The model as far as it goes, and what failed; where there is a fit only, that is written."""
    from tauform.identification.fit import Fit
    from tauform.pipeline.robot_model import RobotModel
    from tauform.report.delivery import deliver_fit

    try:
        return making(), []
    except TauformError as error:
        # Whole up to a stage: deliver it, and report the stage.
        if isinstance(error.finished, RobotModel):
            return error.finished, [str(error)]
        # A fit alone makes no delivery, but is what the recordings were made for.
        if isinstance(error.finished, Fit):
            deliver_fit(error.finished, output, force=force)
            error.args = (f"{error}; the fit that was found before is in {output}",)
        raise


def _written(writing: Callable[[], Delivery]) -> tuple[Delivery, list[str]]:
    """Files that were written, and those that could not be."""
    from tauform.report.delivery import Delivery

    try:
        return writing(), []
    except TauformError as error:
        if not isinstance(error.finished, Delivery):
            # Nothing was written: an ordinary error.
            raise
        return error.finished, [str(error)]


def describe(made: RobotModel, written: Delivery) -> dict[str, Any]:
    """The result as plain values, for `--json`."""
    return {
        "robot": made.robot.name,
        "n_base": made.base.n,
        "n_terms": None if made.closed_form is None else made.closed_form.n_terms,
        # As sentences: findings have types of their own, which JSON does not know.
        "findings": [str(finding) for finding in made.findings],
        "torque_error": None if written.proof is None else written.proof.described(),
        "verdict": None if made.fit is None else made.fit.verdict.grade,
        "recordings": [] if made.fit is None else list(made.fit.findings),
        "programs": {
            program.name: {"multiplications": program.n_multiplications, "additions": program.n_additions}
            for program in made.programs
        },
        "stages": [asdict(stage) for stage in written.stages],
        "folder": written.folder,
        "files": written.files,
    }


def shown(made: RobotModel, written: Delivery) -> tuple[Any, ...]:
    """What a terminal shows."""
    from rich.text import Text

    from tauform.report.tables import finding_list, table

    parts: list[Any] = [Text(f"Model of {visible(made.robot.name)}\n", style="bold")]
    rows = [(s.name, s.outcome, s.verdict) for s in written.stages]
    parts.append(table("What was done and verified", ("stage", "result", "error"), rows, text_columns=3))
    parts += [Text(f"  {stage.name}: {note}") for stage in written.stages for note in stage.notes]
    if made.findings:
        # Before the fit: doubts about the description may explain its verdict.
        parts.append(finding_list(made.findings))
    if made.fit is not None:
        parts.append(Text(f"Identification {made.fit.verdict}"))
        parts += [Text(f"  {sentence}") for sentence in made.fit.findings]
    parts += [Text(f"  {sentence}") for sentence in (written.proof.sentences if written.proof else ())]
    parts.append(Text(f"\nLook at {written.report}\nCompile {written.folder / 'c'} (make check runs its self-test)"))
    return tuple(parts)
