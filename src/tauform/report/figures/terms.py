"""Terms of a closed form: how much each contributes, and what leaving them out costs.  [Lloyd2021, Figures 2 and 7]"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tauform.closedform.reduction.contribution import Contributions
from tauform.closedform.reduction.tradeoff import Tradeoff
from tauform.errors import ModelError
from tauform.escaping.markup import plot_text
from tauform.files.file import fresh_file
from tauform.report.figures.multirate import check_figure

# Decades of shares: terms cancel one another, so that shares exceed one.
SHARES = (-12, 1)
BINS_PER_DECADE = 5
# Equal steps on the axis are equal ratios of terms kept; on a linear one nearly all the gain would lie at its end.
_REMOVED_TICKS = np.array([0.0, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995])
_FEW_REMOVED_TICKS = np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5])


def write_contributions_figure(found: Contributions, path: Path) -> Path:
    """Figure 2 of one profile; see `Contributions.plot`."""
    return _written(path, lambda: contribution_figure([found]))


def write_tradeoff_figure(found: Tradeoff, path: Path) -> Path:
    """Figure 7 of one profile; see `Tradeoff.plot`."""
    return _written(path, lambda: tradeoff_figure([found]))


def contribution_figure(shares: Sequence[Contributions]) -> Any:
    """Histograms of medians and maxima, one profile above the other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 0.5 + 2.75 * len(shares)), layout="constrained")
    axes = figure.subplots(len(shares), 1, sharex=True, squeeze=False)[:, 0]
    bins = np.linspace(*SHARES, (SHARES[1] - SHARES[0]) * BINS_PER_DECADE + 1)
    for ax, found in zip(axes, shares, strict=True):
        for label, values, n_states in (
            ("median", found.median, found.n_median_states),
            ("maximum", found.maximum, found.n_states),
        ):
            # Terms beyond the axis stand in its first and last bins: every term is counted.
            within = np.log10(np.clip(values, 10.0 ** SHARES[0], 10.0 ** SHARES[1]))
            ax.hist(within, bins=bins, alpha=0.6, label=f"{label} of {n_states:,} states")
        ax.set_title(f"{plot_text(found.robot)}, {plot_text(found.profile)} profile: {len(found):,} terms")
        ax.set_ylabel("terms")
        ax.legend()
    axes[-1].set_xlabel("log10 of a term's share of the torque")
    return figure


def tradeoff_figure(curves: Sequence[Tradeoff]) -> Any:
    """Correct digits and times over the terms removed, one profile beside the other."""
    from matplotlib.figure import Figure

    # Slow beside fast, one robot below the other.
    n_rows, n_columns = -(-len(curves) // 2), min(2, len(curves))
    figure = Figure(figsize=(5.5 * n_columns, 4.5 * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax, curve in zip(axes, curves, strict=True):
        # The whole model has infinitely many correct digits.
        shown = curve.removed > 0
        for k, label in enumerate(("95 %", "99.9 %")):
            ax.plot(curve.n_kept[shown], curve.digits[shown, k], marker="o", label=f"digits, {label} of the states")
        ax.set(xscale="log", xlabel="terms removed [%]", ylabel="correct digits of the torque")
        # The axis counts terms kept, but is read as terms removed, growing to the right.
        ax.invert_xaxis()
        # Small models lose a few of their terms only; ticks beyond would stretch the axis.
        removed = _REMOVED_TICKS if curve.removed.max() > _REMOVED_TICKS[1] else _FEW_REMOVED_TICKS
        ticks = (1 - removed) * curve.n_kept.max()
        ax.set_xticks(ticks, [f"{100 * share:g}" for share in removed])
        # Minor ticks of a logarithmic axis would stand between the labels without meaning.
        ax.minorticks_off()
        times = ax.twinx()
        times.plot(curve.n_kept, curve.nanoseconds, color="gray", marker=".", label="time, factored terms")
        times.axhline(curve.exact_nanoseconds, color="black", lw=0.8, ls="--", label="time, exact recursive program")
        times.set(ylabel="ns per state")
        for part in (ax, times):
            # Flat curves would lie on the frame: the margins are those of their own small range.
            part.set_ylim(0, 1.05 * part.get_ylim()[1])
        ax.set_title(f"{plot_text(curve.robot)}, {plot_text(curve.profile)} profile: {curve.n_states:,} fresh states")
        # One legend for both axes.
        lines = [line for part in (ax, times) for line in part.get_legend_handles_labels()[0]]
        ax.legend(handles=lines, loc="lower left", fontsize="small")
    return figure


def _written(path: Path, draw: Any) -> Path:
    check_figure(path)
    with fresh_file(path, ModelError) as file:
        draw().savefig(file, format=path.suffix.lower()[1:], dpi=150)
    return path
