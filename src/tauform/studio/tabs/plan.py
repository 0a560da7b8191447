"""Plan: a motion to record, previewed on the robot."""

from __future__ import annotations

from typing import Any

import numpy as np
from nicegui import events, ui

from tauform.identification.motion.trajectory import Trajectory
from tauform.studio import work
from tauform.studio.desk import Desk, JobProgress
from tauform.studio.jobs import Job
from tauform.studio.lines import Lines
from tauform.studio.scene import RobotScene


def plan_tab(desk: Desk) -> None:
    """The tab: length and effort of the search; the motion in space; the CSV."""
    project = desk.project
    with ui.row().classes("w-full flex-wrap gap-3 items-start"):
        with ui.column().classes("gap-2").style("flex: 1 1 14rem; min-width: 13rem"):
            duration = ui.number("length of the motion [s]", value=10.0, min=1.0)
            seconds = ui.number("time for the search [s]", value=10.0, min=1.0)
            collisions = ui.checkbox("keep links apart", value=True)
            button = ui.button("Plan a motion")
            bar = JobProgress()
        place = ui.column().style("flex: 3 1 26rem; min-width: 18rem")

    def show(motion: Trajectory | None) -> None:
        project.motion = motion
        place.clear()
        # Another robot was opened: its motion has yet to be planned.
        if motion is None or project.described is None:
            return
        with place:
            ui.label(repr(motion)).classes("font-medium")
            for finding in motion.findings:
                ui.label(finding).classes("text-sm")
            scene = RobotScene(project, height="22rem")

            def move(event: events.ValueChangeEventArguments[Any]) -> None:
                scene.move(np.array(motion.q[int(event.value)]))

            ui.slider(min=0, max=len(motion.t) - 1, value=0, on_change=move).props('aria-label="time of the motion"')
            ui.button("Download CSV", on_click=lambda: desk.attempt(save)).props("flat")

    def save() -> None:
        if project.motion is not None:
            ui.download(project.motion.save_csv(project.folder / "motion.csv"), "motion.csv")

    def start() -> None:
        def run() -> None:
            arguments = (project.robot, float(duration.value), float(seconds.value), bool(collisions.value))
            desk.run(Job.start("Planning", work.plan, *arguments), bar, show)

        if desk.attempt(run):
            desk.show_lines(Lines.of_plan(project.source, project.tip, float(duration.value)))

    button.on_click(start)
    # A reload finds the planned motion again.
    show(project.motion)
    desk.followers.append(lambda: show(None))
