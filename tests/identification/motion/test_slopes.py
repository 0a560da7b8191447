"""Slopes of columns by adjoint kernels against complex steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm
from tauform.codegen.differentiation.adjoint import adjoint_program
from tauform.description.parameter_groups import PARAMETER_GROUPS, ParameterGroup
from tauform.identification.motion.slopes import Columns, CompiledColumns, TextbookColumns


def sliding() -> tf.Robot:
    robot = arm()
    return replace(robot, joints=(robot.joints[0], replace(robot.joints[1], kind="prismatic"), *robot.joints[2:]))


def following() -> tf.Robot:
    return arm().with_relations({"joint3": {"joint2": -0.5, "": 0.3}})


@pytest.mark.parametrize("include", [None, ("link",), PARAMETER_GROUPS[:4]], ids=["default", "links", "friction"])
@pytest.mark.parametrize("robot", [arm(), sliding(), following()], ids=["turning", "sliding", "loops"])
def test_compiled_columns_and_slopes_are_the_textbook_ones(
    robot: tf.Robot, include: tuple[ParameterGroup, ...] | None
) -> None:
    compiled, plain = Columns.of(robot, include), TextbookColumns(robot, include)
    assert isinstance(compiled, CompiledColumns)
    rng = np.random.default_rng(0)
    states = rng.normal(size=(3, 5, robot.n_joints))
    W, plain_W = compiled(*states), plain(*states)
    np.testing.assert_allclose(W[..., compiled.chosen], plain_W[..., plain.chosen], rtol=0, atol=1e-12)
    np.testing.assert_allclose(W @ compiled.values, plain_W @ plain.values, rtol=0, atol=1e-10)
    np.testing.assert_allclose(W @ compiled.values, tf.inverse_dynamics(robot, *states), rtol=0, atol=1e-10)
    weights, plain_weights = np.zeros_like(W), np.zeros_like(plain_W)
    plain_weights[..., plain.chosen] = weights[..., compiled.chosen] = rng.normal(size=plain_W[..., plain.chosen].shape)
    slopes, by_steps = compiled.slopes(*states, weights), plain.slopes(*states, plain_weights)
    np.testing.assert_allclose(slopes, by_steps, rtol=0, atol=1e-12 * np.abs(by_steps).max())


def test_robots_too_long_for_a_program_are_planned_by_the_textbook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tauform.codegen.candidates.MAX_OPERATIONS", 10)
    assert isinstance(Columns.of(arm(), None), TextbookColumns)
    found = tf.excite(arm(), harmonics=2, duration=2.0, n_starts=1, max_seconds=1.0)
    assert np.isfinite(found.condition or np.inf)


@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_an_adjoint_is_the_gradient_of_the_weighted_results(function: str) -> None:
    # Without friction, whose sign has no complex step.
    program = tf.generate(tf.load("kr6_r700").locked({"joint4": 0.3, "joint5": 0.2, "joint6": 0.1}), function)
    adjoint = adjoint_program(program)
    rng = np.random.default_rng(1)
    inputs = [rng.normal(size=port.shape) for port in program.inputs]
    weights = rng.normal(size=program.outputs[0].shape)
    slopes = np.atleast_2d(adjoint(*inputs, weights))
    for k, slope in enumerate(slopes):
        for i in range(len(slope)):
            moved = [array.astype(complex) for array in inputs]
            moved[k][i] += 1e-30j
            expected = (weights * np.imag(program(*moved))).sum() / 1e-30
            assert slope[i] == pytest.approx(expected, rel=1e-10, abs=1e-9)
