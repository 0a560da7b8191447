"""Models and pages that several tests look at."""

from __future__ import annotations

from pathlib import Path

import pytest

import tauform as tf
from tauform.pipeline.model_robot import RobotModel, model_robot
from tauform.report.delivery import Delivery


@pytest.fixture(scope="session")
def two_link() -> RobotModel:
    """A chain with everything that a description alone gives."""
    return model_robot(tf.load("two_link"), functions=("inverse_dynamics", "gravity_torque"), routes=("parameters",))


@pytest.fixture(scope="session")
def delivery(two_link: RobotModel, tmp_path_factory: pytest.TempPathFactory) -> Delivery:
    """The folder of `two_link`."""
    folder: Path = tmp_path_factory.mktemp("delivery") / "out"
    return two_link.write(folder)
