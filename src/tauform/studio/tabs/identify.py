"""Identify: drop logs, look at their columns, correct the mapping, run, compare, play the recording."""

from __future__ import annotations

from typing import Any

import numpy as np
from nicegui import events, ui

from tauform.identification.fit import Fit
from tauform.identification.logs.inspect import inspect_log
from tauform.identification.recording.recording import Recording
from tauform.report.notebook.plots import plot_fit, plot_recording
from tauform.report.sections.judged import judged_torques
from tauform.studio import work
from tauform.studio.desk import Desk, JobProgress, complain, drop_zone
from tauform.studio.jobs import Job
from tauform.studio.lines import Lines
from tauform.studio.scene import RobotScene

ROLES = ("fit", "validate", "leave out")
FIGURES = ("torque", "errors", "friction", "residuals", "spectrum", "filters")
# Enough for a slider's length.
FRAMES = 240  # of a recording that plays


def identify_tab(desk: Desk) -> None:
    """The tab: logs and options on the left, verdict and figures on the right."""
    tab = IdentifyTab(desk)
    desk.followers.append(tab.rebuild)
    tab.rebuild()


class IdentifyTab:
    """Logs, fits and their figures."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.project = desk, desk.project
        self.roles: dict[str, Any] = {}
        self.fields: dict[str, Any] = {}
        with ui.row().classes("w-full flex-wrap gap-3 items-start"):
            with ui.column().classes("gap-2").style("flex: 1 1 18rem; min-width: 16rem"):
                drop_zone("Drop logs: CSV, NPZ, Parquet, MAT, MCAP, db3", self._dropped, "log-upload")
                self.logs = ui.column().classes("gap-1 w-full")
                self.physical = ui.checkbox("physically consistent links")
                ui.button("Identify", on_click=self._start).mark("identify")
                self.bar = JobProgress()
            self.results = ui.column().style("flex: 3 1 26rem; min-width: 18rem")

    async def _dropped(self, event: events.MultiUploadEventArguments) -> None:
        for path in await self.desk.keep(event.files):
            self.project.logs[path.name] = path
        self.rebuild()

    def rebuild(self) -> None:
        """Logs and fits of the project."""
        self.logs.clear()
        self.roles, self.fields = {}, {}
        with self.logs:
            for k, name in enumerate(self.project.logs):
                # The last of several logs validates: a verdict needs data that was not fitted.
                self._log(name, ROLES[1] if k and k == len(self.project.logs) - 1 else ROLES[0])
        self._show_fits()

    def _log(self, name: str, role: str) -> None:
        with ui.row().classes("items-center w-full gap-2"):
            ui.label(name).classes("text-sm grow")
            self.roles[name] = ui.select(list(ROLES), value=role).props("dense")
        with ui.expansion("columns").classes("w-full text-xs") as fold:
            # Read only once it is unfolded: large logs take a while.
            fold.on_value_change(lambda event, name=name, fold=fold: self._columns(name, fold) if event.value else None)

    def _columns(self, name: str, fold: Any) -> None:
        """What the log holds, and which of it is read as what; drop-downs correct the guess."""

        def fill() -> None:
            summary = inspect_log(self.project.logs[name])
            # Unfolded again, the summary replaces the old one.
            fold.clear()
            names = [column.name for column in summary.columns]
            with fold:
                rows = [
                    {"column": c.name, "likely": c.field or "", "from": f"{c.smallest:.4g}", "to": f"{c.largest:.4g}"}
                    for c in summary.columns
                ]
                ui.table(rows=rows).props("dense flat").classes("w-full")
                for field in ("t", "q", "qd", "tau"):
                    # One column of time; the others have a column per joint.
                    choice = ui.select(names, label=field, multiple=field != "t", clearable=True).classes("w-full")
                    self.fields[f"{name}:{field}"] = choice.props("dense use-chips")
                for sentence in summary.findings:
                    ui.label(sentence)

        self.desk.attempt(fill)

    def _options(self, name: str) -> dict[str, Any]:
        chosen = {field: self.fields.get(f"{name}:{field}") for field in ("t", "q", "qd", "tau")}
        # What is not chosen is left to the reader's own guess.
        columns = {field: choice.value for field, choice in chosen.items() if choice is not None and choice.value}
        return {"columns": columns} if columns else {}

    def _start(self) -> None:
        chosen = {role: [name for name, select in self.roles.items() if select.value == role] for role in ROLES}
        if not chosen["fit"]:
            complain("no log is chosen to fit; drop one, or change its role to fit")
            return
        self.desk.attempt(lambda: self._read(chosen))

    def _read(self, chosen: dict[str, list[str]]) -> None:
        robot, names = self.project.robot, [*chosen["fit"], *chosen["validate"]]
        # One mapping for all logs, that of the first: they come from one robot.
        logs = {self.project.logs[name]: self._options(name) for name in names}
        job = Job.start("Reading", work.read_logs, robot, logs)
        self.desk.run(job, self.bar, lambda found: self._identify(chosen, found))

    def _identify(self, chosen: dict[str, list[str]], found: dict[str, Recording]) -> None:
        self.project.recordings = found
        physical = bool(self.physical.value)
        fitted, validated = ([found[name] for name in chosen[role]] for role in ("fit", "validate"))
        job = Job.start("Identifying", work.identify_robot, self.project.robot, fitted, validated, physical)
        self.desk.run(job, self.bar, self._done)
        source, tip = self.project.source, self.project.tip
        self.desk.show_lines(Lines.of_fit(source, tip, chosen["fit"], chosen["validate"], physical))

    def _done(self, fit: Fit) -> None:
        self.project.fits[f"fit {len(self.project.fits) + 1}"] = fit
        self._show_fits()

    def _show_fits(self) -> None:
        self.results.clear()
        if not self.project.fits:
            with self.results:
                ui.label("Nothing is identified yet.").classes("text-grey-7")
            return
        with self.results:
            self._compare()
            fit = next(reversed(self.project.fits.values()))
            colour = {"good": "positive", "usable": "warning"}.get(fit.verdict.grade, "negative")
            ui.badge(fit.verdict.grade, color=colour).classes("text-lg verdict")
            ui.label(f"{100 * fit.unseen.total:.2g} % torque error on {fit.unseen.source}").classes("font-medium")
            for sentence in (*fit.verdict.reasons, *fit.verdict.next):
                ui.label(sentence).classes("text-sm")
            self._figures(fit)
            self._play(fit)

    def _compare(self) -> None:
        """Fits side by side."""
        rows = [
            {
                "fit": name,
                "verdict": fit.verdict.grade,
                "error": f"{100 * fit.unseen.total:.3g} %",
                "on": fit.unseen.source,
                "values": len(fit.values),
                "method": fit.method,
            }
            for name, fit in self.project.fits.items()
        ]
        ui.table(rows=rows).props("dense flat").classes("w-full")

    def _figures(self, fit: Fit) -> None:
        place = ui.column().classes("w-full")

        def draw(what: str) -> None:
            place.clear()
            with place:
                ui.plotly(plot_fit(fit, what)).classes("w-full")

        toggle = ui.toggle(list(FIGURES), value="torque").props("dense no-caps")
        toggle.on_value_change(lambda event: self.desk.attempt(lambda: draw(str(event.value))))
        toggle.move(target_index=len(self.results.default_slot.children) - 2)
        self.desk.attempt(lambda: draw("torque"))

    def _play(self, fit: Fit) -> None:
        """The motion of the verdict on the robot, links coloured by the error of their joint."""
        torques = judged_torques(fit)
        if not torques.states:
            return
        scene = RobotScene(self.project, height="18rem")
        rms = np.sqrt((torques.measured**2).mean(axis=0))
        # Relative to the joint's RMS, so that light wrists and heavy shoulders share a colour scale.
        error = np.abs(torques.measured - torques.predicted) / np.maximum(rms, 1e-12)
        # Evenly spread over the recording; unique where it has fewer rows.
        rows = np.unique(np.linspace(0, len(torques.t) - 1, FRAMES).astype(int))

        def show(event: events.ValueChangeEventArguments[Any]) -> None:
            row = rows[int(event.value)]
            scene.move(torques.states[0][row])
            scene.colour(error[row].tolist())

        ui.slider(min=0, max=len(rows) - 1, value=0, on_change=show).props('aria-label="time of the recording"')
        ui.label("The recording, links coloured by the torque error of their joint.").classes("text-xs text-grey-7")
        if self.project.recordings:
            with ui.expansion("signals").classes("w-full"):
                ui.plotly(plot_recording(next(iter(self.project.recordings.values())))).classes("w-full")
