"""tauform simulate: how a robot moves under torques or a controller."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauform.cli.options import NUMBERS, Force, one_per_joint
from tauform.cli.outputs import check_outputs
from tauform.cli.page import Page
from tauform.cli.progress import ProgressDisplay
from tauform.cli.states import VALUES, joint_values
from tauform.cli.verb import verb
from tauform.escaping.shown import visible

if TYPE_CHECKING:
    from tauform.description.robot import Robot
    from tauform.simulation.motion import Motion

CONTROLS = ("none", "gravity", "hold", "follow", "torques")


@verb
def simulate(
    robot: Robot,
    tell: ProgressDisplay,
    duration: Annotated[float, typer.Option(help="Duration in s.")] = 1.0,
    step: Annotated[float, typer.Option(help="Time step in s.")] = 1e-3,
    q: Annotated[str, typer.Option(help=f"Positions at the beginning: {VALUES}.")] = "",
    qd: Annotated[str, typer.Option(help="Velocities, in the same form.")] = "",
    control: Annotated[
        str, typer.Option(help="none, gravity (compensation), hold (PD at the start), or with --input follow, torques.")
    ] = "none",
    source: Annotated[
        Path | None,
        typer.Option("--input", metavar="CSV", help="Motion to follow, as excite writes it; or a log of torques."),
    ] = None,
    stiffness: Annotated[str | None, typer.Option(metavar=NUMBERS, help="Stiffness of hold and follow.")] = None,
    damping: Annotated[str | None, typer.Option(metavar=NUMBERS, help="Damping of gravity, hold and follow.")] = None,
    integrator: Annotated[str, typer.Option(help="semi_implicit, rk4 or midpoint.")] = "semi_implicit",
    limits: Annotated[bool, typer.Option(help="Joints stop at their position limits.")] = True,
    effort_limits: Annotated[bool, typer.Option("--effort-limits", help="Cut torques off at the efforts.")] = False,
    every: Annotated[int, typer.Option(help="Keep every so many steps.", min=1)] = 1,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="CSV", help="Write t, q, qd, qdd, tau.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the motion: .html .png .svg .pdf")] = None,
    force: Force = False,
) -> Page:
    """Simulate a robot from a state: free, under a controller, along a planned motion, or under recorded torques."""
    import tauform as tf
    from tauform.arguments import check_arguments
    from tauform.report.figures.motion import check_motion_figure

    if plot is not None:
        check_motion_figure(plot)
    check_outputs(force, files=[path for path in (output, plot) if path is not None])
    check_arguments(tf.simulate, integrator=integrator)
    gains = one_per_joint(robot, stiffness=stiffness, damping=damping)
    start = joint_values(robot, q, "q")
    tell("reading")
    # The file decides the start too, unless --q does.
    law, start = _law(robot, control, source, gains, start, bool(q))
    tell("simulating")
    motion = tf.simulate(
        robot,
        start,
        joint_values(robot, qd, "qd"),
        law,
        duration,
        step,
        integrator=integrator,  # type: ignore[arg-type]  # checked above
        limits=limits,
        effort_limits=effort_limits,
        every=every,
        progress=tell.reached,
    )
    written = [] if output is None else [motion.save_csv(output)]
    written += [] if plot is None else [motion.plot(plot)]
    return _page(robot, motion, written)


def _law(robot: Robot, control: str, source: Path | None, gains: dict[str, Any], start: Any, given: bool) -> Any:
    """The controller, and where the robot starts: at the beginning of a motion or log, unless --q says otherwise."""
    import tauform as tf

    if control not in CONTROLS:
        raise typer.BadParameter(f"--control: no {control!r}; choose from {', '.join(CONTROLS)}")
    # Both ways round: a file without use is refused like a law without its file.
    if (source is not None) != (control in ("follow", "torques")):
        raise typer.BadParameter("--input goes with --control follow or torques, and these need it")
    damping, stiffness = gains.get("damping", 0.0), gains.get("stiffness", 0.0)
    if control == "gravity":
        return tf.Controller.gravity_compensation(damping), start
    if control == "hold":
        return tf.Controller.pd(stiffness, damping, gravity=True), start
    if control == "follow" and source is not None:
        motion = tf.Trajectory.read_csv(source, robot)
        # Started elsewhere, the first error would be a jump that the controller answers with a blow.
        return tf.Controller.feed_forward(motion, stiffness, damping), start if given else motion.q[0]
    if control == "torques" and source is not None:
        log = tf.read_recording(source, robot)
        # Recorded torques belong to the recorded start; from elsewhere they drive the robot away.
        return log, start if given else log.q[0]
    # "none": the robot falls freely.
    return None, start


def _page(robot: Robot, motion: Motion, written: list[Path]) -> Page:
    from rich.text import Text

    from tauform.report.tables import table

    rows = zip(robot.joint_names, motion.q[0], motion.q[-1], motion.q.min(axis=0), motion.q.max(axis=0),
               abs(motion.qd).max(axis=0), abs(motion.tau).max(axis=0), strict=True)  # fmt: skip
    # Without friction, torques and stops the sum stays; its drift shows the error of the steps.
    energy = motion.energy
    data = {
        "robot": robot.name,
        "duration": motion.t[-1],
        "step": motion.step,
        "integrator": motion.integrator,
        "q": motion.q[-1],
        "qd": motion.qd[-1],
        "energy": {"beginning": energy[0], "end": energy[-1]},
        "written": written,
    }
    heading = f"{visible(robot.name)}: {motion.t[-1]:g} s in steps of {motion.step:g} s, {motion.integrator}"
    headings = ("joint", "beginning", "end", "lowest", "highest", "speed", "torque")
    shown: list[Any] = [
        Text(heading, style="bold"),
        table("Motion", headings, rows),
        f"Energy: {energy[0]:.6g} J at the beginning, {energy[-1]:.6g} J at the end.",
    ]
    return Page(data, (*shown, *(Text(f"wrote {path}") for path in written)))
