"""Programs as JSON: every part comes back, and nothing else is taken for one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tauform as tf
from tauform.codegen.program.document import TYPES, decoded, encoded

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


def _parts(tree: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Every field of every typed part of a stored program."""
    if isinstance(tree, dict) and tree.get("type") in TYPES:
        yield from ((tree, name) for name in tree if name != "type")
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _parts(part)


def test_every_field_of_a_stored_program_is_looked_at() -> None:
    """Every field, also one that is added later, refuses what cannot stand in it."""
    robot = tf.load("two_link")
    for function in ("gravity_torque", "linearize_inverse"):
        data = encoded(tf.generate(robot, function, parameters="runtime"))
        for k in range(sum(1 for _ in _parts(json.loads(data)))):
            tree = json.loads(data)
            part, name = list(_parts(tree))[k]
            part[name] = {"type": "dict", "items": [["x", -3.5]]}
            with pytest.raises(ValueError, match="no program"):
                decoded(json.dumps(tree).encode())
