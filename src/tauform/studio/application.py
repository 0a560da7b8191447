"""application: the studio as an ASGI application behind its guard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from fastapi import FastAPI, HTTPException, Request, Response
from nicegui import app as running
from nicegui import ui

from tauform.studio.access import COOKIE, Guard
from tauform.studio.desk import Desk
from tauform.studio.lines import Lines
from tauform.studio.project import Project
from tauform.studio.scene import stl
from tauform.studio.tabs.deliver import deliver_tab
from tauform.studio.tabs.identify import identify_tab
from tauform.studio.tabs.plan import plan_tab
from tauform.studio.tabs.robot import robot_tab
from tauform.studio.tabs.shrink import shrink_tab

DEFAULT_ROBOT = "kr6_r700"

# Figures of a tab that is left have no size, which Plotly rejects; they are resized when the tab is shown again.
HIDDEN_FIGURES = """<script>addEventListener("unhandledrejection", event => {
  if (String(event.reason).includes("displayed plot div")) event.preventDefault();
});</script>"""


def application(
    new_folder: Callable[[], Path], token: str, robot: str | Path | None, tip: str | None, logs: Sequence[Path]
) -> Guard:
    """The guarded application; each session holds its files in a new folder of its own.

    Raises:
        DescriptionError: the robot cannot be read.
    """
    projects: dict[str, Project] = {}
    # read once, before anybody is let in: a mistake ends the command
    first = Project(new_folder())
    first.open_robot(robot if robot is not None else DEFAULT_ROBOT, tip)

    def project_of(request: Request) -> Project:
        session = request.cookies.get(COOKIE, "")
        if session not in projects:
            # Each session edits a robot of its own.
            project = Project(new_folder())
            project.open_robot(first.source, tip)
            # Resolved: the server may change its folder.
            project.logs = {path.name: path.resolve() for path in logs}
            projects[session] = project
        return projects[session]

    inside = FastAPI()

    @inside.get("/mesh/{k}.stl")
    def mesh(k: int, request: Request) -> Response:
        meshes = project_of(request).meshes
        if not 0 <= k < len(meshes):
            # An index of a robot that was closed meanwhile.
            raise HTTPException(404)
        # Not cached: the same address serves another robot's mesh after a change.
        return Response(stl(meshes[k]), media_type="model/stl", headers={"cache-control": "no-store"})

    @ui.page("/", title="tauform studio")
    def page(request: Request) -> None:
        build(project_of(request))

    def end_work() -> None:
        for project in projects.values():
            # Processes of running work must not outlive the server.
            if project.job is not None:
                project.job.cancel()

    running.on_shutdown(end_work)
    ui.run_with(inside, title="tauform studio", show_welcome_message=False)
    return Guard(inside, token)


# The page: tabs along the way from a robot to code, and the lines that do the same.


def build(project: Project) -> None:
    """The whole page of a session."""
    ui.colors(primary="#1f63c4")
    ui.add_head_html(HIDDEN_FIGURES)
    desk = Desk(project)
    parts = {
        "Robot": robot_tab,
        "Plan": plan_tab,
        "Identify": identify_tab,
        "Shrink": shrink_tab,
        "Deliver": deliver_tab,
    }
    with ui.header().classes("items-center py-1 gap-4 flex-wrap"):
        ui.label("tauform studio").classes("text-lg font-semibold")
        with ui.tabs().props("dense") as tabs:
            for name in parts:
                ui.tab(name)
    with ui.footer().classes("bg-grey-2 text-black p-2 gap-2 flex-wrap"):
        desk.python = ui.code("", language="python").classes("grow text-xs m-0").style("min-width: 20rem")
        desk.shell = ui.code("", language="bash").classes("grow text-xs m-0").style("min-width: 20rem")
    with ui.tab_panels(tabs, value="Robot").classes("w-full"):
        for name, tab in parts.items():
            with ui.tab_panel(name).classes("p-2"):
                tab(desk)
    desk.show_lines(Lines.of_robot(project.source, project.tip))
