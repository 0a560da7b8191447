"""tauform excite: a motion that shows the robot's base parameters, as a table to run on the robot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauform.cli.page import Page, progress
from tauform.cli.verb import verb

if TYPE_CHECKING:
    from tauform.description.robot import Robot


@verb
def excite(
    robot: Robot,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="CSV", help="Write t, q, qd, qdd.")] = None,
    duration: Annotated[float, typer.Option(help="Of one period, in s.")] = 10.0,
    harmonics: Annotated[int, typer.Option(help="Of the Fourier series.", min=2)] = 5,
    rate: Annotated[float, typer.Option(help="Samples a second.")] = 100.0,
    velocity: Annotated[float | None, typer.Option(help="Limit for all joints; the robot's own by default.")] = None,
    acceleration: Annotated[float | None, typer.Option(help="Limit for all joints, in rad/s^2 or m/s^2.")] = None,
    criterion: Annotated[str, typer.Option(help="condition or d_optimal.")] = "condition",
    seconds: Annotated[float, typer.Option(help="Time to spend on the search.")] = 40.0,
    seed: Annotated[int, typer.Option(help="Of the random beginnings.")] = 0,
) -> Page:
    """Plan a periodic motion within the robot's limits from which its parameters can be identified."""
    from rich.text import Text

    import tauform as tf
    from tauform.report.tables import table

    with progress("planning", total=1.0) as advance:
        done = 0.0

        def report(part: float) -> None:
            nonlocal done
            advance(part - done)
            done = part

        found = tf.excite(
            robot,
            duration=duration,
            harmonics=harmonics,
            rate=rate,
            velocity=velocity,
            acceleration=acceleration,
            criterion=criterion,  # type: ignore[arg-type]  # checked by excite
            max_seconds=seconds,
            seed=seed,
            progress=report,
        )
    written = found.save_csv(output) if output else None
    extremes = [abs(x).max(axis=0) for x in (found.qd, found.qdd)]
    rows = zip(robot.joint_names, found.q.min(axis=0), found.q.max(axis=0), *extremes, strict=True)
    shown: list[Any] = [
        Text(f"{robot.name}: {found.duration:.1f} s, condition number {found.condition:.3g}", style="bold"),
        *(Text(f"  {sentence}") for sentence in found.findings),
        table("Motion", ("joint", "lowest", "highest", "speed", "acceleration"), rows),
    ]
    data = {"robot": robot.name, "duration": found.duration, "condition": found.condition, "written": written}
    return Page(data, (*shown, *([Text(f"wrote {written}")] if written else [])))
