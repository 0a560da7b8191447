"""A figure of a multi-rate split: the torque error over time, predicted and measured, and over background periods."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.closedform.profile import Profile, States
from tauform.errors import MissingExtraError, ModelError
from tauform.escaping.markup import plot_text
from tauform.files.file import fresh_file
from tauform.realtime.multirate.multirate import MultiRate
from tauform.realtime.multirate.prediction import measure, predict
from tauform.realtime.multirate.run import MotionFunction
from tauform.realtime.multirate.staleness import Rates

# One second shows single periods of the background; ten give a steady RMS.
SHOWN_SECONDS, MEASURED_SECONDS = 1.0, 10.0
FORMATS = (".png", ".svg", ".pdf")
# About the period asked for, on both sides.
PERIOD_FACTORS = (0.25, 0.5, 1.0, 1.5, 2.0)


def check_figure(path: Path) -> None:
    """Whether a figure can be written there, before the work that it shows is done.

    Raises:
        ModelError: the file's name does not end in .png, .svg or .pdf, or names a folder.
        MissingExtraError: matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMATS or path.is_dir():
        raise ModelError(f"figure: expected a file that ends in {', '.join(FORMATS)}, got {str(path)!r}")
    if find_spec("matplotlib") is None:
        raise MissingExtraError("figures need matplotlib; install tauform[plot]")


def write_multirate_figure(
    split: MultiRate, motion: MotionFunction, profile: Profile, rates: Rates, path: Path
) -> Path:
    """Write the figure as PNG (or what the file's name says).

    Args:
        motion: q, qd, qdd at given times; the errors along it are measured.
        profile: bounds of that motion, from which the errors over periods are predicted.

    Raises:
        ModelError: the file's name does not end in .png, .svg or .pdf.
        MissingExtraError: matplotlib is not installed.
    """
    check_figure(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    over_time, over_periods = figure.subplots(1, 2)
    times = np.arange(0.0, SHOWN_SECONDS, rates.control)
    # Predicted along the very motion that is measured, state by state.
    predicted = predict(split, _trajectory(motion(times)), rates).over_states
    over_time.plot(times, np.linalg.norm(measure(split, times, motion, rates), axis=1), lw=0.8, label="measured")
    over_time.plot(times, np.linalg.norm(predicted, axis=1), label="predicted, RMS over the ages")
    # Both where some joints turn and others slide.
    unit = ", ".join(dict.fromkeys(joint.type.effort_unit for joint in split.robot.joints))
    title = f"{plot_text(split.robot.name)}, {_words(rates)}"
    over_time.set(xlabel="time [s]", ylabel=f"norm of the torque error [{unit}]", title=title)
    over_time.legend()
    _periods(over_periods, split, motion, profile, rates)
    over_periods.set(ylabel=f"RMS of the torque error's norm [{unit}]")
    with fresh_file(path, ModelError) as file:
        figure.savefig(file, format=path.suffix.lower()[1:], dpi=150)
    return path


def _periods(axes: Any, split: MultiRate, motion: MotionFunction, profile: Profile, rates: Rates) -> None:
    # No background is faster than the tick.
    periods = np.maximum(np.array(PERIOD_FACTORS) * rates.background, rates.control)
    times = np.arange(0.0, MEASURED_SECONDS, rates.control)
    predicted, measured = [], []
    for period in periods.tolist():
        # Latency stays: only the period is what the figure asks about.
        tried = Rates(rates.control, period, rates.latency)
        predicted.append(predict(split, profile, tried).total)
        measured.append(_rms(measure(split, times, motion, tried)))
    axes.plot(1e3 * periods, predicted, marker="o", label="predicted from bounds")
    axes.plot(1e3 * periods, measured, marker="x", ls="--", label=f"measured over {MEASURED_SECONDS:g} s")
    axes.set(xlabel="background period [ms]", ylim=(0, None))
    axes.legend()


def _rms(errors: Array) -> float:
    # Norm over the joints first, then RMS over time.
    return float(np.sqrt((errors**2).sum(axis=1).mean()))


def _words(rates: Rates) -> str:
    return f"{1e3 * rates.control:g} ms ticks, {1e3 * rates.background:g} ms background"


def _trajectory(states: States) -> Profile:
    q, qd, qdd, *temperature = states
    return Profile.trajectory(q, qd, qdd, temperature=temperature[0] if temperature else None)
