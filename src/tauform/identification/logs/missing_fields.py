"""What to say where a log has no columns of usual names for a field: a remedy that was tried before it is told."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol

from tauform.errors import RecordingError
from tauform.identification.logs.column_names import JOINT, listed, plain_name
from tauform.identification.logs.contents import numbered, numbered_pattern
from tauform.identification.logs.field_names import FIELD_NAMES, MATRIX_NAMES, MEANINGS
from tauform.identification.logs.joints import Joints, joint_columns, remedy_for, suggested_joints
from tauform.messages import counted
from tauform.wording import argument, call

# Words of what a controller asked for, beside what was measured.
COMMANDED = re.compile(r"(?:^|[^a-z])(?:cmd|command|commanded|des|desired|target|ref|reference|setpoint|set|goal|soll)")


class Reads(Protocol):
    """Whether a log is read with other names of the joints, or with columns for a field."""

    def __call__(self, called: Sequence[str] | None = None, columns: Mapping[str, Any] = ...) -> bool:
        """Whether it is."""


def refuse_missing(
    field: str,
    widths: Mapping[str, int | None],
    joints: Joints,
    source: str,
    suggested: Mapping[str, Any],
    reads: Reads,
) -> NoReturn:
    """Raise RecordingError for a field that was not found, with what the log has instead of it.

    Args:
        widths: name -> None for a column, or how many columns a matrix of that name has.
        suggested: options that the numbers in the log suggest.
        reads: tries a remedy.
    """
    names = [name for name, width in widths.items() if width is None]
    # What the log does hold tells whether joints are named differently or a field is absent.
    # Columns of a matrix ("data:1") have places, and no joint's name.
    held = joint_columns([name for name in names if ":" not in name], FIELD_NAMES)
    own = held.get(field) or (held.get("current") if field == "tau" else None) or {}
    if own and not joints.told and (remedy := _of_other_joints(field, own, joints, reads)):
        columns = listed(list(own.values()))
        sentence = f"{source}: holds {MEANINGS[field]} of {counted(len(own), 'joint')} ({columns})"
        raise RecordingError(f"{sentence}, the robot has {joints.described()}", argument="joints", remedy=remedy)
    # What else carries the joints' names or their numbers, and none of the usual words.
    known = {name for of, columns in held.items() if of != field for name in columns.values()}
    usual = {name for several in MATRIX_NAMES.values() for name in several}
    wide = [n for n, width in widths.items() if width == len(joints) and plain_name(n) not in usual]
    choices = [*wide, *_choices([name for name in names if name not in known], joints)]
    likely = [choice for choice in choices if reads(columns={field: choice})]
    if len(likely) == 1:
        remedy = f"they may be {argument('columns', {field: likely[0]})}; check it"
    elif ordered := held.get("reference") if field == "q" and len(held.get("reference", ())) == len(joints) else None:
        told = argument("columns", {field: numbered(list(ordered.values()))})
        remedy = f"only commanded ones are there, and {told} reads them as if they were measured"
    else:
        remedy = by_numbers(suggested, joints) or _example(field, likely)
    sentence = f"found no {MEANINGS[field]} of {counted(len(joints), 'joint')} among {listed(names)}"
    if joints.told:
        sentence += f", by the names {', '.join(joints.called)}"
    raise RecordingError(f"{source}: {sentence}", argument="columns", remedy=remedy)


def _of_other_joints(field: str, own: Mapping[str, str], joints: Joints, reads: Reads) -> str:
    """What to do about columns of a field that speak of joints by other names, or of another number of them."""
    called, columns = list(own), list(own.values())
    if len(own) < len(joints):
        return remedy_for(joints, called)
    # More numbered columns than joints: the first ones are an example, the user knows which.
    if len(own) > len(joints) and all(name.isdigit() for name in called):
        likely = argument("columns", {field: columns[: len(joints)]})
        return f"map those that belong to it, for example {likely}, or load a robot that has them all"
    if reads(suggested_joints(joints.names, called)[0]):
        return remedy_for(joints, called)
    # Names that only this field has, "tau_des1", are no joints'.
    return ""


def _choices(names: Sequence[str], joints: Joints) -> list[str | list[str]]:
    """Sets of one column per joint, by the joints' names or counted through; measured ones where there are some."""
    if by_name := _patterns(names, joints):
        return list(by_name)
    found: list[str | list[str]] = []
    counts = (range(first, first + len(joints)) for first in (0, 1))
    wanted = [list(numbers) for numbers in counts] if len(joints) > 1 and not joints.told else []
    for which in (0, -1):
        stems: dict[str, dict[int, str]] = {}
        for name in names:
            pattern, number = numbered_pattern(name, which)
            if number is not None and ":" not in name and pattern != JOINT:
                stems.setdefault(pattern, {})[number] = name
        found += [numbered([own[k] for k in sorted(own)]) for own in stems.values() if sorted(own) in wanted]
    distinct = [choice for k, choice in enumerate(found) if choice not in found[:k]]
    return [c for c in distinct if not COMMANDED.search(plain_name(str(c)))] or distinct


def _patterns(names: Sequence[str], joints: Joints) -> list[str]:
    """Patterns with {} that name a column for every joint by its name."""
    first = joints.called[0]
    found = (name.replace(first, JOINT) for name in names if first in name and JOINT not in name)
    return [p for p in found if all(p.replace(JOINT, joint) in names for joint in joints.called)]


def _example(field: str, likely: Sequence[str | list[str]]) -> str:
    """How columns are mapped, by those that may be meant."""
    if likely:
        return "choose them, for example " + ", or ".join(argument("columns", {field: each}) for each in likely[:2])
    names_form, pattern = ({field: [f"{field}_a", ...]}, {field: f"{field}_{{}}"})
    return (
        f"map them, for example {argument('columns', names_form)}, or {argument('columns', pattern)} where {{}} is a "
        "joint's name or number"
    )


def by_numbers(options: Mapping[str, Any], joints: Joints) -> str:
    """What to try where no names tell: the options that the numbers in a log suggest; empty without any."""
    if "columns" not in options:
        return ""
    # Python needs the call around several arguments; flags stand for themselves.
    told = {name: value for name, value in options.items() if name not in ("joints", "others", "rate_is_example")}
    typed = argument("columns", told["columns"]) if [*told] == ["columns"] else call("read_recording", **told)
    rated = " with the samples per second that it has" if "rate_is_example" in options else ""
    held = options.get("joints", len(joints))
    other = f" for {counted(held, 'joint')}; {remedy_for(joints, joints.names[:held])}" if held < len(joints) else ""
    if held > len(joints):
        other = f", the first {len(joints)} of {counted(held, 'joint')}, of which others may be the robot's"
    close = "".join(f"; {argument('columns', other)} fits nearly as well" for other in options.get("others", ()))
    return f"by their numbers they may be {typed}{rated}{other}; check it{close}"
