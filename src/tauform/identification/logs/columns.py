"""Meaning of the columns of a log: guessed from the usual names, or mapped by the user."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from tauform.errors import RecordingError
from tauform.identification.logs.column_names import JOINT, ColumnChoice, ColumnIndex, listed, plain_name
from tauform.identification.logs.column_numbers import by_number
from tauform.identification.logs.field_names import (
    COLUMN_FIELDS,
    FIELD_NAMES,
    MATRIX_NAMES,
    MEANINGS,
    ONE_TEMPERATURE,
    TIME_NAMES,
)
from tauform.identification.logs.joints import Joints, remedy_for
from tauform.identification.logs.missing_fields import by_numbers, refuse_missing
from tauform.wording import argument

# Single letters count only between other signs: "i_1" is a current, "position" is none.
CURRENT = re.compile(r"current|(?:^|[^a-z])(?:curr|amps?|iq|i)(?:[^a-z]|$)")

Given = Mapping[str, str | Sequence[str] | None]
Suggest = Callable[[], Mapping[str, Any]]


@dataclass(frozen=True)
class LogLayout:
    """Names of the columns that hold each field, joint by joint, or of the matrix that does; time's is one name.

    Attributes:
        t: None where samples have no time stamps.
        q, tau, qd, reference, temperature: None where the log does not hold them.
    """

    t: str | None
    q: ColumnChoice | None = None
    tau: ColumnChoice | None = None
    qd: ColumnChoice | None = None
    reference: ColumnChoice | None = None
    temperature: ColumnChoice | None = None

    def fields(self) -> dict[str, ColumnChoice]:
        """Field -> its columns, of the fields that the log holds."""
        return {name: held for name in COLUMN_FIELDS if (held := getattr(self, name)) is not None}

    @property
    def holds_currents(self) -> bool:
        """Whether the names of what stands for torques speak of motor currents."""
        return any(CURRENT.search(plain_name(name)) for name in self.tau or ())


def guess_layout(
    widths: Mapping[str, int | None],
    joints: Joints,
    given: Given | None,
    source: str,
    *,
    timed: bool = True,
    suggest: Suggest = dict,
) -> LogLayout:
    """Find time, positions, torques and, where there are any, velocities and commanded positions.

    Args:
        widths: name -> None for a column, or how many columns a matrix of that name has.
        joints: of the robot; columns may carry their names (`position_elbow`) or numbers (`q1`, `actual_q_0`).
        given: field ("t", "q", "tau", "qd", "reference", "temperature") -> column names or numbers, a prefix such as
            "effort_", a pattern such as "J{}_trq" where {} is a joint's name or number, or None to leave it out.
        timed: whether a time column is needed; else the rate is known.
        suggest: what `given` may have to be, from the numbers in the log.

    Raises:
        RecordingError: a field is missing, is there more than once, or holds another number of joints; the message
            lists the columns.
    """
    layout = guess_fields(widths, joints, given, source, timed=timed, suggest=suggest)

    def reads(called: Sequence[str] | None = None, columns: Given = {}) -> bool:  # noqa: B006  # never changed
        """Whether the log is read so."""
        named = joints if called is None else Joints.of(joints.robot, called)
        try:
            found = guess_fields(widths, named, {**(given or {}), **columns}, source, timed=timed)
        except RecordingError:
            return False
        return all(getattr(found, field) is not None for field in (columns or ("q", "tau")))

    # Without these two there is no identification; the other fields are optional.
    for field in ("q", "tau"):
        if getattr(layout, field) is None:
            refuse_missing(field, widths, joints, source, suggest(), reads)
    return layout


def guess_fields(
    widths: Mapping[str, int | None],
    joints: Joints,
    given: Given | None,
    source: str,
    *,
    timed: bool,
    suggest: Suggest = dict,
) -> LogLayout:
    """The same, of a file that need not hold all of it."""
    given = dict(given or {})
    unknown = sorted(set(given) - {"t", *COLUMN_FIELDS})
    if unknown:
        raise _misused(f"maps t, q, tau, qd, reference or temperature, not {unknown[0]!r}", given)
    # Matrices are found by their own names, single columns by those of joints.
    index = ColumnIndex([name for name, width in widths.items() if width is None])
    time = _time(given, index.names, joints, source, timed, suggest)
    found: dict[str, ColumnChoice | None] = {}
    for field in COLUMN_FIELDS:
        asked = given.get(field)
        # A field mapped to None is left out, even where its name would be found.
        if field in given and asked is None:
            found[field] = None
        elif asked is not None:
            # A user's word may name a matrix or columns; the matrix, being one exact name, is tried first.
            matrix = _matrices((asked,), widths, joints, field, source)
            one = asked if isinstance(asked, str) and asked in index.names else None
            found[field] = matrix[0] if matrix else _for_all(field, one, joints)
            found[field] = found[field] or _mapped(asked, index, joints, field, source)
        else:
            found[field] = _guessed(index, widths, joints, field, source)
            one = next((name for name in index.names if plain_name(name) in ONE_TEMPERATURE), None)
            found[field] = found[field] or _for_all(field, one, joints)
    return LogLayout(time, **found)


def _for_all(field: str, name: str | None, joints: Joints) -> ColumnChoice | None:
    """One thermometer stands for all joints; no other field has one column for several."""
    return (name,) * len(joints) if field == "temperature" and name is not None else None


def _misused(sentence: str, value: object, remedy: str | None = None) -> RecordingError:
    """A mapping of columns that cannot be meant."""
    return RecordingError(f"{argument('columns')} {sentence}", argument="columns", value=value, remedy=remedy)


def _guessed(
    index: ColumnIndex, widths: Mapping[str, int | None], joints: Joints, field: str, source: str
) -> ColumnChoice | None:
    """The one set of columns, or matrix, that usual names of the field stand for; None where there is none."""
    found = _matrices(MATRIX_NAMES[field], widths, joints, field, source)
    # Motor currents stand in for torques only where there are no torques.
    for kind in (field, "current") if field == "tau" else (field,):
        if not found:
            several = (index.guessed(word, joints.called, counted=not joints.told) for word in FIELD_NAMES[kind])
            found = list(dict.fromkeys(choice for choices in several for choice in choices))
    # Two torques, say measured and commanded: taking the wrong one would go unnoticed.
    if len(found) > 1:
        _refuse_two(found, MEANINGS[field], field, source)
    return found[0] if found else None


def _refuse_two(found: Sequence[ColumnChoice], meaning: str, field: str, source: str) -> NoReturn:
    """Raise RecordingError where two sets of columns could be meant: to take the wrong one would go unnoticed."""
    first, second = (listed(names, 8) for names in found[:2])
    chosen = found[0][0] if len(found[0]) == 1 else list(found[0])
    raise RecordingError(
        f"{source}: two sets of columns may hold the {meaning}, {first} or {second}",
        argument="columns",
        remedy=f"choose one, for example {argument('columns', {field: chosen})}",
    )


def _time(given: Given, names: Sequence[str], joints: Joints, source: str, timed: bool, suggest: Suggest) -> str | None:
    """The column of time; None where the rate takes its place."""
    asked = given.get("t")
    if asked is not None:
        return _mapped_time(asked, names, source)
    # "t": None in the mapping says that a time column is not to be used.
    found = [] if "t" in given else [(name,) for name in names if plain_name(name) in TIME_NAMES]
    if not timed:
        # Stamps and a rate can disagree, and the fit's accelerations hang on them: the user chooses.
        if found:
            raise RecordingError(
                f"{source}: has a time column, {found[0][0]!r}, and {argument('rate')} says the time too",
                argument="rate",
                remedy=f"leave one out: {argument('columns', {'t': None})}",
            )
        return None
    if len(found) > 1:
        _refuse_two(found, "time", "t", source)
    if found:
        return found[0][0]
    if not names:
        raise RecordingError(f"{source}: holds no columns of numbers; save each field as an array of its own")
    suggested = suggest()
    if "rate" in suggested and "columns" not in suggested:
        remedy = f"give the sampling rate, {argument('rate', suggested['rate'])} by the velocities"
    else:
        # The dots stand for what no column suggests.
        rated = f"give the sampling rate, {argument('rate', 1000.0)}"
        remedy = by_numbers(suggested, joints) or f"map it with {argument('columns', {'t': ...})}, or {rated}"
    raise RecordingError(f"{source}: no time column among {listed(names)}", argument="columns", remedy=remedy)


def _mapped_time(name: str | Sequence[str], names: Sequence[str], source: str) -> str:
    if not isinstance(name, str):
        raise _misused(f"takes one name for t, not {len(name)}", name, "name the one that holds the time")
    (found,) = by_number([name], names, source)
    if found not in names:
        raise RecordingError(f"{source}: no column {name!r} for t; it has {listed(names)}")
    return found


def _matrices(
    candidates: Sequence[str | Sequence[str]], widths: Mapping[str, int | None], joints: Joints, field: str, source: str
) -> list[ColumnChoice]:
    """Names of matrices with a column for every joint."""
    wide = [name for name, width in widths.items() if width is not None]
    held = [n for n in wide if n in candidates] or [n for n in wide if plain_name(n) in candidates]
    fitting: list[ColumnChoice] = [(name,) for name in held if widths[name] == len(joints)]
    if held and not fitting:
        width = widths[held[0]] or 0
        chosen = argument("columns", {field: f"{held[0]}:1-{len(joints)}"})
        # Which columns are wanted is not known: the first ones are an example.
        remedy = f"take some of its columns, {chosen}" if width > len(joints) else _unlike(joints, width)
        raise RecordingError(
            f"{source}: {held[0]} has {width} columns, the robot has {len(joints)} joints ({', '.join(joints.names)}); "
            f"{MEANINGS[field]} need one row per sample, one column per joint",
            argument="columns",
            remedy=remedy,
        )
    return fitting


def _unlike(joints: Joints, width: int) -> str:
    """What to do about a robot with more joints than a matrix has columns, which are taken for the first ones."""
    return remedy_for(joints, joints.names[:width])


def _mapped(value: str | Sequence[str], index: ColumnIndex, joints: Joints, field: str, source: str) -> ColumnChoice:
    texts = [value] if isinstance(value, str) else value
    places = by_number(texts, index.names, source)
    # For one joint, a full column name would also match as a prefix: the exact column is meant, as by a number.
    exact = value in index.names and (len(joints) == 1 or str(value).isdigit())
    if isinstance(value, str) and places == [value] and not exact:
        found = index.mapped(value, joints.called)
        if len(found) > 1:
            _refuse_two(found, MEANINGS[field], field, source)
        return found[0] if found else _unmatched(value, index, joints, field, source)
    missing = [name for name in places if name not in index.names]
    if missing:
        raise RecordingError(f"{source}: no column {missing[0]!r} for {field}; it has {listed(index.names)}")
    if len(places) != len(joints):
        counts = f"gives {field} {len(places)} names, the robot has {len(joints)} joints"
        raise _misused(counts, value, _unlike(joints, len(places)) if len(places) < len(joints) else None)
    return tuple(places)


def _unmatched(value: str, index: ColumnIndex, joints: Joints, field: str, source: str) -> NoReturn:
    """Raise RecordingError for a prefix or a pattern that does not name a column per joint."""
    robot = f"{len(joints)} joints ({', '.join(joints.called)})"
    # A second {} cannot be filled: there is one joint per column.
    if value.count(JOINT) > 1:
        raise _misused(f"takes patterns with one {{}} for the joint, not {value!r}", value)
    held = index.held(value)
    if held:
        count = f"{len(held)} column{'s' * (len(held) > 1)} ({listed(held)})"
        raise RecordingError(
            f"{source}: {value!r} for {field} stands for {count}, the robot has {robot}",
            argument="columns",
            value=value,
            remedy="it must stand for one column per joint, numbered from 0 or 1; else list them: "
            + argument("columns", {field: [held[0], ...]})
            + (f", or {_unlike(joints, len(held))}" if len(held) < len(joints) else ""),
        )
    if JOINT not in value:
        raise RecordingError(
            f"{source}: no {len(joints)} columns named {value}<joint> for {field}; it has {listed(index.names)}",
            argument="columns",
            value=value,
            remedy="for names that go on after the joint give a pattern, such as "
            + argument("columns", {field: f"J{{}}_{field}"}),
        )
    raise RecordingError(
        f"{source}: no columns like {value!r} for {field}, with a joint's name, or its number from 0 or 1, for {{}}; "
        f"the robot has {robot}, the log {listed(index.names)}"
    )
