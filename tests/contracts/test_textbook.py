"""`tf.textbook` holds every textbook function under its public name."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform import textbook
from tauform.errors import ArgumentError

ROBOT = tf.load("sr6ia")


@pytest.mark.parametrize("name", textbook.__all__)
def test_a_textbook_function_is_public_and_checks_its_arguments(name: str) -> None:
    function = getattr(tf.textbook, name)
    assert name in tf.__all__
    assert pickle.loads(pickle.dumps(function)) is function
    with pytest.raises(ArgumentError, match=r"tf\.load\('arm\.urdf'\)"):
        function("arm.urdf")


@pytest.mark.parametrize("module", ["derivatives", "kinematics", "matrices", "torques"])
def test_a_public_function_begins_with_the_sentence_of_its_textbook_function(module: str) -> None:
    """All else of the docstring is written once, in `rigidbody/`."""
    path = Path(tf.__file__).parent / "fast" / f"{module}.py"
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            written = str(getattr(textbook, node.name).__doc__)
            assert ast.get_docstring(node) == written.splitlines()[0]
            assert str(getattr(tf, node.name).__doc__).startswith(written[: written.index("Args:")])


def test_the_base_regressor_times_the_base_values_is_the_torque() -> None:
    motion = np.random.default_rng(0).uniform(-1, 1, (3, 20, ROBOT.n_joints))
    theta = tf.base_parameters(ROBOT, include="declared").values(ROBOT)
    torque = tf.textbook.inverse_dynamics(ROBOT, *motion)
    np.testing.assert_allclose(tf.textbook.base_regressor(ROBOT, *motion) @ theta, torque, atol=1e-12)
