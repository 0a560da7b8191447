"""A planned motion as a figure: positions, velocities, accelerations and torques of each joint, with their limits."""

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
from tauform.report.html.plot import Panel, Series, plot
from tauform.rigidbody.inverse_dynamics import inverse_dynamics

PICTURES = (".png", ".svg", ".pdf")
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
            import matplotlib as matplotlib
        except ImportError:
            raise MissingExtraError("pictures need matplotlib; pip install tauform[plot], or write .html") from None


def write_motion_figure(trajectory: Trajectory, robot: Robot, path: Path) -> Path:
    """Write the figure; see `Trajectory.plot`."""
    check_motion_figure(path)
    quantities = _quantities(trajectory, robot)
    step = max(1, len(trajectory.t) // MOST_POINTS)
    if path.suffix.lower() == ".html":
        return write_text(path, _page(trajectory, robot, quantities, step), IdentificationError)
    figure = _picture(trajectory, quantities, step)
    with fresh_file(path, IdentificationError) as file:
        figure.savefig(file, format=path.suffix.lower()[1:], dpi=110)
    return path


def _quantities(trajectory: Trajectory, robot: Robot) -> list[_Quantity]:
    tau = inverse_dynamics(robot, trajectory.q, trajectory.qd, trajectory.qdd)
    bounds, none = trajectory.bounds, np.full(robot.n_joints, np.inf)
    speed, acceleration, effort = (bounds.speed, bounds.acceleration, bounds.effort) if bounds else (none,) * 3
    lower, upper = (bounds.lower, bounds.upper) if bounds else (-none, none)
    return [
        _Quantity("position", "rad or m", trajectory.q, lower, upper),
        _Quantity("velocity", "per s", trajectory.qd, -speed, speed),
        _Quantity("acceleration", "per s²", trajectory.qdd, -acceleration, acceleration),
        _Quantity("torque", "N m or N", tau, -effort, effort),
    ]


def _words(trajectory: Trajectory) -> str:
    known = "" if trajectory.condition is None else f", condition number {trajectory.condition:.3g}"
    return f"{trajectory.duration:.1f} s{known}"


def _page(trajectory: Trajectory, robot: Robot, quantities: list[_Quantity], step: int) -> str:
    t = trajectory.t[::step]
    body = facts({"duration": f"{trajectory.duration:.1f} s", "condition number": trajectory.condition or "unknown"})
    body += bullets(trajectory.findings) if trajectory.findings else ""
    for quantity in quantities:
        panels = []
        for j, name in enumerate(robot.joint_names):
            limits = [
                Series("limits", np.full(len(t), limit), style="dashed", colour=7)
                for limit in (quantity.lower[j], quantity.upper[j])
                if np.isfinite(limit)
            ]
            panels.append(Panel(name, [Series(quantity.name, quantity.values[::step, j], colour=0), *limits]))
        label = f"{quantity.name} [{quantity.unit}]"
        body += plot(quantity.name.capitalize(), panels, x=t, xlabel="time [s]", ylabel=label)
    title = f"Motion of {robot.name}"
    return document(title, _words(trajectory), [Section("motion", "Planned motion", body)])


def _picture(trajectory: Trajectory, quantities: list[_Quantity], step: int) -> Any:
    from matplotlib.figure import Figure

    names = trajectory.joint_names
    figure = Figure(figsize=(13, 1.1 + 1.5 * len(names)))
    # Room between columns for the labels of the next one's axis.
    figure.set_layout_engine("constrained", w_pad=0.08)
    axes = figure.subplots(len(names), len(quantities), squeeze=False, sharex=True)
    for k, quantity in enumerate(quantities):
        axes[0, k].set_title(f"{quantity.name} [{quantity.unit}]")
        axes[-1, k].set_xlabel("time [s]")
        for j, name in enumerate(names):
            axes[j, k].plot(trajectory.t[::step], quantity.values[::step, j], lw=1.0)
            for limit in (quantity.lower[j], quantity.upper[j]):
                if np.isfinite(limit):
                    axes[j, k].axhline(limit, color="tab:red", ls="--", lw=0.8)
            axes[j, k].grid(alpha=0.3)
            if k == 0:
                axes[j, k].set_ylabel(plot_text(name))
    figure.suptitle(f"{plot_text(_words(trajectory))}; limits dashed")
    return figure
