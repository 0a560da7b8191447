"""What a fit leaves unexplained, over time and frequency."""

from __future__ import annotations

import numpy as np

from tauform.identification.fit import Fit
from tauform.identification.verdict.validate import autocorrelation, spectrum
from tauform.report.html.document import Section
from tauform.report.html.plot import Panel, Plot, Series, short_names
from tauform.report.sections.verdict import MOST_POINTS

N_LAGS = 60


def residual_section(fit: Fit) -> Section:
    """Correlation of the residuals in time, and their spectrum."""
    return Section("residuals", "Residuals", correlation_plot(fit).html + spectrum_plot(fit).html)


def correlation_plot(fit: Fit) -> Plot:
    """Autocorrelation of each joint's residuals."""
    residuals, names = fit.residuals, short_names(fit.robot.joint_names)
    # A quarter of the rows at most: longer lags average over too few products.
    lags = min(N_LAGS, max(1, len(residuals.t) // 4))
    # Without their mean: an offset would look like correlation at every lag.
    rho = autocorrelation(residuals.error - residuals.error.mean(axis=0), lags)
    return Plot(
        "Correlation of the residuals in time (white residuals stay near zero)",
        [Panel("", [Series(name, rho[:, j]) for j, name in enumerate(names)])],
        x=np.arange(lags + 1) / residuals.rate,
        xlabel="lag [s]",
        ylabel="correlation",
    )


def spectrum_plot(fit: Fit) -> Plot:
    """Amplitude of each joint's residuals over frequency."""
    frequencies, amplitude = spectrum(fit.residuals)
    # From 1: the mean at zero frequency has no place beside the others.
    few = slice(1, None, max(1, len(frequencies) // MOST_POINTS))
    names = short_names(fit.robot.joint_names)
    units = dict.fromkeys(joint.type.effort_unit for joint in fit.robot.joints)
    return Plot(
        "Spectrum of the residuals",
        [Panel("", [Series(name, amplitude[few, j], style="thin") for j, name in enumerate(names)])],
        x=frequencies[few],
        xlabel="frequency [Hz]",
        ylabel=f"amplitude [{' or '.join(units)}]",
        ylog=True,
    )
