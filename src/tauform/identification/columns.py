"""Which column of a log holds what: guessed from the usual names, or mapped by the user."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tauform.errors import RecordingError

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
}  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """Names of the columns that hold each field, joint by joint; time's is one name."""

    t: str
    q: tuple[str, ...]
    tau: tuple[str, ...]
    qd: tuple[str, ...] | None = None
    reference: tuple[str, ...] | None = None


def guess_layout(
    names: Sequence[str], joint_names: Sequence[str], given: Mapping[str, str | Sequence[str]] | None, source: str
) -> Layout:
    """Find time, positions, torques and, where there are any, velocities and commanded positions.

    Args:
        names: of the columns.
        joint_names: of the robot; columns may carry them (`position_elbow`) or numbers (`q1`, `actual_q_0`).
        given: field ("t", "q", "tau", "qd", "reference") -> column names, or a prefix such as "effort_".

    Raises:
        RecordingError: a field is missing or holds another number of joints; the message lists the columns.
    """
    given = dict(given or {})
    unknown = set(given) - {"t", "q", "tau", "qd", "reference"}
    if unknown:
        raise RecordingError(f"columns: no field {sorted(unknown)[0]!r}; map t, q, tau, qd or reference")
    time = str(given["t"]) if "t" in given else _time(names, source)
    if time not in names:
        raise RecordingError(f"{source}: no column {time!r}; it has {_listed(names)}")
    found: dict[str, tuple[str, ...] | None] = {}
    for field in ("q", "tau", "qd", "reference"):
        if field in given:
            found[field] = _mapped(given[field], names, joint_names, field, source)
        else:
            found[field] = _guessed(names, joint_names, field)
            if found[field] is None and field == "tau":
                found[field] = _guessed(names, joint_names, "current")
    for field, meaning in (("q", "positions"), ("tau", "torques")):
        if found[field] is None:
            raise RecordingError(
                f"{source}: found no {meaning} of {len(joint_names)} joints among {_listed(names)}; map them, for "
                f"example columns={{{field!r}: ['{field}_a', ...]}}"
            )
    return Layout(time, found["q"], found["tau"], found["qd"], found["reference"])  # type: ignore[arg-type]


def _time(names: Sequence[str], source: str) -> str:
    for name in names:
        if name.strip().lower() in TIME_NAMES:
            return name
    raise RecordingError(f"{source}: no time column among {_listed(names)}; map it with columns={{'t': ...}}")


def _mapped(
    value: str | Sequence[str], names: Sequence[str], joint_names: Sequence[str], field: str, source: str
) -> tuple[str, ...]:
    if isinstance(value, str):
        match = _with_prefix(names, value, joint_names)
        if match is None:
            raise RecordingError(
                f"{source}: no {len(joint_names)} columns named {value}<joint> for {field}; it has {_listed(names)}"
            )
        return match
    missing = [name for name in value if name not in names]
    if missing:
        raise RecordingError(f"{source}: no column {missing[0]!r} for {field}; it has {_listed(names)}")
    if len(value) != len(joint_names):
        raise RecordingError(f"columns: {field} maps {len(value)} columns, the robot has {len(joint_names)} joints")
    return tuple(value)


def _guessed(names: Sequence[str], joint_names: Sequence[str], field: str) -> tuple[str, ...] | None:
    for prefix in sorted(FIELD_NAMES[field], key=len, reverse=True):
        match = _with_prefix(names, prefix, joint_names)
        if match is not None:
            return match
    return None


def _with_prefix(names: Sequence[str], prefix: str, joint_names: Sequence[str]) -> tuple[str, ...] | None:
    """Columns prefix + joint name, or prefix + number counted from 0 or 1, for exactly all joints."""
    plain = {name.strip().lower(): name for name in names}
    prefix = prefix.lower()
    for joiner in ("", "_", ".", "/", "-"):
        by_name = [plain.get(f"{prefix.rstrip('_./-')}{joiner}{joint.lower()}") for joint in joint_names]
        reverse = [plain.get(f"{joint.lower()}{joiner}{prefix.rstrip('_./-')}") for joint in joint_names]
        for candidate in (by_name, reverse):
            if all(candidate):
                return tuple(candidate)  # type: ignore[arg-type]
    pattern = re.compile(rf"{re.escape(prefix)}[\s_.\-\[\(]*(\d+)[\]\)]?$")
    numbers = {int(m.group(1)): name for key, name in plain.items() if (m := pattern.match(key))}
    for first in (1, 0):
        wanted = range(first, first + len(joint_names))
        if set(numbers) == set(wanted):
            return tuple(numbers[k] for k in wanted)
    return None


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:30]) + (f" and {len(names) - 30} more" if len(names) > 30 else "")
