"""Plan: a motion to record, previewed on the robot with the distances that its links keep."""

from __future__ import annotations

from typing import Any

import numpy as np
from nicegui import ui

from tauform.report.html.plot import Panel, Plot, Series, short_names
from tauform.studio import work
from tauform.studio.desk import Desk, figure
from tauform.studio.results import PlannedMotion
from tauform.studio.scene import Player, RobotScene

# What the search takes -> label; empty fields leave the robot's own limits.
LIMITS = {
    "velocity": "speed limit [rad/s, m/s]",
    "acceleration": "acceleration limit [rad/s², m/s²]",
    "effort": "torque limit [N m, N]",
    "floor": "height to stay above [m]",
}


def plan_tab(desk: Desk) -> None:
    """The tab: length, limits and effort of the search; the motion in space; the CSV."""
    project = desk.project
    fields: dict[str, Any] = {}
    with ui.element("div").classes("columns"):
        with ui.column().classes("gap-1 card"):
            ui.label("A motion that shows every parameter").classes("heading")
            fields["duration"] = desk.kept("duration", ui.number("length of the motion [s]", value=10.0, min=1.0))
            fields["max_seconds"] = desk.kept("seconds", ui.number("time for the search [s]", value=10.0, min=1.0))
            # Empty is no zero: an empty field is left out of the call, and the robot's own limit holds.
            for name, label in LIMITS.items():
                empty = "none" if name == "floor" else "of the robot"
                field = ui.number(label).props(f'clearable stack-label placeholder="{empty}"')
                fields[name] = desk.kept(f"plan {name}", field)
            for field in fields.values():
                field.classes("w-full").props("dense")
            collisions = desk.kept("collisions", ui.checkbox("keep links apart", value=True))
            button = ui.button("Plan a motion").props("no-caps")
        place = ui.column().classes("gap-2 w-full")

    def draw() -> None:
        # Drawn anew as a whole: figures know nothing of the motion before.
        place.clear()
        with place:
            if project.motion is None:
                with ui.column().classes("card"):
                    ui.label("No motion is planned yet.").classes("heading")
            else:
                _show(desk, project.motion)

    def done(motion: PlannedMotion) -> None:
        project.motion = motion

    def start() -> None:
        # Read when the button is pressed: the fields may change while a search runs.
        given = {name: float(field.value) for name, field in fields.items() if field.value is not None}
        options: dict[str, Any] = given | {"collisions": bool(collisions.value)}
        desk.attempt(
            lambda: desk.start("Planning", done, project.lines.plan(options), work.plan, project.robot, options)
        )

    # A list, which `worked` can change: the motion on the page, so that other work does not draw it again.
    shown: list[PlannedMotion | None] = [None]

    def worked() -> None:
        if project.motion is not shown[0]:
            shown[0] = project.motion
            draw()

    button.on_click(start)
    shown[0] = project.motion
    draw()
    desk.follow("work", worked)
    desk.follow("robot", draw)


def _show(desk: Desk, motion: PlannedMotion) -> None:
    project, planned = desk.project, motion.trajectory
    # A few hundred rows: the browser draws no more, and the file holds all of them.
    times = planned.t[motion.rows]
    with ui.column().classes("card gap-1"):
        with ui.row().classes("items-center w-full"):
            condition = "" if planned.condition is None else f", condition number {planned.condition:.3g}"
            ui.label(f"{planned.duration:.1f} s{condition}").classes("heading grow")
            ui.button("Download CSV", on_click=lambda: desk.attempt(save)).props("flat dense no-caps icon=download")
        for finding in planned.findings:
            ui.label(finding).classes("text-sm soft")
        scene = RobotScene(project, height="22rem", along=planned.q[motion.rows])
        distance = ui.label().classes("text-sm")

        def show(frame: int) -> None:
            scene.move(np.array(planned.q[motion.rows[frame]]))
            # None where collisions were not asked for, or the robot has no shapes.
            if len(motion.distances):
                distance.set_text(f"nearest links here: {1e3 * motion.distances[frame]:.0f} mm apart")

        Player(times.tolist(), show, "time of the motion")
        show(0)
    with ui.column().classes("card gap-1"):
        if len(motion.distances):
            nearest = f"Least distance of two links: {1e3 * motion.distances.min():.0f} mm, {motion.nearest}"
            figure(
                Plot(
                    nearest,
                    [Panel("", [Series("distance", 1e3 * motion.distances)])],
                    "time [s]",
                    "distance [mm]",
                    x=times,
                ),
                "16rem",
            )
        names = short_names(planned.joint_names)
        held = {"position [rad or m]": planned.q, "velocity [rad/s or m/s]": planned.qd}
        held["acceleration [rad/s² or m/s²]"] = planned.qdd
        panels = [
            Panel(label, [Series(name, values[motion.rows, j], style="thin") for j, name in enumerate(names)], label)
            for label, values in held.items()
        ]
        figure(Plot("The motion", panels, "time [s]", "", x=times))

    def save() -> None:
        ui.download(planned.save_csv(project.folder / "motion.csv"), "motion.csv")
