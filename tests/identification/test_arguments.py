"""Arguments that cannot be meant end in one sentence that names them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.errors import IdentificationError, RecordingError, ShapeError, TauformError
from tauform.identification.motion.simulate import simulated_recording


@cache
def recorded() -> tf.Recording:
    return simulated_recording(arm(), motion(arm(), 1), np.random.default_rng(1), torque_noise=0.3)


@cache
def fit() -> tf.Fit:
    return tf.identify(arm(), recorded(), friction="plain", couplings=None)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"torque_noise": "loud"}, "torque_noise: expected one number or 3, one per joint, got 'loud'"),
        ({"torque_noise": [1.0, 2.0]}, r"torque_noise: expected one number or 3, one per joint, got shape \(2,\)"),
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
        ({"stiffness": [1.0, 2.0], "damping": 1.0}, "stiffness: expected one number or 3, one per joint"),
        ({"stiffness": 1.0, "damping": "high"}, "damping: expected one number or 3, one per joint, got 'high'"),
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
    with pytest.raises(TauformError, match=r"couplings: .*'atuo'"):
        tf.identify(arm(), recorded(), couplings="atuo")  # type: ignore[arg-type]


@pytest.mark.parametrize("gains", ["a", [1.0, "b", 2.0], [[1.0, 2.0], [3.0]]])
def test_gains_are_numbers(tmp_path: Path, gains: Any) -> None:
    np.savez(tmp_path / "log.npz", t=recorded().t, q=recorded().q, tau=recorded().tau)
    with pytest.raises(RecordingError, match="gains= needs 3 numbers or a square matrix, not"):
        tf.read_recording(tmp_path / "log.npz", arm(), gains=gains)


@pytest.mark.parametrize(("start", "end"), [(3.0, 2.0), (np.nan, 2.0), (1.0, np.nan)])
def test_a_part_of_a_recording_ends_after_its_start(start: float, end: float) -> None:
    with pytest.raises(RecordingError, match="between: expected an end after the start"):
        recorded().between(start, end)


def test_couplings_may_be_an_array() -> None:
    found = tf.identify(arm(), recorded(), couplings=np.array([[0, 1]]), friction="plain")  # type: ignore[arg-type]
    assert [term.name for term in found.terms] == ["Iam_1_2", "Fvm_1_2", "Fcm_1_2"]


def test_something_is_identified_with_filters_that_exist() -> None:
    with pytest.raises(IdentificationError, match="include: names no parameters; choose from link, rotor"):
        tf.identify(arm(), recorded(), include=())
    with pytest.raises(TauformError, match=r"filters: .*'atuo'"):
        tf.identify(arm(), recorded(), filters="atuo")  # type: ignore[arg-type]


@pytest.mark.parametrize("shapes", [((4, 3), (2, 3), (3,)), ((2, 4, 3), (3,), (2, 3))])
def test_batches_that_do_not_fit_are_refused(shapes: tuple[tuple[int, ...], ...]) -> None:
    states = [np.zeros(shape) for shape in shapes]
    with pytest.raises(ShapeError, match=r"batch dimensions do not broadcast: q .*, qd .*, qdd"):
        fit().predict(*states)
    with pytest.raises(ShapeError, match="batch dimensions do not broadcast"):
        fit().torque_std(*states)
    with pytest.raises(ShapeError, match=r"batch dimensions do not broadcast: .*, temperature"):
        fit().predict(*np.zeros((3, 4, 3)), temperature=np.zeros((2, 3)))


def test_a_prediction_broadcasts_as_inverse_dynamics_does() -> None:
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 2, 4, 3))
    together = fit().predict(q[:, :1], qd[1, 2], qdd)
    assert together.shape == (2, 4, 3)
    for i, j in np.ndindex(2, 4):
        np.testing.assert_allclose(together[i, j], fit().predict(q[i, 0], qd[1, 2], qdd[i, j]), rtol=0, atol=1e-9)
    assert fit().predict(q[:0], qd[0, 0], qdd[0, 0]).shape == (0, 4, 3)
