"""read_recording: logs as loggers write them (CSV, NPZ, Parquet, MAT, rosbag2) as a Recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike

from tauform.deferred import deferred
from tauform.description.robot import Robot
from tauform.errors import RecordingError
from tauform.identification.logs.columns import Given
from tauform.identification.logs.join import joined
from tauform.identification.logs.joints import Joints
from tauform.identification.logs.parts import LogPart, Reading, checked_rate, drive_of, open_parts
from tauform.identification.logs.rows import Trigger
from tauform.identification.logs.units import Units
from tauform.identification.recording.lone import LoneSample, refuse_lone_samples
from tauform.identification.recording.recording import TIME_UNITS, Recording
from tauform.wording import argument

TimeUnit = Literal["s", "ms", "us", "ns"]


def read_recording(
    path: str | Path | Sequence[str | Path],
    robot: Robot,
    *,
    columns: Given | None = None,
    joints: Mapping[str, str] | Sequence[str] | None = None,
    gains: ArrayLike | None = None,
    units: Units | None = None,
    degrees: bool = False,
    time_unit: TimeUnit = "s",
    rate: float | None = None,
    between: tuple[float, float] | None = None,
    trigger: str | None = None,
    topic: str | None = None,
    stream: bool | None = None,
) -> Recording:
    """Read a log: .csv, .npz, .parquet, .mat, or a rosbag2 (.db3, .mcap, or its folder) with JointState messages.

    Args:
        path: a file, or several that hold parts of one recording (positions, velocities, efforts), joined by time.
        columns: field ("t", "q", "tau", "qd", "reference") -> column names in the robot's order, their numbers ("2-8",
            counted from 1; "data:2-8" for those of a matrix), their common prefix ("effort_"), or a pattern in which {}
            stands for a joint's name, or its number counted from 0 or 1 ("J{}_trq"); fields left out are guessed
            (`q1`, `actual_q_0`, `position_elbow`, ...), and None takes none. `recording.columns` says which were read.
        joints: names of the joints in the log where they differ from the robot's: {joint: name}, or in its order.
        gains: (n,) drive gain times gear ratio where the torque column holds motor currents, or an (n, n) matrix
            with tau = gains @ current where drives are coupled.
        units: what the log is written in where that is not SI: "deg", "deg,mNm", or {field or column: unit}.
        degrees: positions and velocities are in degrees, as with units="deg".
        time_unit: of the time stamps.
        rate: samples per second [Hz] of a log without time stamps.
        between: seconds after the first sample to start and end at, without an approach or a stop.
        trigger: column that is not zero in the rows to keep, or a comparison ("phase=3", "run>0.5").
        topic: of a bag with several JointState topics.
        stream: keep the samples in temporary files, so that recordings larger than memory can be identified; by
            default for logs of 400 MB and more, packed or not. The result is the same.

    What reads as degrees, or what else `identify` would refuse, is among the findings of the recording.

    Raises:
        RecordingError: the file cannot be read, does not hold the robot's joints, holds a field more than once (the
            message lists what it holds), or a sample that cannot be meant.
        MissingExtraError: the format's reader is not installed.
    """
    # One path or many: the rest of the reader sees a list.
    paths = [Path(path)] if isinstance(path, str | Path) else [Path(each) for each in path]
    if not paths:
        raise RecordingError("path: no files; name at least one")
    # Literal types are not checked at run time, and the CLI passes any word.
    if time_unit not in TIME_UNITS:
        sentence = f"{argument('time_unit')} is one of {', '.join(TIME_UNITS)}, not {time_unit!r}"
        raise RecordingError(sentence, argument="time_unit", value=time_unit)
    reading = Reading(
        joints=Joints.of(robot, joints),
        drive=drive_of(gains, robot),
        scaled=gains is not None,
        units=units,
        degrees=degrees,
        time_unit=time_unit,
        rate=checked_rate(rate),
        trigger=None if trigger is None else Trigger.of(trigger),
        topic=topic,
        stream=stream,
        between=None if between is None else _interval(between),
    )
    parts = open_parts(paths, columns, reading)
    read = parts[0].arrays() if len(parts) == 1 else joined(parts)
    found = tuple(finding for part in parts for finding in part.findings)
    name = "+".join(each.name for each in paths)
    # Of the first file that has stamps: all were shifted by the same origin.
    clock = next((part.clock[0] for part in parts if part.clock), 0.0)
    recording = Recording(**read, name=name, columns=_mapping(parts), findings=found, clock=clock)
    # Cut last: seconds count from the first sample that a trigger kept.
    recording = recording if between is None else _cut(recording, *_interval(between))
    recording = replace(recording, held={joint: ends for part in parts for joint, ends in part.held.items()})
    refuse_lone_samples(recording, robot.joint_names, lambda one: _left_out(one, parts))
    # What `identify` would refuse is worth knowing here, and may be what the user wants to look at.
    told = deferred("read_recording")(robot, recording)
    return replace(recording, findings=(*recording.findings, *told)) if told else recording


def _left_out(one: LoneSample, parts: Sequence[LogPart]) -> str:
    """How to read a log without a sample that cannot be meant."""
    part = next(part for part in parts if one.field in part.layout.fields())
    names = part.layout.fields()[one.field]
    # A second trigger is none, and gains may mix columns.
    if part.reading.trigger is not None or (one.field == "tau" and part.reading.scaled):
        return "delete its row in the file"
    column = names[one.joint] if part.log.widths[names[0]] is None else f"{names[0]}:{one.joint + 1}"
    scale, zero = (
        factors[one.field][one.joint] if one.field in factors else usual
        for factors, usual in ((part.scales.fields, 1.0), (part.scales.zeros, 0.0))
    )
    # As the file has it: a trigger compares before units are applied.
    bound = f"{float(f'{(one.bound - zero) / scale:.3g}'):g}"
    return f"leave it out with {argument('trigger', column + ('<' if one.value > one.bound else '>') + bound)}"


def _mapping(parts: Sequence[LogPart]) -> dict[str, str | tuple[str, ...]]:
    """What `columns=` must say for the same result."""
    held: dict[str, Any] = {}
    for part in parts:
        if part.layout.t is not None:
            # Names that were read, not those asked for: prefixes and guesses are resolved.
            held.setdefault("t", part.layout.t)
        for name, names in part.layout.fields().items():
            # A matrix is one name, and so is a thermometer for all joints.
            is_one = part.log.widths[names[0]] is not None or (len(names) > 1 and len(set(names)) == 1)
            held[name] = names[0] if is_one else names
    return held


def _interval(between: Sequence[float]) -> tuple[float, float]:
    given = list(between)
    # Settings of a file hold anything.
    if len(given) == 2 and all(isinstance(at, int | float) and not isinstance(at, bool) for at in given):
        with suppress(OverflowError):  # a whole number that no time is
            return float(given[0]), float(given[1])
    sentence = f"{argument('between')} needs a start and an end in seconds, not {given!r:.60}"
    raise RecordingError(sentence, argument="between", value=between)


def _cut(recording: Recording, start: float, end: float) -> Recording:
    given = argument("between", (start, end))
    if not start < end:
        sentence = f"{recording.name}: {given} ends before it starts"
        raise RecordingError(sentence, argument="between", value=(start, end), remedy="give start, then end")
    if start >= recording.duration or end <= 0:
        sentence = f"{recording.name}: {given} lies outside of its {recording.duration:.4g} s"
        raise RecordingError(sentence, argument="between", value=(start, end))
    return recording.between(start, end)
