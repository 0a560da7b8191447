"""model_page: the HTML report of a robot's model."""

from __future__ import annotations

import numpy as np

from tauform.closedform.model.equations import KIND_NAMES, term_kinds
from tauform.description.robot import Robot
from tauform.identification.export.proof import Proof
from tauform.messages import counted
from tauform.pipeline.motion import ShownMotion, sweep_motion
from tauform.pipeline.robot_model import RobotModel
from tauform.pipeline.stages import Stage
from tauform.report.html.document import Section, document
from tauform.report.html.elements import Marked, bullets, facts, folded, paragraph, preformatted, table
from tauform.report.html.robot_view import robot_view
from tauform.report.sections.accuracy import accuracy_sections
from tauform.report.sections.base import base_section
from tauform.report.sections.code import code_section
from tauform.report.sections.identification import fit_sections, subtitle
from tauform.report.sections.torques import torque_section
from tauform.report.tables import base_from_joints

# Equations of more terms than this are for machines.
SHOWN_TERMS = 60
VIEW_HELP = "Drag to turn, or use the arrow keys, plus and minus. Without meshes, blue joints turn, orange ones slide."
TONES = {"verified": "good", "doubtful": "warn", "skipped": "warn", "failed": "bad"}


def model_page(model: RobotModel, proof: Proof | None = None) -> str:
    """One self-contained HTML file: robot, closed form, base parameters, torques, code, and identification.

    Args:
        proof: torque error of the C on the motion that the fit was judged on.
    """
    # One sweep for the view and the torques: what moves above is what is plotted below.
    motion, fit = sweep_motion(model.robot), model.fit
    # A verdict first where there is one; a described robot shows itself instead.
    identified = fit_sections(fit, proof) if fit is not None else [_described(model, motion)]
    sections = [
        *identified,
        _robot(model),
        torque_section(model.robot, model.bound, motion),
        code_section(model, proof),
        *accuracy_sections(model),
        *_closed_form(model),
        base_section(model.base, model.robot),
        _stages(model),
    ]
    return document(f"Dynamics of {model.robot.name}", subtitle(model.described), sections)


def _described(model: RobotModel, motion: ShownMotion) -> Section:
    """The first screen of a model without recordings: what is here, and the robot."""
    made = f"{counted(len(model.delivered), 'function')} of C" if model.delivered else "no code"
    body = paragraph(f"The robot as described, with {made}. Nothing was identified: record a motion to judge it.")
    if model.findings:
        body += paragraph("What the check of the description found:") + bullets(map(str, model.findings))
    body += robot_view(model.robot, motion) + paragraph(VIEW_HELP, "quiet")
    return Section("described", "The robot", body)


def _stages(model: RobotModel) -> Section:
    """What was done, compared with what, and how long it took."""
    columns = ("stage", "result", "status", "checked against", "error", "allowed", "time [s]")
    body = table(columns, map(_row, model.stages), text_columns=4)
    notes = [f"{stage.name}: {note}" for stage in model.stages for note in stage.notes]
    return Section("stages", "What was done", body + bullets(notes) if notes else body)


def _row(stage: Stage) -> tuple[object, ...]:
    status = Marked(stage.status, TONES.get(stage.status, ""))
    figures = ("" if value is None else f"{value:.{k}e}" for value, k in ((stage.figure, 1), (stage.allowed, 0)))
    return (stage.name, stage.outcome, status, stage.check, *figures, f"{stage.seconds:.2f}")


def _robot(model: RobotModel) -> Section:
    robot = model.robot
    links = [
        (link.name, inertia.mass, *inertia.com, *inertia.tensor_about_com.diagonal())
        # As described: identified inertias are known in combinations only, not link by link.
        for link, inertia in zip(robot.links, model.described.inertias, strict=True)
    ]
    inertias = ("link", "mass [kg]", "cx [m]", "cy [m]", "cz [m]", "Ixx [kg m²]", "Iyy [kg m²]", "Izz [kg m²]")
    body = ""
    tall = robot.n_bodies > 12
    body += _joints(robot, tall)
    body += table(inertias, links, caption="Links, inertia about the centre of mass in the link's axes", tall=tall)
    if model.fit is not None:
        body += paragraph(
            "These are the links as described; torques, models and programs below have identified values, with all "
            "the friction, springs and couplings that were found.",
            "notice",
        )
        if model.findings:
            body += paragraph("What the check of the description found:") + bullets(map(str, model.findings))
    return Section("robot", "Joints and links", body)


def _joints(robot: Robot, tall: bool) -> str:
    """Kinds, parents and axes, and those limits that the description gives."""
    columns, rows = ["joint", "kind", "parent", "axis at zero", "origin at zero [m]"], []
    for joint, placement in zip(robot.joints, base_from_joints(robot), strict=True):
        # Degrees for joints that turn, metres for those that slide.
        factor = joint.type.display_factor
        limits = joint.limits
        parent = robot.links[joint.parent].name if joint.parent >= 0 else "base"
        bounds = (factor * limits.lower, factor * limits.upper, factor * limits.velocity, limits.effort)
        # Six digits hide cosines of right angles, which are 6e-17.
        axis, origin = np.round(placement[:3, 2], 6), np.round(placement[:3, 3], 6)
        rows.append((joint.name, joint.kind, parent, axis, origin, *bounds))
    # Columns of limits only where any limit is known.
    if np.isfinite([row[5:] for row in rows]).any():
        columns += ["lower [°, m]", "upper [°, m]", "velocity [°/s, m/s]", "effort [N m, N]"]
    return table(columns, [row[: len(columns)] for row in rows], text_columns=3, caption="Joints", tall=tall)


def _closed_form(model: RobotModel) -> list[Section]:
    closed = model.closed_form
    if closed is None or model.bound is None:
        return []
    kinds = np.bincount(term_kinds(closed.exponents), minlength=len(KIND_NAMES)).tolist()
    # Entries over size: how sparse the map from base parameters to coefficients is.
    filled = closed.sparse_reduction.nnz / max(1, closed.sparse_reduction.shape[0] * closed.n_base)
    body = facts(
        {
            "terms p": closed.n_terms,
            "base parameters l": closed.n_base,
            "standard parameters": (len(closed.base.columns), closed.base.composition),
            "reduction matrix filled": f"{100 * filled:.2g} %",
        }
    )
    body += paragraph(
        "Every torque is a sum of terms, products of powers of q, sin q, cos q, qd and qdd, with coefficients that "
        "are linear in the base parameters."
    )
    body += table(("terms that multiply", "count"), zip(KIND_NAMES, kinds, strict=True))
    if closed.n_terms <= SHOWN_TERMS:
        body += folded("Equations in base parameters", preformatted("\n\n".join(closed.equations())))
    else:
        body += paragraph(
            "closed_form.npz holds them all; tf.load_model reads it, and model.equations() writes them out.", "quiet"
        )
    return [Section("closed-form", "Closed form", body)]
