"""What was identified, as sections of a page: verdict first, then friction, values, links, residuals and filters."""

from __future__ import annotations

from pathlib import Path

from tauform.errors import IdentificationError
from tauform.files.file import write_text
from tauform.identification.export.proof import Proof
from tauform.identification.fit import Fit
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
    # On data that the fit did not see: the figure that counts.
    errors = fit.unseen
    subtitle = f"{fit.verdict.grade}: {100 * errors.total:.2g} % torque error on {errors.source}"
    page = document(f"Identification of {fit.robot.name}", subtitle, fit_sections(fit))
    return write_text(path, page, IdentificationError)


def fit_sections(fit: Fit, proof: Proof | None = None) -> list[Section]:
    """Verdict with the robot, friction, values, links, residuals, filters.

    Args:
        proof: torque error of the C on the motion of the verdict.
    """
    # Computed once; verdict and friction draw the same rows.
    torques = judged_torques(fit)
    view = robot_view(fit.robot, sweep_motion(fit.robot))
    return [
        verdict_section(fit, torques, proof, view),
        *friction_sections(fit, torques),
        values_section(fit),
        *links_section(fit),
        residual_section(fit),
        *filter_sections(fit),
    ]
