"""Recursive programs without velocity terms: of all joints, of some joints, or of some links.

A still joint does not turn as far as velocity terms are concerned; a quiet link feels no velocity terms of its own
motion, whatever turns. Friction always stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.candidates import program_of
from tauform.codegen.functions import FUNCTIONS
from tauform.codegen.functions.inertia import forward_system
from tauform.codegen.functions.torques import friction_torques, rigid_torques
from tauform.codegen.minimal.problem import problem_of, tree_coordinates, user_efforts
from tauform.codegen.minimal.tracing import Outputs, Tracing
from tauform.codegen.program.program import Program
from tauform.description.robot import Robot
from tauform.errors import UnknownNameError
from tauform.portable.products import product
from tauform.rigidbody.forward_dynamics import forward_dynamics
from tauform.rigidbody.friction import friction_under
from tauform.rigidbody.gravity import bias_torque
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.load import load_gains
from tauform.rigidbody.regressor import regressor

Places = frozenset[int]


@dataclass(frozen=True)
class Quiet:
    """Whose velocity terms are left out: coordinates of q, and bodies of the tree."""

    joints: Places = frozenset()
    links: Places = frozenset()

    @classmethod
    def named(cls, robot: Robot, names: Sequence[str]) -> Quiet:
        """Choice by names of joints and links; "all" stands for all joints.

        Raises:
            UnknownNameError: neither a joint nor a link has that name.
        """
        joints, links = list(robot.joint_names), [link.name for link in robot.links]
        for name in names:
            if name not in (*joints, *links, "all"):
                known = ", ".join(["all", *joints, *links])
                raise UnknownNameError(f"{robot.name} has no joint or link {name!r}; choose from {known}")
        # "all" wins: links add nothing where no joint turns.
        if "all" in names:
            return cls(joints=all_joints(robot))
        of_joints = frozenset(joints.index(name) for name in names if name in joints)
        return cls(of_joints, frozenset(links.index(name) for name in names if name not in joints))

    def words(self, robot: Robot) -> str:
        """Wording for reports."""
        if self.joints == all_joints(robot):
            return "all joints"
        parts = []
        if self.joints:
            parts.append(f"joints {', '.join(robot.joint_names[i] for i in sorted(self.joints))}")
        if self.links:
            parts.append(f"links {', '.join(robot.links[k].name for k in sorted(self.links))}")
        return " and ".join(parts)


NOTHING = Quiet()


def all_joints(robot: Robot) -> Places:
    """All coordinates of q."""
    return frozenset(range(robot.n_joints))


def recursive(robot: Robot, function: str, quiet: Quiet) -> Program:
    """Inverse or forward dynamics without the velocity terms of some joints and links; friction stays.

    With still joints the program is checked against the textbook function. Where links are quiet, what is left out
    depends on how the program regroups parameters among links (the same total in the whole model). So it is checked at
    rest, where nothing is left out; what velocities add is for the caller to compare with the exact function.
    """

    def trace(tracing: Tracing) -> Outputs:
        # Zeros vanish in the graph: the program has no trace of what does not turn.
        moving = np.array([0.0 if i in quiet.joints else x for i, x in enumerate(tracing.inputs["qd"])], dtype=object)
        turning = tree_coordinates(robot, moving, False)
        if function == "forward_dynamics":
            bias = rigid_torques(tracing, turning, quiet=quiet.links)
            return {"qdd": forward_system(tracing, bias).accelerations()}
        rigid = rigid_torques(tracing, turning, tracing.joints("qdd"), quiet=quiet.links)
        # Friction sees the true velocities, and the load that is left.
        tau = [a + b for a, b in zip(rigid, friction_torques(tracing, rigid), strict=True)]
        return {"tau": user_efforts(robot, tau)}

    def reference(
        robot: Robot, q: AnyArray, qd: AnyArray, last: AnyArray, temperature: AnyArray | None = None
    ) -> Array:
        if function == "inverse_dynamics":
            return without_velocity(robot, quiet, q, qd, last, temperature)
        # Added to what drives the links, the velocity terms left out make them accelerate as the smaller model does.
        lost = bias_torque(robot, q, qd) - _rigid_without(robot, quiet, q, qd, 0 * qd)
        driving = last - friction_under(robot, q, qd, 0 * qd, temperature)
        # tau = r + Fl |r| sign(qd) + other, solved for r.
        carried = driving / (1 + load_gains(robot, qd, driving))
        return forward_dynamics(robot, q, qd, carried + lost, drives=False)

    whole = FUNCTIONS[function]
    name = next(iter(whole.algorithms))
    changed = replace(
        whole,
        reference=reference,
        algorithms={name: replace(whole.algorithms[name], trace=trace)},
        # With quiet links the reference differs in motion; at rest both must agree.
        at_rest=bool(quiet.links),
    )
    return program_of(problem_of(robot), changed, [name])


def without_velocity(
    robot: Robot, quiet: Quiet, q: AnyArray, qd: AnyArray, qdd: AnyArray, temperature: AnyArray | None = None
) -> Array:
    """Torques without the velocity terms of some joints and links; friction stays, under the load that is left."""
    rigid = _rigid_without(robot, quiet, q, qd, qdd)
    torque: Array = rigid + friction_under(robot, q, qd, rigid, temperature)
    return torque


def _rigid_without(robot: Robot, quiet: Quiet, q: AnyArray, qd: AnyArray, qdd: AnyArray) -> Array:
    if not quiet.links:
        return inverse_dynamics(robot, q, _masked(qd, quiet.joints), qdd, drives=False)
    torque: Array = product(regressor_without(robot.rigid, quiet, q, qd, qdd), robot.rigid.parameters)
    return torque


def regressor_without(
    robot: Robot, quiet: Quiet, q: Array, qd: Array, qdd: Array, temperature: Array | None = None
) -> Array:
    """The regressor of all standard parameters without the velocity terms of some joints and links."""
    Y: Array = regressor(robot, q, qd, qdd, temperature=temperature).copy()
    layout = robot.layout
    if quiet.joints:
        slower = regressor(robot.rigid, q, _masked(qd, quiet.joints), qdd)
        Y[..., layout.links] = slower[..., layout.links]
    if quiet.links:
        # Link columns are linear in their own velocity terms, so that those at rest replace them column by column.
        resting = regressor(robot.rigid, q, 0 * qd, qdd)
        for k in sorted(quiet.links):
            Y[..., layout.link(k)] = resting[..., layout.link(k)]
    return Y


def _masked(qd: AnyArray, still: Places) -> AnyArray:
    moving = np.array(qd)
    moving[..., sorted(still)] = 0.0
    return moving
