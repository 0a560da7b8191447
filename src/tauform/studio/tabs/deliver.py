"""Deliver: code in a language, tested, as a zip; and the report."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

from nicegui import ui

from tauform.codegen.backends.registry import TARGETS
from tauform.codegen.names import c_prefix
from tauform.studio import work
from tauform.studio.desk import Desk, complain
from tauform.studio.project import Project

FUNCTIONS = ("inverse_dynamics", "gravity_torque", "mass_matrix", "bias_torque", "forward_dynamics", "regressor")


def deliver_tab(desk: Desk) -> None:
    """The tab: target, precision, functions; the self-test's words; downloads."""
    project = desk.project
    with ui.element("div").classes("columns"):
        with ui.column().classes("gap-2 card"):
            ui.label("Code that passed its self-test").classes("heading")
            whose = ui.label().classes("text-sm soft")
            target = desk.kept("target", ui.select(sorted(TARGETS), value="c", label="target"))
            real = desk.kept("real", ui.select(["double", "float"], value="double", label="precision"))
            # A few that most controllers use; Python and the command line have all of them.
            functions = ui.select(list(FUNCTIONS), value=["inverse_dynamics"], multiple=True, label="functions")
            desk.kept("functions", functions).props("use-chips")
            for field in (target, real, functions):
                field.classes("w-full")
            ui.button("Generate and test", on_click=lambda: start()).props("no-caps").mark("generate")
            ui.button("Report of the fit", on_click=lambda: report()).props("flat no-caps icon=description")
        said = ui.column().classes("w-full gap-2")

    def draw() -> None:
        whose.set_text(f"of {project.whose}")
        said.clear()
        with said:
            _show(project)

    def start() -> None:
        owner = project.whose

        def done(found: dict[str, str]) -> None:
            # By name: a later fit does not make it its own.
            project.delivered = found | {"of": owner}

        names, chosen, precision = list(functions.value), str(target.value), str(real.value)
        # A name as C knows it, that of a stranger's robot may hold a path; target and precision in it: results of
        # several choices stand side by side.
        folder = project.folder / f"{c_prefix(None, project.robot.name)}_{chosen}_{precision}"
        model: Any = project.last_fit.path if project.last_fit else project.robot
        lines = project.lines.code(names, chosen, precision)
        desk.attempt(
            lambda: desk.start("Generating", done, lines, work.deliver, model, names, chosen, precision, folder)
        )

    def report() -> None:
        if project.last_fit is None:
            complain("nothing was identified yet; the report is that of a fit")
            return
        kept, path, owner = project.last_fit.path, project.folder / "report.html", next(reversed(project.fits))

        def written(found: str) -> None:
            project.report = {"path": found, "of": owner}

        desk.start("Report", written, project.lines.report(), work.report, kept, path)

    draw()
    for what in ("work", "robot"):
        desk.follow(what, draw)


def _show(project: Project) -> None:
    found, report = project.delivered, project.report
    if found is not None:
        folder = Path(found["folder"])
        with ui.column().classes("card gap-1"):
            # Without the target's compiler on this machine nothing was run, and nothing may be claimed.
            ui.label("The self-test passed." if "not run" not in found["said"] else "Written.").classes("heading good")
            ui.label(f"Code of {found['of']}").classes("text-sm")
            ui.code(found["said"], language="text").classes("said w-full text-xs")
            name = f"{folder.name}.zip"
            ui.button(f"Download {name}", on_click=lambda: ui.download.content(zipped(folder), name)).props(
                "no-caps icon=download"
            ).mark("download")
    if report is not None:
        path = Path(report["path"])
        with ui.column().classes("card gap-1"):
            ui.label(f"The report of {report['of']}").classes("heading")
            ui.button("Download report.html", on_click=lambda: ui.download(path, "report.html")).props(
                "no-caps icon=download"
            )
    if found is None and report is None:
        with ui.column().classes("card"):
            ui.label("Nothing is generated yet.").classes("heading")


def zipped(folder: Path) -> bytes:
    """All files of a folder, below its name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        # Sorted: the same folder gives the same archive.
        for path in sorted(folder.rglob("*")):
            # The package's own bookkeeping files are of no use outside.
            if path.is_file() and not path.name.startswith(".tauform-"):
                archive.writestr(f"{folder.name}/{path.relative_to(folder).as_posix()}", path.read_bytes())
    return packed.getvalue()
