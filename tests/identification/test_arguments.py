"""Arguments that cannot be meant end in one sentence that names them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.errors import IdentificationError, RecordingError
from tauform.identification.simulate import simulated_recording


@cache
def recorded() -> tf.Recording:
    return simulated_recording(arm(), motion(arm(), 1), np.random.default_rng(1), torque_noise=0.3)


@cache
def fit() -> tf.Fit:
    return tf.identify(arm(), recorded(), friction="plain", couplings=None)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"torque_noise": "loud"}, "torque_noise: expected one number or 3, one a joint, got 'loud'"),
        ({"torque_noise": [1.0, 2.0]}, r"torque_noise: expected one number or 3, one a joint, got shape \(2,\)"),
        ({"position_noise": [[1.0], [2.0]]}, "position_noise: expected one number or 3"),
        ({"position_noise": -1.0}, "position_noise: expected a standard deviation, 0 or more, got -1"),
        ({"torque_noise": np.inf}, "torque_noise: expected a standard deviation"),
    ],
)
def test_noise_is_a_deviation_a_joint(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(IdentificationError, match=sentence):
        simulated_recording(arm(), motion(arm(), 1), np.random.default_rng(0), **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"stiffness": [1.0, 2.0], "damping": 1.0}, "stiffness: expected one number or 3, one a joint"),
        ({"stiffness": 1.0, "damping": "high"}, "damping: expected one number or 3, one a joint, got 'high'"),
        ({"horizon": -1.0}, r"horizon: expected a positive time \[s\], got -1"),
        ({"horizon": 0.0}, r"horizon: expected a positive time \[s\], got 0"),
        ({"horizon": np.nan}, r"horizon: expected a positive time \[s\], got nan"),
    ],
)
def test_simulations_need_gains_of_the_joints_and_a_time(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(IdentificationError, match=sentence):
        tf.validate_by_simulation(fit(), recorded(), **options)


@pytest.mark.parametrize("pair", [(0, 1, 2), (0,), 0, (0, 0), (0, -1), (0, 3), (0.0, 1.0), "01"])
def test_couplings_are_pairs_of_joints(pair: Any) -> None:
    with pytest.raises(IdentificationError, match=r"couplings: \(.*\) are not two joints of .*; count from 0"):
        tf.identify(arm(), recorded(), couplings=[pair])


def test_couplings_are_found_or_given() -> None:
    with pytest.raises(IdentificationError, match="couplings: expected 'auto', pairs of joints or None, got 'atuo'"):
        tf.identify(arm(), recorded(), couplings="atuo")  # type: ignore[arg-type]


@pytest.mark.parametrize("gains", ["a", [1.0, "b", 2.0], [[1.0, 2.0], [3.0]]])
def test_gains_are_numbers(tmp_path: Path, gains: Any) -> None:
    np.savez(tmp_path / "log.npz", t=recorded().t, q=recorded().q, tau=recorded().tau)
    with pytest.raises(RecordingError, match="gains= needs 3 numbers or a square matrix, not"):
        tf.read_recording(tmp_path / "log.npz", arm(), gains=gains)
