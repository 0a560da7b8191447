"""units.html: units of a fleet one by one: torques measured and predicted, friction over time, logs left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tauform.fleet.evidence.courses import DRIFT
from tauform.fleet.evidence.trends import Trend
from tauform.fleet.fleet_fit import FleetFit
from tauform.fleet.sources.keys import FIRST_DATE, LONGEST_IN_SECONDS, told
from tauform.messages import counted
from tauform.report.html.document import Section, document
from tauform.report.html.elements import Marked, facts, paragraph, table
from tauform.report.html.plot import Panel, Plot, Series

UNITS_PAGE = "units.html"
# Units that the page holds; a browser draws some hundred figures at most.
MOST_UNITS = 40
# Values that a unit's table lists, those that deviate most first.
MOST_VALUES = 12


def shown_units(fit: FleetFit) -> dict[str, str]:
    """Units with a part of their own, and its anchor: those that deviate, that changed, or whose logs were left out."""
    changed = {change.unit for change in fit.changes} | {unit for unit, _, _ in fit.excluded}
    worth = [name for name, unit in fit.units.items() if unit.is_deviating or name in changed]
    # In the order of the fleet, most deviating first; anchors by place, for names may hold anything.
    return {name: f"unit{k}" for k, name in enumerate(worth[:MOST_UNITS])}


def units_page(fit: FleetFit) -> str:
    """The page; it opens without a network."""
    units = shown_units(fit)
    told = f"{len(units)} of {counted(len(fit.units), 'unit')}: those that deviate, changed or have logs left out"
    sections = [Section(anchor, name, _unit(fit, name)) for name, anchor in units.items()]
    return document(f"Units of {fit.pooled.robot.name}", told, sections)


def by_change(fit: FleetFit, trends: Sequence[Trend]) -> list[Trend]:
    """Series that changed first, the least likely before: the first tab is the one that is seen."""
    places = {(change.unit, change.value): k for k, change in enumerate(fit.changes)}
    # Stable: those that did not change follow in their order.
    return sorted(trends, key=lambda trend: places.get((trend.unit, trend.value), len(places)))


def trend_plot(fit: FleetFit, shown: Sequence[Trend], named: bool = False) -> Plot:
    """Values over time with intervals, and the means before and after a change.

    Args:
        named: panels name the unit too.
    """
    since, when = _clock(shown)
    panels = [
        Panel(f"{t.unit} {t.value}" if named else t.value, [_over_time(t, when), *_steps(fit, t, when)]) for t in shown
    ]
    # Where all are of one unit, panels are told apart without its name.
    units = {trend.unit for trend in shown}
    of = f" of {units.pop()}" if len(units) == 1 else ""
    caption = f"Friction, offsets, gains and payload{of} over time, with 95 % intervals"
    return Plot(caption, panels, f"start of the recording{since}", "value", points=True)


def _clock(shown: Sequence[Trend]) -> tuple[str, Callable[[float], Any]]:
    """The unit of the axis of time, and what it shows for seconds: dates where they are some, as plots take them."""
    latest = max((float(trend.start[-1]) for trend in shown), default=0.0)
    if latest >= FIRST_DATE:
        return "", lambda at: told(at) if at >= FIRST_DATE else at
    return (" [h]", lambda at: at / 3600) if latest >= LONGEST_IN_SECONDS else (" [s]", lambda at: at)


def _over_time(trend: Trend, when: Callable[[float], Any]) -> Series:
    # 1.96 standard deviations to either side hold 95 %.
    return Series("estimate", trend.values, x=[when(at) for at in trend.start.tolist()], spread=1.96 * trend.deviations)


def _steps(fit: FleetFit, trend: Trend, when: Callable[[float], Any]) -> list[Series]:
    """A line at the mean before the change and one after it, or along a drift."""
    changes = [c for c in fit.changes if (c.unit, c.value) == (trend.unit, trend.value)]
    first, last = when(float(trend.start[0])), when(float(trend.start[-1]))
    return [
        Series("drift", [c.before, c.after], x=[first, last], style="dashed")
        if c.course == DRIFT
        else Series(
            "before and after the change", [c.before, c.before, c.after, c.after],
            x=[first, when(c.at), when(c.at), last], style="dashed",
        )
        for c in changes
    ]  # fmt: skip


def _unit(fit: FleetFit, name: str) -> str:
    unit = fit.units[name]
    body = facts(
        {
            "deviates": Marked("yes", "bad") if unit.is_deviating else Marked("no", "good"),
            "why": unit.why or "–",
            "torque error": (f"{100 * unit.error:.3g} %", f"{100 * unit.fleet_error:.3g} % with the fleet's values"),
            "recordings": fit.n_windows[name],
        }
    )
    body += _torques(fit, name) + _values(fit, name)
    own = by_change(fit, [trend for trend in fit.trends if trend.unit == name])
    body += trend_plot(fit, own).html if own else paragraph("One recording: nothing over time yet.", "quiet")
    left_out = [(file, why) for unit_name, file, why in fit.excluded if unit_name == name]
    if left_out:
        body += table(("log", "why"), left_out, text_columns=2, caption="Logs that were not used")
    return body + '<p><a href="report.html#units">All units</a></p>\n'


def _torques(fit: FleetFit, name: str) -> str:
    rows = fit.excerpts.get(name)
    if rows is None or not len(rows):
        return ""
    names = fit.pooled.robot.joint_names
    n, t, unit = len(names), rows[:, 0], fit.units[name]
    at_fault = {*(unit.cause.joints if unit.cause else ()), *([unit.unexplained.joint] if unit.unexplained else [])}
    # Joints at fault first: theirs is the panel that is open.
    order = sorted(range(n), key=lambda j: j not in at_fault)
    panels = [
        Panel(
            names[j],
            [
                Series("measured", rows[:, 1 + j], x=t, colour=8, style="thick"),
                Series("predicted by the pooled model", rows[:, 1 + n + j], x=t, colour=0, style="thin"),
            ],
        )
        for j in order
    ]
    return Plot("Torques at the beginning of the last recording", panels, "time [s]", "torque [N m or N]").html


def _values(fit: FleetFit, name: str) -> str:
    unit = fit.units[name]
    order = np.argsort(-np.abs(unit.z), kind="stable")[:MOST_VALUES]
    rows = [
        (
            fit.names[k],
            float(unit.values[k]),
            float(unit.deviations[k]),
            float(fit.spread.mean[k]),
            float(unit.z[k]),
            f"{100 * unit.from_logs[k]:.0f}",
        )
        for k in order
    ]
    columns = ("value", "estimate", "± 1 σ", "fleet", "deviates by [σ]", "decided by own logs [%]")
    return table(columns, rows, caption="Values that deviate most")
