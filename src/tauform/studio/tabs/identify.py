"""Identify: drop logs, look at them, correct their columns, run, compare, play the recording."""

from __future__ import annotations

from typing import Any

from nicegui import events, ui

from tauform.studio import work
from tauform.studio.desk import Desk, complain, drop_zone
from tauform.studio.lines import Lines, script
from tauform.studio.on_the_page import LABELS
from tauform.studio.results import FitLook
from tauform.studio.tabs.fits import show_fits
from tauform.studio.tabs.logs import LogCard, show_looks

ROLES = ("fit", "validate", "leave out")
# Once it is drawn; pages of other tabs have none.
SHOW_VERDICT = """requestAnimationFrame(() => document.querySelector(".verdict")?.scrollIntoView({block: "nearest"}))"""


def identify_tab(desk: Desk) -> None:
    """The tab: logs and options on the left, verdict and figures on the right."""
    tab = IdentifyTab(desk)
    for what in ("robot", "logs"):
        desk.follow(what, tab.rebuild)
    desk.follow("work", tab.worked)
    tab.rebuild()


class IdentifyTab:
    """Logs, and the fits that were made of them."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.project = desk, desk.project
        self.cards: list[LogCard] = []
        self.shown: Any = None
        with ui.element("div").classes("columns"):
            with ui.column().classes("gap-2"):
                drop_zone(desk, "Drop logs: CSV, NPZ, Parquet, MAT, MCAP, db3", self._dropped, "log-upload")
                self.logs = ui.column().classes("gap-2 w-full")
                desk.kept("physical", ui.checkbox(LABELS["physical"]))
                ui.button("Identify", on_click=self._start).props("no-caps").mark("identify")
            self.results = ui.column().classes("gap-2 w-full")

    async def _dropped(self, event: events.MultiUploadEventArguments) -> None:
        for path in await self.desk.keep(event.files):
            self.project.logs[path.name] = path
            self.project.given.pop(path.name, None)
            # A log of the same name is another one.
            self.project.looks.pop(path.name, None)
        self.project.tell("logs")

    def rebuild(self) -> None:
        """Logs and fits of the project."""
        self.logs.clear()
        self.cards = []
        with self.logs:
            for k, name in enumerate(self.project.logs):
                # The last of several logs validates: a verdict needs data that was not fitted.
                last = bool(k) and k == len(self.project.logs) - 1
                self.cards.append(LogCard(self.desk, name, ROLES, ROLES[1] if last else ROLES[0]))
        self._show_results()

    def worked(self) -> None:
        """Results may have come: logs that were looked at, or a fit."""
        for card in self.cards:
            card.refresh()
        # Fits by name, looks by what they are: a look may replace one of the same log.
        if self.shown != [*self.project.fits, *self.project.looks.values()]:
            fitted = any(name not in self.shown for name in self.project.fits)
            self._show_results()
            if fitted:
                # Whoever pressed the button stands at the foot of the logs, perhaps far below the verdict.
                ui.run_javascript(SHOW_VERDICT)

    def _show_results(self) -> None:
        self.shown = [*self.project.fits, *self.project.looks.values()]
        self.results.clear()
        with self.results:
            show_fits(self.desk)
            show_looks(self.project.looks)

    def _start(self) -> None:
        roles = {card.name: card.role for card in self.cards}
        fitted, validated = ([n for n, role in roles.items() if role == wanted] for wanted in ROLES[:2])
        if self.desk.receiving:
            complain("files are still arriving; press Identify again once they are listed")
            return
        if not fitted:
            complain("no log is chosen to fit; drop one, or change its role to fit")
            return
        project, physical = self.project, bool(self.project.choices.get("physical"))
        # Twice: what the work is given, and what the line of Python says of it.
        options = [{project.logs[n]: project.log_options(n) for n in names} for names in (fitted, validated)]
        chosen = [[project.log_choice(n) for n in names] for names in (fitted, validated)]

        # Numbered, never replaced: fits are there to be compared.
        name = f"fit {len(project.fits) + 1}" + ", physical" * physical

        def done(look: FitLook) -> None:
            project.fits[name], project.fit_lines[name] = look, made

        made, kept = project.lines.identification(chosen[0], chosen[1], physical), project.fit_folder / name
        lines = Lines(script(*made.python, "print(fit)", "fit.plot()"), made.shell)
        self.desk.attempt(
            lambda: self.desk.start(
                "Identifying", done, lines, work.identify_robot, project.robot, *options, physical, kept
            )
        )
