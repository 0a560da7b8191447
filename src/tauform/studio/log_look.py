"""look_at_log: columns, signals, rest, delays and spectra of a log, before anything is identified."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tauform.description.robot import Robot
from tauform.errors import TauformError
from tauform.identification.logs.inspect import LogSummary, inspect_log
from tauform.identification.logs.read import read_recording
from tauform.identification.recording.recording import Recording
from tauform.identification.recording.rest import sampled
from tauform.identification.recording.segments import uniform_segments
from tauform.identification.selection.delays import joint_delays
from tauform.identification.signals.spectrum import motion_spectrum
from tauform.messages import Progress
from tauform.report.html.plot import Panel, Plot, Series, short_names
from tauform.report.notebook.plots import recording_plot
from tauform.studio.results import LogLook

FIELDS = ("t", "q", "qd", "tau")
# A joint slower than this share of its own peak speed rests.
MAX_SPEED_SHARE_AT_REST = 0.02


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
    guess = {field: [c.name for c in summary.columns if c.field == field] for field in FIELDS}
    try:
        tell(f"reading {path.name}")
        recording = read_recording(path, robot, **options)
        read = {field: [names] if isinstance(names, str) else list(names) for field, names in recording.columns.items()}
        known = {c.name for c in summary.columns}
        # What was read, in the robot's order, is better than what names suggest.
        guess |= {field: names for field, names in read.items() if field in FIELDS and set(names) <= known}
        tell("drawing signals")
        findings = [*recording.findings, _rest(robot, recording)]
        plots["signals"] = recording_plot(recording)
        tell("comparing torques with the motion")
        plots["delays"], told = _delays(robot, recording)
        findings.append(told)
        plots["spectra"] = _spectra(robot, recording)
    # A log of another robot: its columns are shown all the same, to be mapped by hand.
    except TauformError as error:
        findings.insert(0, str(error))
    return LogLook(head, rows, guess, tuple(findings), plots)


def _head(summary: LogSummary) -> str:
    at = "" if summary.clock is None else f", {summary.clock}"
    return f"{len(summary.columns)} columns, {summary.n_samples} samples{at}"


def _rest(robot: Robot, recording: Recording) -> str:
    """How long each joint rests."""
    # Stretches of a long recording: a share needs no more.
    q, t = sampled(recording.q), sampled(recording.t)
    speed = np.abs(np.diff(q, axis=0)) / np.maximum(np.diff(t), 1e-9)[:, None]
    # Steps of the encoder and gaps between stretches are rare: a quantile is a peak without them.
    peak = np.maximum(np.quantile(speed, 0.98, axis=0), 1e-12)
    shares = (speed < MAX_SPEED_SHARE_AT_REST * peak).mean(axis=0)
    named = zip(short_names(robot.joint_names), shares, strict=True)
    return "at rest: " + ", ".join(f"{name} {100 * share:.0f} %" for name, share in named) + " of the time"


def _delays(robot: Robot, recording: Recording) -> tuple[Plot, str]:
    """How late the torques of each joint are, drawn and said."""
    delays = joint_delays(robot, recording)
    names, late, sure = short_names(robot.joint_names), 1e3 * delays.seconds, 1e3 * delays.deviations
    points = Series("delay and two standard deviations", late, x=names, style="points", spread=2 * sure)
    caption = "How late torques are behind positions, by joint; negative: ahead of them"
    each = ", ".join(
        f"{name} {ms:.2g} ± {error:.1g}" for name, ms, error in zip(names, late, sure, strict=True) if np.isfinite(ms)
    )
    # A share of a sample is no delay that a log could show.
    sample = f"one sample is {1e3 / recording.rate:.3g} ms"
    return Plot(caption, [Panel("", [points])], "joint", "delay [ms]"), f"delay of the torques [ms]: {each}; {sample}"


def _spectra(robot: Robot, recording: Recording) -> Plot:
    """Power of the velocities over frequency, of the longest part without gaps."""
    segments = uniform_segments(recording).segments
    spectrum = motion_spectrum(max(segments, key=lambda segment: len(segment.q)))
    names = short_names(robot.joint_names)
    series = [Series(name, row, style="thin") for name, row in zip(names, spectrum.density, strict=True)]
    caption = f"Spectrum of the velocities; the motion ends at {spectrum.bandwidth:.3g} Hz"
    return Plot(
        caption,
        [Panel("", series)],
        "frequency [Hz]",
        "power density [(rad/s)²/Hz, (m/s)²/Hz]",
        x=spectrum.frequencies,
        xlog=True,
        ylog=True,
    )
