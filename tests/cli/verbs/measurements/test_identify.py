"""What `tauform identify` says beside its tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.cli import main

URDF = """<robot name="pendulum">
  <link name="base"/>
  <link name="rod"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
</robot>
"""


def test_the_terminal_says_what_a_urdf_does_not_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("clarabel")
    source, log, copy = (tmp_path / name for name in ("pendulum.urdf", "log.csv", "out.urdf"))
    source.write_text(URDF)
    robot = tf.load(source)
    t = np.arange(0, 10, 0.01)
    w = np.array([1.3, 3.7, 6.1])
    phase = np.multiply.outer(t, w)
    q, qd, qdd = (x.sum(axis=1)[:, None] for x in (np.sin(phase) / w, np.cos(phase), -w * np.sin(phase)))
    tau = tf.inverse_dynamics(robot, q, qd, qdd) + 0.5 + 0.05 * np.random.default_rng(0).normal(size=q.shape)
    np.savetxt(log, np.column_stack([t, q, tau]), delimiter=",", header="t,q1,tau1", comments="")
    line = [
        "identify",
        str(source),
        str(log),
        "--friction",
        "plain",
        "--no-couplings",
        "--urdf",
        str(source),
        str(copy),
    ]
    assert main(line) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "URDF has no place for friction offsets (Fo_1 = 0." in said
    assert main([*line, "--force", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["written"] == [str(copy)]
    assert any("friction offsets" in finding for finding in answer["urdf_findings"])
    assert "friction offsets" in copy.read_text()


@pytest.mark.parametrize("verb", ["identify", "model"])
def test_a_fit_that_cannot_be_trusted_ends_with_exit_code_one(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, log = tmp_path / "pendulum.urdf", tmp_path / "log.csv"
    source.write_text(URDF)
    t = np.arange(0, 10, 0.01)
    tau = np.random.default_rng(0).normal(size=len(t))  # has nothing to do with the motion
    np.savetxt(log, np.column_stack([t, np.sin(2 * t), tau]), delimiter=",", header="t,q1,tau1", comments="")
    line = [verb, str(source), str(log), "--json", "--quiet"]
    assert main([*line, "-o", str(tmp_path / "out")] if verb == "model" else line) == 1
    out, err = capsys.readouterr()
    answer = json.loads(out)  # the facts are there all the same
    assert "not trustworthy" in str(answer["verdict"])
    assert err.startswith("pendulum: the fit is not trustworthy")
