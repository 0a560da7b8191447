"""The ROS 2 package, built by its own CMake against stand-ins for ROS, and run: solver and controller."""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

import tauform as tf
from tauform.codegen.backends.registry import backend
from tauform.errors import GenerationError

STUBS = Path(__file__).parents[3] / "stubs" / "ros2"
PACKAGES = """
ament_cmake Eigen3 controller_interface hardware_interface inverse_dynamics_solver pluginlib rclcpp rclcpp_lifecycle
""".split()  # noqa: SIM905
WARNINGS = "-Wall -Wextra -Wpedantic -Werror"
ROBOT = tf.random_robot(3, seed=5)


def written(robot: tf.Robot, folder: Path) -> Path:
    names = [name for name in backend("ros2").functions if name != "friction" or robot is ROBOT]
    tf.write([tf.generate(robot, name) for name in names], folder, target="ros2", name="arm")
    return folder


def built(package: Path, folder: Path, options: str = "") -> Path:
    """The driver, linked with what the package's CMake builds."""
    for name in ("cmake", "g++"):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
    folder.mkdir()
    stand_in = f"include({STUBS.as_posix()}/cmake/stand_in.cmake)\n"
    for name in PACKAGES:
        (folder / f"Find{name}.cmake").write_text(stand_in, encoding="utf-8")
    flags = [f"-DCMAKE_MODULE_PATH={folder}", f"-DCMAKE_CXX_FLAGS={WARNINGS} {options}", f"-DCMAKE_C_FLAGS={WARNINGS}"]
    for command in (["cmake", "-S", package, "-B", folder / "build", *flags], ["cmake", "--build", folder / "build"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    compiler = ["g++", "-std=c++17", *WARNINGS.split(), *options.split(), f"-I{STUBS / 'include'}"]
    libraries = [*sorted((folder / "build").glob("*.so")), f"-Wl,-rpath,{folder / 'build'}"]
    subprocess.run([*compiler, STUBS / "driver.cpp", *libraries, "-o", folder / "driver"], check=True)
    return folder / "driver"


def test_solver_and_controller_agree_with_the_textbook(tmp_path: Path) -> None:
    package = written(ROBOT, tmp_path / "arm")
    driver = built(package, tmp_path / "built")
    n, states = ROBOT.n_joints, 50
    q, qd = np.random.default_rng(0).uniform(-2.0, 2.0, (2, states, n))
    lines = "\n".join(" ".join(map(repr, row)) for row in np.hstack([q, qd]).tolist())
    done = subprocess.run([driver, *ROBOT.joint_names], input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    M, coriolis, gravity, friction, effort = np.split(found, np.cumsum([n * n, n, n, n]), axis=1)
    textbook = tf.textbook
    bias, weight = textbook.bias_torque(ROBOT, q, qd), textbook.gravity_torque(ROBOT, q)
    rubbed = textbook.friction(ROBOT, qd)
    expected = {
        "M": (M, textbook.mass_matrix(ROBOT, q).reshape(states, -1)),
        "C qd": (coriolis, bias - weight),
        "g": (gravity, weight),
        "f": (friction, rubbed),
        "effort": (effort, weight + 0.5 * rubbed - 2.0 * qd),
    }
    for name, (here, there) in expected.items():
        assert np.abs(here - there).max() <= 1e-12 * np.abs(there).max(), name


@pytest.mark.nightly
def test_older_distributions_have_plain_numbers(tmp_path: Path) -> None:
    driver = built(written(ROBOT, tmp_path / "arm"), tmp_path / "built", "-DOLD_HANDLES")
    states = "0 0 0 1 1 1"
    done = subprocess.run([driver, *ROBOT.joint_names], input=states, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_ros_reads_names_what_is_there(tmp_path: Path) -> None:
    package = written(tf.load("two_link"), tmp_path / "arm")
    name = ElementTree.parse(package / "package.xml").findtext("name")
    for file in ("solver_plugin.xml", "controller_plugin.xml"):
        library = ElementTree.parse(package / file).getroot()
        kind = library[0].attrib["type"].split("::")[-1]
        assert library.attrib["path"].startswith(f"{name}_")
        assert any(f"class {kind} " in path.read_text(encoding="utf-8") for path in package.rglob("*.hpp"))
    settings = yaml.safe_load((package / "config" / "controllers.yaml").read_text(encoding="utf-8"))
    assert settings["gravity_compensation"]["ros__parameters"]["joints"] == ["joint1", "joint2"]
    launch = ast.parse((package / "launch" / "gravity_compensation.launch.py").read_text(encoding="utf-8"))
    assert any(isinstance(part, ast.FunctionDef) and part.name == "generate_launch_description" for part in launch.body)


def test_what_the_interface_cannot_pass_is_refused(tmp_path: Path) -> None:
    robot = tf.load("two_link")
    gravity = tf.generate(robot, "gravity_torque")
    with pytest.raises(GenerationError, match="mass_matrix is not among the functions"):
        tf.write(gravity, tmp_path / "out", target="ros2")
    names = ("mass_matrix", "velocity_torque")
    others = [tf.generate(robot, name) for name in names]
    with pytest.raises(GenerationError, match="gravity_torque takes theta"):
        tf.write([*others, tf.generate(robot, "gravity_torque", parameters="runtime")], tmp_path / "out", target="ros2")
    rubbing = [tf.generate(ROBOT, name) for name in (*names, "gravity_torque")]
    with pytest.raises(GenerationError, match="friction is not among the functions"):
        tf.write(rubbing, tmp_path / "out", target="ros2")
    with pytest.raises(GenerationError, match="no name of a ROS package"):
        tf.write([*others, gravity], tmp_path / "out", target="ros2", name="Arm")
    assert not list(tmp_path.iterdir())
