"""tauform excite: a motion that shows the robot's base parameters, as a table to run on the robot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauform.cli.options import NUMBERS, Force, Scheduler, Workers, one_per_joint
from tauform.cli.outputs import check_outputs
from tauform.cli.page import Page
from tauform.cli.progress import ProgressDisplay
from tauform.cli.verb import verb
from tauform.errors import ArgumentError
from tauform.escaping.shown import visible

if TYPE_CHECKING:
    from tauform.description.robot import Robot
    from tauform.identification.fit import Fit
    from tauform.identification.motion.trajectory import Trajectory
    from tauform.identification.recording.recording import Recording


@verb
def excite(
    robot: Robot,
    tell: ProgressDisplay,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="CSV", help="Write t, q, qd, qdd.")] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the motion with its limits: .html .png .svg .pdf")
    ] = None,
    duration: Annotated[float, typer.Option(help="Duration of the motion, in s.")] = 10.0,
    harmonics: Annotated[
        int | None,
        typer.Option(help="Harmonics of the Fourier series, or moves (default: as many as stay below 2 Hz).", min=2),
    ] = None,
    kind: Annotated[str, typer.Option(help="fourier (periodic) or quintic (from point to point).")] = "fourier",
    rate: Annotated[float, typer.Option(help="Samples per second.")] = 100.0,
    velocity: Annotated[
        str | None,
        typer.Option(metavar=NUMBERS, help="Limit: one value, or one per joint (default: the robot's)."),
    ] = None,
    acceleration: Annotated[
        str | None, typer.Option(metavar=NUMBERS, help="Limit in rad/s^2 or m/s^2: one value, or one per joint.")
    ] = None,
    effort: Annotated[
        str | None,
        typer.Option(metavar=NUMBERS, help="Limit: one value, or one per joint (default: the robot's)."),
    ] = None,
    collisions: Annotated[bool, typer.Option(help="Keep links apart that have collision shapes.")] = True,
    floor: Annotated[float | None, typer.Option(help="Height that moving links stay above, in m.")] = None,
    unguarded: Annotated[
        list[str] | None,
        typer.Option(metavar="LINK,LINK", help="Two links that may touch; repeat it for further pairs."),
    ] = None,
    criterion: Annotated[
        str | None, typer.Option(help="condition, d_optimal, or deviation (default beside --given).")
    ] = None,
    given: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Logs that are recorded already, or their fit (.json): plan what they lack."),
    ] = None,
    start: Annotated[Path | None, typer.Option(metavar="CSV", help="Motion to improve, as written by -o.")] = None,
    count: Annotated[int, typer.Option(help="Motions to plan, the best first.", min=1)] = 1,
    seconds: Annotated[float, typer.Option(help="Time to spend on the search.")] = 40.0,
    starts: Annotated[int, typer.Option(help="Random beginnings that are improved.", min=1)] = 8,
    workers: Workers = 0,
    scheduler: Scheduler = None,
    seed: Annotated[int, typer.Option(help="Seed of the random beginnings.")] = 0,
    force: Force = False,
) -> Page:
    """Plan a motion within the robot's limits from which its parameters can be identified."""
    import tauform as tf
    from tauform.report.figures.motion import check_motion_figure
    from tauform.scheduler import cluster_if_asked

    # A search takes tens of seconds: an unknown file ending is refused before it.
    if plot is not None:
        check_motion_figure(plot)
    # Each of several motions has a file of its own, so each name is checked.
    check_outputs(force, files=[_numbered(path, k, count) for path in (output, plot) if path for k in range(count)])
    limits = one_per_joint(robot, velocity=velocity, acceleration=acceleration, effort=effort)
    # Read against the robot: columns of another robot are refused here, not after planning.
    beginning = None if start is None else tf.Trajectory.read_csv(start, robot)
    # Read before planning: what is recorded decides what is still to be shown.
    known = _known(given, robot, tell) if given else None
    tell("planning")
    with cluster_if_asked(scheduler, workers) as client:
        found = tf.excite(
            robot,
            duration=duration,
            harmonics=harmonics,
            kind=kind,  # type: ignore[arg-type]  # checked by excite
            rate=rate,
            velocity=limits.get("velocity"),
            acceleration=limits.get("acceleration"),
            effort=limits.get("effort"),
            collisions=collisions,
            floor=floor,
            unguarded=[_pair(words) for words in unguarded or ()],
            criterion=criterion,  # type: ignore[arg-type]  # checked by excite
            given=known,
            start=beginning,
            count=count,
            max_seconds=seconds,
            n_starts=starts,
            client=client,
            seed=seed,
            progress=tell.reached,
        )
    # The best first, as on the page and in the numbers of the files.
    motions = [found, *found.alternatives]
    written = [motion.save_csv(_numbered(output, k, count)) for k, motion in enumerate(motions) if output is not None]
    if plot is not None:
        written += [motion.plot(_numbered(plot, k, count), robot) for k, motion in enumerate(motions)]
    return _page(robot, motions, written)


def _known(files: list[Path], robot: Robot, tell: ProgressDisplay) -> Fit | list[Recording]:
    """The fit of a file, or logs."""
    import tauform as tf

    # A fit holds the information of its logs; more logs beside it could be the same ones.
    if any(path.suffix == ".json" for path in files):
        if len(files) > 1:
            raise ArgumentError("--given: expected one fit, or logs without a fit")
        return tf.load_fit(files[0], robot)
    tell("reading what is recorded")
    return [tf.read_recording(path, robot) for path in files]


def _pair(words: str) -> tuple[str, str]:
    first, comma, second = words.partition(",")
    if not comma:
        raise ArgumentError(f"--unguarded {words}: expected two links with a comma between, such as hand,link5")
    return first.strip(), second.strip()


def _numbered(path: Path, k: int, count: int) -> Path:
    """motion.csv, or motion_2.csv where there are several."""
    return path if count == 1 else path.with_stem(f"{path.stem}_{k + 1}")


def _page(robot: Robot, motions: list[Trajectory], written: list[Path]) -> Page:
    from rich.text import Text

    from tauform.report.tables import table

    shown: list[Any] = []
    for motion in motions:
        # Largest speed and acceleration of each joint, whichever way it moves.
        extremes = [abs(x).max(axis=0) for x in (motion.qd, motion.qdd)]
        rows = zip(robot.joint_names, motion.q.min(axis=0), motion.q.max(axis=0), *extremes, strict=True)
        shown += [
            Text(
                f"{visible(robot.name)}: {motion.duration:.1f} s, condition number {motion.condition:.3g}", style="bold"
            ),
            *(Text(f"  {sentence}") for sentence in motion.findings),
            table("Motion", ("joint", "lowest", "highest", "speed", "acceleration"), rows),
        ]
    # Plain fields speak of the best motion; "conditions" lists all.
    motion = motions[0]
    data = {
        "robot": robot.name,
        "duration": motion.duration,
        "condition": motion.condition,
        "findings": motion.findings,
        "conditions": [motion.condition for motion in motions],
        "written": written,
    }
    return Page(data, (*shown, *(Text(f"wrote {path}") for path in written)))
