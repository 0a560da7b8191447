"""Logs that are unusual but good, or good but suspicious: they are read, and what is odd is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from identification.logs.log_files import PLAIN, ROBOT, arrays, cut, log, parquet, raw, table
from tauform.arrays import Array
from tauform.cli import main
from tauform.identification.diagnosis.described import compare_with_description
from tauform.identification.diagnosis.direction import Direction
from tauform.identification.diagnosis.samples import Samples
from tauform.identification.recording.segments import uniform_segments


def fitted(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    assert main(["identify", ROBOT, str(path), *PLAIN, "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


ACCEPTED: dict[str, tuple[str, Callable[[Path], Any], tuple[str, ...]]] = {
    "semicolons and decimal commas": (
        "a.csv",
        lambda p: raw(p, table(p, sep=";").read_text().replace(".", ",").encode()),
        (),
    ),
    "a header with a hash": ("a.csv", lambda p: table(p, header="# t,q1,q2,tau1,tau2"), ()),
    "units in names": ("a.csv", lambda p: table(p, header="t [s],q1 [rad],q2 [rad],tau1 (Nm),tau2 (Nm)"), ()),
    "blanks": ("a.txt", lambda p: table(p, sep=" "), ()),
    "ending in capitals": ("A.CSV", table, ()),
    "UTF-16": ("a.csv", lambda p: raw(p, table(p).read_text().encode("utf-16")), ()),
    "Latin-1": ("a.csv", lambda p: raw(p, "# Prüfstand, 20 °C\n".encode("latin-1") + table(p).read_bytes()), ()),
    "cut in its last line": ("a.csv", lambda p: cut(table(p), -30), ()),
    "words in a column that nobody asked for": (
        "a.csv",
        lambda p: raw(
            p, "\n".join(f"{line},auto" for line in table(p).read_text().splitlines()).encode()
        ),
        (),
    ),
    "degrees as told": (
        "a.csv",
        lambda p: table(p, header="t,q1_deg,q2_deg,tau1,tau2", q=np.rad2deg(log()["q"])),
        ("--degrees", "--column", "q=q1_deg,q2_deg"),
    ),
    "nanoseconds since 1970 as told": (
        "a.npz",
        lambda p: arrays(p, t=(1.7e18 + 1e9 * log()["t"]).astype(np.int64)),
        ("--time-unit", "ns"),
    ),
    "currents": ("a.csv", lambda p: table(p, tau=log()["tau"] / [20, 5]), ("--gains", "20,5")),
    "velocities left out": (
        "a.csv",
        lambda p: table(p, velocities=True, qd=-log()["qd"]),
        ("--column", "qd=none"),
    ),
    "durations": ("a.parquet", lambda p: parquet(p, t=(1e9 * log()["t"]).astype("timedelta64[ns]")), ()),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_unusual_log_gives_the_usual_fit(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, make, options = ACCEPTED[name]
    make(tmp_path / file)
    usual = fitted(table(tmp_path / "usual.csv"), capsys)
    unusual = fitted(tmp_path / file, capsys, *options)
    size = np.abs(usual["values"]).max()
    np.testing.assert_allclose(unusual["values"], usual["values"], rtol=0, atol=2e-3 * size)


def test_scattered_stamps_of_even_samples_are_taken_as_even(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scatter = np.random.default_rng(3).uniform(-0.003, 0.003, len(log()["t"]))
    told = fitted(table(tmp_path / "a.csv", t=np.sort(log()["t"] + scatter)), capsys)
    assert "the positions keep an even rate" in " ".join(told["findings"])
    assert told["verdict"] == "good"


def test_uneven_samples_are_resampled() -> None:
    uneven = np.sort(log()["t"] + np.random.default_rng(3).uniform(-0.003, 0.003, len(log()["t"])))
    w = np.array([1.3, 2.1])
    recording = tf.Recording(uneven, np.sin(uneven[:, None] * w), np.cos(uneven[:, None] * w))
    parts = uniform_segments(recording)
    assert "resampled" in parts.findings[0]
    (segment,) = parts.segments
    np.testing.assert_allclose(segment.q, np.sin(np.asarray(segment.t)[:, None] * w), rtol=0, atol=2e-4)


def test_torques_of_another_sign_are_mentioned() -> None:
    robot = tf.load("kr6_r700").locked({"joint4": 0.3, "joint5": 0.2, "joint6": 0.1})
    q = 0.6 * np.sin(np.multiply.outer(np.arange(0, 20, 0.01), [0.7, 1.1, 1.7]))
    tau = tf.inverse_dynamics(robot, q, 0 * q, 0 * q) + 0.1 * np.random.default_rng(0).normal(size=q.shape)

    def as_found(near: Array) -> Direction:
        return Direction(np.asarray(robot.gravity), near)

    def said(factor: float) -> str:
        samples = Samples(q, 0 * q, 0 * q, factor * tau, np.zeros(len(q)), np.zeros(len(q), dtype=bool))
        return " ".join(suspicion.what for suspicion in compare_with_description(robot, samples, as_found))

    assert said(1.0) == ""
    assert "the torques of all joints have the opposite sign" in said(-1.0)


def test_a_fit_to_torques_of_the_wrong_sign_is_not_good() -> None:
    """Wrong signs are told without negative friction, and where weight is a small part of the torque."""
    good, turned = (
        tf.identify(tf.load(ROBOT), tf.Recording(log()["t"], log()["q"], sign * log()["tau"]), couplings=None)
        for sign in (1, -1)
    )
    assert good.verdict.grade == "good"
    assert turned.held_out.total == pytest.approx(good.held_out.total, rel=1e-6)
    assert turned.verdict.grade == "not trustworthy"
    assert "the torques of all joints have the opposite sign" in str(turned.verdict)
    assert "gains=[-1, -1]" in turned.verdict.next[0]
