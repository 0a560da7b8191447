"""Multi-rate: a synchronous task of six products per joint, and a background task that renews its coefficients.

The split of Izaguirre1992 for its PUMA 260: what each task costs, which torque error to expect at which background
period, the same measured along a trajectory, and what friction in the synchronous task would gain.
Run with `python examples/10_multirate.py [--plot FILE]`.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tauform.realtime.multirate.prediction import measure

CONTROL = 0.001  # s
ERROR = 0.05
PERIODS = (0.002, 0.005, 0.01, 0.02, 0.04)  # s, of the background task
VELOCITY, ACCELERATION = np.full(6, 0.5), np.full(6, 1.0)  # rad/s, rad/s^2
CENTRE = np.array([0.0, -0.8, 0.6, 0.0, 0.5, 0.0])


def swing(t: Array) -> tuple[Array, Array, Array]:
    """Joints that swing at slightly different rates, each up to its bounds."""
    w = ACCELERATION / VELOCITY * np.linspace(0.94, 1.06, 6)
    phase = np.outer(t, w)
    return CENTRE + VELOCITY / w * np.sin(phase), VELOCITY * np.cos(phase), -VELOCITY * w * np.sin(phase)


def plot(path: str, predicted: list[float], measured: list[float]) -> None:
    """Torque error over the background period."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.loglog(PERIODS, predicted, "o-", label="predicted from bounds")
    axes.loglog(PERIODS, measured, "x--", label="measured along a trajectory")
    axes.set(xlabel="period of the background task [s]", ylabel="torque error (RMS, relative)")
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


def main(plot_file: str | None = None) -> int:
    """Print costs and errors; the exit code says whether the error was predicted to a tenth."""
    split = tf.multirate(tf.load("puma260_izaguirre"))
    print(split)
    profile = tf.Profile.harmonic(CENTRE, VELOCITY, ACCELERATION, n_states=20_000)
    times = CONTROL * np.arange(300_000)  # reversals are rare: a short motion would meet too few of them
    torque = np.linalg.norm(tf.inverse_dynamics(split.robot, *swing(times)), axis=1)
    predicted, measured = [], []
    for period in PERIODS:
        rates = tf.Rates(CONTROL, period)
        prediction = split.predict(profile, rates)
        predicted.append(prediction.relative)
        errors = np.linalg.norm(measure(split, times, swing, rates), axis=1)
        measured.append(float(np.sqrt((errors**2).mean() / (torque**2).mean())))
        print(
            f"background every {1e3 * period:4.0f} ms: {predicted[-1]:.2%} predicted, {measured[-1]:.2%} measured; "
            f"{prediction.relative_without_friction:.2%} with synchronous friction"
        )
    if plot_file:
        plot(plot_file, predicted, measured)
    slowest = split.slowest_background(profile, ERROR, CONTROL)
    print(f"slowest background within {ERROR:.0%}: every {1e3 * slowest.background:.1f} ms" if slowest else "none")
    ratios = np.array(predicted) / measured
    return 0 if slowest and ratios.min() > 0.9 and ratios.max() < 1.1 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(parser.parse_args().plot))
