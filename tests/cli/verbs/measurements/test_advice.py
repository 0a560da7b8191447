"""Advice of a verdict is typed as it stands, and leads to a good fit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tauform.arrays import Array
from tauform.cli import main
from verdicts.stands import fourier
from verdicts.strangers import true_arm

Fault = Callable[[tf.Robot, Array], tuple[tf.Robot, Array]]
# What is wrong with the mount or the torques; of the last joint no gravity tells the sign.
FAULTS: dict[str, Fault] = {
    "wall": lambda robot, signs: (robot.with_gravity((0.0, 9.81, 0.0)), signs),
    "slope": lambda robot, signs: (robot.with_gravity((-3.0, 0.0, -9.34)), signs),
    "tilt": lambda robot, signs: (robot.with_gravity((1.2, 0.0, -9.74)), signs),
    "all signs": lambda robot, signs: (robot, -signs),
    "one sign": lambda robot, signs: (robot, signs * [1, -1, 1, 1]),
    "gain": lambda robot, signs: (robot, signs * [1, 1.6, 1, 1]),
}
# Flags with the numbers behind them.
FLAG = re.compile(r"--[a-z]+(?: [-\d.,e]*\d)+")


@pytest.mark.parametrize("fault", representatives(list(FAULTS), "wall", "all signs"))
def test_advice_that_is_typed_as_it_stands_mends_the_fault(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    described, links = true_arm()
    true, gains = FAULTS[fault](links, np.ones(4))
    robot, log = tmp_path / "arm.toml", tmp_path / "log.csv"
    described.save(robot)
    t, q, qd, qdd = fourier(4, 25.0, 200.0, np.random.default_rng(5))
    tau = tf.inverse_dynamics(true, q, qd, qdd)
    tau = gains * (tau + 0.02 * tau.std(axis=0) * np.random.default_rng(6).normal(size=tau.shape))
    header = ",".join(["t", *(f"{kind}{k + 1}" for kind in ("q", "tau") for k in range(4))])
    np.savetxt(log, np.column_stack([t, q, tau]), delimiter=",", header=header, comments="", fmt="%.9g")
    line = ["identify", str(robot), str(log), "--json"]
    main(line)
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] != "good"
    flags = [word for flag in FLAG.findall(answer["next"][0]) for word in flag.split()]
    assert flags, answer["next"]
    assert main([*line, *flags]) == 0
    mended = json.loads(capsys.readouterr().out)
    assert mended["verdict"] == "good", (flags, mended["reasons"])
    assert not mended["suspicions"]


def test_advice_is_python_in_python() -> None:
    _, true = true_arm()
    t, q, qd, qdd = fourier(4, 20.0, 100.0, np.random.default_rng(5))
    recording = tf.Recording(t, q, -tf.inverse_dynamics(true, q, qd, qdd))
    advice = tf.identify(true, recording).verdict.next[0]
    assert "gains=[-1, -1, -1, -1]" in advice
    mounted = true.with_gravity((0.0, 9.81, 0.0))
    advice = tf.identify(true, replace(recording, tau=tf.inverse_dynamics(mounted, q, qd, qdd))).verdict.next[0]
    assert "gravity=(0.0, 9.81, 0.0)" in advice
