"""Motion: what a simulation gives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tauform.arguments import checked_methods
from tauform.arrays import Array
from tauform.deferred import deferred
from tauform.description.robot import Robot
from tauform.errors import SimulationError
from tauform.escaping.tables import csv_line
from tauform.files.file import fresh_file
from tauform.identification.recording.recording import Recording
from tauform.messages import counted
from tauform.notebook import Displayed
from tauform.rigidbody.energy import kinetic_energy, potential_energy

if TYPE_CHECKING:
    from tauform.simulation.adjoint import MotionGradient

QUANTITIES = ("q", "qd", "qdd", "tau")


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Motion(Displayed):
    """States of a robot over time, of one simulation or of a batch: leading dimensions are those of q0 and qd0.

    Attributes:
        robot: what was simulated.
        t: (T,) [s].
        q, qd: (..., T, n) positions and velocities.
        qdd: (..., T, n) accelerations at the beginning of a step, with the mean of dry friction over it.
        tau: (..., T, n) torques that were applied.
        integrator: how steps were made.
        step: [s]; t holds every step or some of them.
    """

    robot: Robot
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    integrator: str
    step: float

    def __post_init__(self) -> None:
        for name in ("t", *QUANTITIES):
            # The energy is cached: arrays that change later would contradict it.
            getattr(self, name).setflags(write=False)

    @cached_property
    def energy(self) -> Array:
        """(..., T) kinetic and potential energy of links, rotors and springs [J]."""
        return kinetic_energy(self.robot, self.q, self.qd) + potential_energy(self.robot, self.q)

    @property
    def batch(self) -> tuple[int, ...]:
        """Leading dimensions; () of a single simulation."""
        return self.q.shape[:-2]

    def __getitem__(self, index: int | tuple[int, ...] | slice) -> Motion:
        """Some simulations of a batch: `motion[3]` is the fourth."""
        if not self.batch:
            raise SimulationError("motion: it is a single simulation; take its arrays")
        # A view of the batch, and a Motion again.
        return replace(self, **{name: getattr(self, name)[index] for name in QUANTITIES})

    def recording(self, name: str = "simulated") -> Recording:
        """The motion as a recording of positions, velocities, accelerations and torques, for `tf.identify`.

        Raises:
            SimulationError: a batch; choose one of it.
            RecordingError: too few samples.
        """
        # A recording is one motion: samples of several would look like jumps.
        one = self._single("recording")
        return Recording(one.t, one.q, one.tau, qd=one.qd, qdd=one.qdd, name=name)

    def gradient(
        self,
        dq: ArrayLike | None = None,
        dqd: ArrayLike | None = None,
        *,
        parameters: bool = False,
        geometry: bool = False,
        temperature: ArrayLike | None = None,
    ) -> MotionGradient:
        """Gradient of a cost along the motion, by the adjoint: O(n) per step, exact for the motion as computed.

        Torques are held as they were applied: where a controller made them, this is what the motion alone does.

        Args:
            dq: (..., T, n) derivative of the cost by the positions; None is zero.
            dqd: (..., T, n) by the velocities.
            parameters: whether by `robot.parameters` too.
            geometry: whether by the placement of the joints too: lengths, twists, offsets.
            temperature: as it was given to `simulate`.

        Raises:
            ShapeError: an array of another shape than q.
            SimulationError: dry friction, stops or external wrenches took part, or steps were left out.
        """
        return deferred("Motion.gradient")(self, dq, dqd, parameters, geometry, temperature)

    def save_csv(self, path: str | Path) -> Path:
        """Write t and columns q_, qd_, qdd_ and tau_, one per joint; nothing is left behind when writing fails.

        Raises:
            SimulationError: a batch, or the disk refuses.
        """
        one = self._single("save_csv")
        names = ["t", *(f"{field}_{name}" for field in QUANTITIES for name in self.robot.joint_names)]
        # Objects, so that %r prints Python's shortest digits and not NumPy's.
        table = np.column_stack([one.t, *(getattr(one, field) for field in QUANTITIES)]).astype(object)
        with fresh_file(Path(path), SimulationError) as file:
            # Python's own floats print the shortest decimals that read back as the same numbers
            header = csv_line(names).rstrip("\n")
            np.savetxt(file, table, delimiter=",", header=header, comments="", fmt="%r", encoding="utf-8")
        return Path(path)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw positions, velocities, accelerations and torques.

        Args:
            path: .html, .png, .svg or .pdf, written with the robot's limits; without one, the figure of Plotly that
                notebooks display.

        Returns:
            The path, or the figure.

        Raises:
            SimulationError: a batch; choose one of it.
            IdentificationError: the file's name has another ending, or it cannot be written.
            MissingExtraError: pictures need matplotlib.
        """
        one = self._single("plot")
        return deferred("plot_motion")(one) if path is None else deferred("Motion.plot")(one, Path(path))

    def _single(self, what: str) -> Motion:
        if self.batch:
            raise SimulationError(
                f"{what}: the motion is a batch of {' x '.join(map(str, self.batch))}; choose one, such as "
                f"motion[{', '.join('0' * len(self.batch))}].{what}(...)"
            )
        return self

    def __repr__(self) -> str:
        many = f"{counted(int(np.prod(self.batch)), 'simulation')}, " if self.batch else ""
        return (
            f"Motion({many}{counted(self.q.shape[-1], 'joint')}, {self.t[-1]:g} s in steps of {self.step:g} s, "
            f"{self.integrator})"
        )
