"""Identified values: intervals, share of the torque, correlations, and links beside the described ones."""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array
from tauform.identification.fit import Fit
from tauform.report.html.document import Section
from tauform.report.html.elements import Marked, facts, folded, paragraph, table
from tauform.report.html.plot import Panel, Plot, Series

# Half width of a 95 % interval, in standard deviations.
DEVIATIONS_OF_INTERVAL = 1.96
# Relative deviations from which a value is marked.
MIN_VAGUE_DEVIATION, MIN_UNKNOWN_DEVIATION = 0.1, 0.5
# Pairs of values that are listed, and the correlation from which on they are worth a word.
MOST_PAIRS, MIN_SHOWN_CORRELATION = 20, 0.8
# Names that a figure has room for.
NEGLIGIBLE = 1e-9  # of a standard deviation
MOST_BARS, MOST_CELLS = 15, 30


def values_section(fit: Fit) -> Section:
    """Every value with its interval, what the description says, and what it matters to the torque."""
    # Only these stand in the description; others (couplings, further friction) have nothing to be compared with.
    declared = {*fit.base.names, *(term.name for term in fit.robot.further_drives)}
    described = zip(fit.names, fit.design.values_of(fit.robot), strict=True)
    before = [value if name in declared else None for name, value in described]
    moved, (share, doubt) = fit.compared_with().moved, torque_shares(fit)
    rows = []
    found = zip(fit.names, fit.values, fit.deviations, before, moved, share, doubt, fit.design.units, strict=True)
    for name, value, deviation, prior, by, carried, unsure, unit in found:
        half = DEVIATIONS_OF_INTERVAL * deviation
        # A value of exactly zero has no relative deviation.
        relative = deviation / abs(value) if value else np.inf
        tone = "" if relative < MIN_VAGUE_DEVIATION else "warn" if relative < MIN_UNKNOWN_DEVIATION else "bad"
        # Beyond 100 % digits mean nothing: the sign itself is unknown.
        mark = Marked(f"{100 * relative:.2g}" if relative < 1 else "> 100", tone)
        # Rounding of the description's frames, 1e-16 and the like, would read as a value.
        prior = 0.0 if prior is not None and abs(prior) < NEGLIGIBLE * deviation else prior
        interval = (value, value - half, value + half, mark)
        rows.append((name, *interval, 100 * carried, 100 * unsure, prior, None if prior is None else by, unit))
    columns = (
        "name",
        "value",
        "95 % from",
        "to",
        "deviation [%]",
        "torque [%]",
        "doubt [%]",
        "description",
        "moved by",
        "unit",
    )
    body = facts({"values": len(fit.values), "condition number": f"{fit.condition:.3g}", "rows": fit.evidence.n_rows})
    body += paragraph(
        "Values with their 95 % confidence intervals; residuals that are correlated in time are accounted for. Torque: "
        "RMS of what the value contributes at the joint that needs it most, over that joint's RMS torque. Doubt: the "
        "same of its standard deviation. Moved by: standard deviations between the description and the fit."
    )
    caption = "Identified values"
    body += table(
        columns, rows, text_columns=(0, 9), tall=len(rows) > 16, code_columns=(0,), caption=caption, data=True
    )
    return Section("values", "Identified values", body + sensitivity_plot(fit).html + _correlations(fit))


def sensitivity_plot(fit: Fit) -> Plot:
    """Torque that each value stands for, and the torque error that its uncertainty leaves: the largest of them."""
    share, doubt = torque_shares(fit)
    # Stable: equal values keep the order of the parameters on every machine.
    most = np.argsort(-doubt, kind="stable")[:MOST_BARS]
    names = [fit.names[k] for k in most]
    bars = [Series("torque of the value", 100 * share[most], x=names, colour=8)]
    bars.append(Series("torque of its standard deviation", 100 * doubt[most], x=names, colour=0))
    caption = "Values whose uncertainty costs most: torque over the RMS torque of the joint"
    return Plot(caption, [Panel("", bars)], "value", "RMS torque [%]", ylog=True, bars=True, tall=True)


def correlation_matrix_plot(fit: Fit) -> Plot:
    """Correlations of the values that are least independent of others."""
    rho = _correlation(fit)
    # Largest correlation with any other value, without the diagonal's ones.
    strongest = np.abs(rho - np.diag(np.diagonal(rho))).max(axis=0)
    most = np.sort(np.argsort(-strongest, kind="stable")[:MOST_CELLS])
    names = [fit.names[k] for k in most]
    # Two digits: colours show no more.
    rows = [Series(fit.names[k], np.round(rho[k, most], 2), x=names) for k in most]
    caption = f"Correlations of the {len(most)} values that depend most on others"
    return Plot(caption, [Panel("", rows)], "", "", heat=True, tall=True)


def _correlation(fit: Fit) -> Array:
    """(p, p) correlations of the values."""
    # A value that is known exactly has no correlation.
    scale = np.maximum(fit.deviations, 1e-300)
    return np.asarray(fit.covariance / np.outer(scale, scale))


def torque_shares(fit: Fit) -> tuple[Array, Array]:
    """(p,) RMS torque of each value, and of its deviation, over the RMS torque of the joint it matters most to."""
    # (n, p+1, p+1) products of columns and torque by joint, summed over the first axis.
    products = fit.evidence.products.sum(axis=0)
    squares = np.diagonal(products, axis1=-2, axis2=-1)[:, :-1]  # (n, p) sum of squares of each column
    # Largest over the joints: what a value is needed for most.
    share = np.sqrt(squares / np.maximum(fit.evidence.torque_squares, 1e-300)[:, None]).max(axis=0)
    return share * np.abs(fit.values), share * fit.deviations


def _correlations(fit: Fit) -> str:
    rho, drawn = _correlation(fit), correlation_matrix_plot(fit).html
    # Each pair once, without the diagonal.
    i, j = np.triu_indices(len(rho), 1)
    # A stable sort: equal correlations keep the order of the parameters on every machine.
    order = np.argsort(-np.abs(rho[i, j]), kind="stable")[:MOST_PAIRS]
    pairs = [
        (fit.names[i[k]], fit.names[j[k]], rho[i[k], j[k]])
        for k in order
        if abs(rho[i[k], j[k]]) > MIN_SHOWN_CORRELATION
    ]
    if not pairs:
        return drawn + paragraph(
            f"No two values are correlated by more than {MIN_SHOWN_CORRELATION:g}: the motion tells all of them apart.",
            "quiet",
        )
    listing = table(("value", "other", "correlation"), pairs, text_columns=2, code_columns=(0, 1))
    told = paragraph("A pair near 1 or -1 is known by its sum only; a motion that tells the two apart would show more.")
    return drawn + folded(f"{len(pairs)} pairs of values that the motion hardly tells apart", told + listing)


def links_section(fit: Fit) -> list[Section]:
    """Masses and centres of mass beside the described ones; nothing for fits whose links are not physical."""
    if fit.physical is None:
        return []
    rows = []
    for link, was, now in zip(fit.robot.links, fit.robot.inertias, fit.rigid_robot.inertias, strict=True):
        # Principal moments do not depend on axes, so described and identified bodies compare.
        moments = [np.linalg.eigvalsh(body.tensor_about_com) for body in (was, now)]
        rows.append((link.name, was.mass, now.mass, _place(was.com), _place(now.com), *moments))
    columns = (
        "link", "mass described [kg]", "identified [kg]", "centre of mass described [m]", "identified [m]",
        "principal moments described [kg m²]", "identified [kg m²]",
    )  # fmt: skip
    body = paragraph(
        "Physically consistent links that give the identified torques. Only the base parameters are measured; among "
        "all links with the same torques these are the nearest to the description.",
    )
    body += table(columns, rows, caption="Links", tall=len(rows) > 12, data=True)
    return [Section("links", "Identified links", body)]


def _place(com: Array) -> Array:
    # To a micrometre: centres on an axis would show what rounding leaves of them.
    return np.round(com, 6)
