"""Shrink: how many operations an error buys."""

from __future__ import annotations

import numpy as np
from nicegui import ui

from tauform.report.html.plot import Panel, Plot, Series, short_names
from tauform.report.notebook.plots import reduction_plot
from tauform.studio import work
from tauform.studio.desk import Desk, facts_table, figure
from tauform.studio.results import ShownReduction

# Of the torque, in per cent: 0.01 to 20 on a logarithmic scale.
LEAST_LOG_PERCENT, MOST_LOG_PERCENT = -2.0, 1.3
PROFILES = {
    "slow": "slow, within the robot's limits",
    "fast": "fast, within the robot's limits",
    "logs": "as in the logs",
}


def shrink_tab(desk: Desk) -> None:
    """The tab: a slider from exact to fast, and what it costs."""
    project = desk.project
    with ui.element("div").classes("columns"):
        with ui.column().classes("gap-2 card"):
            ui.label("From exact to fast").classes("heading")
            label = ui.label().classes("text-sm")
            # Powers of ten: between 0.01 and 0.1 % lies as much to choose as between 1 and 10.
            slider = ui.slider(min=LEAST_LOG_PERCENT, max=MOST_LOG_PERCENT, step=0.05, value=0.0).props(
                'aria-label="allowed error"'
            )
            desk.kept("tolerance", slider)
            with ui.row().classes("w-full text-xs soft justify-between"):
                ui.label("exact")
                ui.label("fast")
            profile = desk.kept("profile", ui.select(PROFILES, value="slow", label="motion").classes("w-full"))
            button = ui.button("Shrink").props("no-caps")
        place = ui.column().classes("gap-2 w-full")

    def tolerance() -> float:
        # Six digits: the line below shows what was asked, without tails of the power.
        return float(round(10 ** float(slider.value) / 100, 6))

    def tell() -> None:
        label.set_text(f"allowed error: {100 * tolerance():.2g} % of the torque")

    def draw() -> None:
        place.clear()
        with place:
            if project.reduction is None:
                with ui.column().classes("card"):
                    ui.label("Nothing is shrunk yet.").classes("heading")
                    ui.label(f"The search looks for the cheapest program of {project.whose} within the error.")
            else:
                _show(project.reduction)

    def done(found: ShownReduction) -> None:
        project.reduction = found

    def start() -> None:
        names = list(project.logs) if profile.value == "logs" else []
        logs = {project.logs[name]: project.log_options(name) for name in names}
        lines = project.lines.reduction(tolerance(), str(profile.value), [project.log_choice(name) for name in names])
        # Recorded states take the place of a profile; this one is then not used.
        states = "slow" if profile.value == "logs" else str(profile.value)
        # The identified robot where there is one: its values decide what may be left out.
        desk.attempt(
            lambda: desk.start("Shrinking", done, lines, work.shrink, project.identified, tolerance(), states, logs)
        )

    slider.on_value_change(tell)
    button.on_click(start)
    tell()
    draw()
    for what in ("work", "robot"):
        desk.follow(what, draw)


def _show(shown: ShownReduction) -> None:
    found = shown.found
    rows = [
        {
            "program": name,
            "operations": program.n_operations,
            "error": f"{100 * error:.3g} %",
            "ns per state here": f"{nanoseconds:.1f}",
        }
        for name, program, error, nanoseconds in (
            ("exact", found.exact, 0.0, shown.exact_time),
            (f"within {100 * found.tolerance:g} %", found.program, found.error, shown.reduced_time),
        )
    ]
    with ui.column().classes("card gap-1"):
        with ui.row().classes("items-baseline gap-3"):
            ui.label(f"{found.program.n_operations} operations").classes("figure")
            # A robot without dynamics, such as one without gravity or mass, has no operations.
            saved = 1 - found.program.n_operations / max(1, found.exact.n_operations)
            ui.label(f"{100 * saved:.0f} % fewer than the exact program").classes("font-medium")
        ui.label(found.remark or found.reason).classes("text-sm")
        facts_table(rows)
    with ui.column().classes("card gap-1"):
        figure(reduction_plot(found))
        # The exact program has none, and bars of zero height say nothing.
        if found.joint_errors is not None and np.any(found.joint_errors):
            bars = [Series("error", 100 * np.asarray(found.joint_errors), x=short_names(found.robot.joint_names))]
            caption = "Error of each joint, of its own torque"
            figure(Plot(caption, [Panel("", bars)], "joint", "error [%]", bars=True), "18rem")
