"""Deferred imports: methods that users look for on a type although a later module does the work.

A type cannot import what is built on it. Each such method names itself here, and the function that does its work is
imported when the method is called. This table is the only place where the package imports against its direction.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

DEFERRED = {
    "Robot.from_dh": "tauform.description.formats.dh:robot_from_dh",
    "Robot.with_drives": "tauform.description.changes.drives:with_drives",
    "Robot.with_masses": "tauform.description.changes.edit:with_masses",
    "Robot.with_tool": "tauform.description.changes.edit:with_tool",
    "Robot.locked": "tauform.description.changes.edit:locked",
    "Robot.up_to": "tauform.description.changes.edit:up_to",
    "Robot.snapped": "tauform.description.changes.edit:snapped",
    "Robot.with_relations": "tauform.description.changes.relations:related",
    "Robot.with_closed_loop": "tauform.description.changes.relations:closed",
    "Robot.with_geometry": "tauform.description.changes.geometry:with_geometry",
    "Robot.with_loops": "tauform.description.changes.relations:looped",
    "Robot.save": "tauform.description.formats.save:save",
    "Robot.check": "tauform.rigidbody.check:check",
    "Robot.with_base_parameters": "tauform.closedform.base.parameters:with_base_parameters",
    "BaseParameters.spectrum": "tauform.closedform.base.spectrum:spectrum",
    "ClosedFormModel.kinematics": "tauform.closedform.search.kinematics:kinematics_of",
    "ClosedFormModel.save": "tauform.closedform.model.storage:write_model",
    "BoundModel.save_mat": "tauform.closedform.model.storage:write_mat",
    "BoundModel.contributions": "tauform.closedform.reduction.contribution:model_contributions",
    "BoundModel.tradeoff": "tauform.realtime.reduction.figures:model_tradeoff",
    "plot_contributions": "tauform.report.figures.terms:write_contributions_figure",
    "plot_tradeoff": "tauform.report.figures.terms:write_tradeoff_figure",
    "BoundModel.with_terms": "tauform.realtime.reduction.keep:keep_terms",
    "BoundModel._answered": "tauform.fast.models:answered",
    # routes are compared by operations that programs are counted in
    "BoundModel.reduce": "tauform.realtime.reduction.reduce:reduce",
    # the reader compares what it read with MuJoCo's torques
    "read_mjcf": "tauform.rigidbody.inverse_dynamics:inverse_dynamics",
    # a log's findings say what a fit would refuse
    "read_recording": "tauform.identification.verdict.plausibility:doubts",
    "_repr_html_": "tauform.report.notebook.summaries:summary",
    "Robot.view": "tauform.report.notebook.view:view",
    "Recording.plot": "tauform.report.notebook.plots:plot_recording",
    "RecordingSummary.plot": "tauform.report.notebook.plots:plot_recording_summary",
    "Fit.plot": "tauform.report.notebook.plots:plot_fit",
    "plot_breakdown": "tauform.report.notebook.plots:plot_breakdown",
    "Reduction.plot": "tauform.report.notebook.plots:plot_reduction",
    "plot_motion": "tauform.report.notebook.plots:plot_motion",
    "FleetFit.save": "tauform.report.fleet:write_fleet",
    "Fit.report": "tauform.report.sections.identification:write_report",
    "Trajectory.plot": "tauform.report.figures.motion:write_motion_figure",
    "Motion.gradient": "tauform.simulation.adjoint:motion_gradient",
    "Motion.plot": "tauform.report.figures.motion:write_simulated_figure",
    "RobotModel.write": "tauform.report.delivery:deliver",
}


def deferred(method: str) -> Any:
    """The function that does a method's work."""
    module, function = DEFERRED[method].split(":")
    return getattr(import_module(module), function)
