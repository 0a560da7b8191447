"""Joints that the description holds still and the log shows moving: the torques are those of another robot."""

from __future__ import annotations

from collections.abc import Sequence

from tauform.description.robot import Robot
from tauform.identification.diagnosis.suspicion import SPOILS, Suspicion
from tauform.identification.recording.recording import Recording
from tauform.wording import argument

# Range of a position [rad or m] from which on a joint moves: what a brake and an encoder leave is less.
MIN_RANGE = 0.005


def find_moving(robot: Robot, recordings: Sequence[Recording]) -> list[Suspicion]:
    """A suspicion that names joints which were locked, and move in a log that has their positions too."""
    said = {}
    for own in robot.held:
        # Of all recordings: where one stands elsewhere than another, the description is wrong for one of them.
        ends = [end for recording in recordings for end in recording.held.get(own.name, ())]
        if ends and max(ends) - min(ends) > MIN_RANGE:
            said[own.name] = (
                f"{own.name} moves from {min(ends):.3g} to {max(ends):.3g} {own.unit} in the log, and the description "
                f"holds it still at {own.position:.3g} {own.unit}, with {own.carries[0]} and what follows on it"
            )
    if not said:
        return []
    remedy = (
        f"load the robot without {argument('lock')} of {', '.join(said)} and give its torques too, or record while it "
        "stands"
    )
    return [Suspicion("; ".join(said.values()), remedy, SPOILS)]
