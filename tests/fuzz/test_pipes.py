"""A pipe or a device in the place of a file: nothing waits for a writer, nothing reads for ever."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tauform as tf
from fuzz import originals
from tauform.errors import TauformError

READERS: dict[str, Callable[[Path], Any]] = {
    **{f"arm{suffix}": tf.load for suffix in (".urdf", ".xacro", ".xml", ".toml")},
    **{
        f"log{suffix}": lambda path: tf.read_recording(path, originals.robot())
        for suffix in (".csv", ".txt", ".npz", ".mat", ".parquet", ".db3", ".mcap", ".bag")
    },
    "model.npz": tf.load_model,
    "fit.npz": tf.load_fit,
    "fit.json": tf.load_fit,
    "motion.csv": lambda path: tf.Trajectory.read_csv(path, originals.robot()),
}


@pytest.fixture(autouse=True)
def not_for_ever() -> Iterator[None]:
    """A read that waits is interrupted."""

    def interrupt(*arguments: object) -> None:
        raise TimeoutError("waits")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_refused_at_once(name: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(TauformError) as caught:
        READERS[name](path)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("suffix", [".urdf", ".xacro", ".xml", ".toml"])
def test_a_robot_file_of_gigabytes_is_not_read(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"arm{suffix}"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(TauformError, match="MB, which no robot needs"):
        tf.load(path)


@pytest.mark.parametrize("name", [".tauform.json", "two_link.c"])
def test_a_pipe_in_a_folder_of_c_is_not_ours(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    tf.write_c(originals.program(), folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(TauformError, match="force"):
        tf.write_c(originals.program(), folder)
    assert (folder / name).is_fifo()
