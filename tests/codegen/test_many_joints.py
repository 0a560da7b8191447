"""Robots of hundreds of joints: refused or generated within seconds, never left to run for hours."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tauform.codegen.candidates import MAX_SEARCHED_JOINTS
from tauform.codegen.functions import FUNCTIONS
from tauform.errors import GenerationError, ModelError

MANY = tf.random_robot(400, seed=0)


@pytest.mark.parametrize(
    "function", representatives(["inverse_dynamics", "mass_matrix", "linearize_inverse"], "inverse_dynamics")
)
def test_generate_refuses_400_joints_soon(function: str) -> None:
    loops = r"write it as loops \(tf\.generate_loops\).*" if function != "linearize_inverse" else ""
    pattern = rf"{function} of random400_0 takes .* operations.*{loops}tf\.{function}"
    with pytest.raises(GenerationError, match=pattern):
        tf.generate(MANY, function)


def test_a_graph_that_grows_too_large_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tauform.codegen.minimal.tracing.MAX_NODES", 300)
    with pytest.raises(GenerationError, match=r"mass_matrix of kr6_r700 takes more than .*tf\.mass_matrix"):
        tf.generate(tf.load("kr6_r700"), "mass_matrix")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_a_refusal_advises_to_call_exists(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tauform.codegen.minimal.tracing.MAX_NODES", 20)
    with pytest.raises(GenerationError, match=r"takes more than .* operations") as refusal:
        tf.generate(tf.random_robot(6, seed=0), function)
    assert [name for name in re.findall(r"tf\.(\w+)", str(refusal.value)) if not hasattr(tf, name)] == []


def test_base_refuses_400_joints_at_once() -> None:
    with pytest.raises(ModelError, match=r"random400_0 has 4\d00 parameters, more than 1500 .*tip="):
        tf.base_parameters(MANY)


def test_a_long_chain_is_generated_without_a_search() -> None:
    robot = tf.planar_chain(MAX_SEARCHED_JOINTS + 20)
    program = tf.generate(robot, "gravity_torque")
    q = np.random.default_rng(0).normal(size=(3, robot.n_joints))
    torque = program(q)
    expected = tf.gravity_torque(robot, q)
    np.testing.assert_allclose(torque, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
