"""The page: tabs along the way from a robot to code, and the lines that do the same."""

from __future__ import annotations

from nicegui import ui

from tauform.studio.desk import Desk
from tauform.studio.lines import Lines
from tauform.studio.project import Project
from tauform.studio.tabs.deliver import deliver_tab
from tauform.studio.tabs.identify import identify_tab
from tauform.studio.tabs.plan import plan_tab
from tauform.studio.tabs.robot import robot_tab
from tauform.studio.tabs.shrink import shrink_tab

# Figures of a tab that is left have no size, which Plotly rejects; they are resized when the tab is shown again.
HIDDEN_FIGURES = """<script>addEventListener("unhandledrejection", event => {
  if (String(event.reason).includes("displayed plot div")) event.preventDefault();
});</script>"""


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
