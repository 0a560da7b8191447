"""application: the studio as an ASGI application behind its guard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from fastapi import FastAPI, HTTPException, Request, Response
from nicegui import app as running
from nicegui import ui

from tauform.studio.access import COOKIE, Guard
from tauform.studio.page import build
from tauform.studio.project import Project
from tauform.studio.scene import stl

DEFAULT_ROBOT = "kr6_r700"


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
