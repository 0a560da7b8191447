"""The FMU: what it simulates is what `tf.simulate` does, stored and by FMPy."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import tauform as tf
from tauform.errors import GenerationError

ROBOT = tf.random_robot(3, seed=5).without_friction()
START = 0.1 * np.arange(1.0, ROBOT.n_joints + 1.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fmu") / "arm"
    tf.write(tf.generate(ROBOT, "forward_dynamics"), path, target="fmu", name="arm")
    return path


def simulated(seconds: float, torque: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    motion = tf.simulate(ROBOT, START, None, torque, seconds, 1e-3, integrator="rk4", limits=False)
    return motion.q[-1], motion.qd[-1]


def test_the_stored_motion_is_that_of_simulate(folder: Path) -> None:
    found = re.search(r"^EXPECTED = (.*)$", (folder / "check.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    q, qd, qdd = map(np.array, ast.literal_eval(found[1]))
    expected_q, expected_qd = simulated(0.01, None)
    assert np.abs(q - expected_q).max() < 1e-12
    assert np.abs(qd - expected_qd).max() < 1e-12 * np.abs(qd).max()
    accelerations = tf.textbook.forward_dynamics(ROBOT, q, qd, np.zeros(ROBOT.n_joints))
    assert np.abs(qdd - accelerations).max() < 1e-11 * np.abs(qdd).max()


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_fmpy_simulates_what_simulate_does(folder: Path, kind: str) -> None:
    fmpy = pytest.importorskip("fmpy")
    subprocess.run(["make", "arm.fmu"], cwd=folder, capture_output=True, check=True)
    torque = np.array([1.0, -2.0, 0.5])
    result = fmpy.simulate_fmu(
        str(folder / "arm.fmu"),
        fmi_type=kind,
        stop_time=0.1,
        output_interval=1e-3,
        start_values={"q": START.tolist(), "tau": torque.tolist()},
        output=["q", "qd"],
        relative_tolerance=1e-10,
    )
    q, qd = simulated(0.1, torque)
    # Model exchange is integrated by another solver, to its own tolerance; ours are steps of a millisecond.
    allowed = 1e-12 if kind == "CoSimulation" else 1e-6
    assert np.abs(result["q"][-1] - q).max() < allowed * np.abs(q).max()
    assert np.abs(result["qd"][-1] - qd).max() < allowed * np.abs(qd).max()


def test_further_inputs_are_variables_of_the_model(tmp_path: Path) -> None:
    robot = tf.load("two_link")
    program = tf.generate(robot, "forward_dynamics", parameters="runtime", wrenches=[robot.tool.name])
    tf.write(program, tmp_path / "arm", target="fmu", name="arm")
    variables = {
        found.attrib["name"]: found
        for found in ElementTree.parse(tmp_path / "arm" / "modelDescription.xml").iter("Float64")
    }
    assert set(variables) == {"time", "step", "q", "qd", "qdd", "tau", "theta", f"wrench_{robot.tool.name}"}
    start = [float(word) for word in variables["theta"].attrib["start"].split()]
    assert start == pytest.approx(program.theta_of(robot).tolist())
    done = subprocess.run(["make", "check"], cwd=tmp_path / "arm", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_forward_dynamics_there_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(GenerationError, match="forward_dynamics, which is not among the functions"):
        tf.write(tf.generate(ROBOT, "gravity_torque"), tmp_path / "out", target="fmu")
    assert not list(tmp_path.iterdir())
