"""Friction laws that a user asks for by name, beyond Fv qd + Fc sign(qd) + Fo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from tauform.arrays import Array
from tauform.description.drives import SHAPES, Drive
from tauform.description.robot import Robot
from tauform.errors import IdentificationError, RecordingError
from tauform.identification.recording.recording import Recording, pieces
from tauform.identification.recording.segments import Segment
from tauform.identification.regression.terms import coupling
from tauform.identification.signals.filters import central_difference
from tauform.rigidbody.load import leading_joints
from tauform.wording import argument

FrictionLaw = Literal["auto", "plain", "asymmetric", "stribeck", "quadratic", "load", "thermal"]
LAWS: dict[str, str] = {
    "auto": "held-out blocks choose",
    "plain": "viscous, Coulomb and offset",
    "asymmetric": "viscous friction that differs by direction",
    "stribeck": "break-away friction that fades with velocity",
    "quadratic": "friction that bends with speed",
    "load": "Coulomb friction that grows with the torque a joint carries",
    "thermal": "viscous friction that changes with temperature",
}
# Speed at which break-away friction has faded, relative to a joint's largest.
BREAKAWAY_SPEED_SHARE = 0.05


def check_law(friction: str, recordings: Sequence[Recording]) -> None:
    """Raise IdentificationError for an unknown law, RecordingError where recordings lack what it depends on."""
    if friction not in LAWS:
        raise IdentificationError(f"friction: expected one of {', '.join(LAWS)}, got {friction!r}")
    cold = [recording.name for recording in recordings if recording.temperature is None]
    if friction == "thermal" and cold:
        raise RecordingError(
            f"{cold[0]}: {argument('friction', friction)} needs the joints' temperatures (Recording.temperature)",
            argument="friction",
            value=friction,
            remedy="record them",
        )


def asked_terms(
    robot: Robot, segments: Sequence[Segment], friction: str, couplings: str | Sequence[tuple[int, int]] | None
) -> list[Drive]:
    """Terms of a law at every joint in q, and of the couplings that are given as pairs of these joints."""
    asked: list[Drive] = []
    # Joints that follow others have no drive: their friction would be the leader's.
    leading = leading_joints(robot)
    if friction == "stribeck":
        speeds = np.max([_top_speed(segment) for segment in segments], axis=0)
        # A joint that stands shows no friction, whatever the width; it is refused for its motion.
        widths = BREAKAWAY_SPEED_SHARE * np.where(speeds > 0, speeds, 1.0)
        asked += [Drive.of(friction, j, width=float(width)) for j, width in zip(leading, widths, strict=True)]
    elif friction in SHAPES:
        asked += [Drive.of(friction, j) for j in leading]
    if couplings is not None and not isinstance(couplings, str):
        pairs = (_two_joints(robot, pair) for pair in couplings)
        asked += [term for i, j in pairs for term in coupling(leading[i], leading[j])]
    return asked


def _two_joints(robot: Robot, pair: Any) -> tuple[int, int]:
    # A single number is told as what it is, not as a type error.
    joints = tuple(pair) if isinstance(pair, Sequence | np.ndarray) and not isinstance(pair, str) else (pair,)
    known = [isinstance(j, int | np.integer) and 0 <= j < robot.n_joints for j in joints]
    if len(set(joints)) != 2 or len(joints) != 2 or not all(known):
        shown = ", ".join(map(str, joints))
        raise IdentificationError(f"couplings: ({shown}) are not two joints of {robot.name}; count from 0")
    return int(joints[0]), int(joints[1])


def _top_speed(segment: Segment) -> Array:
    """(n,) largest speed of each joint between samples."""
    parts = ((np.asarray(segment.q[part]), own) for part, own in pieces(segment.n_samples, overlap=1))
    fastest = [np.abs(central_difference(q, segment.rate)[own]).max(axis=0) for q, own in parts]
    return np.asarray(np.max(fastest, axis=0))
