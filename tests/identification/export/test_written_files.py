"""What is written is there as a whole or not at all, whoever else writes to the same place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tauform as tf
from full_disk import full_disk
from identification.arms import arm, motion
from tauform.errors import IdentificationError
from tauform.files.file import fresh_file


def test_a_table_that_does_not_fit_leaves_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "motion.csv"
    path.write_text("before")
    with full_disk(), pytest.raises(IdentificationError, match=r"motion\.csv: cannot be written \(File too large\)"):
        motion(arm(), 1).save_csv(path)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["motion.csv"]


def test_two_writers_at_a_time_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with fresh_file(path, IdentificationError) as first:
        first.write(b"first")
        with fresh_file(path, IdentificationError) as second:
            second.write(b"second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_link_stays_one_and_its_file_is_renewed(tmp_path: Path) -> None:
    kept, link = tmp_path / "kept.csv", tmp_path / "link.csv"
    kept.write_text("before")
    link.symlink_to(kept)
    path = motion(arm(), 1)
    path.save_csv(link)
    assert link.is_symlink()
    assert tf.Trajectory.read_csv(kept, arm()).duration == path.duration


def test_a_device_takes_a_table_and_a_file_is_no_folder(tmp_path: Path) -> None:
    motion(arm(), 1).save_csv("/dev/null")
    assert not Path("/dev/null").is_file()
    (tmp_path / "file").write_text("")
    with pytest.raises(IdentificationError, match=r"cannot be written \(Not a directory\)"):
        motion(arm(), 1).save_csv(tmp_path / "file" / "motion.csv")
