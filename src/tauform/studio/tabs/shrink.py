"""Shrink: how many operations an error buys."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from nicegui import ui

from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import compile_program
from tauform.realtime.reduction.reduce import Reduction
from tauform.report.notebook.plots import plot_reduction
from tauform.studio import work
from tauform.studio.desk import Desk, JobProgress
from tauform.studio.jobs import Job
from tauform.studio.lines import Lines

STATES = 4096


def shrink_tab(desk: Desk) -> None:
    """The tab: a slider from exact to fast, and what it costs."""
    project = desk.project
    with ui.row().classes("w-full flex-wrap gap-3 items-start"):
        with ui.column().classes("gap-2").style("flex: 1 1 16rem; min-width: 14rem"):
            label = ui.label()
            # per cent on a logarithmic scale: 0.01 to 20
            slider = ui.slider(min=-2.0, max=1.3, step=0.05, value=0.0).props('aria-label="allowed error"')
            profile = ui.select(["slow", "fast"], value="slow", label="profile of the motion").classes("w-full")
            button = ui.button("Shrink")
            bar = JobProgress()
        place = ui.column().style("flex: 3 1 26rem; min-width: 18rem")

    def tell() -> None:
        label.set_text(f"allowed error: {10 ** float(slider.value):.2g} % of the torque")

    def show(found: Reduction | None) -> None:
        project.reduction = found
        place.clear()
        if found is None:
            return
        with place:
            rows = [
                _row("exact", found.exact, 0.0),
                _row(f"within {100 * found.tolerance:g} %", found.program, found.error),
            ]
            ui.table(rows=rows).props("dense flat").classes("w-full")
            if found.joint_errors is not None:
                errors = zip(found.robot.joint_names, found.joint_errors, strict=True)
                ui.label("of each joint's own torque: " + ", ".join(f"{n} {100 * e:.2g} %" for n, e in errors))
            ui.label(found.remark or found.reason)
            ui.plotly(plot_reduction(found)).classes("w-full")

    def start() -> None:
        # Six digits: the line below shows what was asked, without tails of the power.
        tolerance = round(10 ** float(slider.value) / 100, 6)

        def run() -> None:
            # The identified robot where there is one: its values decide what may be left out.
            desk.run(Job.start("Shrinking", work.shrink, project.identified, tolerance, profile.value), bar, show)

        if desk.attempt(run):
            desk.show_lines(Lines.of_reduction(project.source, project.tip, tolerance, str(profile.value)))

    slider.on_value_change(tell)
    button.on_click(start)
    tell()
    show(project.reduction)
    desk.followers.append(lambda: show(None))


def _row(name: str, program: Program, error: float) -> dict[str, Any]:
    return {
        "program": name,
        "operations": program.n_operations,
        "error": f"{100 * error:.3g} %",
        "ns per state, here": f"{_nanoseconds(program):.1f}",
    }


def _nanoseconds(program: Program) -> float:
    """One state of a batch on this machine, the least of a few runs."""
    kernel = compile_program(program)
    rng = np.random.default_rng(0)
    # (N, ...) for each input, whatever the function takes.
    states = [rng.uniform(-1, 1, (STATES, *port.shape)) for port in program.inputs]
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        kernel(*states)
        best = min(best, time.perf_counter() - start)
    return 1e9 * best / STATES
