"""Programs as JSON: every part comes back, and nothing else is taken for one."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from tauform.codegen.program.document import decoded, encoded

ROBOT = tf.load("two_link")


@pytest.mark.parametrize(
    ("function", "options"),
    [
        ("inverse_dynamics", {}),
        ("inverse_dynamics", {"parameters": "runtime", "payload": "runtime"}),
        ("linearize_inverse", {}),
        ("base_regressor", {}),
    ],
)
def test_a_program_comes_back_to_the_bit(function: str, options: dict[str, str]) -> None:
    program = tf.generate(ROBOT, function, **options)
    again = decoded(encoded(program))
    assert again.instructions == program.instructions
    assert encoded(again) == encoded(program)
    assert (again.certificate, again.candidates, again.theta_names) == (
        *(program.certificate, program.candidates),
        program.theta_names,
    )
    if program.theta_names:
        np.testing.assert_array_equal(again.theta_of(ROBOT), program.theta_of(ROBOT))


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"{}", b'{"type":"Robot"}', b'{"type":"Port","name":"q","shape":[2]}', b'{"type":"Program","a":1}'],
)
def test_what_is_no_program_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"program|Expecting"):
        decoded(text)
