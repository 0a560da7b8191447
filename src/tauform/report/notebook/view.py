"""RobotView: a robot in space, in a notebook, a browser or a file."""

from __future__ import annotations

import webbrowser
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import joint_vector
from tauform.description.robot import Robot
from tauform.errors import DescriptionError, ShapeError
from tauform.files.file import write_text
from tauform.identification.motion.trajectory import Trajectory
from tauform.pipeline.motion import ShownMotion, sweep_motion
from tauform.report.html.document import Section, document
from tauform.report.html.robot_view import robot_view
from tauform.simulation.motion import Motion

HEIGHT = 620  # pixels of the frame in a notebook


@dataclass(frozen=True)
class RobotView:
    """A page with the robot, sliders for its joints, and a motion that plays.

    Attributes:
        html: the whole page; it needs no network.
    """

    html: str

    def save(self, path: str | Path) -> Path:
        """Write the page, to open in any browser.

        Raises:
            DescriptionError: the file cannot be written.
        """
        return write_text(Path(path), self.html, DescriptionError)

    def show(self, path: str | Path) -> Path:
        """Write the page and open it in the browser."""
        written = self.save(path)
        # As an address with a scheme: browsers take a bare path for a search.
        webbrowser.open_new_tab(written.resolve().as_uri())
        return written

    def _repr_html_(self) -> str:
        # a frame of its own: styles and scripts of the notebook and of the page do not meet
        frame = f'style="width: 100%; height: {HEIGHT}px; border: 0" sandbox="allow-scripts allow-downloads"'
        # Escaped as an attribute: the page itself holds quotes.
        return f'<iframe {frame} title="Robot" srcdoc="{escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        return f"RobotView({len(self.html) / 1e6:.1f} MB; .save(path) writes it, .show(path) opens it)"


def view(robot: Robot, motion: Motion | Trajectory | ArrayLike | None = None) -> RobotView:
    """The robot as a page; see `Robot.view`."""
    figure = robot_view(robot, _played(robot, motion))
    page = document(robot.name, "", [Section("robot", f"{robot.n_joints} joints", figure)])
    return RobotView(page)


def _played(robot: Robot, motion: Motion | Trajectory | ArrayLike | None) -> ShownMotion:
    if motion is None:
        return sweep_motion(robot)
    if isinstance(motion, Motion | Trajectory):
        q, t = np.asarray(motion.q), np.asarray(motion.t)
    else:
        # One posture, or (N, n) of them.
        q = np.atleast_2d(joint_vector(motion, robot.n_joints, "motion"))
        # Positions without times are played in five seconds.
        t = np.linspace(0.0, 5.0, max(2, len(q)))
        # The player needs two frames; a posture that stands still has both alike.
        q = np.repeat(q, 2, axis=0) if len(q) == 1 else q
    if q.ndim != 2 or q.shape[1] != robot.n_joints:
        raise ShapeError(f"motion: expected positions (N, {robot.n_joints}), got {q.shape}; choose one of a batch")
    # About 500 frames play smoothly; more only make the page larger.
    few = slice(None, None, max(1, len(t) // 500))
    # Velocities are not shown, so zeros will do.
    return ShownMotion(t[few] - t[0], q[few], np.zeros_like(q[few]), np.zeros_like(q[few]))
