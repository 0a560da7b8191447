"""LogCard: one log: its role, its columns and how they are read, its signals, rest, delays and spectra."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nicegui import events, ui

from tauform.studio.desk import Desk, facts_table, figure
from tauform.studio.log_look import look_at_log
from tauform.studio.on_the_page import LABELS, UNITS, UNITS_LABEL, label_of
from tauform.studio.results import FIELDS, LogLook


def show_looks(looks: Mapping[str, LogLook]) -> None:
    """Signals, delays and spectra of the logs that were looked at."""
    for name, look in looks.items():
        if look.plots:
            with ui.column().classes("card gap-1 w-full"):
                ui.label(name).classes("heading")
                for what, plot in look.plots.items():
                    # Signals are captioned by their recording, which the heading has said.
                    figure(replace(plot, caption="") if what == "signals" else plot, "19rem")


class LogCard:
    """A log with its role; unfolded it shows what it holds."""

    def __init__(self, desk: Desk, name: str, roles: Sequence[str], role: str) -> None:
        self.desk, self.project, self.name = desk, desk.project, name
        self.drawn: LogLook | None = None
        with ui.column().classes("card gap-1"):
            with ui.row().classes("items-center w-full gap-2 no-wrap"):
                ui.label(name).classes("text-sm font-semibold grow").style("overflow-wrap: anywhere")
                # By the log's name: the choice survives another log being dropped.
                self.select = desk.kept(f"{name}:role", ui.select(list(roles), value=role).props("dense"))
                remove = ui.button(icon="close", on_click=lambda: self.project.drop_log(name))
                remove.props('flat dense round size=sm aria-label="remove this log"')
            ui.button("Look at it", on_click=self._look).props("flat dense no-caps icon=search")
            self.place = ui.column().classes("w-full gap-1")
        self.refresh()

    @property
    def role(self) -> str:
        """What the log is for."""
        return str(self.select.value)

    def _look(self) -> None:
        def done(look: LogLook) -> None:
            self.project.looks[self.name] = look

        # The columns as they are chosen now; what was seen before may have been of others.
        path, options = self.project.logs[self.name], self.project.log_options(self.name)
        lines = self.project.lines.look(self.project.log_choice(self.name))
        self.desk.attempt(
            lambda: self.desk.start("Looking", done, lines, look_at_log, self.project.robot, path, options)
        )

    def refresh(self) -> None:
        """Show what was seen of the log."""
        look = self.project.looks.get(self.name)
        # The same object: any work that ends refreshes all cards, and drawing again would close what is unfolded.
        if look is self.drawn:
            return
        self.drawn = look
        self.place.clear()
        if look is None:
            return
        with self.place:
            ui.label(look.head).classes("text-xs soft")
            for sentence in look.findings:
                ui.label(sentence).classes("text-xs")
            with ui.expansion("columns, and what they are read as").classes("w-full text-sm"):
                self._mapping(look)
                facts_table([dict(row) for row in look.columns])

    def _mapping(self, look: LogLook) -> None:
        """Drop-downs with the guess; a change takes its place when the log is next read."""
        names = [row["column"] for row in look.columns]
        shown: dict[str, Any] = {}
        for field in FIELDS:
            several = field != "t"
            guess = look.guess.get(field, [])
            # One column of time; the others have a column per joint.
            value: Any = guess if several else (guess[0] if guess else None)
            # What somebody chose stays: a refused log would else show the guess in its place.
            value = self.project.choices.get(f"{self.name}:{field}", value)
            choice = ui.select(names, label=label_of(field), multiple=several, value=value, clearable=True)
            choice.props("dense" + " use-chips" * several).classes("w-full")
            shown[field] = choice
            # Bound as a default: the loop's variable would be the last field for all.
            choice.on_value_change(lambda event, field=field: self._choose(field, event))
        units = ui.select(list(UNITS), label=UNITS_LABEL, multiple=True).props("dense use-chips")
        rate = ui.number(LABELS["rate"], min=0.0).props("dense clearable")
        guessed = {"units": [unit for unit in look.units if unit in UNITS], "rate": None}
        for option, element in {"units": units, "rate": rate}.items():
            shown[option] = element
            element.classes("w-full").set_value(self.project.choices.get(f"{self.name}:{option}", guessed[option]))
            element.on_value_change(lambda event, option=option: self._choose(option, event))
        # A guess by numbers alone is read only once somebody has looked at it.
        ui.button("Read it as shown", on_click=lambda: self._accept(shown)).props("flat dense no-caps")

    def _accept(self, shown: Mapping[str, Any]) -> None:
        self.project.choices.update({f"{self.name}:{option}": element.value for option, element in shown.items()})
        self._look()

    def _choose(self, field: str, event: events.ValueChangeEventArguments[Any]) -> None:
        self.project.choices[f"{self.name}:{field}"] = event.value
        self.desk.show_lines(self.project.lines.look(self.project.log_choice(self.name)))
