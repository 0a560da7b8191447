"""check: unphysical inertias, doubtful drives, and frames that are almost aligned, in words."""

from __future__ import annotations

import numpy as np

from tauform.description.edit import snapped
from tauform.description.findings import Finding, drive_findings, inertia_findings
from tauform.description.robot import Robot
from tauform.rigidbody.inverse_dynamics import inverse_dynamics

# An angle closer than this to a right angle [rad] is called almost aligned.
ALMOST_ALIGNED = 5e-4
SNAP_STEPS = tuple(float(f"1e-{k}") for k in range(15, 3, -1))
N_STATES = 64


def check(robot: Robot) -> list[Finding]:
    """List what is doubtful about a robot: unphysical inertias, drives, joints that are almost aligned.

    Nothing is corrected. For almost aligned joints the finding says how much `snap=` would change the torques,
    over a fixed set of 64 states (positions over a turn, unit velocities and accelerations).
    """
    return [*inertia_findings(robot), *drive_findings(robot), *_alignment_findings(robot)]


def _alignment_findings(robot: Robot) -> list[Finding]:
    findings = []
    almost = []
    for i, joint in enumerate(robot.joints):
        step = _smallest_snap(robot, i)
        if step is None:
            continue
        almost.append(step)
        straight = snapped(robot, step, only=i)
        what = f"its frame is almost, not exactly, aligned ({_deviation(robot, straight, i)})"
        remedy = f"snap={step:g} would straighten it and change torques by at most {_torque_change(robot, straight)}"
        findings.append(Finding("note", f"joint {joint.name!r}", what, remedy))
    if len(almost) > 1:
        straight = snapped(robot, max(almost))
        what = f"{len(almost)} joints are almost aligned"
        remedy = f"snap={max(almost):g} would straighten all and change torques by at most "
        findings.append(Finding("note", "robot", what, remedy + _torque_change(robot, straight)))
    return findings


def _smallest_snap(robot: Robot, i: int) -> float | None:
    """The smallest power of ten that straightens joint i as far as it is almost aligned; None if it is straight."""
    goal = snapped(robot, ALMOST_ALIGNED, only=i).joints[i]
    if goal is robot.joints[i]:
        return None
    for step in SNAP_STEPS:
        if np.array_equal(snapped(robot, step, only=i).joints[i].parent_from_joint, goal.parent_from_joint):
            return step
    return ALMOST_ALIGNED


def _deviation(robot: Robot, straight: Robot, i: int) -> str:
    before, after = robot.joints[i].parent_from_joint, straight.joints[i].parent_from_joint
    angle = np.linalg.norm(before[:3, :3] - after[:3, :3]) / np.sqrt(2)  # Frobenius, exact for small angles
    shift = np.linalg.norm(before[:3, 3] - after[:3, 3])
    parts = [f"off by {angle:.1e} rad"] * bool(angle) + [f"shifted by {shift:.1e} m"] * bool(shift)
    return ", ".join(parts)


def _torque_change(robot: Robot, other: Robot) -> str:
    rng = np.random.default_rng(0)
    q = rng.uniform(-np.pi, np.pi, (N_STATES, robot.n_joints))
    qd, qdd = rng.normal(size=(2, N_STATES, robot.n_joints))
    tau = inverse_dynamics(robot, q, qd, qdd)
    change = np.abs(inverse_dynamics(other, q, qd, qdd) - tau).max(axis=0)
    worst = int(change.argmax())
    peak = float(np.abs(tau[:, worst]).max())
    part = f" ({change[worst] / peak:.1e} of its peak)" if peak else ""
    name = robot.joint_names[worst]
    unit = "N m" if next(joint for joint in robot.joints if joint.name == name).is_revolute else "N"
    return f"{change[worst]:.1e} {unit}{part}, at joint {name!r}"
