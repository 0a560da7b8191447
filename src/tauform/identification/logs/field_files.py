"""Files that hold one field each (positions.csv, efforts.csv): which holds what, by its columns or by its own name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import LARGEST
from tauform.errors import RecordingError
from tauform.identification.logs.column_names import ColumnChoice, ColumnIndex, listed, plain_name
from tauform.identification.logs.columns import Given, LogLayout, guess_fields
from tauform.identification.logs.contents import SAMPLES, is_clock
from tauform.identification.logs.field_names import COLUMN_FIELDS, FIELD_NAMES, MEANINGS
from tauform.identification.logs.formats.log import Log
from tauform.identification.logs.joints import Joints, remedy_for
from tauform.wording import argument

WORD = re.compile(r"[^a-z0-9]+")


def layouts_of(
    logs: Sequence[Log], paths: Sequence[Path], columns: Given | None, joints: Joints, *, timed: bool
) -> list[LogLayout]:
    """What each of several files of one recording holds.

    Raises:
        RecordingError: positions or torques are in none of them, or a field is in two.
    """
    layouts = [
        _layout(log, path, _given_for(log, columns or {}), joints, timed) for log, path in zip(logs, paths, strict=True)
    ]
    for field in COLUMN_FIELDS:
        holders = [path.name for path, layout in zip(paths, layouts, strict=True) if field in layout.fields()]
        # Two files that hold the same field: which of them is meant cannot be guessed.
        if len(holders) > 1:
            raise RecordingError(
                f"{' and '.join(holders[:2])} both hold {MEANINGS[field]}; leave one of the files out, or its columns",
                argument="columns",
            )
        if not holders and field in ("q", "tau"):
            held = "; ".join(
                f"{path.name} holds {', '.join(MEANINGS[name] for name in layout.fields()) or 'nothing that is known'}"
                for path, layout in zip(paths, layouts, strict=True)
            )
            raise RecordingError(
                f"{'+'.join(path.name for path in paths)}: no file holds {MEANINGS[field]}: {held}",
                argument="columns",
                remedy=f"map them, for example {argument('columns', {field: f'{field}_'})}, or name the files by what "
                "they hold: positions, velocities, torques",
            )
    return layouts


def _given_for(log: Log, columns: Given) -> dict[str, Any]:
    """What the user said about the columns of this file: those that it has, and what is left out everywhere."""
    names = [*log.widths]
    lower = [plain_name(name) for name in names]

    def concerns(value: str | Sequence[str] | None) -> bool:
        if value is None:
            return True
        first = value if isinstance(value, str) else value[0]
        # A pattern concerns a file by what stands before {}; a bare number fits every file, and so says nothing.
        stem = first.partition("{}")[0].lower()
        return first in names or (not first.isdigit() and any(name.startswith(stem) for name in lower))

    return {field: value for field, value in columns.items() if concerns(value)}


def _layout(log: Log, path: Path, given: Mapping[str, Any], joints: Joints, timed: bool) -> LogLayout:
    # Without names, a first column that runs evenly is taken for time.
    if timed and not log.has_names and "t" not in given:
        first = next(iter(log.widths))
        table = next(iter(log.chunks([first], SAMPLES)), {})
        if first in table and np.abs(table[first]).max(initial=0.0) <= LARGEST and is_clock(table[first]):
            given = {**given, "t": first}
    layout = guess_fields(log.widths, joints, given, path.name, timed=timed)
    field = field_of(path)
    # Columns that speak for themselves win over the name of the file.
    if layout.fields() or field is None or field in given:
        return layout
    held: dict[str, Any] = {field: _by_joint(log, layout.t, joints, field, path)}
    return replace(layout, **held)


def field_of(path: Path) -> str | None:
    """The field that the name of a file speaks of, such as joint_positions.csv."""
    words = [word for word in WORD.split(path.stem.lower()) if word]
    for field, names in FIELD_NAMES.items():
        # "joint_positions" by a word of it, "q_ref" as a whole.
        if set(words) & set(names) or "_".join(words) in names:
            return "tau" if field == "current" else field
    return None


def refuse_one_field(path: Path, log: Log, joints: Joints) -> None:
    """Raise RecordingError for a file of one field by its name, with columns that are called as the joints are.

    It says what to join it with: files beside it, where their names say what they hold.
    """
    field = field_of(path)
    names = [name for name, width in log.widths.items() if width is None]
    if field is None or not {name.lower() for name in joints.called} <= {plain_name(name) for name in names}:
        return
    beside = {of: _of_the_same_run(path, field, of) for of in ("q", "qd", "tau") if of != field}
    needed = [of for of in ("q", "tau") if of != field]
    together = [path, *(file for file in beside.values() if file is not None)]
    if all(beside[of] is not None for of in needed):
        likely = f"join it with the files beside it: {argument('path', [str(file) for file in together])}"
    else:
        together = [path, *(path.with_name(f"{MEANINGS[of]}{path.suffix}") for of in needed)]
        likely = f"join it with what does, for example {argument('path', [str(file) for file in together])}"
    missing = " and no ".join(MEANINGS[of] for of in needed)
    raise RecordingError(
        f"{path.name}: holds {MEANINGS[field]} by its name, and no {missing}", argument="path", remedy=likely
    )


def _of_the_same_run(path: Path, field: str, other: str) -> Path | None:
    """The file beside this one whose name differs in the word for its field alone; None where there is not one."""

    def run(file: Path, of: str) -> list[str]:
        return [word for word in WORD.split(file.stem.lower()) if word not in FIELD_NAMES[of]]

    beside = [file for file in path.parent.glob(f"*{path.suffix}") if field_of(file) == other]
    found = [file for file in beside if run(file, other) == run(path, field)]
    return found[0] if len(found) == 1 else None


def _by_joint(log: Log, clock: str | None, joints: Joints, field: str, path: Path) -> ColumnChoice:
    """One column per joint of a file that holds one field: by name, by number, or by order where it has no names."""
    # A matrix as wide as the robot needs no names.
    matrices = [name for name, width in log.widths.items() if width == len(joints)]
    if len(matrices) == 1:
        return (matrices[0],)
    names = [name for name, width in log.widths.items() if width is None and name != clock]
    by_name = {plain_name(name): name for name in names}
    if all(name.lower() in by_name for name in joints.called):
        return tuple(by_name[name.lower()] for name in joints.called)
    # Without names only the order tells, and only if the count fits.
    if not log.has_names and len(names) == len(joints):
        return tuple(names)
    stems = list(ColumnIndex(names).stems) if log.has_names and not joints.told else []
    for stem in stems:
        # One stem that counts through all joints, whatever word it is.
        choices = ColumnIndex(names).guessed(stem, [f"{k + 1}" for k in range(len(joints))])
        if len(choices) == 1:
            return choices[0]
    raise RecordingError(
        f"{path.name}: holds {MEANINGS[field]} by its name, in columns {listed(names)}, and the robot has "
        f"{joints.described()}",
        argument="joints",
        remedy=remedy_for(joints, names),
    )
