"""The choice by the clock: every algorithm is made, timed and listed, and the least time is chosen."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf


@pytest.mark.parametrize(
    ("function", "options", "algorithms"),
    [
        ("mass_matrix", {}, {"composite", "composite_trace", "crba", "gdahj", "factored"}),
        ("forward_dynamics", {"parameters": "runtime"}, {"mass_matrix", "articulated_body"}),
    ],
)
def test_all_algorithms_are_timed_and_the_least_time_wins(
    function: str, options: dict[str, str], algorithms: set[str]
) -> None:
    program = tf.generate(tf.load("two_link"), function, algorithm="fastest", **options)
    assert {candidate.algorithm for candidate in program.candidates} == algorithms
    times = {candidate.algorithm: float(candidate.remark.split()[0]) for candidate in program.candidates}
    (chosen,) = (candidate for candidate in program.candidates if candidate.chosen)
    assert chosen.algorithm == program.algorithm
    assert times[chosen.algorithm] == min(times.values())
    assert program.certificate is not None


def test_a_closed_form_is_timed_beside_its_robot() -> None:
    robot = tf.load("two_link")
    bound = tf.derive(robot).bind(robot)
    program = tf.generate(bound, algorithm="fastest")
    assert {candidate.algorithm for candidate in program.candidates} == {"factored", "newton_euler"}
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 5, 2))
    expected = tf.inverse_dynamics(robot, q, qd, qdd)
    np.testing.assert_allclose(tf.compile(program)(q, qd, qdd), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
