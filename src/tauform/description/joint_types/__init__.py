"""Types of joints, one file each. A new type is listed here, and spelled by the formats that know it."""

from __future__ import annotations

from tauform.description.joint_types.joint_type import JointType as JointType
from tauform.description.joint_types.prismatic import Prismatic
from tauform.description.joint_types.revolute import Revolute

REVOLUTE, PRISMATIC = Revolute(), Prismatic()
JOINT_TYPES: dict[str, JointType] = {own.name: own for own in (REVOLUTE, PRISMATIC)}
BY_LETTER: dict[str, JointType] = {own.letter: own for own in JOINT_TYPES.values()}


def spelled(language: str) -> dict[str, JointType]:
    """Types by the words of a format or a tool."""
    return {word: own for own in JOINT_TYPES.values() for word in own.spelling.get(language, ())}
