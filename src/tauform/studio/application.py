"""application: the studio as an ASGI application behind its guard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path

from fastapi import FastAPI, HTTPException, Request, Response
from nicegui import app as running
from nicegui import core, ui

from tauform.studio.access import COOKIE, Guard
from tauform.studio.desk import Desk, WorkBar, complain
from tauform.studio.project import LARGEST_UPLOAD, Project
from tauform.studio.scene import stl
from tauform.studio.tabs.deliver import deliver_tab
from tauform.studio.tabs.identify import identify_tab
from tauform.studio.tabs.plan import plan_tab
from tauform.studio.tabs.robot import robot_tab
from tauform.studio.tabs.shrink import shrink_tab

DEFAULT_ROBOT = "kr6_r700"
TABS = {
    "Robot": robot_tab,
    "Plan": plan_tab,
    "Identify": identify_tab,
    "Shrink": shrink_tab,
    "Deliver": deliver_tab,
}

# Figures of a tab that is left have no size, which Plotly rejects; they are resized when the tab is shown again.
# The library's fields for files have no name, and stand inside a link that is a button too: screen readers and keys get
# the field alone.
HEAD = """<script>document.documentElement.lang = "en";
addEventListener("unhandledrejection", event => {
  if (String(event.reason).includes("displayed plot div")) event.preventDefault();
});
new MutationObserver(() => {
  for (const field of document.querySelectorAll(".q-uploader__input:not([aria-label])")) {
    const button = field.closest("a");
    field.ariaLabel = field.closest(".q-uploader").querySelector(".q-uploader__title").textContent;
    field.tabIndex = 0;
    button.removeAttribute("role");
    button.tabIndex = -1;
  }
}).observe(document, {childList: true, subtree: true});</script>"""
# How long a page that is gone may come back.
PATIENCE = 60.0  # seconds
# A browser of this machine that draws without a graphics card answers late and is not gone: the system closes sockets
# of those that are. Ended for being late, it would lose what is clicked before it knows.
HEARTBEAT_TIMEOUT = 24 * 3600  # seconds
TWO_TABS = "Open in another tab too; both show and change the same robot."


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
            project.name_logs(logs)
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
    ui.run_with(inside, title="tauform studio", show_welcome_message=False, reconnect_timeout=PATIENCE)
    # At the start: the library sets its own then.
    running.on_startup(_wait_for_late_browsers)
    # A hundredth more: names and headings of the files come with them.
    return Guard(inside, token, LARGEST_UPLOAD + LARGEST_UPLOAD // 100)


def _wait_for_late_browsers() -> None:
    core.sio.eio.ping_timeout = HEARTBEAT_TIMEOUT


# The page: tabs along the way from a robot to code, and the lines that do the same.


def build(project: Project) -> None:
    """The whole page of a session."""
    ui.colors(primary="#1f63c4", dark="#1c2024", dark_page="#14171a")
    ui.add_head_html(HEAD)
    ui.add_css((resources.files("tauform.studio") / "assets" / "studio.css").read_text(encoding="utf-8"))
    # None follows the system, as the reports do.
    dark = ui.dark_mode(project.choices.get("dark"))
    desk = Desk(project)
    # A defect of ours: a click that does nothing would leave the user waiting.
    ui.on_exception(lambda error: complain(project.said(f"{type(error).__name__}: {error}; please report it")))
    with ui.header().classes("items-center py-1 gap-4 flex-wrap"):
        ui.label("tauform studio").classes("text-base font-semibold")
        switch = ui.button(icon="contrast", on_click=lambda: _turn(project, dark))
        # Beside the title on a phone, at the far end on a wide screen.
        switch.props('flat dense color=white aria-label="dark or light"').classes("sm:order-last ml-auto")
        with ui.tabs().props("dense no-caps inline-label") as tabs:
            for name in TABS:
                ui.tab(name)
    with ui.footer().classes("lines p-2 gap-x-6 gap-y-1 flex-wrap"):
        for language, name in (("python", "python"), ("bash", "shell")):
            block = ui.code("", language=language).classes("grow").style("min-width: 18rem; flex: 1 1 18rem")
            block.copy_button.props(f'aria-label="copy the lines of {language}"')
            setattr(desk, name, block.mark(name))
    WorkBar(desk)
    _say_two_tabs(project)
    # Tabs that are left are taken down: their scenes would go on drawing.
    panels = ui.tab_panels(tabs, value=project.choices.get("tab", "Robot"), keep_alive=False)
    panels.classes("w-full bg-transparent")
    # The tab that was open is open after a reload.
    panels.on_value_change(lambda event: project.choices.update(tab=event.value))
    panels.on_value_change(desk.left)
    # Taken first: the Robot tab shows lines of its own once it is drawn.
    before = project.shown_lines or project.lines.load()
    with panels:
        for name, tab in TABS.items():
            with ui.tab_panel(name):
                tab(desk)
    desk.show_lines(before)


def _turn(project: Project, dark: ui.dark_mode) -> None:
    # Dark first: whoever asks has most likely a light page.
    project.choices["dark"] = not project.choices.get("dark")
    dark.set_value(project.choices["dark"])


def _say_two_tabs(project: Project) -> None:
    label = ui.label(TWO_TABS).classes("text-xs soft")
    label.set_visibility(False)

    def look() -> None:
        # A page that was loaded again waits for a while to come back; it is no other tab.
        label.set_visibility(sum(page.has_socket_connection for page in project.pages) > 1)

    # Seen every two seconds: tabs open and close without telling each other.
    ui.timer(2.0, look)
