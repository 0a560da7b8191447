"""Derivation of closed forms: the paper's arms, accuracy over 1e5 states, and growth with the number of joints."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.spatial.transform import Rotation

import tauform as tf
from tauform.arrays import Array
from tauform.description.joint import Joint, Link
from tools.measuring.timing import Row, side_by_side

TITLE = (
    "Closed form with E, reduction and base parameters, one BLAS thread, warm; peers are the paper's own times; "
    "then largest errors over 100,000 states, relative to each joint's largest value; then 2 to 8 joints."
)
PAPER_SECONDS = {"kr6_r700": 5.3, "lbr7": 88.0, "sr6ia": 0.050, "two_link": 0.011}
N_STATES = 100_000
PAPER = "Lloyd2021 Table 2 (MATLAB, i7 3.2 GHz)"


def rows() -> Iterator[Row]:
    """Times of the paper's arms, their errors, then growth."""
    robots = {name: tf.load(name) for name in PAPER_SECONDS}
    for name, robot in robots.items():
        seconds = side_by_side({name: partial(tf.derive, robot)}, repeats=20, least_sample=0.001)[name]
        yield Row(f"derive {name}", seconds, PAPER_SECONDS[name], PAPER, note=_counts(tf.derive(robot)))
    for name, robot in robots.items():
        yield from accuracy(name, robot)
    for n in range(2, 9):
        yield growth(f"{n} joints, usual geometry", usual_arm(n))
        yield growth(f"{n} joints, generic geometry", generic_arm(n))


def accuracy(name: str, robot: tf.Robot) -> Iterator[Row]:
    """Torques and accelerations against Newton-Euler, and how long many states take on a kernel."""
    bound = tf.derive(robot).bind(robot)
    q, qd, qdd = np.random.default_rng(0).uniform(-np.pi, np.pi, (3, N_STATES, robot.n_joints))
    tau = tf.textbook.inverse_dynamics(robot, q, qd, qdd)
    torque_error = _relative(bound.inverse_dynamics(q, qd, qdd), tau)
    seconds = side_by_side(
        {
            "closed form": partial(bound.inverse_dynamics, q, qd, qdd),
            "recursive": partial(tf.textbook.inverse_dynamics, robot, q, qd, qdd),
        },
        repeats=3,
    )
    yield Row(
        f"evaluate {name}, {N_STATES:,} states on a kernel",
        seconds["closed form"],
        seconds["recursive"],
        "tf.textbook.inverse_dynamics, Newton-Euler in NumPy",
        note=f"torque error {torque_error:.1e}, forward error {_forward_error(bound, q, qd, qdd, tau):.1e}",
    )


def growth(name: str, robot: tf.Robot) -> Row:
    """Time and peak memory of a derivation."""
    tracemalloc.start()
    model = tf.derive(robot)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    repeats = 5 if model.n_terms < 100_000 else 1
    seconds = side_by_side({name: partial(tf.derive, robot)}, repeats=repeats, least_sample=0.001)[name]
    return Row(f"derive {name}", seconds, None, "-", note=f"{_counts(model)}, peak memory {memory / 1e6:.2f} MB")


def usual_arm(n: int) -> tf.Robot:
    """Axes that are parallel or at right angles, as most arms have them."""
    geometry = ((0.0, np.pi / 2, 0.3), (0.3, 0.0, 0.0), (0.05, -np.pi / 2, 0.1), (0.0, np.pi / 2, 0.4))
    rows = []
    for i in range(n):
        a, alpha, d = geometry[i % 4]
        rows.append({"joint": "revolute", "a": a, "alpha": alpha, "d": d, "mass": 1.0})
    return tf.Robot.from_dh(rows, "standard", name=f"usual{n}")


def generic_arm(n: int) -> tf.Robot:
    """Axes in general position."""
    rng = np.random.default_rng(n)
    joints = []
    for i in range(n):
        placement = np.eye(4)
        placement[:3, :3] = Rotation.random(random_state=rng).as_matrix()
        placement[:3, 3] = rng.uniform(-0.5, 0.5, 3)
        joints.append(Joint(f"joint{i + 1}", "revolute", i - 1, placement))
    links = [Link(f"link{i + 1}", tf.Inertia.of(1.0, inertia_about="com")) for i in range(n)]
    return tf.Robot(f"generic{n}", tuple(joints), tuple(links), np.array([1.0, -2.0, -9.0]))


def _forward_error(bound: tf.BoundModel, q: Array, qd: Array, qdd: Array, tau: Array) -> float:
    return _relative(bound.forward_dynamics(q, qd, tau), qdd)


def _relative(value: Array, expected: Array) -> float:
    return float((np.abs(value - expected).max(axis=0) / np.abs(expected).max(axis=0)).max())


def _counts(model: tf.ClosedFormModel) -> str:
    return f"p = {model.n_terms}, l = {model.n_base}"
