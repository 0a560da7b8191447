"""Programs on disk: found again by content, and made anew where anything they depend on differs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

import tauform as tf
from tauform.codegen import generate as generation
from tauform.codegen.program.document import encoded
from tauform.codegen.runtime import programs
from tauform.codegen.runtime.content import content


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was generated and not read."""
    monkeypatch.setattr(programs, "ENABLED", True)
    monkeypatch.setenv("TAUFORM_CACHE", str(tmp_path / "cache"))
    made: list[str] = []
    generated = generation._generated

    def noted(source: tf.Robot, *options: object) -> tf.Program:
        made.append(source.name)
        return generated(source, *options)  # type: ignore[arg-type]

    monkeypatch.setattr(generation, "_generated", noted)
    return made


def test_a_robot_is_known_by_its_content(made: list[str], tmp_path: Path) -> None:
    first = tf.generate(tf.load("two_link"), "gravity_torque")
    again = tf.generate(tf.load("two_link"), "gravity_torque")
    assert made == ["two_link"]
    assert encoded(again) == encoded(first)
    (entry,) = (tmp_path / "cache").iterdir()
    entry.write_bytes(entry.read_bytes()[:-3])  # damaged
    assert encoded(tf.generate(tf.load("two_link"), "gravity_torque")) == encoded(first)
    assert made == ["two_link"] * 2


def test_whatever_a_program_depends_on_makes_another(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    robot = tf.load("two_link")
    tf.generate(robot)
    tf.generate(robot, parameters="runtime")
    tf.generate(robot, "mass_matrix")
    tf.generate(robot.with_gravity([0, 0, -1.6]))
    tf.generate(replace(robot, name="other"))
    tf.generate(robot.with_payload(tf.Inertia.of(1.0)))
    assert len(made) == 6
    monkeypatch.setattr(programs, "package", lambda: "edited")
    tf.generate(robot)
    assert len(made) == 7


def test_equal_content_has_equal_digests() -> None:
    robot = tf.load("kr6_r700")
    assert content(robot) == content(tf.load("kr6_r700"))
    joints = (replace(robot.joints[0], viscous=1e-300), *robot.joints[1:])
    assert content(replace(robot, joints=joints)) != content(robot)
    assert content(("ab", "c")) != content(("a", "bc"))
    with pytest.raises(TypeError):
        content(object())


@pytest.mark.parametrize("part", ["number", "order", "foreign", "text", "size"])
def test_an_entry_of_another_program_is_made_again_and_replaced(part: str, made: list[str], tmp_path: Path) -> None:
    """Its digest is right: a search that was forged, or went wrong, is held against the textbook function."""
    robot = tf.load("two_link")
    right = tf.generate(robot, "gravity_torque")
    (entry,) = (tmp_path / "cache").iterdir()
    kept = entry.read_bytes()
    of_key, tree = bytes.fromhex(entry.stem), json.loads(kept[32:])
    if part == "number":
        constant = next(i for i in tree["instructions"] if i[0] == "constant")
        constant[2] *= 1 + 1e-9
    elif part == "order":
        tree["instructions"].reverse()
    elif part == "size":
        tree["inputs"][0]["shape"] = [10**30]
    elif part == "foreign":
        tree = json.loads(encoded(tf.generate(tf.load("kr6_r700"), "gravity_torque")))
    data = b"[" * 10_000 if part == "text" else json.dumps(tree).encode()
    entry.write_bytes(hashlib.sha256(of_key + data).digest() + data)
    made.clear()
    assert encoded(tf.generate(robot, "gravity_torque")) == encoded(right)
    assert made == ["two_link"]
    assert entry.read_bytes() == kept
    tf.generate(robot, "gravity_torque")
    assert made == ["two_link"]
