"""A recording as one of its robot: what rests, what comes late, what cannot be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.cli import main
from tauform.errors import RecordingError, TauformError
from tools.simulated_logs import simulated_log, write_csv

ROBOT = tf.load("two_link")


def late(seconds: list[float]) -> tf.Recording:
    """Torques shifted by hand, each joint by a time of its own."""
    log = simulated_log(ROBOT, 1, rate=500.0)
    tau = [np.interp(log.t - d, log.t, column) for d, column in zip(seconds, log.tau.T, strict=True)]
    return replace(log, tau=np.column_stack(tau))


def test_delays_are_those_that_were_put_in() -> None:
    seen = tf.inspect_recording(ROBOT, late([0.02, -0.004]))
    np.testing.assert_allclose(seen.delays.seconds, [0.02, -0.004], atol=2e-4)
    assert (seen.delays.deviations < 1e-3).all()
    assert seen.sample == pytest.approx(0.002)
    assert "joint1: at rest" in repr(seen)
    assert "20" in seen._repr_html_()
    assert [len(seen.plot(what).data) for what in ("delays", "spectra")] == [1, 2]


def test_rest_is_the_share_of_time_without_motion() -> None:
    log = simulated_log(ROBOT, 1)
    half = len(log.t) // 2
    q = np.array(log.q)
    q[half:, 1] = q[half, 1]
    rest = tf.inspect_recording(ROBOT, replace(log, q=q)).rest
    assert rest[1] == pytest.approx(0.5, abs=0.05)
    assert rest[0] < 0.1


def test_the_command_line_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(late([0.0, 0.01]), tmp_path / "late.csv")
    assert main(["inspect", str(path), "--robot", "two_link", "--json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)[0]["recording"]["delays"]
    expected = tf.inspect_recording(ROBOT, tf.read_recording(path, ROBOT)).delays
    np.testing.assert_allclose(found["seconds"], expected.seconds, rtol=1e-12)
    np.testing.assert_allclose(found["deviations"], expected.deviations, rtol=1e-12)


def test_a_log_of_another_robot_shows_its_columns_and_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(simulated_log(ROBOT, 1), tmp_path / "two.csv")
    assert main(["inspect", str(path), "--robot", "kr6_r700", "--quiet"]) == 2
    said = capsys.readouterr()
    assert "tau2" in said.out
    with pytest.raises(TauformError) as refused:
        tf.read_recording(path, tf.load("kr6_r700"))
    assert " ".join(said.err.split()).startswith(str(refused.value)[:60])
    with pytest.raises(RecordingError, match="2 joints recorded"):
        tf.inspect_recording(tf.load("kr6_r700"), simulated_log(ROBOT, 1))


@pytest.mark.parametrize("flags", [["--unit", "deg"], ["--tip", "link1"], ["--rate", "100"]])
def test_options_about_a_robot_need_one(flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(simulated_log(ROBOT, 1), tmp_path / "two.csv")
    assert main(["inspect", str(path), *flags]) == 2
    assert f"{flags[0]} is about a robot; name it with --robot" in capsys.readouterr().err
