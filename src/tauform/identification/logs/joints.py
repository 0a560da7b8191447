"""Which joint a column speaks of: the names that a log uses, beside those of the robot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from scipy.optimize import linear_sum_assignment

from tauform.description.robot import Robot
from tauform.errors import RecordingError
from tauform.identification.logs.column_names import listed, plain_name
from tauform.messages import no_such
from tauform.wording import argument

# Least likeness of two names that are taken for the same joint's, of 1.
LEAST_LIKENESS = 0.5
NUMBER = re.compile(r"\d+")
JOINERS = "_./- "


@dataclass(frozen=True)
class Joints:
    """The robot's joints and how a log calls them.

    Attributes:
        robot: whose joints they are.
        called: name of each in the log; the robot's own unless the user said otherwise.
        told: whether the user said so; then numbers in the robot's order are no names.
    """

    robot: Robot
    called: tuple[str, ...]
    told: bool = False

    @classmethod
    def of(cls, robot: Robot, joints: Mapping[str, str] | Sequence[str] | None) -> Joints:
        """Names from what `read_recording` takes: {joint: name in the log}, or names in the robot's order.

        Raises:
            RecordingError: another number of names, or one name twice.
            UnknownNameError: no such joint.
        """
        names = robot.joint_names
        if joints is None:
            return cls(robot, names)
        # A mapping may name some joints: the others keep the robot's names.
        if isinstance(joints, Mapping):
            unknown = next((name for name in joints if name not in names), None)
            if unknown is not None:
                raise no_such(f"{argument('joints')} joint", unknown, names)
            called = tuple(joints.get(name, name) for name in names)
        else:
            called = tuple(joints)
        if len(called) != len(names):
            raise _misused(f"gives {len(called)} names, the robot has {len(names)} joints ({', '.join(names)})", joints)
        twice = next((name for name in called if called.count(name) > 1), None)
        if twice is not None:
            raise _misused(f"calls two joints {twice!r}; each has a name of its own", joints)
        return cls(robot, called, told=True)

    @property
    def names(self) -> tuple[str, ...]:
        """Joint names of the robot."""
        return self.robot.joint_names

    def __len__(self) -> int:
        return len(self.called)

    def described(self) -> str:
        """How many, and their names."""
        called = f", called {', '.join(self.called)}" if self.told else ""
        return f"{len(self)} ({', '.join(self.names)}{called})"


def _misused(sentence: str, value: object) -> RecordingError:
    return RecordingError(f"{argument('joints')} {sentence}", argument="joints", value=value)


def joint_columns(names: Iterable[str], words: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
    """Field -> {joint as the log calls it: column}, of the columns whose names hold a usual word of a field.

    Args:
        words: field -> words for it; of several words in a name the longest counts.
    """
    # Longest word first: "actual_position" before "position", else "actual" would read as a joint.
    ranked = sorted(((word, field) for field, several in words.items() for word in several), key=lambda w: -len(w[0]))
    found: dict[str, dict[str, str]] = {}
    for name in names:
        plain = plain_name(name)
        for word, field in ranked:
            joint = _joint_beside(word, plain)
            if joint:
                found.setdefault(field, {}).setdefault(name_as_written(name, joint), name)
                break
    return found


def column_of(joint: str, names: Iterable[str], words: Sequence[str]) -> str | None:
    """The column whose name is a joint's beside a word of a field; None where there is none."""
    return next(
        (name for name in names if any(_joint_beside(x, plain_name(name)) == joint.lower() for x in words)), None
    )


def _joint_beside(word: str, plain: str) -> str:
    """What a name holds beside the word: a number right after it, or anything after or before a joiner."""
    if plain.startswith(word):
        rest = plain[len(word) :]
        bare = rest.lstrip(JOINERS + "[(").rstrip("])")
        # Without a joiner only a number is a joint: "q1", but "quality" is no "uality" of q.
        if bare and (bare.isdigit() or rest[0] in JOINERS):
            return bare
    if plain.endswith(word):
        rest = plain[: -len(word)]
        if rest and (rest[-1] in JOINERS):
            return rest.rstrip(JOINERS)
    return ""


def name_as_written(name: str, plain: str) -> str:
    """The part of a name with its capitals."""
    at = name.lower().find(plain)
    return name[at : at + len(plain)] if at >= 0 else plain


def suggested_joints(names: Sequence[str], called: Sequence[str]) -> tuple[list[str], str]:
    """Names in a log that likely belong to a robot's joints, and why: by number, by name or by order."""
    # The same names first: a finger's number may be that of a joint of the arm.
    exact = {name.lower(): name for name in called}
    if all(name.lower() in exact for name in names):
        return [exact[name.lower()] for name in names], "by name"
    # A rail or a gripper beside A1 to A6: those that are counted through are the arm's.
    series = _counted_through(called, len(names))
    if series:
        return series, "by number"
    numbers, others = ([_last_number(name) for name in several] for several in (names, called))
    # Numbers decide only where every name has one and no two agree.
    unique = all(len(set(several)) == len(several) for several in (numbers, others))
    if unique and all(k is not None for k in (*numbers, *others)):
        by_number = dict(zip(others, called, strict=True))
        if set(numbers) <= set(others):
            return [by_number[k] for k in numbers], "by number"
    like = np.array([[SequenceMatcher(None, a.lower(), b.lower()).ratio() for b in called] for a in names])
    # Pairs that are most alike in sum: a greedy choice could take a name that another joint needs.
    rows, places = linear_sum_assignment(-like)
    if len(rows) == len(names) and (like[rows, places] >= LEAST_LIKENESS).all() and _stands_out(like, places):
        return [called[k] for k in places], "by name"
    return list(called[: len(names)]), "by order"


def _stands_out(like: np.ndarray, places: np.ndarray) -> bool:
    """Whether each name is more like its own than like any other: else likeness says nothing."""
    own = like[np.arange(len(places)), places]
    others = like.copy()
    # Less than any likeness, so that the own name never competes with itself.
    others[np.arange(len(places)), places] = -1.0
    return bool((own > others.max(axis=1)).all())


def _counted_through(called: Sequence[str], count: int) -> list[str]:
    """The names that differ in a number alone, 0 or 1 and on, where just so many of more names do."""
    stems: dict[str, dict[int, str]] = {}
    for name in called if len(called) > count > 1 else ():
        found = list(NUMBER.finditer(name))
        if found:
            stem = name[: found[-1].start()] + name[found[-1].end() :]
            stems.setdefault(stem, {})[int(found[-1][0][-6:])] = name
    wanted = [list(range(first, first + count)) for first in (0, 1)]
    fitting = [own for own in stems.values() if sorted(own) in wanted]
    return [fitting[0][k] for k in sorted(fitting[0])] if len(fitting) == 1 else []


def _last_number(name: str) -> int | None:
    found = NUMBER.findall(name)
    # Six digits at most: longer numbers are no joint's.
    return int(found[-1][-6:]) if found else None


def remedy_for(joints: Joints, called: Sequence[str]) -> str:
    """What to do where a log speaks of these joints and not of those of the robot."""
    # At least as many joints as the robot has: names are to be assigned.
    if len(called) >= len(joints):
        likely, why = suggested_joints(joints.names, called)
        return f"read it with {argument('joints', likely)} ({why}; check it)"
    kept, _ = suggested_joints(called, joints.names)  # which of the robot's joints the log's are
    kept = [name for name in joints.names if name in kept]
    locked = {name: 0.0 for name in joints.names if name not in kept}
    ways = [f"{argument('lock', locked)} at the positions that they held"]
    robot = joints.robot
    # A log of the first joints is that of a robot cut at a link; else joints are locked.
    link = robot.links[next(k for k, joint in enumerate(robot.joints) if joint.name == kept[-1])].name
    if robot.up_to(link).joint_names == tuple(kept):
        ways.insert(0, f"{argument('tip', link)}")
    return f"load the robot without {listed(list(locked))}: {', or '.join(ways)}"
