"""Desk: what the tabs of one page share: the project, the lines that do the same, words about running work."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nicegui import app as running
from nicegui import events, run, ui

from tauform.errors import TauformError
from tauform.report.html.plot import OFFLINE, Plot
from tauform.report.notebook.plotly_figure import plotly_figure
from tauform.studio.lines import Lines
from tauform.studio.project import LARGEST_UPLOAD, Project

TOO_LARGE = (
    f"more than {LARGEST_UPLOAD // 2**20} MB were dropped; "
    "name large logs at the start instead: tauform studio ROBOT LOG"
)
OTHER_KIND = "not of a kind that is read here; the field names those that are"
POLL = 0.2  # seconds between looks at running work
# Readable on a dark and on a light page alike.
INK, GRID = "#7d8794", "rgba(128, 136, 146, 0.25)"


class Desk:
    """One page of a project: other pages of the same session work on the same one.

    Attributes:
        receiving: whether files that were dropped on this page are still on their way.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.client = ui.context.client
        self.followers: dict[str, list[Callable[[], None]]] = {"robot": [], "logs": [], "work": []}
        self.receiving = False
        self.python: Any = None
        self.shell: Any = None
        project.watchers.append(self.told)
        project.pages.append(self.client)
        # A closed tab follows nothing; what runs goes on, and the next page shows it.
        self.client.on_delete(self._closed)

    def follow(self, what: str, draw: Callable[[], None]) -> None:
        """Call `draw` whenever the robot, the logs or the results change, in this tab or another."""
        self.followers[what].append(draw)

    def _closed(self) -> None:
        self.project.watchers.remove(self.told)
        self.project.pages.remove(self.client)

    def told(self, what: str) -> None:
        """Draw what changed; a mistake in one tab does not keep the others from being drawn."""
        with self.client:
            for draw in self.followers[what]:
                try:
                    self.attempt(draw)
                # A defect of ours in one place must not hide results in the others.
                except Exception as error:
                    running.handle_exception(error)

    def show_lines(self, lines: Lines) -> None:
        """Show how the library does what was just done, also after the page is loaded again."""
        self.project.shown_lines = lines
        self.python.set_content(lines.python)
        # An empty block would look broken.
        self.shell.set_content(lines.shell or "# in Python only")

    def attempt(self, action: Callable[[], None]) -> bool:
        """Do something a user asked for; a mistake of theirs becomes a sentence in the page."""
        try:
            action()
        except TauformError as error:
            complain(self.project.said(error))
            return False
        return True

    def start(
        self, title: str, finish: Callable[[Any], None], lines: Lines | None, function: Callable[..., Any], *given: Any
    ) -> None:
        """Begin long work, and show the lines that do the same."""
        if self.attempt(lambda: self.project.start(title, finish, function, *given)) and lines is not None:
            self.show_lines(lines)

    async def keep(self, uploads: Sequence[Any]) -> list[Path]:
        """Store what was dropped; a file that cannot be stored is named, and the others stay."""
        kept: list[Path] = []
        for upload in uploads:
            try:
                # In a thread: the disk may take seconds, and the page answers meanwhile.
                path = await run.io_bound(self.project.keep, upload.name, await upload.read())
            except TauformError as error:
                complain(self.project.said(error))
                continue
            # None where the server ends meanwhile.
            if path is not None:
                kept.append(path)
        return kept

    def left(self) -> None:
        """Another tab was chosen: the browser ends uploads of the one that is left."""
        if self.receiving:
            self.receiving = False
            complain("the tab was left before its files had arrived; drop them again")

    def kept(self, name: str, element: Any) -> Any:
        """The element with the value it had before the page was loaded again; a change is remembered."""
        choices = self.project.choices
        if name in choices:
            element.set_value(choices[name])
        element.on_value_change(lambda event: choices.update({name: event.value}))
        return element


class WorkBar:
    """A line with the words of running work, and a button that ends it; the same on every page of the project."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.project = desk, desk.project
        with ui.row().classes("items-center w-full gap-3 card no-wrap").mark("work") as self.row:
            ui.spinner(size="sm")
            self.words = ui.label().classes("text-sm grow").props('role="status"')
            self.button = ui.button("Cancel", on_click=self._cancel).props("flat dense no-caps color=negative")
        self.row.set_visibility(False)
        # Each page looks; the first to see the end stores the result for all.
        ui.timer(POLL, self._look)

    def _look(self) -> None:
        self.project.poll()
        job = self.project.job
        running = job is not None and job.state == "running"
        self.row.set_visibility(running or self.desk.receiving)
        self.button.set_visibility(running)
        if job is not None and running:
            self.words.set_text(f"{job.title}: {job.words}, {job.seconds:.0f} s")
        elif self.desk.receiving:
            self.words.set_text("Receiving files")
        if self.project.complaint:
            complain(self.project.complaint)
            self.project.complaint = ""

    def _cancel(self) -> None:
        if self.project.job is not None:
            self.project.job.cancel()
            ui.notify(f"{self.project.job.title}: cancelled")
            self.project.tell("work")


def drop_zone(
    desk: Desk, label: str, dropped: Callable[[events.MultiUploadEventArguments], Any], name: str
) -> ui.upload:
    """A place to drop files on; they arrive together.

    Args:
        dropped: called with the files.
        name: class of the element, for tests and style sheets.
    """

    async def arrived(event: events.MultiUploadEventArguments) -> None:
        try:
            await dropped(event)
        finally:
            desk.receiving = False

    def begins() -> None:
        desk.receiving = True

    def failed() -> None:
        desk.receiving = False
        complain("the files did not arrive; drop them again")

    zone = ui.upload(
        label=label,
        multiple=True,
        auto_upload=True,
        max_file_size=LARGEST_UPLOAD,
        max_total_size=LARGEST_UPLOAD,
        on_begin_upload=begins,
        on_multi_upload=arrived,
    ).classes(f"drop {name}")
    # The browser refuses before it sends: the server would hold the file in memory.
    reasons = "rejected => emit(rejected.map(one => [one.failedPropValidation, one.file.name]))"
    zone.on("rejected", lambda event: _complain_of(event.args), js_handler=reasons)
    # What was dropped is listed where it is used. The browser empties the zone itself, of what has arrived: a word from
    # here would come late, and end what is dropped meanwhile.
    emptied = f"() => getElement({zone.id}).$refs.qRef.removeUploadedFiles()"
    return zone.on("uploaded", js_handler=emptied).on("failed", failed, args=[])


def _complain_of(rejected: Sequence[tuple[str, str]]) -> None:
    """Why the browser did not send files: their kind, else how much they are."""
    wrong = [name for reason, name in rejected if reason == "accept"]
    complain(f"{', '.join(wrong)}: {OTHER_KIND}" if wrong else TOO_LARGE)


def complain(sentence: str) -> None:
    """One sentence about what was wrong; it stays until it is read."""
    # timeout=0 keeps it; mistakes vanish too fast otherwise. Not at the top, where it would cover the tabs.
    ui.notify(sentence, type="negative", multi_line=True, close_button="OK", timeout=0, position="bottom-right")


def facts_table(rows: Sequence[Mapping[str, Any]]) -> ui.table:
    """A table of texts and numbers: the first column names its row, numbers stand right."""

    def numeric(name: str) -> bool:
        return all(str(row[name])[:1] in "-0123456789" for row in rows)

    columns = [
        {"name": name, "label": name, "field": name, "align": "right" if k and numeric(name) else "left"}
        for k, name in enumerate(rows[0] if rows else ())
    ]
    return ui.table(rows=[dict(row) for row in rows], columns=columns).props("dense flat").classes("w-full")


def figure(drawn: Plot, height: str = "22rem") -> ui.plotly:
    """A figure in the page's own colours, below its caption."""
    # Text of the page: Plotly's own titles do not wrap, and leave narrow windows.
    if drawn.caption:
        ui.label(drawn.caption).classes("text-sm soft")
    shown = plotly_figure(drawn)
    axes = {"gridcolor": GRID, "zerolinecolor": GRID, "linecolor": GRID}
    shown.update_layout(
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", font={"color": INK},
        title=None, height=None, margin={"l": 60, "r": 15, "t": 50 if len(drawn.panels) > 1 else 15, "b": 45},
    ).update_xaxes(**axes).update_yaxes(**axes)  # fmt: skip
    # The library's own look of menus is for white pages.
    for menu in shown.layout.updatemenus or ():
        menu.update(bgcolor="rgba(128,136,146,0.15)", bordercolor=GRID, active=0)
    return ui.plotly(json.loads(shown.to_json()) | {"config": OFFLINE}).classes("w-full").style(f"height: {height}")
