"""Types of joints, one file each. A new type is listed here, and spelled by the formats that know it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tauform.description.joint_types.joint_type import JointType as JointType
from tauform.description.joint_types.prismatic import Prismatic
from tauform.description.joint_types.revolute import Revolute
from tauform.errors import DescriptionError

REVOLUTE, PRISMATIC = Revolute(), Prismatic()
# By name, each with constants of a usual size; joints bring their own (`joint_type`).
JOINT_TYPES: dict[str, JointType] = {own.name: own for own in (REVOLUTE, PRISMATIC)}
BY_LETTER: dict[str, JointType] = {own.letter: own for own in JOINT_TYPES.values()}


# Names of the constants of all types: keys of a joint in robot files, columns of a DH table.
CONSTANTS: tuple[str, ...] = tuple(dict.fromkeys(name for own in JOINT_TYPES.values() for name, _ in own.constants))


def joint_type(kind: str, constants: Iterable[tuple[str, float]]) -> JointType:
    """The type of that name with these constants.

    Raises:
        DescriptionError: no such type, or it has other constants.
    """
    if kind not in JOINT_TYPES:
        raise DescriptionError(f"kind is {' or '.join(map(repr, JOINT_TYPES))}, not {kind!r}")
    # Exactly those of the type: a pitch that is forgotten must not become a usual one in silence.
    given, needed = dict(constants), dict(JOINT_TYPES[kind].constants)
    for name in needed:
        if name not in given:
            raise DescriptionError(f"{name} is missing; a {kind} joint needs it")
    for name in given:
        if name not in needed:
            raise DescriptionError(f"{name}: a {kind} joint has no such constant; leave it out")
    return replace(JOINT_TYPES[kind], **given) if given else JOINT_TYPES[kind]


def spelled(language: str) -> dict[str, JointType]:
    """Types by the words of a format or a tool."""
    # Types without a word in a format are not in it: its reader names those that are.
    return {word: own for own in JOINT_TYPES.values() for word in own.spelling.get(language, ())}
