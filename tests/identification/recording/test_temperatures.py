"""Temperatures of a recording: degrees Celsius, nothing colder than there is."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from tauform.errors import RecordingError


@pytest.mark.parametrize("shape", [(100,), (100, 3)])
def test_colder_than_absolute_zero_is_refused(shape: tuple[int, ...]) -> None:
    t, zeros, warm = np.arange(100) / 100, np.zeros((100, 3)), np.full(shape, 25.0)
    assert tf.Recording(t, zeros, zeros, temperature=warm).temperature is not None
    warm[50] = -300.0
    with pytest.raises(RecordingError, match=r"temperature holds -300, below absolute zero .* give degrees Celsius"):
        tf.Recording(t, zeros, zeros, temperature=warm)
