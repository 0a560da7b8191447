"""Multi-rate: the torque error that is predicted from bounds and rates, beside the one measured along a motion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tauform.realtime.multirate.prediction import measure
from tauform.realtime.multirate.tasks import Friction
from tools.measuring.timing import Row

TITLE = (
    "PUMA 260 of Izaguirre1992 on a fast harmonic motion, control at 1 kHz, background at 50 Hz: torque error (RMS, "
    "relative to the torque) predicted without a trajectory, beside the one measured over a minute of it."
)
CONTROL, BACKGROUND, SECONDS = 0.001, 0.02, 60.0
CENTRE = np.array([0.0, -0.8, 0.5, 0.2, 0.6, 0.0])
VELOCITY = np.array([2.0, 2.0, 2.5, 4.0, 4.0, 5.0])
ACCELERATION = np.array([12.0, 11.0, 15.0, 30.0, 35.0, 40.0])
FRICTION: dict[Friction, str] = {"background": "background", "synchronous": "synchronous task"}


def rows() -> Iterator[Row]:
    """Friction in either task, coefficients at every run of the background or at every fifth."""
    robot = tf.load("puma260_izaguirre")
    profile = tf.Profile.harmonic(CENTRE, VELOCITY, ACCELERATION)
    times = np.arange(0.0, SECONDS, CONTROL)
    torque = np.linalg.norm(tf.inverse_dynamics(robot, *motion(times)), axis=1)
    for friction, name in FRICTION.items():
        split = tf.multirate(robot, friction=friction)
        for every, label in ((1, "run"), (5, "5th run")):
            rates = tf.Rates(CONTROL, BACKGROUND, coefficients_every=every)
            errors = np.linalg.norm(measure(split, times, motion, rates), axis=1)
            measured = float(np.sqrt((errors**2).mean() / (torque**2).mean()))
            predicted = split.predict(profile, rates).relative
            what = f"friction made by the {name}, coefficients at every {label}"
            yield Row(what, 100 * predicted, 100 * measured, "measured over a minute", unit="%")


def motion(t: Array) -> tuple[Array, Array, Array]:
    """Joints that swing out of step, each up to its bounds."""
    w = ACCELERATION / VELOCITY
    phase = np.outer(t, w) + 1.3 * np.arange(6)
    return CENTRE + VELOCITY / w * np.sin(phase), VELOCITY * np.cos(phase), -ACCELERATION * np.sin(phase)
