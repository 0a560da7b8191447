"""Filters of the recordings, as a section of a page: the spectrum of the motion with the cut-offs in it."""

from __future__ import annotations

import numpy as np

from tauform.identification.fit import Fit
from tauform.report.html.document import Section
from tauform.report.html.elements import facts, paragraph
from tauform.report.html.plot import LineStyle, Panel, Plot, Series, short_names


def filter_sections(fit: Fit) -> list[Section]:
    """Cut-offs and, where they were chosen from it, the spectrum of the motion; nothing for unfiltered fits."""
    filters = fit.filters
    # Unfiltered fits have no cut-offs to show.
    if filters is None:
        return []
    body = facts(
        {
            "positions filtered at": f"{filters.position:.3g} Hz",
            "torques and columns filtered at": f"{filters.torque:.3g} Hz",
            "rows kept per second": f"{filters.rows:.3g}",
        }
    )
    spectrum = filters.spectrum
    # Given cut-offs were not chosen from a spectrum, and none was computed.
    if spectrum is None:
        return [Section("filters", "Filters", body + paragraph("The cut-offs were given."))]
    body += paragraph(
        f"99 % of the velocities' power lies below {spectrum.bandwidth:.3g} Hz; the cut-offs are multiples of that. "
        "Where the curves rise again, noise of the positions is differentiated."
    )
    drawn = filter_plot(fit)
    return [Section("filters", "Filters", body + (drawn.html if drawn is not None else ""))]


def filter_plot(fit: Fit) -> Plot | None:
    """Spectrum of the velocities with the cut-offs in it; None where they were given, or nothing was filtered."""
    filters = fit.filters
    if filters is None or filters.spectrum is None:
        return None
    spectrum = filters.spectrum
    density = np.asarray(spectrum.density)
    # Marks reach from the smallest power to the largest; zeros have no place on a logarithmic axis.
    heights = [float(density[density > 0].min()), float(density.max())]
    # Short names: the longest sets how many stand beside one another in the legend of a narrow screen.
    marks = {"motion": spectrum.bandwidth, "torques": filters.torque, "positions": filters.position}
    series = [
        Series(name, row, style="thin") for name, row in zip(short_names(fit.robot.joint_names), density, strict=True)
    ]
    # A vertical line is two points at one frequency; told apart without colours.
    styles: tuple[LineStyle, ...] = ("thick", "dashed", "dotted")
    series += [
        Series(f"{name} to {at:.3g} Hz", heights, x=[at, at], style=style, colour=7)
        for style, (name, at) in zip(styles, marks.items(), strict=True)
    ]
    units = dict.fromkeys(f"({joint.type.unit}/s)²/Hz" for joint in fit.robot.joints)
    return Plot(
        "Spectrum of the velocities, and the cut-offs that were chosen from it",
        [Panel("", series)],
        x=spectrum.frequencies,
        xlabel="frequency [Hz]",
        ylabel=f"power density [{', '.join(units)}]",
        xlog=True,
        ylog=True,
        tall=True,
    )
