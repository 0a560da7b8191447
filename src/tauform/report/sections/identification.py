"""What was identified, as sections of a page: measured and predicted torque, values with their confidence."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tauform.errors import IdentificationError
from tauform.files.file import write_text
from tauform.identification.fit import Fit
from tauform.identification.verdict.validate import autocorrelation, spectrum
from tauform.report.html.document import Section, document
from tauform.report.html.elements import Marked, bullets, facts, paragraph, table
from tauform.report.html.plot import Panel, Series, plot
from tauform.report.sections.filters import filter_sections

MOST_POINTS = 1500
# Half width of a 95 % interval, in standard deviations.
CONFIDENT = 1.96
N_LAGS = 60
# Relative deviations from which a value is marked.
VAGUE, UNKNOWN = 0.1, 0.5
TONES = {"good": "good", "usable": "warn", "not trustworthy": "bad"}


def write_report(fit: Fit, path: Path) -> Path:
    """One HTML file about a fit that opens offline.

    Raises:
        IdentificationError: the file cannot be written.
    """
    page = document(f"Identification of {fit.robot.name}", f"{fit.method}; {fit.verdict.grade}", fit_sections(fit))
    return write_text(path, page, IdentificationError)


def fit_sections(fit: Fit) -> list[Section]:
    """Verdict and errors, torques and residuals, filters, values."""
    return [_verdict(fit), _torques(fit), *filter_sections(fit), _values(fit)]


def _verdict(fit: Fit) -> Section:
    errors, verdict = fit.unseen, fit.verdict
    body = facts(
        {
            "verdict": Marked(verdict.grade, TONES[verdict.grade]),
            **{f"torque error, {e.source}": f"{100 * e.total:.2g} %" for e in (fit.held_out, fit.validation) if e},
            "values": len(fit.values),
            "condition number": f"{fit.condition:.3g}",
            "rows": len(fit.residuals.t),
        }
    )
    body += paragraph(f"Estimated by {fit.method}.")
    if verdict.reasons:
        body += bullets(verdict.reasons)
    if verdict.next:
        body += paragraph("To do better:") + bullets(verdict.next)
    columns = (
        "joint",
        "as described [%]",
        "fit [%]",
        f"{errors.source} [%]",
        "the same [N m, N]",
        "unfiltered [N m, N]",
        "white residuals [%]",
        "gravity / described",
    )
    unfiltered = [None] * fit.robot.n_joints if fit.unfiltered is None else fit.unfiltered.rms
    rows = zip(
        fit.robot.joint_names,
        100 * fit.compared_with().error_before.joints,
        100 * fit.residuals.relative,
        100 * errors.joints,
        errors.rms,
        unfiltered,
        100 * verdict.whiteness,
        [ratio if np.isfinite(ratio) else None for ratio in verdict.gravity_ratios],
        strict=True,
    )
    body += table(columns, rows, caption="RMS errors, relative to the RMS torque [%] and as they are [N m, N]")
    body += paragraph(
        "Both sides are filtered alike, except where a column says unfiltered: there each sample is compared as it was "
        "measured, with its noise. As described: torques of the robot's file, without what it does not know. "
        "Gravity / described: identified gravity torque over that of the described masses, where the joint tells.",
        "quiet",
    )
    if fit.findings:
        body += paragraph("Found in the recordings:") + bullets(fit.findings)
    return Section("identification", "Identification", body)


def _torques(fit: Fit) -> Section:
    residuals = fit.residuals
    step = max(1, len(residuals.t) // MOST_POINTS)
    thin = slice(None, None, step)
    # Recordings follow one another on the axis; each starts its own clock.
    t = np.arange(len(residuals.t))[thin] / residuals.rate
    names = fit.robot.joint_names
    panels = [
        Panel(
            name,
            [
                Series("measured", residuals.measured[thin, j], colour=7, style="thick"),
                Series("predicted", residuals.predicted[thin, j], colour=0, style="thin"),
                Series("residual", residuals.error[thin, j], colour=1, style="thin"),
            ],
        )
        for j, name in enumerate(names)
    ]
    body = plot(
        "By joint, at the rows that were fitted",
        panels,
        x=t,
        xlabel="time, recordings one after another [s]",
        ylabel="torque [N m or N]",
    )
    lags = min(N_LAGS, max(1, len(residuals.t) // 4))
    rho = autocorrelation(residuals.error - residuals.error.mean(axis=0), lags)
    body += plot(
        "Correlation of the residuals in time (white residuals stay near zero)",
        [Panel("", [Series(name, rho[:, j]) for j, name in enumerate(names)])],
        x=np.arange(lags + 1) / residuals.rate,
        xlabel="lag [s]",
        ylabel="correlation",
    )
    frequencies, amplitude = spectrum(residuals)
    thin = slice(1, None, max(1, len(frequencies) // MOST_POINTS))
    body += plot(
        "Spectrum of the residuals",
        [Panel("", [Series(name, amplitude[thin, j], style="thin") for j, name in enumerate(names)])],
        x=frequencies[thin],
        xlabel="frequency [Hz]",
        ylabel="amplitude [N m or N]",
        ylog=True,
    )
    return Section("measured", "Measured and predicted torque", body)


def _values(fit: Fit) -> Section:
    declared = {*fit.base.names, *(term.name for term in fit.robot.further_drives)}
    described = zip(fit.names, fit.design.values_of(fit.robot), strict=True)
    before = [value if name in declared else None for name, value in described]
    moved = fit.compared_with().moved
    rows = []
    found = zip(fit.names, fit.values, fit.deviations, before, moved, fit.design.units, strict=True)
    for name, value, deviation, prior, by, unit in found:
        half = CONFIDENT * deviation
        relative = deviation / abs(value) if value else np.inf
        tone = "" if relative < VAGUE else "warn" if relative < UNKNOWN else "bad"
        mark = Marked(f"{100 * relative:.2g}" if relative < 1 else "> 100", tone)
        rows.append((name, value, value - half, value + half, mark, prior, None if prior is None else by, unit))
    columns = ("name", "value", "95 % from", "to", "deviation [%]", "description", "moved by [deviations]", "unit")
    body = paragraph(
        "Values with their 95 % confidence intervals; residuals that are correlated in time are accounted for. The "
        "column description holds what the robot's file says, and the next one how many deviations away that is."
    )
    body += table(columns, rows, text_columns=(0, 7), tall=len(rows) > 16, code_columns=(0,))
    return Section("values", "Identified values", body)
