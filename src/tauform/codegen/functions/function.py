"""Function: what `generate` needs to know of a function that it can turn into a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tauform.arrays import AnyArray
from tauform.closedform.base.baseset import BaseParameters
from tauform.codegen.minimal.problem import Problem, wrench_port
from tauform.codegen.minimal.tracing import Tracer
from tauform.description.robot import Robot

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Algorithm:
    """One way to trace a function.

    Attributes:
        trace: builds the outputs on scalars.
        moves_frames: frames and regrouping of parameters may be searched for fewer operations.
        any_unit: lengths may be measured in another unit (only tracers on `bodies` do that).
        sums_angles: joints may turn by sums of parallel angles.
        with_loops: robots whose bodies are tied together, by loop constraints, coupled rotors or friction by load, are
            supported.
        with_load: friction that depends on load is supported.
        with_bending: loops whose Jacobian depends on the posture are supported.
        like_torques: the search prices inverse dynamics instead, which is quicker to trace and has its optimum near.
        in_steps: what the trace does before and between its steps is the same for all candidates of a search.
        wide: builds the same outputs with vectors of four numbers among the values.
    """

    trace: Tracer
    moves_frames: bool = True
    any_unit: bool = False
    sums_angles: bool = False
    with_loops: bool = True
    with_load: bool = True
    with_bending: bool = True
    like_torques: bool = False
    in_steps: bool = False
    wide: Tracer | None = None


@dataclass(frozen=True)
class Function:
    """A function of the API as a program.

    Attributes:
        inputs: shape of each input port for a robot; joint vectors are named q, qd, qdd, tau...
        reference: the textbook function on (N, ...) batches, returns the outputs in order.
        algorithms: by name, the usual winner first.
        tolerance: of the certificate, relative to the largest magnitude of each output entry.
        theta: the parameters that the columns of a regressor belong to.
        may_vanish: the results are parts of the torque that some robots do not have at all.
        at_rest: the reference holds where velocities are zero, and nowhere else.
        feels_wrenches: external wrenches may be further inputs, last in order.
    """

    name: str
    summary: str
    inputs: Callable[[Robot], Shapes]
    reference: Callable[..., Any]
    algorithms: Mapping[str, Algorithm]
    tolerance: float = 1e-12
    theta: Callable[[Robot], BaseParameters] | None = None
    may_vanish: bool = False
    at_rest: bool = False
    feels_wrenches: bool = False

    def shapes(self, problem: Problem) -> Shapes:
        """Shape of each input port: those of the robot, then the external wrenches asked for."""
        return {**self.inputs(problem.robot), **{wrench_port(frame): (6,) for frame in problem.frames}}

    def expected(self, problem: Problem, *arrays: AnyArray) -> Any:
        """Results of the textbook function for arrays of all ports."""
        # Textbook functions without wrenches do not take the argument at all.
        if not problem.frames:
            return self.reference(problem.robot, *arrays)
        # Wrenches are the last ports, in the order of the frames.
        n = len(arrays) - len(problem.frames)
        wrenches = {frame.name: array for frame, array in zip(problem.frames, arrays[n:], strict=True)}
        return self.reference(problem.robot, *arrays[:n], wrenches=wrenches)


def joint_vectors(*names: str, drives: bool = False) -> Callable[[Robot], Shapes]:
    """Input ports that are joint vectors; with drives, last the temperatures that friction may depend on."""

    def ports(robot: Robot) -> Shapes:
        # A bool times a list: no temperatures where no drive term reads them.
        warm = drives and robot.needs_temperature
        return dict.fromkeys((*names, *["temperature"] * warm), (robot.n_joints,))

    return ports
