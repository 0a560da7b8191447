"""MATLAB functions, run in Octave: shapes of arrays, and what has no real result."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.errors import GenerationError
from traced_programs import elementwise, inverse_dynamics

octave = pytest.mark.skipif(shutil.which("octave-cli") is None, reason="Octave is not installed")


def evaluated(folder: Path, expression: str) -> subprocess.CompletedProcess[str]:
    command = ["octave-cli", "--norc", "--no-history", "--quiet", "--eval", expression]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@octave
def test_matrices_are_matrices_and_vectors_may_be_rows(tmp_path: Path) -> None:
    robot = tf.load("kr6_r700")
    tf.write(tf.generate(robot, "jacobian"), tmp_path / "out", target="matlab", name="arm")
    q = np.linspace(-1.0, 1.5, 6)
    row = " ".join(map(repr, q.tolist()))
    done = evaluated(tmp_path / "out", f"J = arm_jacobian([{row}]); printf('%.17g ', size(J), J');")
    found = np.array(done.stdout.split(), dtype=float)
    expected = tf.textbook.jacobian(robot, q)
    assert found[:2].tolist() == list(expected.shape), done.stderr
    np.testing.assert_allclose(found[2:].reshape(expected.shape), expected, atol=1e-13)


@octave
def test_a_root_that_is_not_real_is_an_error(tmp_path: Path) -> None:
    tf.write(elementwise(lambda x: [(v + 4.0).sqrt() for v in x]), tmp_path / "out", target="matlab", name="arm")
    assert evaluated(tmp_path / "out", "arm_elementwise(-5)").returncode != 0
    assert evaluated(tmp_path / "out", "assert(arm_elementwise(0) == 2)").returncode == 0


def test_names_that_matlab_would_cut_are_refused_or_shortened(tmp_path: Path) -> None:
    program = inverse_dynamics(tf.load("two_link"))
    with pytest.raises(GenerationError, match="name: MATLAB's names have 63 letters"):
        tf.write(program, tmp_path / "out", target="matlab", name="x" * 40)
    with pytest.raises(GenerationError, match="take a shorter name="):
        tf.write(replace(program, name="f" * 60), tmp_path / "out", target="matlab", name="arm")
    assert not (tmp_path / "out").exists()
    paths = tf.write(replace(program, robot="x" * 60), tmp_path / "out", target="matlab")
    assert max(len(path.stem) for path in paths if path.suffix == ".m") <= 63
