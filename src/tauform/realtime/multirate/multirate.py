"""multirate: inverse dynamics split into a synchronous task of a few operations and a background task.  [Izaguirre1992]

The background may itself be split in two by how fast its parts change: `coefficients` (positions alone), renewed at
every so many-th run of it, and `velocity`, renewed at every run.
Coulomb friction jumps when a joint turns round, which a slow background notices late: friction may instead be made by
the synchronous task, for up to two products and sums more per joint. What depends on load always is.
"""

from __future__ import annotations

from dataclasses import fields
from os import PathLike
from pathlib import Path

import numpy as np

from tauform.arguments import checked_methods
from tauform.arrays import Array
from tauform.closedform.profile import Profile
from tauform.codegen.minimal.problem import Parameters, PayloadBinding, payload_columns
from tauform.description.geometry import difference
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.realtime.multirate.prediction import Prediction, predict, slowest_background
from tauform.realtime.multirate.run import MotionFunction, RunReport, run
from tauform.realtime.multirate.staleness import Rates
from tauform.realtime.multirate.tasks import Friction, Tasks, tasks_of
from tauform.realtime.multirate.write import write_multirate_c


@checked_methods
class MultiRate(Tasks):
    """Programs of both tasks, what they will err by, and how they run on this machine."""

    def predict(self, profile: Profile, rates: Rates, n_states: int = 20_000, ages: Array | None = None) -> Prediction:
        """Torque error that this split will cause, predicted from rates and bounds: no motion is replayed.

        Args:
            profile: bounds of the motion (`Profile.harmonic`, `Profile.ranges`), or a trajectory, its states taken in
                their order.
            rates: periods and latency.
            n_states: states to sample from bounds.
            ages: (2, N) ages of coefficients and velocity torques that a run met (`RunReport.ages`), in place of those
                that the rates imply.

        Raises:
            ModelError: the profile leaves the joint limits, or belongs to a robot with another number of joints.
        """
        return predict(self, profile, rates, n_states, ages=ages)

    def slowest_background(
        self, profile: Profile, error: float, control: float, latency: float = 0.0, coefficients_every: int = 1
    ) -> Rates | None:
        """Rates with the longest background period whose relative error (RMS) stays below a bound; None if none does.

        Args:
            profile: states that will be met.
            error: share of the torque, 0.01 is 1 %.
            control: period of the synchronous task [s].
            latency: from the background's input to the use of its results [s].
            coefficients_every: mass matrix and gravity are renewed at every so many-th run of the background.

        Raises:
            ModelError: the bound is not between 0 and 1, or a time is not positive.
        """
        return slowest_background(self, profile, error, control, latency, coefficients_every)

    def run(self, motion: MotionFunction, rates: Rates, seconds: float = 2.0) -> RunReport:
        """Run both tasks on this machine along a motion, in real time, and compare with torques that are never late.

        Args:
            motion: function that returns q, qd, qdd and, where friction depends on them, temperatures, (N, n) each, at
                given times (N,) [s].
            rates: control and background period, the latter rounded to whole ticks; the latency is one tick.
            seconds: of real time, more than one background period.

        Raises:
            ModelError: the duration is not longer than a background period.
        """
        return run(self, motion, rates, seconds)

    def write_c(
        self, folder: str | PathLike[str], *, real: str = "double", force: bool = False, name: str | None = None
    ) -> list[Path]:
        """Write the programs of both tasks as C99, and as C11 the wait-free exchange between them with a demonstration.

        Args:
            folder: made if it does not exist; one that we wrote before is replaced.
            real: "double" or "float".
            force: also write into a folder that holds other files.
            name: prefix of all names, an identifier of C; made of the robot's name if not given.

        Returns:
            Paths of the files.

        Raises:
            GenerationError: a folder that is not ours or not writable.
        """
        return write_multirate_c(self, folder, real=real, force=force, name=name)

    def of(self, robot: Robot) -> MultiRate:
        """The same programs with the run-time values of another robot: its load, its parameters or both.

        Raises:
            ModelError: the robot differs in what is baked in: geometry, or parameters that are no run-time input.
        """
        theirs, ours = (x.with_payload(None) if "payload" in self.setup_ports else x for x in (robot, self.robot))
        # Lengths, axes and gravity are numbers in every program; a split never takes them at run time.
        differs = difference(self.robot, robot)
        if (
            differs is None
            and "theta" not in self.setup_ports
            and not np.array_equal(theirs.parameters, ours.parameters)
        ):
            differs = "its parameters"
        if differs is None and "payload" in self.setup_ports and not _same_load_frame(self.robot, robot):
            differs = "the frame of its load"
        if differs is not None:
            raise ModelError(
                f"of: {robot.name} differs from {self.robot.name} in what the programs have baked in: {differs}",
                argument="robot",
                remedy='split it with parameters="runtime", or anew',
            )
        # No load is ten zeros to a program that takes one.
        carried = np.zeros(10) if robot.payload is None else np.array(robot.payload.inertia.parameters)
        known = {"payload": carried}
        if "theta" in self.setup_ports:
            known["theta"] = self.coefficients.theta_of(theirs)
        # All else is shared: programs and kernels are those of the first robot.
        kept = {field.name: getattr(self, field.name) for field in fields(self)}
        return MultiRate(**{**kept, "robot": robot, "given": tuple(known[name] for name in self.setup_ports)})

    def __repr__(self) -> str:
        b, s, n = self.background, self.synchronous, self.robot.n_joints
        return (
            f"MultiRate({self.robot.name!r}: synchronous {s.n_multiplications // n} mult + {s.n_additions // n} add "
            f"per joint, background {b.n_multiplications} mult + {b.n_additions} add)"
        )

    def __str__(self) -> str:
        lines = [repr(self)]
        for program in self.programs:
            lines.append(f"  {program.name:12} {program.n_multiplications:4} mult + {program.n_additions:4} add")
        return "\n".join(lines)


def _same_load_frame(robot: Robot, other: Robot) -> bool:
    """Whether ten parameters of a load mean the same to both."""
    return np.array_equal(payload_columns(robot), payload_columns(other))


def multirate(
    robot: Robot,
    friction: Friction = "background",
    *,
    parameters: Parameters = "baked",
    payload: PayloadBinding = "baked",
) -> MultiRate:
    """Split inverse dynamics into a synchronous and a background task, each checked against the textbook algorithms.

    Args:
        friction: the task that makes it; "synchronous" costs operations at every tick and follows reversals at once.
            What depends on load is always made there, of the torque that joints carry at that tick.
        parameters: "runtime" makes the base parameters and the friction an input of the background, `split.of(robot)`.
        payload: "runtime" does the same with the ten parameters of the carried body, at the frame of the robot's
            payload, or at the tool where none is described.

    Raises:
        ModelError: no such task, or friction at every tick with run-time parameters.
        GenerationError: a program would be too long or failed verification.
    """
    # Tasks hold the programs; this class adds what users do with them.
    return MultiRate(**vars(tasks_of(robot, friction, parameters, payload)))
