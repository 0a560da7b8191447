"""A planned or simulated motion as a figure: positions, velocities, accelerations, torques, each with its limits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import IdentificationError, MissingExtraError
from tauform.escaping.markup import plot_text
from tauform.files.file import fresh_file, write_text
from tauform.identification.motion.trajectory import Trajectory
from tauform.report.html.document import Section, document
from tauform.report.html.elements import bullets, facts
from tauform.report.html.plot import Panel, Plot, Series
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.simulation.motion import Motion

PICTURES = (".png", ".svg", ".pdf")
# Wider than any screen has pixels.
MOST_POINTS = 1000


@dataclass(frozen=True, eq=False)
class _Quantity:
    """(N, n) values with (n,) limits, infinite where there are none."""

    name: str
    unit: str
    values: Array
    lower: Array
    upper: Array


def check_motion_figure(path: Path) -> None:
    """Whether a figure can be written there, before the motion that it shows is planned.

    Raises:
        IdentificationError: the file's name has another ending than those that can be written.
        MissingExtraError: pictures need matplotlib.
    """
    suffix = path.suffix.lower()
    if suffix not in (".html", *PICTURES) or path.is_dir():
        known = ", ".join((".html", *PICTURES))
        raise IdentificationError(f"plot: expected a file that ends in {known}, got {str(path)!r}")
    if suffix in PICTURES:
        try:
            # Imported for its error: a broken install fails here too, before the work.
            import matplotlib as matplotlib
        except ImportError:
            raise MissingExtraError("pictures need matplotlib; pip install tauform[plot], or write .html") from None


@dataclass(frozen=True, eq=False)
class _Figure:
    """Contents of a figure: quantities of the joints over time, and words about them."""

    title: str
    heading: str
    words: str
    facts: dict[str, Any]
    findings: tuple[str, ...]
    t: Array
    joint_names: tuple[str, ...]
    quantities: list[_Quantity]


def write_motion_figure(trajectory: Trajectory, robot: Robot, path: Path) -> Path:
    """Write the figure; see `Trajectory.plot`."""
    known = {"duration": f"{trajectory.duration:.1f} s", "condition number": trajectory.condition or "unknown"}
    title, words = f"Motion of {robot.name}", _words(trajectory)
    quantities = _quantities(trajectory, robot)
    findings, names = trajectory.findings, trajectory.joint_names
    return _write(path, _Figure(title, "Planned motion", words, known, findings, trajectory.t, names, quantities))


def write_simulated_figure(motion: Motion, path: Path) -> Path:
    """Write the figure; see `Motion.plot`."""
    robot = motion.robot
    # By name: of joints in a loop, q holds only the active ones.
    limits = {joint.name: joint.limits for joint in robot.joints}
    own = [limits[name] for name in robot.joint_names]
    speed, effort = (_bounds([getattr(limit, name) for limit in own], np.inf) for name in ("velocity", "effort"))
    lower = _bounds([limit.lower for limit in own], -np.inf)
    upper = _bounds([limit.upper for limit in own], np.inf)
    # Descriptions give no limits of acceleration.
    none = np.full(robot.n_joints, np.inf)
    drawn = _drawn(motion.q, motion.qd, motion.qdd, motion.tau, (lower, upper), speed, none, effort)
    words = f"{motion.t[-1]:.3g} s in steps of {motion.step:g} s, {motion.integrator}"
    energy = motion.energy
    known = {"energy": f"{energy[0]:.6g} J at the beginning, {energy[-1]:.6g} J at the end"}
    title = f"Simulated motion of {robot.name}"
    return _write(path, _Figure(title, "Simulated motion", words, known, (), motion.t, robot.joint_names, drawn))


def _bounds(values: list[float | None], absent: float) -> Array:
    # A description may leave a limit open; infinity draws no line.
    return np.array([absent if value is None else value for value in values])


def _write(path: Path, figure: _Figure) -> Path:
    # Again here: the functions are also called from Python, without the verbs' checks.
    check_motion_figure(path)
    step = max(1, len(figure.t) // MOST_POINTS)
    if path.suffix.lower() == ".html":
        return write_text(path, _page(figure, step), IdentificationError)
    picture = _picture(figure, step)
    with fresh_file(path, IdentificationError) as file:
        picture.savefig(file, format=path.suffix.lower()[1:], dpi=110)
    return path


def _quantities(trajectory: Trajectory, robot: Robot) -> list[_Quantity]:
    # Planned motions hold no torques; those of the robot as described are drawn.
    tau = inverse_dynamics(robot, trajectory.q, trajectory.qd, trajectory.qdd)
    bounds, none = trajectory.bounds, np.full(robot.n_joints, np.inf)
    # Motions read from a file carry no bounds.
    speed, acceleration, effort = (bounds.speed, bounds.acceleration, bounds.effort) if bounds else (none,) * 3
    lower, upper = (bounds.lower, bounds.upper) if bounds else (-none, none)
    return _drawn(trajectory.q, trajectory.qd, trajectory.qdd, tau, (lower, upper), speed, acceleration, effort)


def _drawn(
    q: Array,
    qd: Array,
    qdd: Array,
    tau: Array,
    positions: tuple[Array, Array],
    speed: Array,
    acceleration: Array,
    effort: Array,
) -> list[_Quantity]:
    return [
        _Quantity("position", "rad or m", q, *positions),
        _Quantity("velocity", "per s", qd, -speed, speed),
        _Quantity("acceleration", "per s²", qdd, -acceleration, acceleration),
        _Quantity("torque", "N m or N", tau, -effort, effort),
    ]


def _words(trajectory: Trajectory) -> str:
    known = "" if trajectory.condition is None else f", condition number {trajectory.condition:.3g}"
    return f"{trajectory.duration:.1f} s{known}"


def _page(figure: _Figure, step: int) -> str:
    t = figure.t[::step]
    body = facts(figure.facts)
    body += bullets(figure.findings) if figure.findings else ""
    for quantity in figure.quantities:
        panels = []
        for j, name in enumerate(figure.joint_names):
            limits = [
                Series("limits", np.full(len(t), limit), style="dashed", colour=7)
                for limit in (quantity.lower[j], quantity.upper[j])
                # Infinite limits have no line.
                if np.isfinite(limit)
            ]
            panels.append(Panel(name, [Series(quantity.name, quantity.values[::step, j], colour=0), *limits]))
        label = f"{quantity.name} [{quantity.unit}]"
        # Linked by time: zooming one quantity zooms all.
        body += Plot(quantity.name.capitalize(), panels, x=t, xlabel="time [s]", ylabel=label, link="time").html
    return document(figure.title, figure.words, [Section("motion", figure.heading, body)])


def _picture(drawn: _Figure, step: int) -> Any:
    from matplotlib.figure import Figure

    names, quantities = drawn.joint_names, drawn.quantities
    # A row of 1.5 inches for each joint, and room for title and axis.
    figure = Figure(figsize=(13, 1.1 + 1.5 * len(names)))
    # Room between columns for the labels of the next one's axis.
    figure.set_layout_engine("constrained", w_pad=0.08)
    axes = figure.subplots(len(names), len(quantities), squeeze=False, sharex=True)
    for k, quantity in enumerate(quantities):
        axes[0, k].set_title(f"{quantity.name} [{quantity.unit}]")
        axes[-1, k].set_xlabel("time [s]")
        for j, name in enumerate(names):
            axes[j, k].plot(drawn.t[::step], quantity.values[::step, j], lw=1.0)
            for limit in (quantity.lower[j], quantity.upper[j]):
                if np.isfinite(limit):
                    axes[j, k].axhline(limit, color="tab:red", ls="--", lw=0.8)
            axes[j, k].grid(alpha=0.3)
            # Names stand once, left of all quantities.
            if k == 0:
                axes[j, k].set_ylabel(plot_text(name))
    figure.suptitle(f"{plot_text(drawn.words)}; limits dashed")
    return figure
