"""Project: what one browser session works on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.description.formats.load import load
from tauform.description.inertia import Inertia
from tauform.description.robot import Robot
from tauform.errors import DescriptionError, RecordingError
from tauform.files.file import fresh_file
from tauform.identification.fit import Fit
from tauform.identification.motion.trajectory import Trajectory
from tauform.identification.recording.recording import Recording
from tauform.pipeline.motion import home_position
from tauform.realtime.reduction.reduce import Reduction
from tauform.report.html.meshes import LinkMesh, link_meshes
from tauform.studio.jobs import Job

LARGEST_UPLOAD = 400 * 2**20  # bytes
ROBOT_FILES = (".urdf", ".xacro", ".xml", ".mjcf", ".toml")


@dataclass
class Project:
    """Files, robot, recordings, fits and running work of a session; pages are drawn from it, so a reload loses nothing.

    Attributes:
        folder: where uploads lie; no other session reads it.
        described: the robot as loaded; `robot` is it with the edits of the page.
        source: what `tf.load` was given, for the lines that the page shows.
        payload: mass [kg] and centre of mass at the tool [m].
    """

    folder: Path
    source: str = "kr6_r700"
    described: Robot | None = None
    tip: str | None = None
    q: Array = field(default_factory=lambda: np.zeros(0))
    payload: tuple[float, tuple[float, float, float]] = (0.0, (0.0, 0.0, 0.0))
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    masses: dict[str, float] = field(default_factory=dict)
    logs: dict[str, Path] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)
    recordings: dict[str, Recording] = field(default_factory=dict)
    fits: dict[str, Fit] = field(default_factory=dict)
    reduction: Reduction | None = None
    motion: Trajectory | None = None
    job: Job | None = None
    meshes: list[LinkMesh] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def open_robot(self, source: str | Path, tip: str | None = None) -> Robot:
        """Load a robot; what belonged to another one is put aside.

        Raises:
            DescriptionError: it is no robot that we read; the project stays as it was.
        """
        # First: an error leaves the project untouched.
        robot = load(source, tip=tip or None)
        self.described, self.source, self.tip = robot, str(source), tip or None
        self.gravity = (float(robot.gravity[0]), float(robot.gravity[1]), float(robot.gravity[2]))
        self.payload, self.masses = (0.0, (0.0, 0.0, 0.0)), {}
        self.q = home_position(robot)
        # Recordings and fits belong to the joints of the robot that is left.
        self.recordings, self.fits, self.reduction, self.motion = {}, {}, None, None
        self.meshes, self.notes = link_meshes(robot)
        return robot

    @property
    def robot(self) -> Robot:
        """The robot with the edits of the page.

        Raises:
            DescriptionError: no robot is open, or an edit is no number.
        """
        if self.described is None:
            raise DescriptionError("no robot is open; drop a file or pick one of the catalogue")
        # Rebuilt from the description at each call: edits never pile up.
        robot = self.described.with_gravity(self.gravity)
        if self.masses:
            values = np.array(robot.parameters)
            for k, link in enumerate(robot.links):
                # A link without mass has no shape to scale.
                if link.name in self.masses and robot.inertias[k].mass:
                    # a heavier link of the same shape: all ten parameters grow with the mass
                    values[robot.layout.link(k)] *= self.masses[link.name] / robot.inertias[k].mass
            robot = robot.with_parameters(values)
        mass, com = self.payload
        # No payload rather than one of zero mass: the robot stays as described.
        return robot.with_payload(Inertia.of(mass, com=com)) if mass else robot

    @property
    def identified(self) -> Robot:
        """The robot of the last fit, else as it is on the page."""
        return next(reversed(self.fits.values())).identified_robot if self.fits else self.robot

    def keep(self, name: str, data: bytes) -> Path:
        """Store an uploaded file under its own name.

        Raises:
            RecordingError: it is too large, or the disk refuses.
        """
        if len(data) > LARGEST_UPLOAD:
            raise RecordingError(f"{name}: larger than {LARGEST_UPLOAD // 2**20} MB; read it with tf.read_recording")
        # a name of another system's path is a name
        path = self.folder / Path(name.replace("\\", "/")).name
        with fresh_file(path, RecordingError) as file:
            file.write(data)
        return path
