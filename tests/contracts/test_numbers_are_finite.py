"""No public function takes NaN for a number: comparisons with it are false, and what should be refused would pass."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from identification.logs.log_files import ROBOT, log, table
from tauform.errors import TauformError

NAN = float("nan")
ROBOT_OF_ALL = tf.load(ROBOT)
ZERO = np.zeros(2)


@cache
def recording() -> tf.Recording:
    return tf.Recording(log()["t"], log()["q"], log()["tau"])


def never(*_: Any) -> None:
    raise AssertionError("it began to work")


# Function and parameter -> a call in which that number is the only thing wrong.
CALLS: dict[tuple[str, str], Callable[[Path], Any]] = {
    ("derive", "fixed"): lambda _: tf.derive(ROBOT_OF_ALL, fixed={"joint2": NAN}),
    ("derive", "memory_limit"): lambda _: tf.derive(ROBOT_OF_ALL, memory_limit=NAN),
    ("excite", "duration"): lambda _: tf.excite(ROBOT_OF_ALL, duration=NAN, progress=never),
    ("excite", "rate"): lambda _: tf.excite(ROBOT_OF_ALL, rate=NAN, progress=never),
    ("excite", "floor"): lambda _: tf.excite(ROBOT_OF_ALL, floor=NAN, progress=never),
    ("excite", "max_seconds"): lambda _: tf.excite(ROBOT_OF_ALL, max_seconds=NAN, progress=never),
    ("identify", "delay"): lambda _: tf.identify(ROBOT_OF_ALL, recording(), delay=NAN),
    ("load", "lock"): lambda _: tf.load(ROBOT, lock={"joint1": NAN}),
    ("load", "snap"): lambda _: tf.load(ROBOT, snap=NAN),
    ("model_robot", "delay"): lambda _: tf.model_robot(ROBOT_OF_ALL, recording(), delay=NAN),
    ("model_robot", "tolerance"): lambda _: tf.model_robot(ROBOT_OF_ALL, tolerance=NAN),
    ("model_robot", "confidence"): lambda _: tf.model_robot(ROBOT_OF_ALL, confidence=NAN),
    ("momentum_observer", "period"): lambda _: tf.momentum_observer(ROBOT_OF_ALL, *[ZERO] * 6, NAN),
    ("planar_chain", "length"): lambda _: tf.planar_chain(2, length=NAN),
    ("planar_chain", "mass"): lambda _: tf.planar_chain(2, mass=NAN),
    ("random_robot", "branching"): lambda _: tf.random_robot(3, seed=0, branching=NAN),
    ("read_recording", "rate"): lambda p: tf.read_recording(table(p), ROBOT_OF_ALL, columns={"t": None}, rate=NAN),
    ("read_recording", "between"): lambda p: tf.read_recording(table(p), ROBOT_OF_ALL, between=(NAN, 1.0)),
    ("reduce", "tolerance"): lambda _: tf.reduce(ROBOT_OF_ALL, tolerance=NAN),
    ("reduce", "confidence"): lambda _: tf.reduce(ROBOT_OF_ALL, confidence=NAN),
    ("simulate", "duration"): lambda _: tf.simulate(ROBOT_OF_ALL, ZERO, ZERO, None, NAN),
    ("simulate", "step"): lambda _: tf.simulate(ROBOT_OF_ALL, ZERO, ZERO, None, 0.1, step=NAN),
    ("state_space", "dt"): lambda _: tf.state_space(ROBOT_OF_ALL, ZERO, dt=NAN),
    ("verify", "tolerance"): lambda _: tf.verify(
        tf.generate(ROBOT_OF_ALL, "gravity_torque"), ROBOT_OF_ALL, tolerance=NAN
    ),
    ("watch_fleet", "every"): lambda p: next(
        tf.watch_fleet(ROBOT_OF_ALL, table(p).parent, p.parent / "kept", every=NAN)
    ),
}


def numbers() -> set[tuple[str, str]]:
    """Parameters of public functions that are numbers."""
    functions = {name: getattr(tf, name) for name in dir(tf) if inspect.isfunction(getattr(tf, name, None))}
    return {
        (name, parameter.name)
        for name, function in functions.items()
        for parameter in inspect.signature(function).parameters.values()
        if "float" in str(parameter.annotation) and not str(parameter.annotation).startswith(("Callable", "Literal"))
    }


def test_every_number_is_tried() -> None:
    assert numbers() - {("validate_by_simulation", "horizon")} == set(CALLS)


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_a_number_that_is_none_is_refused(call: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(TauformError, match=r"\S") as refusal:
        CALLS[call](tmp_path / "a.csv")
    words = str(refusal.value)
    assert "\n" not in words
    # Refused for this number, and not for something else about the call.
    assert call[1] in words or "nan" in words or "not finite" in words, words
