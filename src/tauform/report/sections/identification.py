"""What was identified, as sections of a page: verdict first, then friction, values, links, residuals and filters."""

from __future__ import annotations

from pathlib import Path

from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.files.file import write_text
from tauform.identification.export.proof import Proof
from tauform.identification.fit import Fit
from tauform.messages import counted
from tauform.pipeline.motion import sweep_motion
from tauform.report.html.document import Section, document
from tauform.report.html.robot_view import robot_view
from tauform.report.sections.filters import filter_sections
from tauform.report.sections.friction import friction_sections
from tauform.report.sections.judged import judged_torques
from tauform.report.sections.residuals import residual_section
from tauform.report.sections.values import links_section, values_section
from tauform.report.sections.verdict import verdict_section


def write_report(fit: Fit, path: Path) -> Path:
    """One HTML file about a fit that opens offline.

    Raises:
        IdentificationError: the file cannot be written.
    """
    page = document(f"Identification of {fit.robot.name}", subtitle(fit.robot), fit_sections(fit))
    return write_text(path, page, IdentificationError)


def subtitle(robot: Robot) -> str:
    """Shape, joints, mass and payload of a robot in a line."""
    letters = "".join(joint.type.letter for joint in robot.joints)
    # is_chain before closure: a chain has none.
    shape = "Serial chain" if robot.is_chain else "Mechanism with loops" if robot.closure else "Tree"
    mass = sum(inertia.mass for inertia in robot.inertias)
    carried = f", payload of {robot.payload.inertia.mass:.4g} kg at {robot.payload.frame}" if robot.payload else ""
    return f"{shape} {letters}, {counted(robot.n_joints, 'coordinate')}, moving mass {mass:.4g} kg{carried}"


def fit_sections(fit: Fit, proof: Proof | None = None) -> list[Section]:
    """Verdict with the robot, friction, values, links, residuals, filters.

    Args:
        proof: torque error of the C on the motion of the verdict.
    """
    # Computed once; verdict and friction draw the same rows.
    torques = judged_torques(fit)
    view = robot_view(fit.robot, sweep_motion(fit.robot), compact=True)
    return [
        verdict_section(fit, torques, proof, view),
        *friction_sections(fit, torques),
        values_section(fit),
        *links_section(fit),
        residual_section(fit),
        *filter_sections(fit),
    ]
