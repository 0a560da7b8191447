"""How names of columns are made of a joint's name or number: after a prefix, or anywhere in a pattern."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

# Stands for the joint in a pattern.
JOINT = "{}"
JOINERS = ("", "_", ".", "/", "-")


def with_prefix(names: Sequence[str], prefix: str, joint_names: Sequence[str]) -> tuple[str, ...] | None:
    """Columns prefix + joint name, or prefix + number counted from 0 or 1, for exactly all joints."""
    plain = {plain_name(name): name for name in names}
    bare = prefix.lower().rstrip("_./-")
    if len(joint_names) == 1 and bare in plain:
        return (plain[bare],)
    for joiner in JOINERS:
        for pattern in (f"{bare}{joiner}{JOINT}", f"{JOINT}{joiner}{bare}"):
            found = _by_name(plain, pattern, joint_names)
            if found is not None:
                return found
    return _counted(numbered_after(names, prefix), len(joint_names))


def with_pattern(names: Sequence[str], pattern: str, joint_names: Sequence[str]) -> tuple[str, ...] | None:
    """Columns like the pattern, {} being a joint's name, or its number counted from 0 or 1, for exactly all joints."""
    plain = {plain_name(name): name for name in names} | {name.strip().lower(): name for name in names}
    by_name = _by_name(plain, pattern.strip().lower(), joint_names)
    return by_name or _counted(numbered(names, pattern), len(joint_names))


def numbered(names: Sequence[str], pattern: str) -> dict[int, str]:
    """Number -> column like the pattern with that number for {}."""
    before, _, after = (re.escape(part) for part in pattern.strip().lower().partition(JOINT))
    return _matches(names, rf"{before}(\d+){after}$")


def numbered_after(names: Sequence[str], prefix: str) -> dict[int, str]:
    """Number -> column named prefix and that number."""
    return _matches(names, rf"{re.escape(prefix.lower())}[\s_.\-\[\(]*(\d+)[\]\)]?$")


def plain_name(name: str) -> str:
    """Lower case, without a unit in brackets at the end."""
    return re.sub(r"\s*[\[(](?!\d+[\])])[^\[(]*[\])]$", "", name.strip().lower())


def listed(names: Sequence[str]) -> str:
    """Names for a message, the first thirty of many."""
    return ", ".join(names[:30]) + (f" and {len(names) - 30} more" if len(names) > 30 else "")


def _by_name(plain: Mapping[str, str], pattern: str, joint_names: Sequence[str]) -> tuple[str, ...] | None:
    found = [plain.get(pattern.replace(JOINT, joint.lower())) for joint in joint_names]
    return tuple(name for name in found if name is not None) if all(found) else None


def _counted(numbers: Mapping[int, str], count: int) -> tuple[str, ...] | None:
    """The columns in order, if their numbers are those of all joints, from 1 or from 0."""
    for first in (1, 0):
        wanted = range(first, first + count)
        if set(numbers) == set(wanted):
            return tuple(numbers[k] for k in wanted)
    return None


def _matches(names: Sequence[str], expression: str) -> dict[int, str]:
    pattern = re.compile(expression)
    found = ((pattern.match(form), name) for name in sorted(names) for form in (name.strip().lower(), plain_name(name)))
    return {int(match.group(1)): name for match, name in found if match}
