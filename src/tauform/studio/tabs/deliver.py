"""Deliver: code in a language, tested, as a zip; and the report."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from nicegui import ui

from tauform.codegen.backends.registry import TARGETS
from tauform.codegen.names import c_prefix
from tauform.studio import work
from tauform.studio.desk import Desk, JobProgress, complain
from tauform.studio.jobs import Job
from tauform.studio.lines import Lines

FUNCTIONS = ("inverse_dynamics", "gravity_torque", "mass_matrix", "bias_torque", "forward_dynamics", "regressor")


def deliver_tab(desk: Desk) -> None:
    """The tab: target, precision, functions; the self-test's words; downloads."""
    project = desk.project
    with ui.column().classes("gap-2 w-full").style("max-width: 46rem"):
        with ui.row().classes("gap-3 items-center"):
            target = ui.select(sorted(TARGETS), value="c", label="target")
            real = ui.select(["double", "float"], value="double", label="precision")
            functions = ui.select(list(FUNCTIONS), value=["inverse_dynamics"], multiple=True, label="functions")
            functions.props("use-chips").style("min-width: 16rem")
        with ui.row():
            make = ui.button("Generate and test").mark("generate")
            page = ui.button("Report of the fit").props("flat")
        bar = JobProgress()
        said = ui.column().classes("w-full")

    def done(found: dict[str, str]) -> None:
        said.clear()
        folder = Path(found["folder"])
        with said:
            ui.code(found["said"], language="text").classes("w-full text-xs")
            name = f"{folder.name}.zip"
            ui.button(f"Download {name}", on_click=lambda: ui.download.content(zipped(folder), name)).mark("download")

    def start() -> None:
        def run() -> None:
            # The last fit, as dictionaries keep their order.
            fitted = next(reversed(project.fits.values())) if project.fits else None
            # Target and precision in the name: results of several choices stand side by side.
            # A name as C knows it: that of a stranger's robot may hold a path.
            folder = project.folder / f"{c_prefix(None, project.robot.name)}_{target.value}_{real.value}"
            model = fitted if fitted is not None else project.robot
            arguments = (model, list(functions.value), str(target.value), str(real.value), folder)
            desk.run(Job.start("Generating", work.deliver, *arguments), bar, done)

        if desk.attempt(run):
            names, chosen, precision = list(functions.value), str(target.value), str(real.value)
            desk.show_lines(Lines.of_code(project.source, project.tip, names, chosen, precision))

    def report() -> None:
        if not project.fits:
            complain("nothing was identified yet; the report is that of a fit")
            return
        fit = next(reversed(project.fits.values()))
        job = Job.start("Report", work.report, fit, project.folder / "report.html")
        desk.run(job, bar, lambda path: ui.download(Path(path), "report.html"))

    make.on_click(start)
    page.on_click(report)
    # Code of another robot must not be offered as this one's.
    desk.followers.append(lambda: _emptied(said))


def _emptied(place: ui.column) -> None:
    place.clear()


def zipped(folder: Path) -> bytes:
    """All files of a folder, below its name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            # The package's own bookkeeping files are of no use outside.
            if path.is_file() and not path.name.startswith(".tauform-"):
                archive.writestr(f"{folder.name}/{path.relative_to(folder).as_posix()}", path.read_bytes())
    return packed.getvalue()
