"""The first screen of a report: what was found, on what it was judged, and what to do next."""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.escaping.markup import html_text
from tauform.identification.export.proof import Proof
from tauform.identification.fit import Fit
from tauform.identification.regression.residuals import HELD_OUT
from tauform.messages import counted
from tauform.report.html.document import Section
from tauform.report.html.elements import bullets, folded, heading, paragraph, table
from tauform.report.html.plot import Panel, Plot, Series, short_names
from tauform.report.sections.judged import JudgedTorques

MOST_POINTS = 1500
TONES = {"good": "good", "usable": "warn", "not trustworthy": "bad"}
NEXT_OF_A_GOOD_FIT = "generate code from the identified robot, or save it: it is what was judged"
JUDGED = "judged motion"  # figures over the time of the verdict's recordings move together


def verdict_section(fit: Fit, torques: JudgedTorques, proof: Proof | None = None, view: str = "") -> Section:
    """Grade and figure, measured and predicted torque, the robot, errors before and after, next steps.

    Args:
        proof: torque error of the C on the same motion.
        view: the robot as a figure.
    """
    # Side by side: the first screen shows the answer, its evidence and what to do with it.
    figures = (torque_plot(fit, torques).html, error_plot(fit, torques).html, view)
    first = "".join(f"<div>{figure}</div>" for figure in figures if figure)
    body = _headline(fit, proof) + f'<div class="first">{first}</div>\n' + _why(fit) + _joint_table(fit, torques.errors)
    return Section("verdict", "Verdict", body)


def _headline(fit: Fit, proof: Proof | None) -> str:
    errors, verdict = fit.unseen, fit.verdict
    # Held-out blocks come from the same recordings; the words must not claim more.
    judged = f"on {errors.source}" + (", each block predicted by the others" if errors.source == HELD_OUT else "")
    shipped = ""
    if proof is not None and proof.figures:
        first = proof.figures[0]
        shipped = (
            f" The C was run on the same motion: {first.function} errs {100 * first.error:.2g} % on {proof.motion}."
        )
    return (
        f'<p class="verdict {TONES[verdict.grade]}"><strong>{html_text(verdict.grade)}</strong> '
        f'<span class="figure">{100 * errors.total:.2g} %</span> '
        f'<span class="judged">torque error {html_text(judged)}</span></p>\n'
    ) + paragraph(f"Estimated by {fit.method}.{shipped}", "quiet")


def next_steps(fit: Fit) -> tuple[str, ...]:
    """What to do next, also where nothing is left to do better."""
    return tuple(fit.verdict.next) or (NEXT_OF_A_GOOD_FIT,)


def _why(fit: Fit) -> str:
    """Reasons of the verdict beside the next steps."""
    columns = {"Why": fit.verdict.sentences, "What to do next": next_steps(fit)}
    found = (heading(title) + bullets(sentences) for title, sentences in columns.items())
    return f'<div class="why">{"".join(f"<div>{column}</div>" for column in found)}</div>\n'


def decimated(count: int) -> slice:
    """Every k-th point, enough for the eye; the fit itself used all of them."""
    return slice(None, None, max(1, count // MOST_POINTS))


def torque_plot(fit: Fit, torques: JudgedTorques) -> Plot:
    """Measured and predicted torque over time, joint by joint."""
    few = decimated(len(torques.t))

    def series(j: int) -> list[Series]:
        curves = [
            Series("measured", torques.measured[few, j], colour=8, style="thick"),
            Series("predicted", torques.predicted[few, j], colour=0, style="thin"),
            # As a curve of its own: errors of a percent vanish between two lines that nearly coincide.
            Series("error", (torques.measured - torques.predicted)[few, j], colour=1, style="dotted"),
        ]
        if torques.described is not None:
            # Hidden at first: a description far off would set the scale.
            curves.append(Series("as described", torques.described[few, j], colour=4, style="dashed", hidden=True))
        return curves

    panels = [Panel(name, series(j), _label(fit, name)) for j, name in enumerate(fit.robot.joint_names)]
    caption = f"Measured and predicted torque, {torques.source}"
    return Plot(caption, panels, x=torques.t[few], xlabel="time [s]", ylabel="torque", link=JUDGED)


def _label(fit: Fit, name: str) -> str:
    kind = next(joint.type for joint in fit.robot.joints if joint.name == name)
    return f"{kind.effort} [{kind.effort_unit}]"


def error_plot(fit: Fit, torques: JudgedTorques) -> Plot:
    """Torque errors of each joint, as described and as identified."""
    names, errors = short_names(fit.robot.joint_names), torques.errors
    bars = [Series(what, 100 * values, x=names, colour=(8, 0)[k]) for k, (what, values) in enumerate(errors.items())]
    return Plot(
        "Torque error before and after, by joint",
        [Panel("", bars)],
        xlabel="joint",
        ylabel="RMS error / RMS torque [%]",
        # Logarithmic: before and after often differ by a factor of ten or more.
        ylog=True,
        bars=True,
    )


def _joint_table(fit: Fit, found: dict[str, AnyArray]) -> str:
    errors, verdict, n = fit.unseen, fit.verdict, fit.robot.n_joints
    described = found.get("as described")
    columns = {
        "as described [%]": [None] * n if described is None else 100 * described,
        "fitted rows [%]": 100 * fit.residuals.relative,
        f"{errors.source} [%]": 100 * errors.joints,
        "absolute [N m, N]": errors.rms,
        "unfiltered [N m, N]": fit.unfiltered.rms if fit.has_unfiltered else [None] * n,
        "white residuals [%]": 100 * verdict.whiteness,
        # Joints that carry no gravity have no ratio.
        "gravity / described": [ratio if np.isfinite(ratio) else None for ratio in verdict.gravity_ratios],
    }
    rows = zip(fit.robot.joint_names, *columns.values(), strict=True)
    caption = "RMS errors, relative to the RMS torque [%] and as they are [N m, N]"
    body = table(("joint", *columns), rows, caption=caption)
    body += paragraph(
        "Both sides are filtered alike, except where a column says unfiltered: there each sample is compared as it was "
        "measured, with its noise. As described: torques of the robot's file, without what it does not know. "
        "Gravity / described: identified gravity torque over that of the described masses, where the joint tells.",
        "quiet",
    )
    if fit.findings:
        body += folded(f"{counted(len(fit.findings), 'remark')} on the recordings", bullets(fit.findings))
    return body
