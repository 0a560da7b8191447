"""A saved robot that was cut off anywhere is refused: to TOML alone, a part of it is a shorter robot."""

from __future__ import annotations

from pathlib import Path

import pytest

import tauform as tf
from sampling import representatives
from tauform.errors import DescriptionError


@pytest.mark.parametrize("name", representatives(["two_link", "parallelogram"], "two_link"))
def test_no_cut_of_a_saved_robot_is_a_robot(name: str, tmp_path: Path) -> None:
    robot = tf.load(name)
    path = robot.save(tmp_path / "arm.toml").path
    text = path.read_text(encoding="utf-8")
    for size in range(len(text.rstrip())):
        path.write_text(text[:size], encoding="utf-8")
        with pytest.raises(DescriptionError):
            tf.load(path)
    path.write_text(text.rstrip(), encoding="utf-8")
    assert tf.load(path) == robot


def test_a_saved_robot_may_be_edited_once_the_promise_is_taken_out(tmp_path: Path) -> None:
    path = tf.load("two_link").save(tmp_path / "arm.toml").path
    text = path.read_text(encoding="utf-8")
    head, _, _ = text.partition("\n[end]")
    for edited, said in (
        (head, r'no \[end\] with joints = 2.*last_table = "end" out'),
        (text.replace("joints = 2", "joints = 3"), "no .end. with joints = 2"),
        (text.replace('"end"', '"other"'), 'last_table: expected "end"'),
    ):
        assert edited != text
        path.write_text(edited, encoding="utf-8")
        with pytest.raises(DescriptionError, match=said):
            tf.load(path)
    for edited in (head, text):
        path.write_text(edited.replace('last_table = "end"\n', ""), encoding="utf-8")
        assert tf.load(path) == tf.load("two_link")
