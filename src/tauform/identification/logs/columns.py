"""Which column of a log holds what: guessed from the usual names, or mapped by the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from tauform.errors import RecordingError
from tauform.identification.logs.column_names import JOINT, Choice, ColumnIndex, listed, plain_name
from tauform.wording import argument

TIME_NAMES = ("t", "time", "timestamp", "stamp", "time_s", "sec", "seconds")
# Endings and beginnings that loggers use; longer ones are tried first.
FIELD_NAMES: dict[str, tuple[str, ...]] = {
    "q": ("actual_q", "actual_position", "joint_position", "position", "positions", "pos", "q_actual", "angle", "q"),
    "qd": ("actual_qd", "actual_velocity", "joint_velocity", "velocity", "velocities", "vel", "qd", "dq", "qdot"),
    "tau": (
        "actual_torque", "joint_torque", "measured_torque", "torque", "torques", "effort", "efforts", "tau_j", "tau",
        "trq", "load",
    ),
    "current": ("actual_current", "motor_current", "current", "currents", "curr", "i"),
    "reference": ("target_q", "commanded_position", "desired_position", "reference", "q_ref", "q_des", "q_cmd", "qr"),
    "temperature": ("joint_temperature", "motor_temperature", "temperature", "temperatures", "temp"),
}  # fmt: skip


# Joined columns of one name, (N, n), as NPZ and MAT files hold them.
MATRIX_NAMES = {
    "q": ("q", "positions", "position", "pos", "actual_q"),
    "tau": ("tau", "torques", "torque", "effort", "efforts"),
    "qd": ("qd", "dq", "velocities", "velocity", "vel", "actual_qd"),
    "reference": ("q_ref", "reference", "target_q", "q_des"),
    "temperature": ("temperature", "temperatures", "temp"),
}
COLUMN_FIELDS = ("q", "tau", "qd", "reference", "temperature")
MEANINGS = {
    "q": "positions",
    "tau": "torques",
    "qd": "velocities",
    "reference": "commanded positions",
    "temperature": "temperatures",
}


@dataclass(frozen=True)
class Layout:
    """Names of the columns that hold each field, joint by joint, or of the matrix that does; time's is one name."""

    t: str
    q: Choice
    tau: Choice
    qd: Choice | None = None
    reference: Choice | None = None
    temperature: Choice | None = None

    def fields(self) -> dict[str, Choice]:
        """Field -> its columns, of the fields that the log holds."""
        return {name: held for name in COLUMN_FIELDS if (held := getattr(self, name)) is not None}


def guess_layout(
    widths: Mapping[str, int | None],
    joint_names: Sequence[str],
    given: Mapping[str, str | Sequence[str] | None] | None,
    source: str,
) -> Layout:
    """Find time, positions, torques and, where there are any, velocities and commanded positions.

    Args:
        widths: name -> None for a column, or how many columns a matrix of that name has.
        joint_names: of the robot; columns may carry them (`position_elbow`) or numbers (`q1`, `actual_q_0`).
        given: field ("t", "q", "tau", "qd", "reference", "temperature") -> column names, a prefix such as "effort_", a
            pattern such as "J{}_trq" where {} is a joint's name or number, or None to leave it out.

    Raises:
        RecordingError: a field is missing, is there more than once, or holds another number of joints; the message
            lists the columns.
    """
    given = dict(given or {})
    unknown = sorted(set(given) - {"t", *COLUMN_FIELDS})
    if unknown:
        raise _misused(f"maps t, q, tau, qd, reference or temperature, not {unknown[0]!r}", given)
    index = ColumnIndex([name for name, width in widths.items() if width is None])
    asked = given.get("t")
    time = _time(index.names, source) if asked is None else _mapped_time(asked, index.names, source)
    found: dict[str, Choice | None] = {}
    for field in COLUMN_FIELDS:
        asked = given.get(field)
        if field in given and asked is None:
            found[field] = None
        elif asked is not None:
            matrix = _matrices((asked,), widths, joint_names, field, source)
            found[field] = matrix[0] if matrix else _mapped(asked, index, joint_names, field, source)
        else:
            found[field] = _guessed(index, widths, joint_names, field, source)
    for field in ("q", "tau"):
        if found[field] is None:
            _refuse(field, index, joint_names, source)
    return Layout(time, **found)  # type: ignore[arg-type]


def _misused(sentence: str, value: object, remedy: str | None = None) -> RecordingError:
    """A mapping of columns that cannot be meant."""
    return RecordingError(f"{argument('columns')} {sentence}", argument="columns", value=value, remedy=remedy)


def _guessed(
    index: ColumnIndex, widths: Mapping[str, int | None], joint_names: Sequence[str], field: str, source: str
) -> Choice | None:
    """The one set of columns, or matrix, that usual names of the field stand for; None where there is none."""
    found = _matrices(MATRIX_NAMES[field], widths, joint_names, field, source)
    # Motor currents stand in for torques only where there are no torques.
    for kind in (field, "current") if field == "tau" else (field,):
        if not found:
            found = list(dict.fromkeys(c for prefix in FIELD_NAMES[kind] for c in index.guessed(prefix, joint_names)))
    if len(found) > 1:
        _refuse_two(found, MEANINGS[field], field, source)
    return found[0] if found else None


def _refuse_two(found: Sequence[Choice], meaning: str, field: str, source: str) -> NoReturn:
    """Raise RecordingError where two sets of columns could be meant: to take the wrong one would go unnoticed."""
    first, second = (listed(names, 8) for names in found[:2])
    chosen = found[0][0] if len(found[0]) == 1 else list(found[0])
    raise RecordingError(
        f"{source}: two sets of columns may hold the {meaning}, {first} or {second}",
        argument="columns",
        remedy=f"choose one, for example {argument('columns', {field: chosen})}",
    )


def _refuse(field: str, index: ColumnIndex, joint_names: Sequence[str], source: str) -> NoReturn:
    held = next((found for prefix in FIELD_NAMES[field] if (found := index.numbered(prefix))), None)
    robot = f"{len(joint_names)} ({', '.join(joint_names)})"
    if held:
        example = argument("columns", {field: list(held[: len(joint_names)])})
        raise RecordingError(
            f"{source}: holds {MEANINGS[field]} of {len(held)} joint{'s' * (len(held) > 1)} "
            f"({listed(held)}), the robot has {robot}",
            argument="columns",
            remedy=f"map those that belong to it, for example {example}, or lock the others",
        )
    names, pattern = argument("columns", {field: [f"{field}_a", ...]}), argument("columns", {field: f"{field}_{{}}"})
    raise RecordingError(
        f"{source}: found no {MEANINGS[field]} of {len(joint_names)} joints among {listed(index.names)}",
        argument="columns",
        remedy=f"map them, for example {names}, or {pattern} where {{}} is a joint's name or number",
    )


def _time(names: Sequence[str], source: str) -> str:
    found = [(name,) for name in names if plain_name(name) in TIME_NAMES]
    if len(found) > 1:
        _refuse_two(found, "time", "t", source)
    if found:
        return found[0][0]
    if not names:
        raise RecordingError(f"{source}: holds no columns of numbers; save each field as an array of its own")
    remedy = f"map it with {argument('columns', {'t': ...})}"
    raise RecordingError(f"{source}: no time column among {listed(names)}", argument="columns", remedy=remedy)


def _mapped_time(name: str | Sequence[str], names: Sequence[str], source: str) -> str:
    if not isinstance(name, str):
        raise _misused(f"takes one name for t, not {len(name)}", name, "name the one that holds the time")
    if name not in names:
        raise RecordingError(f"{source}: no column {name!r} for t; it has {listed(names)}")
    return name


def _matrices(
    candidates: Sequence[str | Sequence[str]],
    widths: Mapping[str, int | None],
    joint_names: Sequence[str],
    field: str,
    source: str,
) -> list[Choice]:
    """Names of matrices with a column for every joint."""
    held = [c for c in candidates if isinstance(c, str) and widths.get(c) is not None]
    fitting: list[Choice] = [(name,) for name in held if widths[name] == len(joint_names)]
    if held and not fitting:
        raise RecordingError(
            f"{source}: {held[0]} has {widths[held[0]]} columns, the robot has {len(joint_names)} joints "
            f"({', '.join(joint_names)}); {MEANINGS[field]} need one row per sample, one column per joint"
        )
    return fitting


def _mapped(
    value: str | Sequence[str], index: ColumnIndex, joint_names: Sequence[str], field: str, source: str
) -> Choice:
    if isinstance(value, str):
        found = index.mapped(value, joint_names)
        if len(found) > 1:
            _refuse_two(found, MEANINGS[field], field, source)
        return found[0] if found else _unmatched(value, index, joint_names, field, source)
    missing = [name for name in value if name not in index.names]
    if missing:
        raise RecordingError(f"{source}: no column {missing[0]!r} for {field}; it has {listed(index.names)}")
    if len(value) != len(joint_names):
        raise _misused(f"gives {field} {len(value)} names, the robot has {len(joint_names)} joints", value)
    return tuple(value)


def _unmatched(value: str, index: ColumnIndex, joint_names: Sequence[str], field: str, source: str) -> NoReturn:
    """Raise RecordingError for a prefix or a pattern that does not name a column per joint."""
    robot = f"{len(joint_names)} joints ({', '.join(joint_names)})"
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
            + argument("columns", {field: [held[0], ...]}),
        )
    if JOINT not in value:
        raise RecordingError(
            f"{source}: no {len(joint_names)} columns named {value}<joint> for {field}; it has {listed(index.names)}",
            argument="columns",
            value=value,
            remedy="for names that go on after the joint give a pattern, such as "
            + argument("columns", {field: f"J{{}}_{field}"}),
        )
    raise RecordingError(
        f"{source}: no columns like {value!r} for {field}, with a joint's name, or its number from 0 or 1, for {{}}; "
        f"the robot has {robot}, the log {listed(index.names)}"
    )
