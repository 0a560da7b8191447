"""Units of columns: told by the user, else SI; a name that says another unit ("tau1 [mNm]") is refused until told."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import RecordingError
from tauform.identification.logs.column_names import OF_MOTORS, plain_name, unit_said
from tauform.identification.logs.columns import LogLayout
from tauform.identification.logs.field_names import COLUMN_FIELDS
from tauform.identification.logs.unit_table import BETWEEN, Kind, Unit, known_units, unit_of
from tauform.identification.recording.recording import TIME_UNITS
from tauform.wording import argument, call

# "temperature1_K": read as Celsius, a warm motor is a furnace.
TEMPERATURE_AT_THE_END = re.compile(r"[_ ](k|kelvin|degf|fahrenheit)$")
POSITIONS = ("q", "qd", "reference")
# What a unit without a field is about.
FIELDS_OF_KIND: dict[str, tuple[str, ...]] = {
    "angle": POSITIONS, "length": POSITIONS, "torque": ("tau",), "force": ("tau",), "current": ("tau",), "time": ("t",),
    "temperature": ("temperature",),
}  # fmt: skip
KINDS_OF_FIELD = {field: tuple(k for k, fields in FIELDS_OF_KIND.items() if field in fields) for field in COLUMN_FIELDS}
KINDS_OF_FIELD["t"] = ("time",)
Units = str | Mapping[str, str]


@dataclass(frozen=True)
class Scales:
    """SI units in what the log holds.

    Attributes:
        second: of a time stamp.
        fields: field -> (n,) factors, joint by joint.
        zeros: field -> (n,) what zero is, joint by joint; temperatures alone have some.
        findings: what the user should know about them.
    """

    second: float
    fields: Mapping[str, Array]
    zeros: Mapping[str, Array]
    findings: tuple[str, ...] = ()


def scales(
    layout: LogLayout,
    robot: Robot,
    source: str,
    *,
    units: Units | None = None,
    degrees: bool = False,
    time_unit: str = "s",
    scaled: bool = False,
) -> Scales:
    """How to turn each column into SI.

    Args:
        units: a unit for all fields that it can measure ("deg"), several with commas between, or
            {field or column: unit}.
        degrees: the same as units="deg".
        time_unit: of the time stamps, where `units` does not say it.
        scaled: torques are multiplied by gains, which take any unit.

    Raises:
        RecordingError: a unit that does not exist or measures something else, a column whose name says another unit
            than it is read in, or motor currents without gains.
    """
    told = _told(units, layout, robot, source)
    # What is told column by column, or for the field, wins over the flag.
    if degrees:
        told = dict.fromkeys(POSITIONS, "deg") | told
    angles = {joint.name: joint.type.is_angle for joint in robot.joints}
    # In the order of q, which closures make shorter than the list of joints.
    turning = [angles[name] for name in robot.joint_names]
    factors, zeros = {}, {}
    for field, columns in layout.fields().items():
        # A matrix has one name for all joints; factors are per joint all the same.
        spread = [f"{columns[0]}:{k + 1}" for k in range(robot.n_joints)] if _is_matrix(columns, robot) else columns
        if field not in KINDS_OF_FIELD:
            continue
        each = [
            _unit(field, column, is_angle, told, source, scaled)
            for column, is_angle in zip(spread, turning, strict=True)
        ]
        # Fields in SI stay untouched: no product with ones over millions of samples.
        if any(unit.si != 1.0 for unit in each):
            factors[field] = np.array([unit.si for unit in each])
        if any(unit.zero for unit in each):
            zeros[field] = np.array([unit.zero for unit in each])
    findings = (
        *_of_motors(layout, source),
        *_passed_over(told, robot.joint_names, turning, source),
        *_currents(layout, told, scaled, source),
    )
    return Scales(_second(layout, told, time_unit, source), factors, zeros, findings)


def _of_motors(layout: LogLayout, source: str) -> tuple[str, ...]:
    """What to know about positions that may be those before the gear."""
    first = (layout.q or ("",))[0]
    if not OF_MOTORS.search(plain_name(first)):
        return ()
    return (f"{source}: {first} ... are positions of motors by their names: divide them by the gear ratios",)


def _is_matrix(columns: Sequence[str], robot: Robot) -> bool:
    return len(columns) == 1 and robot.n_joints > 1


def _told(units: Units | None, layout: LogLayout, robot: Robot, source: str) -> dict[str, str]:
    """Field or column -> unit."""
    if units is None:
        return {}
    if isinstance(units, str):
        return {field: word.strip() for word in units.split(",") for field in fields_of(word.strip())}
    columns = [layout.t, *(name for names in layout.fields().values() for name in names)]
    matrices = [names[0] for names in layout.fields().values() if _is_matrix(names, robot)]
    columns += [f"{name}:{k + 1}" for name in matrices for k in range(robot.n_joints)]
    fields = ("t", *COLUMN_FIELDS)
    for key, word in units.items():
        unit = _checked(word, units)
        if key not in (*fields, *columns):
            raise RecordingError(
                f"{source}: {argument('units', {key: word})} names neither a field ({', '.join(fields)}) nor a column "
                "that was read",
                argument="units",
                value=key,
            )
        if key in fields and unit.kind not in KINDS_OF_FIELD.get(key, ()):
            sentence = f"{argument('units', {key: word})}: {word} measures no {key}"
            raise RecordingError(sentence, argument="units", value=word, remedy=f"choose from {known_units()}")
    return dict(units)


def fields_of(word: str) -> tuple[str, ...]:
    """The fields that a unit without a field is of.

    Raises:
        RecordingError: there is no such unit.
    """
    return FIELDS_OF_KIND.get(_checked(word, word).kind, ())


def _checked(word: str, value: object) -> Unit:
    unit = unit_of(word)
    if unit is None or unit.kind == "unknown":
        sentence = f"{argument('units')} knows no {word!r}"
        raise RecordingError(sentence, argument="units", value=value, remedy=f"choose from {known_units()}")
    return unit


def _unit(field: str, column: str, is_angle: bool, told: Mapping[str, str], source: str, scaled: bool) -> Unit:
    """The unit that a column is read in."""
    # A revolute joint measures rad and N m, a prismatic one m and N; either may hold currents.
    of_field: dict[str, tuple[Kind, ...]] = {
        "tau": ("torque" if is_angle else "force", "current"), "temperature": ("temperature",)
    }  # fmt: skip
    kinds = of_field.get(field, ("angle" if is_angle else "length",))
    plain = Unit(kinds[0], 1.0)
    # What is said of a column wins over what is said of its field.
    matrix = column.rpartition(":")[0]
    word = told.get(column, told.get(matrix, told.get(field)))
    if word is not None:
        unit = unit_of(word)
        if unit is not None and unit.kind in kinds:
            return unit
        if column in told or matrix in told:
            joint = "turns" if is_angle else "slides"
            sentence = f"{source}: column {column!r} is of a joint that {joint}, and {word!r} measures something else"
            raise RecordingError(sentence, argument="units", value=word)
        return plain  # degrees of a robot of which some joints slide
    said = _said(field, column) or _said(field, matrix)
    # Gains take whatever unit the drive reports: the user scaled them for it.
    if not said or (field == "tau" and scaled):
        return plain
    unit = unit_of(said)
    if unit is not None and unit.kind != "current" and (unit.zero or not math.isclose(unit.si, 1.0)):
        _refuse_unit(field, column, said, unit, source)
    return plain


def _passed_over(
    told: Mapping[str, str], joints: Sequence[str], turning: Sequence[bool], source: str
) -> tuple[str, ...]:
    """What a unit of angles leaves in metres, and a unit of lengths in radians.

    Raises:
        RecordingError: no joint has positions that the unit measures.
    """
    found = {}
    for field in ("q", "qd"):
        unit = unit_of(told.get(field, ""))
        if unit is None or unit.kind not in ("angle", "length"):
            continue
        others = [name for name, turns in zip(joints, turning, strict=True) if turns != (unit.kind == "angle")]
        do, plain = ("slide", "m") if unit.kind == "angle" else ("turn", "rad")
        if len(others) == len(joints):
            likely = "mm" if unit.kind == "angle" else "deg"
            raise RecordingError(
                f"{source}: {argument('units', {field: told[field]})} measures no joint of this robot: "
                f"all of them {do}",
                argument="units",
                value=told[field],
                remedy=f"{argument('units', {field: likely})}, for example, or none for {plain}",
            )
        if others:
            unsaid = f"{', '.join(others)} {do}{'s' * (len(others) == 1)}, and {told[field]} does not count there"
            found[unsaid] = f"{source}: {unsaid}: those positions are read in {plain}"
    return tuple(found.values())


def _said(field: str, column: str) -> str:
    """The unit that a column's name ends in; empty where it says none."""
    if field == "temperature":
        found = TEMPERATURE_AT_THE_END.search(column.lower())
        said = found[1] if found else _unit_in(column)
        # Degrees of a temperature are Celsius.
        unit = unit_of(said)
        return said if unit is not None and unit.kind in ("temperature", "unknown") else ""
    return _unit_in(column)


def _refuse_unit(field: str, column: str, said: str, unit: Unit, source: str) -> None:
    """Raise RecordingError for a column whose name says another unit than SI."""
    if unit.kind == "unknown":
        remedy = {"tau": "convert it to N m or N", "temperature": "convert it to degrees Celsius"}.get(
            field, "convert it to rad or m, and seconds"
        )
        remedy += f", or scale it with {argument('gains', ...)}" if field == "tau" else ""
    else:
        remedy = f"read it with {argument('units', {field: said})}"
    raise RecordingError(
        f"{source}: column {column!r} is in another unit by its name ({said})", argument="units", remedy=remedy
    )


def _second(layout: LogLayout, told: Mapping[str, str], time_unit: str, source: str) -> float:
    if layout.t is None:
        # Stamps made from a rate are seconds already.
        return 1.0
    word = told.get(layout.t, told.get("t"))
    if word is not None:
        unit = unit_of(word)
        return unit.si if unit is not None else 1.0
    # Both micro signs of Unicode are in use.
    said = _unit_in(layout.t).replace("µ", "u").replace("μ", "u")
    if said in TIME_UNITS and said != time_unit:
        raise RecordingError(
            f"{source}: column {layout.t!r} is in {TIME_UNITS[said][0]} by its name",
            argument="time_unit",
            remedy=f"read it with {argument('time_unit', said)}",
        )
    return TIME_UNITS[time_unit][1]


def _currents(layout: LogLayout, told: Mapping[str, str], scaled: bool, source: str) -> tuple[str, ...]:
    """Refuse motor currents that nobody turns into torques, unless the user wants amperes."""
    columns: Sequence[str] = layout.tau or ()
    units = {unit.kind for name in columns if (unit := unit_of(told.get(name, told.get("tau", "")))) is not None}
    # Torques told in newton metres are torques, whatever the columns are called.
    if scaled or not columns or units - {"current"}:
        return ()
    if "current" in units:
        return (f"{source}: {columns[0]} ... are read as motor currents: torques of this fit are in amperes",)
    # A unit in the name, "[A]", tells currents as well as the name itself.
    said = next((word for name in columns if (unit := unit_of(word := _unit_in(name))) and unit.kind == "current"), "")
    if layout.holds_currents or said:
        raise RecordingError(
            f"{source}: columns {', '.join(columns[:3])}{' ...' * (len(columns) > 3)} hold motor currents by their "
            "names, and there are no torques",
            argument="gains",
            remedy=f"give the torque for a unit of current, {argument('gains', [...])}, or go on in amperes with "
            f"{argument('units', {'tau': said or 'A'})}; unknown gains follow from recordings with and without a "
            f"known load, {call('identify_gains')}",
        )
    return ()


def _unit_in(name: str) -> str:
    """The unit that a name ends in, as one word."""
    return BETWEEN.sub("", unit_said(name))
