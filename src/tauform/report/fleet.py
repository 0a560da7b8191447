"""write_fleet: a fleet as Parquet tables and one page: overview, who deviates, what changed, what was left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tauform.errors import GenerationError, MissingExtraError
from tauform.files.file import fresh_file, write_text
from tauform.files.folder import write_folder
from tauform.fleet.comparison.compare import FALSE_ALARM
from tauform.fleet.comparison.reference import FEWEST_UNITS
from tauform.fleet.fleet_fit import FleetFit, rows_of
from tauform.fleet.progress import duration
from tauform.fleet.sources.keys import told
from tauform.messages import counted
from tauform.report.html.document import Section, document
from tauform.report.html.elements import Marked, facts, paragraph, table
from tauform.report.html.plot import Panel, Plot, Series
from tauform.report.unit_pages import UNITS_PAGE, by_change, shown_units, trend_plot, units_page

# Series over time that a page draws: those that changed, then the first.
MOST_TRENDS = 24


def write_fleet(fit: FleetFit, folder: Path, force: bool = False) -> list[Path]:
    """Write all tables and the report; see `FleetFit.save`."""
    # pyarrow comes with an extra; the fit itself does not need it.
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("tables of a fleet need pyarrow; pip install tauform[fleet]") from None

    def fill(fresh: Path) -> list[str]:
        for name, columns in rows_of(fit).items():
            # A fresh file by its handle: pyarrow by path would leave half a table after an error.
            with fresh_file(fresh / f"{name}.parquet", GenerationError) as file:
                held = pyarrow.table(columns)
                with parquet.ParquetWriter(file, held.schema) as writer:
                    writer.write(held)
        write_text(fresh / "report.html", fleet_page(fit), GenerationError)
        # Only where there is something to look into.
        if shown_units(fit):
            write_text(fresh / UNITS_PAGE, units_page(fit), GenerationError)
        return []

    return write_folder(folder, fill, force)


def fleet_page(fit: FleetFit) -> str:
    """The page of a fleet; it opens without a network."""
    sections = [_overview(fit), _units(fit), *_changes(fit), *_left_out(fit)]
    title = f"Fleet of {fit.pooled.robot.name}"
    return document(title, f"{counted(len(fit.units), 'unit')}, {duration(fit.seconds)} of motion", sections)


def _overview(fit: FleetFit) -> Section:
    units = list(fit.units.values())
    body = facts(
        {
            "units": len(units),
            "deviating": Marked(str(len(fit.deviating)), "bad" if fit.deviating else "good"),
            "changes over time": len(fit.changes),
            "logs left out": len(fit.excluded),
            # Median: a few deviating units would draw a mean away.
            "torque error, median": f"{100 * float(np.median([u.error for u in units])):.2g} %",
            "pooled model": (
                f"{100 * fit.pooled.unseen.total:.2g} %",
                f"error on {fit.pooled.unseen.source} of the units that it was chosen on"
                + ("; physically consistent links" if fit.pooled.physical is not None else ""),
            ),
        }
    )
    body += paragraph(
        f"A unit deviates where a value lies further from the other units than chance explains, or far more of its "
        f"torques is left unexplained, with {100 * FALSE_ALARM:g} % of false alarms over the whole fleet."
        + ("" if len(units) >= FEWEST_UNITS else f" It takes {FEWEST_UNITS} units to tell: none is judged here.")
    )
    body += _temperatures(fit)
    names = [unit.unit for unit in units]
    # By magnitude: which way a value deviates is told in the table.
    largest = [abs(unit.largest(fit.names, 1)[0][1]) for unit in units]
    errors = [
        Series("with the fleet's values", [100 * u.fleet_error for u in units], x=names, style="points", colour=1),
        Series("with its own", [100 * u.error for u in units], x=names, style="points", colour=0),
    ]
    body += Plot(
        "Torque error by unit, most deviating first",
        [Panel("", errors)],
        "unit",
        "RMS error / RMS torque [%]",
        ylog=True,
    ).html
    score = [Series("largest deviation", largest, x=names, style="points", colour=0)]
    body += Plot("Largest deviation from the fleet", [Panel("", score)], "unit", "standard deviations", ylog=True).html
    return Section("overview", "Overview", body)


def _temperatures(fit: FleetFit) -> str:
    """What temperature does to friction, in a paragraph; empty where nobody measured it."""
    if fit.thermal is None or not fit.thermal.slopes.any():
        return ""
    slopes = zip(fit.names, fit.thermal.slopes, fit.spread.mean, strict=True)
    # Relative to the value: an engineer knows percent per kelvin of grease.
    shares = (f"{name} {100 * slope / mean:+.2g} %" for name, slope, mean in slopes if slope and mean)
    usual = float(np.mean(fit.thermal.reference))
    return paragraph(f"Friction is that at {usual:.0f} °C; per kelvin it changes by {', '.join(shares)}.")


def _units(fit: FleetFit) -> Section:
    links = {name: f"{UNITS_PAGE}#{anchor}" for name, anchor in shown_units(fit).items()}
    rows = [
        (
            Marked(unit.unit, "bad" if unit.is_deviating else "", links.get(unit.unit, "")),
            unit.why,
            ", ".join(f"{name} {z:+.1f}" for name, z in unit.largest(fit.names)),
            # Chance of such a deviation in a unit like the others.
            _chance(unit.p_value),
            100 * unit.error,
            100 * unit.fleet_error,
            fit.n_windows[unit.unit],
            f"{100 * float(np.mean(unit.from_logs)):.0f}",
        )
        for unit in fit.units.values()
    ]
    columns = (
        "unit", "why it deviates", "deviates most in [standard deviations]", "by chance", "error [%]",
        "with the fleet's values [%]", "recordings", "decided by own logs [%]",
    )  # fmt: skip
    listing = table(columns, rows, text_columns=4, tall=len(rows) > 16, caption="Units", data=True)
    return Section("units", "Units", listing)


def _changes(fit: FleetFit) -> list[Section]:
    if not fit.trends:
        return []
    body = ""
    if fit.changes:
        rows = [(c.unit, c.value, c.course, told(c.at), c.before, c.after, _chance(c.p_value)) for c in fit.changes]
        columns = ("unit", "value", "course", "since", "before", "after", "by chance")
        body += table(columns, rows, text_columns=4, caption="Changes", tall=len(rows) > 12, data=True)
    else:
        body += paragraph("No value changed by more than chance explains.")
    body += paragraph(
        "Fv and Fc are viscous and Coulomb friction, Fo an offset of the torque, gain the measured torque over the "
        "predicted one, each of the joint whose number follows; payload the mass at the tool [kg] beside its own mean."
    )
    return [Section("trends", "Over time", body + trend_plot(fit, by_change(fit, fit.trends)[:MOST_TRENDS], True).html)]


def _chance(p_value: float) -> str:
    """A probability as it is read: powers of ten only where it is small."""
    if p_value < 1e-300:
        return "< 1e-300"
    return f"{p_value:.2g}" if p_value >= 0.01 else f"{p_value:.1e}"


def _left_out(fit: FleetFit) -> list[Section]:
    body = "".join(paragraph(words, "notice") for words in fit.troubles)
    if not fit.excluded:
        return [Section("troubles", "Troubles", body)] if body else []
    listing = body + table(
        ("unit", "log", "why"), fit.excluded, text_columns=3, caption="Logs that were not used", data=True
    )
    return [Section("excluded", "Left out", listing)]
