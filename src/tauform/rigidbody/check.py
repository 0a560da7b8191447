"""check: unphysical inertias, doubtful drives, and frames that are almost aligned, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.description.changes.edit import straight_joints
from tauform.description.changes.relations import with_placements
from tauform.description.finding import Finding, place_of
from tauform.description.findings import drive_findings, gravity_findings, inertia_findings
from tauform.description.joint import Joint
from tauform.description.robot import GeneralClosure, Robot
from tauform.errors import LoopError
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.wording import argument

# An angle closer than this to a right angle [rad] is called almost aligned.
ALMOST_ALIGNED = 5e-4
# Tried from the finest: the remedy should change as little of the description as it can.
SNAP_STEPS = tuple(float(f"1e-{k}") for k in range(15, 3, -1))
N_STATES = 64


def check(robot: Robot) -> list[Finding]:
    """List what is doubtful about a robot: how its file was read, inertias, gravity, drives, joints almost aligned.

    Nothing is corrected. What the reader of a file took by default or left out comes first (`robot.notes`).
    For almost aligned joints the finding says how much `snap=` would change the torques, over a fixed set of 64 states
    (positions over a turn, unit velocities and accelerations).
    """
    numbers = [*robot.notes, *inertia_findings(robot), *gravity_findings(robot), *drive_findings(robot)]
    return [*numbers, *alignment_findings(robot)]


def alignment_findings(robot: Robot) -> list[Finding]:
    """One finding for all joints: what straightens them is one option."""
    steps = {i: step for i in range(robot.n_bodies) if (step := _smallest_snap(robot, i)) is not None}
    if not steps:
        return []
    # The option is one number for the whole robot, so its largest step decides.
    angle = max(steps.values())
    joints = straight_joints(robot, angle)
    frames, those = ("their frames are", "them") if len(steps) > 1 else ("its frame is", "it")
    what = f"{frames} almost, not exactly, aligned ({_deviation(robot.joints, joints, tuple(steps))})"
    try:
        straight = with_placements(robot, joints)
    except LoopError:
        remedy = f"{argument('snap', angle)} would open loops that close by these frames; straighten the file itself"
    else:
        change = _torque_change(robot, straight)
        remedy = f"{argument('snap', angle)} would straighten {those} and change torques by at most {change}"
    return [Finding("note", place_of("joint", [robot.joints[i].name for i in steps]), what, remedy)]


def _smallest_snap(robot: Robot, i: int) -> float | None:
    """The smallest power of ten that straightens joint i as far as it is almost aligned; None if it is straight."""
    goal = straight_joints(robot, ALMOST_ALIGNED, only=i)[i]
    # `straight_joints` hands back the same joint where there is nothing to straighten.
    if goal is robot.joints[i]:
        return None
    for step in SNAP_STEPS:
        if np.array_equal(straight_joints(robot, step, only=i)[i].parent_from_joint, goal.parent_from_joint):
            return step
    return ALMOST_ALIGNED


def _deviation(joints: Sequence[Joint], straight: Sequence[Joint], almost: tuple[int, ...]) -> str:
    """Largest angle and largest shift by which the frames are off."""
    pairs = [(joints[i].parent_from_joint, straight[i].parent_from_joint) for i in almost]
    # Frobenius, exact for small angles
    angle = max(float(np.linalg.norm(before[:3, :3] - after[:3, :3])) for before, after in pairs) / np.sqrt(2)
    shift = max(float(np.linalg.norm(before[:3, 3] - after[:3, 3])) for before, after in pairs)
    up_to = "up to " if len(pairs) > 1 else ""
    parts = [f"off by {up_to}{angle:.1e} rad"] * bool(angle) + [f"shifted by {up_to}{shift:.1e} m"] * bool(shift)
    return ", ".join(parts)


def _torque_change(robot: Robot, other: Robot) -> str:
    rng = np.random.default_rng(0)
    # A fixed seed: the sentence must be the same each time it is said.
    q = rng.uniform(-np.pi, np.pi, (N_STATES, robot.n_joints))
    if isinstance(robot.closure, GeneralClosure):
        q = robot.closure.inside(q)
    qd, qdd = rng.normal(size=(2, N_STATES, robot.n_joints))
    tau = inverse_dynamics(robot, q, qd, qdd)
    change = np.abs(inverse_dynamics(other, q, qd, qdd) - tau).max(axis=0)
    worst = int(change.argmax())
    peak = float(np.abs(tau[:, worst]).max())
    part = f" ({change[worst] / peak:.1e} of its peak)" if peak else ""
    name = robot.joint_names[worst]
    unit = next(joint.type.effort_unit for joint in robot.joints if joint.name == name)
    return f"{change[worst]:.1e} {unit}{part}, at joint {name!r}"
