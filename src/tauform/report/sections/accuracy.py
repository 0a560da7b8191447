"""The report's section on accuracy against complexity.  [Lloyd2021, Figure 7]"""

from __future__ import annotations

import numpy as np

from tauform.closedform.reduction.tradeoff import Tradeoff
from tauform.pipeline.robot_model import RobotModel
from tauform.realtime.reduction.figures import CONFIDENCES
from tauform.realtime.reduction.reduce import Reduction
from tauform.report.html.document import Section
from tauform.report.html.elements import Marked, paragraph, table
from tauform.report.html.plot import Panel, Plot, Series


def accuracy_sections(model: RobotModel) -> list[Section]:
    """Closed forms with ever fewer terms, and the best program of every route; nothing where neither was asked for."""
    found, curve = model.reduction, model.tradeoff
    body = _figure(curve, found) if curve is not None else ""
    body += _routes(found) if found is not None else ""
    return [Section("accuracy", "Accuracy against complexity", body)] if body else []


def _figure(curve: Tradeoff, found: Reduction | None) -> str:
    # The whole model has no error, which has no logarithm.
    left = np.flatnonzero(curve.removed > 0)
    notes = [
        f"{kept:.0f} terms, {ns:.3g} ns" for kept, ns in zip(curve.n_kept[left], curve.nanoseconds[left], strict=True)
    ]
    # One curve per share of the states that must keep the digits; (K, shares) digits come out as columns.
    series = [
        Series(f"terms left out, {100 * share:g} % of the states", digits, x=curve.operations[left], notes=notes)
        for share, digits in zip(CONFIDENCES, curve.digits[left].T, strict=True)
    ]
    # An exact route has no error, and -log10 of it no place on the axis.
    reduced = [c for c in found.candidates if c.verification.error > 0] if found is not None else []
    if found is not None and reduced:
        series.append(
            Series(
                f"best of each route, {100 * found.confidence:g} %",
                [-np.log10(c.verification.error) for c in reduced],
                # Operations as abscissa, so that routes of other kinds stand on the same axis as terms.
                x=[c.program.n_operations for c in reduced],
                style="points",
                colour=2,
                notes=[c.name for c in reduced],
            )
        )
    figure = Plot(
        f"Correct digits of the torque over the operations of the program, states within {curve.profile}",
        [Panel("", series)],
        xlabel="multiplications and additions",
        ylabel="correct digits",
        xlog=True,
        points=True,
    )
    return figure.html + paragraph(
        "A point under the pointer tells its terms and the time of one state of a batch, compiled on the machine that "
        "wrote this.",
        "quiet",
    )


def _routes(found: Reduction) -> str:
    rows = [
        (
            Marked(c.name, "good") if c.name == found.route else c.name,
            c.remark,
            c.program.n_multiplications,
            c.program.n_additions,
            # Percent with two digits: the error is an estimate over states, more would pretend.
            f"{100 * c.verification.error:.2g} %",
        )
        for c in found.candidates
    ]
    guarantee = f"{100 * found.tolerance:.2g} % for {100 * found.confidence:g} % of the states"
    columns = ("route", "what was left out", "mult", "add", "error")
    return table(columns, rows, text_columns=2, caption=f"Programs within {guarantee}; the one taken is green")
