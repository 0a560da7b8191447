"""Names of columns, made of a joint's name or number: after a prefix, or anywhere in a pattern."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TypeVar

# Stands for the joint in a pattern.
JOINT = "{}"
# Between prefix and joint: q1, q_1, q.1, q/1, q-1, q 1.
JOINERS = ("", "_", ".", "/", "-", " ")
# Numbers of joints have few digits; what has more is a serial number.
NUMBERED = re.compile(r"(.*?)[\s_.\-\[\(]*(\d{1,4})[\]\)]?$")
# A number in brackets is a joint, q[1], not a unit.
UNIT = re.compile(r"\s*[\[(](?!\d+[\])])[^\[(]*[\])]$")
IN_BRACKETS = re.compile(r"[\[(]([^\[\]()]+)[\])]\s*$")
# Units that are written behind a name without brackets: vel_1_deg/s. One letter could be a joint's name.
AT_THE_END = re.compile(
    r"[_ ](mrad|rad|degrees?|deg|°|rpm|mm|mnm|nm|ma|amps?|msec|usec|ms|us|ns)([/_]s)?$", flags=re.IGNORECASE
)
# Sides of a gear that turn many times while the joint turns once.
OF_MOTORS = re.compile(r"(?:^|[^a-z])(?:motor|rotor)")
# Names that a message lists before it says how many more there are.
MOST_LISTED = 30

ColumnChoice = tuple[str, ...]
ColumnKey = TypeVar("ColumnKey", str, int)


class ColumnIndex:
    """The names of a log's columns, looked up by prefix or pattern; tens of thousands of them are one pass.

    Several columns may answer to one name ("q1 [deg]" and "q1 [rad]", "q1" and "q_1"), so that a look-up returns every
    choice of one column per joint, and the caller refuses where there is more than one.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        # Every form of a name -> columns as written; and stem -> number -> columns, for q1, q[2], actual_q_0.
        self.plain: dict[str, list[str]] = {}
        self.stems: dict[str, dict[int, list[str]]] = {}
        # Once through all names: a log of a whole machine has tens of thousands.
        for name in self.names:
            for form in _forms(name):
                _append(self.plain, form, name)
                if match := NUMBERED.match(form):
                    _append(self.stems.setdefault(match[1], {}), int(match[2]), name)

    def guessed(self, prefix: str, joint_names: Sequence[str], *, counted: bool = True) -> list[ColumnChoice]:
        """Columns named after a usual prefix, such as q1, q[1], position_elbow or elbow/position.

        Args:
            counted: whether numbers in the order of the joints stand for their names.
        """
        numbers = self.stems.get(prefix, {}) if counted else {}
        return _distinct([*self._named(prefix, joint_names), *_counted(numbers, len(joint_names))])

    def mapped(self, text: str, joint_names: Sequence[str]) -> list[ColumnChoice]:
        """Columns that a user's prefix, or pattern with {}, stands for: a joint's name, or number from 0 or 1."""
        by_name = self._like(text, joint_names) if JOINT in text else self._named(text, joint_names)
        return _distinct([*by_name, *_counted(self._matches(text), len(joint_names))])

    def held(self, text: str) -> list[str]:
        """Columns with any number that a user's prefix or pattern stands for."""
        numbers = self._matches(text)
        return [numbers[k][0] for k in sorted(numbers)]

    def _named(self, prefix: str, joint_names: Sequence[str]) -> list[ColumnChoice]:
        # A prefix may be given with its joiner, "effort_": all joiners are tried anyway.
        bare = prefix.lower().rstrip("_./-")
        # A robot of one joint needs no numbers: `q` is its position.
        if len(joint_names) == 1 and bare in self.plain:
            return [(name,) for name in self.plain[bare]]
        # Joint after the word or before it: position_elbow, elbow/position.
        patterns = [p for joiner in JOINERS for p in (f"{bare}{joiner}{JOINT}", f"{JOINT}{joiner}{bare}")]
        return [choice for pattern in patterns for choice in self._like(pattern, joint_names)]

    def _like(self, pattern: str, joint_names: Sequence[str]) -> list[ColumnChoice]:
        pattern = pattern.strip().lower()
        return _choices([self.plain.get(pattern.replace(JOINT, joint.lower()), []) for joint in joint_names])

    def _matches(self, text: str) -> dict[int, list[str]]:
        """Number -> columns like a user's prefix or pattern with that number."""
        before, joint, after = (re.escape(part) for part in text.strip().lower().partition(JOINT))
        expression = rf"{before}(\d{{1,4}}){after}$" if joint else rf"{before}[\s_.\-\[\(]*(\d{{1,4}})[\]\)]?$"
        found: dict[int, list[str]] = {}
        for form, names in self.plain.items():
            if match := re.match(expression, form):
                for name in names:
                    _append(found, int(match[1]), name)
        return found


def plain_name(name: str) -> str:
    """Lower case, without a unit at the end."""
    return AT_THE_END.sub("", UNIT.sub("", name.strip().lower()))


def unit_said(name: str) -> str:
    """The unit that a name ends in, in brackets or behind a blank or _; empty where it says none."""
    if found := IN_BRACKETS.search(name):
        return found[1].strip()
    found = AT_THE_END.search(name.strip())
    return f"{found[1]}{'/s' if found[2] else ''}" if found else ""


def listed(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """Names for a message, the first of many."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _forms(name: str) -> Sequence[str]:
    """A name as it stands, and without its unit."""
    return tuple(dict.fromkeys((name.strip().lower(), plain_name(name))))


def _append(lists: dict[ColumnKey, list[str]], key: ColumnKey, name: str) -> None:
    held = lists.setdefault(key, [])
    if name not in held[-2:]:  # its other form came just before
        held.append(name)


def _choices(alternatives: Sequence[Sequence[str]]) -> list[ColumnChoice]:
    """One column per joint: all first ones, all second ones, ..."""
    # One joint without a column: no choice is whole.
    if not alternatives or not all(alternatives):
        return []
    rows = zip_longest(*alternatives)
    # A joint with fewer alternatives repeats its first, so that every row is complete.
    return [tuple(x or held[0] for x, held in zip(row, alternatives, strict=True)) for row in rows]


def _counted(numbers: Mapping[int, Sequence[str]], count: int) -> list[ColumnChoice]:
    """The columns in order, if their numbers are those of all joints, from 1 or from 0."""
    # Exactly the joints: with a column more or fewer, nobody knows which is whose.
    wanted = next((range(k, k + count) for k in (1, 0) if set(numbers) == set(range(k, k + count))), None)
    return [] if wanted is None else _choices([numbers[k] for k in wanted])


def _distinct(choices: Sequence[ColumnChoice]) -> list[ColumnChoice]:
    return list(dict.fromkeys(choices))
