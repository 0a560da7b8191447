"""Damaged fits: one that can be read predicts, one that cannot says so."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tauform as tf
from fuzz.mutations import damaged
from fuzz.runs import cases
from fuzz.test_files import HOW, archive_of, reshaped
from fuzz.test_recordings import LOGS, ROBOT
from tauform.errors import TauformError


def saved_fit() -> dict[str, np.ndarray]:
    """The arrays of a fit's file."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.csv"
        log.write_bytes(LOGS[0])
        fit = tf.identify(ROBOT, tf.read_recording(log, ROBOT), friction="plain", couplings=None)
        with np.load(fit.save(Path(folder) / "fit.npz")) as archive:
            return {name: archive[name] for name in archive.files}


ARRAYS = saved_fit()
NUMBERS = sorted(name for name, array in ARRAYS.items() if array.dtype.kind in "fi")


def read_damaged_fit(factory: pytest.TempPathFactory, data: bytes, robot: tf.Robot | None = ROBOT) -> None:
    path = factory.getbasetemp() / "damaged_fit.npz"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            fit = tf.load_fit(path, robot)
        except TauformError:
            return
    with np.errstate(all="ignore"):
        assert fit.predict(*np.zeros((3, 2))).shape == (2,)


@cases(60)
@given(data=damaged([archive_of(ARRAYS)]))
def test_damaged_fit(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    read_damaged_fit(tmp_path_factory, data)
    read_damaged_fit(tmp_path_factory, data, robot=None)


@cases(60)
@given(name=st.sampled_from(NUMBERS), how=st.sampled_from((*HOW, "absent")))
def test_fit_with_an_array_of_another_shape(tmp_path_factory: pytest.TempPathFactory, name: str, how: str) -> None:
    others = {key: array for key, array in ARRAYS.items() if key != name}
    changed = {} if how == "absent" else {name: reshaped(ARRAYS[name], how)}
    read_damaged_fit(tmp_path_factory, archive_of({**others, **changed}))


@cases(120)
@given(text=damaged([str(ARRAYS["summary"]).encode()]))
def test_fit_with_a_damaged_summary(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    summary = np.array(text.decode("utf-8", "replace"))
    read_damaged_fit(tmp_path_factory, archive_of({**ARRAYS, "summary": summary}))
