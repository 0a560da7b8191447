"""Friction curves with the data that they explain."""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array
from tauform.identification.fit import Fit
from tauform.pipeline.motion import reference_temperature
from tauform.report.html.document import Section
from tauform.report.html.elements import paragraph
from tauform.report.html.plot import Panel, Plot, Series
from tauform.report.sections.judged import JudgedTorques
from tauform.rigidbody.friction import friction

# Enough to see the cloud; the page stays small.
MOST_POINTS = 700
CURVE_POINTS = 241


def friction_sections(fit: Fit, torques: JudgedTorques) -> list[Section]:
    """A figure with a tab for each joint; nothing where the fit has no friction or was loaded without recordings."""
    drawn = friction_plot(fit, torques)
    if drawn is None:
        return []
    body = drawn.html
    body += paragraph(
        "Points are the measured torque less inertia, velocity and gravity torques of the identified links; the curve "
        "is the identified law in the recordings' middle posture. Points that leave the curve on one side are friction "
        "that the law does not know; springs and friction that grows with load spread them upwards and downwards.",
        "quiet",
    )
    return [Section("friction", "Friction", body)]


def friction_plot(fit: Fit, torques: JudgedTorques) -> Plot | None:
    """Friction over velocity, joint by joint: the identified law, and the data less all that is not friction."""
    robot = fit.carrier
    # Where all drive terms are inertial, such as rotors, the law would be a line at zero.
    if not torques.states or all(term.is_inertial for term in robot.drives if term.coefficient):
        return None
    q, qd, qdd, *temperature = torques.states
    warm = {"temperature": temperature[0]} if temperature else {}
    lost = friction(robot, qd, q, qdd, **warm)
    # what was measured, less all that is not friction: tau - (M qdd + C qd + g) of the identified links
    points = torques.measured - torques.predicted + lost
    # Every k-th row: decimation keeps the order in time and all speeds.
    few = slice(None, None, max(1, len(qd) // MOST_POINTS))
    panels = []
    for j, name in enumerate(robot.joint_names):
        speed, curve = _curve(fit, j, q, qd)
        kind = next(joint.type for joint in robot.joints if joint.name == name)
        data = Series("measured, without inertia and gravity", points[few, j], x=qd[few, j], style="points", colour=7)
        law = Series("identified friction", curve, x=speed, colour=0)
        panels.append(Panel(name, [data, law], f"friction [{kind.effort_unit}]", f"velocity [{kind.unit}/s]"))
    return Plot("Friction by joint", panels, xlabel="velocity [rad/s or m/s]", ylabel="friction")


def _curve(fit: Fit, j: int, q: Array, qd: Array) -> tuple[Array, Array]:
    """Friction of one joint over its speeds, all others at rest in the middle posture."""
    # A joint that never moved still gets an axis.
    robot, fastest = fit.carrier, float(np.abs(qd[:, j]).max()) or 1.0
    # both sides of zero close by, where a sharp law steps
    half = np.geomspace(1e-4 * fastest, fastest, CURVE_POINTS // 2)
    speed = np.concatenate([-half[::-1], half])
    moving = np.zeros((len(speed), robot.n_joints))
    moving[:, j] = speed
    # Friction by load depends on the posture; the median is one that the recordings know.
    posture = np.broadcast_to(np.median(q, axis=0), moving.shape)
    # At rest and without acceleration, so that only the chosen joint's law shows.
    return speed, friction(robot, moving, posture, np.zeros_like(moving), **_warm(fit, len(speed)))[:, j]


def _warm(fit: Fit, count: int) -> dict[str, Array]:
    # Reference temperatures, repeated for each speed; nothing where friction does not depend on them.
    return {
        name: np.broadcast_to(value, (count, len(value))) for name, value in reference_temperature(fit.carrier).items()
    }
