"""The report's section on torques along a motion, by origin."""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array
from tauform.closedform.model.bound import BoundModel
from tauform.description.robot import Robot
from tauform.pipeline.motion import ShownMotion, reference_temperature
from tauform.report.html.document import Section
from tauform.report.html.elements import paragraph, table
from tauform.report.html.plot import Panel, Plot, Series
from tauform.rigidbody.friction import friction
from tauform.rigidbody.gravity import bias_torque, gravity_torque
from tauform.rigidbody.inverse_dynamics import inverse_dynamics


def torque_parts(robot: Robot, bound: BoundModel | None, motion: ShownMotion) -> dict[str, Array]:
    """(N, n) torque by origin; parts that vanish throughout are left out. A closed form tells Coriolis from
    centrifugal."""
    states, warm = (motion.q, motion.qd, motion.qdd), reference_temperature(robot)
    if bound is not None:
        # The closed form sorts its terms by the velocities in them, so Coriolis and centrifugal come apart.
        parts = vars(bound.breakdown(*states, **warm))
        named = {"inertial": parts["inertial"], "Coriolis": parts["coriolis"], "centrifugal": parts["centrifugal"]}
        named |= {"gravity": parts["gravity"], "friction": parts["friction"]}
    else:
        bias, gravity = bias_torque(robot, motion.q, motion.qd), gravity_torque(robot, motion.q)
        lost = friction(robot, motion.qd, motion.q, motion.qdd, **warm)
        total = inverse_dynamics(robot, *states, **warm)
        # Without a closed form by differences: tau = M qdd + (c + g) + friction, and bias = c + g.
        named = {"inertial": total - bias - lost, "velocity": bias - gravity, "gravity": gravity, "friction": lost}
    largest = max(np.abs(part).max() for part in named.values())
    # What is below rounding of the largest part is a zero, and no curve.
    return {name: part for name, part in named.items() if np.abs(part).max() > 1e-12 * largest}


def torque_section(robot: Robot, bound: BoundModel | None, motion: ShownMotion) -> Section:
    """A plot with a tab for each joint, and the share of each origin."""
    parts = torque_parts(robot, bound, motion)
    total = inverse_dynamics(robot, motion.q, motion.qd, motion.qdd, **reference_temperature(robot))
    types = {joint.name: joint.type for joint in robot.joints}
    panels = [
        Panel(
            name,
            [
                *(Series(part, torque[:, j]) for part, torque in parts.items()),
                # Behind its parts: thick, and in a colour that none of them has.
                Series("total", total[:, j], style="thick", colour=7),
            ],
            ylabel=f"{types[name].effort} [{types[name].effort_unit}]",
        )
        for j, name in enumerate(robot.joint_names)
    ]
    body = Plot(
        "Torque by origin along a sweep through the joints' ranges",
        panels,
        x=motion.t,
        xlabel="time [s]",
        ylabel="torque",
    ).html
    rows = [
        (name, *(_rms(torque[:, j]) for torque in parts.values()), _rms(total[:, j]), float(np.abs(total[:, j]).max()))
        for j, name in enumerate(robot.joint_names)
    ]
    body += table(
        ("joint", *parts, "total", "peak"), rows, caption="RMS along the motion [N m or N]", tall=len(rows) > 12
    )
    body += paragraph(
        "Drag to zoom, double-click for all; a click into the legend hides a curve, two leave it alone.",
        "quiet",
    )
    return Section("torques", "Torques", body)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))
