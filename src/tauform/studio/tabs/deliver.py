"""Deliver: code in a language, tested, as a zip; and the report."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

from nicegui import ui

from tauform.codegen.backends.registry import TARGETS, backend
from tauform.codegen.minimal.problem import has_friction
from tauform.codegen.names import c_prefix
from tauform.files.manifest import manifest_of, read_manifest
from tauform.studio import work
from tauform.studio.desk import Desk, complain
from tauform.studio.project import Project

# A few that most controllers use; Python and the command line have all of them.
FUNCTIONS = (
    "inverse_dynamics", "gravity_torque", "velocity_torque", "bias_torque", "friction", "mass_matrix",
    "forward_dynamics", "base_regressor", "forward_kinematics", "jacobian",
)  # fmt: skip

# Products that run on every processor, and are what was asked for.
PORTABLE = (".fmu", ".wasm")


def deliver_tab(desk: Desk) -> None:
    """The tab: target, precision, functions; the self-test's words; downloads."""
    project = desk.project
    with ui.element("div").classes("columns"):
        with ui.column().classes("gap-2 card"):
            ui.label("Code that passed its self-test").classes("heading")
            whose = ui.label().classes("text-sm soft")
            target = desk.kept("target", ui.select(sorted(TARGETS), value="c", label="target"))
            real = desk.kept("real", ui.select(["double", "float"], value="double", label="precision"))
            functions = ui.select(list(FUNCTIONS), value=["inverse_dynamics"], multiple=True, label="functions")
            desk.kept("functions", functions).props("use-chips")
            for field in (target, real, functions):
                field.classes("w-full")
            target.on_value_change(lambda: desk.attempt(suit))
            ui.button("Generate and test", on_click=lambda: start()).props("no-caps").mark("generate")
            ui.button("Report of the fit", on_click=lambda: report()).props("flat no-caps icon=description")
        said = ui.column().classes("w-full gap-2")

    def draw() -> None:
        whose.set_text(f"of {project.whose}")
        said.clear()
        with said:
            _show(project)

    def suit() -> None:
        """Precisions and functions that the target takes."""
        taken = backend(str(target.value))
        real.set_options(list(taken.reals), value=real.value if real.value in taken.reals else taken.reals[0])
        # An interface calls fixed functions; a robot without friction has none to generate.
        called = [name for name in taken.functions if name != "friction" or has_friction(project.identified)]
        functions.set_value(list(dict.fromkeys([*called, *functions.value])))

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

    # The target that was chosen before the page was loaded again.
    desk.attempt(suit)
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
    """The files of a folder that we wrote, below its name.

    What the self-test compiled is left out: make on another processor would take it for its own, and fail.
    """
    written = read_manifest(folder) or manifest_of(folder)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        # Sorted: the same folder gives the same archive.
        for name in sorted({*written.files, *(made for made in written.products if made.endswith(PORTABLE))}):
            path = folder / name
            # Products are there where the machine could make them.
            if path.is_file():
                archive.writestr(f"{folder.name}/{name}", path.read_bytes())
    return packed.getvalue()
