"""Logs without names in every usual layout: what the numbers tell is how the file was made, with a robot or without."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from sampling import in_turns
from tauform.errors import RecordingError

ORDERS = (
    ("q", "tau"), ("tau", "q"), ("q", "qd", "tau"), ("tau", "qd", "q"), ("reference", "q", "qd", "tau"),
    ("q", "qd", "qdd", "tau"),
)  # fmt: skip
ROBOTS, CLOCKS, UNITS, ARRANGED = (
    ("two_link", "kr6_r700", "lbr7"),
    ("s", "ms", "none", "last", "counted"),
    ("rad", "deg"),
    ("blocks", "by joint"),
)
FRICTION = (0.0, 1.0)
RATE = 100.0


@cache
def measured(name: str, friction: float) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Fields of twelve seconds; friction makes torques look like velocities, commands run ahead of the positions."""
    robot, rng = tf.load(name), np.random.default_rng(1)
    t = np.arange(0, 12, 1 / RATE)
    w, phase = 2 * np.pi * rng.uniform(0.05, 0.6, (4, robot.n_joints)), rng.uniform(0, 6, (4, robot.n_joints))
    size = rng.normal(size=w.shape)

    def motion(at: np.ndarray) -> list[np.ndarray]:
        turned = at[:, None, None] * w + phase
        return [(size * x).sum(axis=1) for x in (np.sin(turned) / w, np.cos(turned), -w * np.sin(turned))]

    q, qd, qdd = motion(t)
    tau = tf.inverse_dynamics(robot, q, qd, qdd) + friction * (2 * np.tanh(qd / 0.01) + 1.5 * qd)
    tau += 0.02 * tau.std(axis=0) * rng.normal(size=q.shape)
    noise = 1e-4 * rng.normal(size=q.shape)
    return t, {"q": q + noise, "qd": qd, "qdd": qdd, "tau": tau, "reference": motion(t + 0.05)[0]}


def laid_out(
    path: Path, name: str, order: tuple[str, ...], arranged: str, clock: str, unit: str, friction: float
) -> dict[str, np.ndarray]:
    t, fields = measured(name, friction)
    written = {field: x if field == "tau" or unit == "rad" else np.rad2deg(x) for field, x in fields.items()}
    body = np.stack([written[field] for field in order], axis=1 if arranged == "blocks" else 2).reshape(len(t), -1)
    before = {"s": [t], "ms": [1e3 * t], "counted": [np.arange(len(t)), t]}.get(clock, [])
    after = [t] if clock == "last" else []
    np.savetxt(path, np.column_stack([*before, body, *after]), delimiter=",", fmt="%.9g")
    return fields


@pytest.mark.parametrize(
    ("name", "order", "arranged", "clock", "unit", "friction"),
    in_turns(ROBOTS, ORDERS, ARRANGED, CLOCKS, UNITS, FRICTION),
)
def test_what_the_numbers_tell_reads_the_log_as_it_was_made(
    name: str, order: tuple[str, ...], arranged: str, clock: str, unit: str, friction: float, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    fields, robot = laid_out(path, name, order, arranged, clock, unit, friction), tf.load(name)
    alone, named = tf.inspect_log(path), tf.inspect_log(path, robot=robot)
    assert alone.options == named.options
    options = alone.options if "t" in alone.options["columns"] else {**alone.options, "rate": RATE}
    told = [options, *({**options, "columns": columns} for columns in alone.others)]
    read = [tf.read_recording(path, robot, **each) for each in told]
    # Of commanded and measured positions nobody can tell for sure: the second reading is the other.
    fits = [np.abs(each.tau - fields["tau"]).max() < 1e-6 for each in read]
    assert fits[0]
    near = [np.abs(each.q - fields["q"]).max() < 1e-5 for each in read]
    assert near[0] if "reference" not in order else any(near)
    # What `read_recording` says when it refuses the file is the same.
    with pytest.raises(RecordingError, match="by their numbers they may be") as refused:
        tf.read_recording(path, robot)
    assert str(options["columns"]["q"]) in str(refused.value)
