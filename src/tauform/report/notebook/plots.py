"""Plots: what `.plot()` of recordings, fits, motions, reductions and breakdowns draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.closedform.model.terms_by_kind import Breakdown
from tauform.errors import IdentificationError
from tauform.identification.fit import Fit
from tauform.identification.inspect_recording import RecordingSummary
from tauform.identification.recording.recording import Recording
from tauform.messages import no_such
from tauform.realtime.reduction.reduce import Reduction
from tauform.report.html.plot import Panel, Plot, Series, short_names
from tauform.report.notebook.plotly_figure import plotly_figure
from tauform.report.sections.filters import filter_plot
from tauform.report.sections.friction import friction_plot
from tauform.report.sections.judged import JudgedTorques, judged_torques
from tauform.report.sections.residuals import correlation_plot, spectrum_plot
from tauform.report.sections.values import correlation_matrix_plot, sensitivity_plot
from tauform.report.sections.verdict import MOST_POINTS, decimated, error_plot, torque_plot
from tauform.simulation.motion import Motion

# What a fit can show, by name: figures of the motion that it was judged on, and of its values and residuals alone.
MOTION_PLOTS: dict[str, Callable[[Fit, JudgedTorques], Plot | None]] = {
    "torque": torque_plot,
    "errors": error_plot,
    "friction": friction_plot,
}
VALUE_PLOTS: dict[str, Callable[[Fit], Plot | None]] = {
    "residuals": correlation_plot,
    "spectrum": spectrum_plot,
    "filters": filter_plot,
    "sensitivity": sensitivity_plot,
    "correlations": correlation_matrix_plot,
}
FIT_PLOTS = (*MOTION_PLOTS, *VALUE_PLOTS)
NOTHING = (
    "fit.plot: there is nothing to draw of {what!r}: the fit has none, or was loaded from a file without recordings"
)


def plot_fit(fit: Fit, what: str) -> Any:
    """A figure of one side of a fit; see `Fit.plot`."""
    if what not in FIT_PLOTS:
        raise no_such("fit.plot: what", what, FIT_PLOTS)
    drawn = MOTION_PLOTS[what](fit, judged_torques(fit)) if what in MOTION_PLOTS else VALUE_PLOTS[what](fit)
    # A name that exists, but of which this fit has nothing: the message must not call it unknown.
    if drawn is None:
        raise IdentificationError(NOTHING.format(what=what), remedy=f"draw one of {', '.join(FIT_PLOTS)}")
    return plotly_figure(drawn)


def fit_plots(fit: Fit, torques: JudgedTorques) -> dict[str, Plot]:
    """All that a fit can show, by name; what it has nothing of is left out."""
    drawn = {what: draw(fit, torques) for what, draw in MOTION_PLOTS.items()}
    drawn |= {what: draw(fit) for what, draw in VALUE_PLOTS.items()}
    return {what: plot for what, plot in drawn.items() if plot is not None}


def plot_recording(recording: Recording) -> Any:
    """Positions, velocities and torques over time; see `Recording.plot`."""
    return plotly_figure(recording_plot(recording))


def recording_plot(recording: Recording, joints: Sequence[str] | None = None) -> Plot:
    """Positions, velocities, torques and temperatures over time, decimated for the eye.

    Args:
        joints: their names, where the robot is known.
    """
    quantities = {"position [rad or m]": recording.q, "velocity [rad/s or m/s]": recording.qd}
    quantities |= {"torque [N m or N]": recording.tau, "temperature [°C]": recording.temperature}
    # A recording knows its joints by column, not by name.
    names = short_names(joints) if joints is not None else [f"joint {j + 1}" for j in range(recording.n_joints)]
    # Velocity and temperature may be absent.
    held = {label: _envelope(values) for label, values in quantities.items() if values is not None}
    return _over_time(recording.name, _envelope(recording.t), names, held)


def plot_recording_summary(seen: RecordingSummary, what: str) -> Any:
    """Delays or spectra; see `RecordingSummary.plot`."""
    return plotly_figure(delay_plot(seen) if what == "delays" else velocity_spectrum_plot(seen))


def delay_plot(seen: RecordingSummary) -> Plot:
    """How late the torques of each joint are, with two standard deviations."""
    late, sure = 1e3 * seen.delays.seconds, 1e3 * seen.delays.deviations
    names = short_names(seen.joint_names)
    points = Series("delay and two standard deviations", late, x=names, style="points", spread=2 * sure)
    caption = "How late torques are behind positions, by joint; negative: ahead of them"
    return Plot(caption, [Panel("", [points])], "joint", "delay [ms]")


def velocity_spectrum_plot(seen: RecordingSummary) -> Plot:
    """Power of the velocities over frequency."""
    names, spectrum = short_names(seen.joint_names), seen.spectrum
    series = [Series(name, row, style="thin") for name, row in zip(names, spectrum.density, strict=True)]
    caption = f"Spectrum of the velocities; the motion ends at {spectrum.bandwidth:.3g} Hz"
    # Short: it stands upright beside figures that are low.
    label = "power [(rad/s)², (m/s)² per Hz]"
    x = spectrum.frequencies
    return Plot(caption, [Panel("", series)], "frequency [Hz]", label, x=x, xlog=True, ylog=True)


def _envelope(values: Array) -> Array:
    """Least and largest value of each stretch in the order they come: peaks of single samples stay visible."""
    stretch = -(-2 * len(values) // MOST_POINTS)
    if stretch < 3:
        return np.asarray(values)
    pairs = []
    # Stretch by stretch: a recording may be far longer than a figure is wide, and than memory.
    for first in range(0, len(values), stretch):
        part = np.asarray(values[first : first + stretch])
        low, high = part.argmin(axis=0), part.argmax(axis=0)
        order = np.stack([np.minimum(low, high), np.maximum(low, high)])
        pairs.append(np.take_along_axis(part, order, axis=0))
    return np.concatenate(pairs)


def plot_motion(motion: Motion) -> Any:
    """Positions, velocities, accelerations, torques and energy over time; see `Motion.plot`."""
    few = decimated(len(motion.t))
    held = {"position [rad or m]": motion.q[few], "velocity [rad/s or m/s]": motion.qd[few]}
    held |= {"acceleration [rad/s² or m/s²]": motion.qdd[few], "torque [N m or N]": motion.tau[few]}
    plot = _over_time(f"Motion of {motion.robot.name}", motion.t[few], motion.robot.joint_names, held)
    energy = Panel("energy [J]", [Series("kinetic and potential", motion.energy[few])], "energy [J]")
    return plotly_figure(Plot(plot.caption, [*plot.panels, energy], plot.xlabel, plot.ylabel, x=plot.x))


def plot_breakdown(breakdown: Breakdown) -> Any:
    """Torque by origin over the states, joint by joint; see `Breakdown.plot`."""
    # (N, n) also for a single state.
    parts = {name: np.atleast_2d(values) for name, values in vars(breakdown).items()}
    n = next(iter(parts.values())).shape[-1]
    rows = {name: values.reshape(-1, n) for name, values in parts.items()}
    total = sum(rows.values(), np.zeros(1))
    panels = []
    for j in range(n):
        # Parts that are zero throughout only fill the legend.
        series = [
            # Coriolis is a name. A part has one colour at all joints.
            Series(name.replace("coriolis", "Coriolis"), values[:, j], colour=k)
            for k, (name, values) in enumerate(rows.items())
            if np.abs(values[:, j]).max() > 0
        ]
        panels.append(Panel(f"joint {j + 1}", [*series, Series("total", total[:, j], style="thick", colour=8)]))
    states = np.arange(len(total))
    return plotly_figure(Plot("Torque by origin", panels, "state", "torque [N m or N]", x=states))


def plot_reduction(found: Reduction) -> Any:
    """Error over operations of the best program of each route; see `Reduction.plot`."""
    return plotly_figure(reduction_plot(found))


def reduction_plot(found: Reduction) -> Plot:
    """Error over operations of the best program of each route, and the tolerance."""
    # Exact routes have no place on a logarithmic axis.
    tried = [c for c in found.candidates if c.verification.error > 0]
    series = [
        Series(c.name, [100 * c.verification.error], x=[c.program.n_operations], style="points", notes=[c.remark])
        for c in tried
    ]
    operations = [program.n_operations for program in (found.program, found.exact, *(c.program for c in tried))]
    # Two points make the tolerance a line below or above all others.
    ends = [min(operations), max(operations)]
    limit = Series("tolerance", [100 * found.tolerance] * 2, x=ends, style="dashed", colour=7)
    caption = f"{found.robot.name}: error at {100 * found.confidence:g} % of the states over operations"
    caption += f"; the exact program has {found.exact.n_operations}"
    return Plot(caption, [Panel("", [*series, limit])], "multiplications and additions", "error [%]", ylog=True)


def _over_time(caption: str, t: Array, names: Sequence[str], held: dict[str, Array]) -> Plot:
    panels = [
        Panel(label, [Series(name, values[:, j], style="thin") for j, name in enumerate(names)], label)
        for label, values in held.items()
    ]
    return Plot(caption, panels, "time [s]", "", x=t)
