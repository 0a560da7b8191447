"""look_at_log: columns, signals, rest, delays and spectra of a log, before anything is identified."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tauform.description.robot import Robot
from tauform.errors import TauformError
from tauform.identification.inspect_recording import RecordingSummary, inspect_recording
from tauform.identification.logs.inspect import LogSummary, inspect_log
from tauform.identification.logs.read import read_recording
from tauform.messages import Progress
from tauform.report.html.plot import Plot, short_names
from tauform.report.notebook.plots import delay_plot, recording_plot, velocity_spectrum_plot
from tauform.studio.results import FIELDS, LogLook


def look_at_log(robot: Robot, path: Path, options: Mapping[str, Any], tell: Progress) -> LogLook:
    """What a log holds, and how it looks as a recording of the robot.

    Args:
        options: columns that were chosen in place of the guess.

    Raises:
        RecordingError: the file is no log.
    """
    tell(f"reading columns of {path.name}")
    summary = inspect_log(path)
    rows = tuple(
        {"column": c.name, "read as": c.field or "", "from": f"{c.smallest:.4g}", "to": f"{c.largest:.4g}"}
        for c in summary.columns
    )
    head, findings = _head(summary), list(summary.findings)
    plots: dict[str, Plot] = {}
    guess, units = _guess(summary)
    try:
        tell(f"reading {path.name}")
        recording = read_recording(path, robot, **options)
        read = {field: [names] if isinstance(names, str) else list(names) for field, names in recording.columns.items()}
        known = {c.name for c in summary.columns}
        # What was read, in the robot's order, is better than what names suggest.
        guess |= {field: names for field, names in read.items() if field in FIELDS and set(names) <= known}
        tell("drawing signals")
        findings = list(recording.findings)
        plots["signals"] = recording_plot(recording, robot.joint_names)
        tell("comparing torques with the motion")
        seen = inspect_recording(robot, recording)
        findings = [*seen.findings, _rest(seen), _delays(seen)]
        plots |= {"delays": delay_plot(seen), "spectra": velocity_spectrum_plot(seen)}
    # A log of another robot: its columns are shown all the same, to be mapped by hand.
    except TauformError as error:
        findings.insert(0, str(error))
    # What a reader refuses it may have remarked before.
    return LogLook(head, rows, guess, tuple(dict.fromkeys(findings)), plots, units)


def _guess(summary: LogSummary) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """Columns of each field by their names, else by their numbers in the order of the joints; units that are not SI."""
    guess = {field: [c.name for c in summary.columns if c.field == field] for field in FIELDS}
    for field, meant in summary.options.get("columns", {}).items():
        before, braces, after = meant.partition("{}") if isinstance(meant, str) else ("", "", "")
        if field in guess and braces:
            # Files may count joints downwards; a pattern counts them upwards.
            numbered = re.compile(rf"{re.escape(before)}(\d+){re.escape(after)}")
            found = {int(match[1]): match[0] for c in summary.columns if (match := numbered.fullmatch(c.name))}
            guess[field] = [found[number] for number in sorted(found)]
    return guess, _units(summary, guess)


def _units(summary: LogSummary, guess: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Units that stand for a whole log, as the page's list takes them; no guess where only some columns differ."""
    by_field = dict(summary.options.get("units", {}))
    # A word such as deg means positions and velocities.
    alike = not guess["qd"] or by_field.get("q") == by_field.get("qd")
    whole = set(by_field) <= set(FIELDS) and alike
    time_unit = summary.options.get("time_unit")
    return tuple(dict.fromkeys([*by_field.values()] if whole else [])) + ((time_unit,) if time_unit else ())


def _head(summary: LogSummary) -> str:
    at = "" if summary.clock is None else f", {summary.clock}"
    return f"{len(summary.columns)} columns, {summary.n_samples} samples{at}"


def _rest(seen: RecordingSummary) -> str:
    named = zip(short_names(seen.joint_names), seen.rest, strict=True)
    return "at rest: " + ", ".join(f"{name} {100 * share:.0f} %" for name, share in named) + " of the time"


def _delays(seen: RecordingSummary) -> str:
    late, sure = 1e3 * seen.delays.seconds, 1e3 * seen.delays.deviations
    each = ", ".join(
        f"{name} {ms:.2g} ± {error:.1g}"
        for name, ms, error in zip(short_names(seen.joint_names), late, sure, strict=True)
        if np.isfinite(ms)
    )
    # A share of a sample is no delay that a log could show.
    return f"delay of the torques [ms]: {each}; one sample is {1e3 * seen.sample:.3g} ms"
