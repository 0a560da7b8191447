"""Drive terms of every shape in code: textbook functions, kernels and compiled C agree, on chains, trees and loops."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from compiled_c import compiled, run
from random_drives import FURTHER, random_temperatures, robot_with_every_drive
from sampling import representatives
from tauform.codegen.program.program import Program
from tauform.description.drives import SHAPES
from tauform.description.joint import LEAST_WIDTH
from tauform.errors import DescriptionError
from written_checks import check_commands

N_STATES = 60
STEP = 1e-30
KINDS = ("chain", "tree", "loop")
# Velocities at which friction builds up, and those of a motion.
SLOWER = np.resize([1.0, 0.1, 0.01], (N_STATES, 1))


ROBOTS = {kind: robot_with_every_drive(kind) for kind in KINDS}


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORM_CACHE", str(tmp_path_factory.mktemp("kernels")))
        yield


@cache
def program_of(kind: str, function: str) -> Program:
    """Each program is made once."""
    return tf.generate(ROBOTS[kind], function)


def states(robot: tf.Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    q, qd, qdd = np.random.default_rng(2).uniform(-2, 2, (3, N_STATES, robot.n_joints))
    return q, qd * SLOWER, qdd, random_temperatures(robot, N_STATES, 6)


def agree(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    """Within a share of each joint's peak."""
    peak = np.abs(expected).max(axis=0)
    assert found.shape == expected.shape
    assert (np.abs(found - expected).max(axis=0) <= tolerance * np.maximum(peak, 1e-2 * peak.max())).all()


def test_every_shape_takes_part() -> None:
    for kind, robot in ROBOTS.items():
        shapes = {term.shape for term in robot.further_drives}
        assert shapes == set(FURTHER), kind
        assert any(joint.coulomb_width for joint in robot.joints)


@pytest.mark.parametrize("kind", representatives(KINDS, "loop"))
def test_torques_and_accelerations_are_the_same_everywhere(tmp_path: Path, kind: str) -> None:
    robot = ROBOTS[kind]
    q, qd, qdd, T = states(robot)
    tau = tf.inverse_dynamics(robot, q, qd, qdd, T)
    cases = {
        "inverse_dynamics": ((q, qd, qdd, T), tau, 1e-12),
        "friction": ((qd, q, qdd, T), tf.friction(robot, qd, q, qdd, T), 1e-12),
        "forward_dynamics": ((q, qd, tau, T), qdd, 1e-9),
    }
    for name, (arrays, expected, tolerance) in cases.items():
        program = program_of(kind, name)
        agree(tf.compile(program)(*arrays), expected, tolerance)
        tf.write_c(program, tmp_path / name, name="arm", batch=True)
        agree(run(compiled(tmp_path / name, program), program, list(arrays)), expected, tolerance)


@pytest.mark.parametrize("kind", representatives(KINDS, "loop"))
def test_programs_are_right_at_rest_too(kind: str) -> None:
    """Certificates look at random states, none of them at rest, where signs and steps turn round."""
    robot = ROBOTS[kind]
    q, qd, qdd, T = states(robot)
    for still in (0 * qd, qd * (np.arange(robot.n_joints) > 0)):
        found = tf.compile(program_of(kind, "inverse_dynamics"))(q, still, qdd, T)
        agree(found, tf.textbook.inverse_dynamics(robot, q, still, qdd, T), 1e-12)


def test_the_narrowest_step_is_a_number_at_rest_in_single_precision(tmp_path: Path) -> None:
    terms = [tf.Drive.of(shape, joints=0, coefficient=1.0, width=LEAST_WIDTH) for shape in ("smooth", "stribeck")]
    robot, rest = tf.load("two_link").with_drives(terms), np.zeros((1, 2), np.float32)
    program = tf.generate(robot)
    tf.write_c(program, tmp_path / "c", name="arm", real="float")
    found = run(compiled(tmp_path / "c", program), program, [rest, rest, rest], np.float32)
    agree(found, tf.textbook.inverse_dynamics(robot, rest, rest, rest), 1e-6)


def test_single_precision_is_as_good_as_it_can_be(tmp_path: Path) -> None:
    robot = ROBOTS["chain"]
    q, qd, qdd, T = (array.astype(np.float32) for array in states(robot))
    program = program_of("chain", "inverse_dynamics")
    tf.write_c(program, tmp_path / "c", name="arm", real="float")
    found = run(compiled(tmp_path / "c", program), program, [q, qd, qdd, T], np.float32)
    agree(found, tf.inverse_dynamics(robot, q, qd, qdd, T), 3e-6)


@pytest.mark.parametrize("target", ["c", "javascript"])
def test_the_self_test_of_a_folder_covers_the_drives(tmp_path: Path, target: str) -> None:
    """It passes, and fails when one number of the source is another: the test sees each of them."""

    robot = tf.load("two_link").with_drives(
        [
            tf.Drive.of("stribeck", joints=0, coefficient=0.731, width=0.003),
            tf.Drive.of("thermal", joints=1, coefficient=0.0731),
            tf.Drive.of("load", joints=1, coefficient=0.1731),
        ]
    )
    tf.write(tf.generate(robot), tmp_path / "out", target=target, name="arm")
    commands = check_commands(target, "arm")

    def passes() -> bool:
        return all(subprocess.run(c, cwd=tmp_path / "out", capture_output=True).returncode == 0 for c in commands)

    assert passes()
    source = tmp_path / "out" / ("arm.c" if target == "c" else "arm.mjs")
    text = source.read_text(encoding="utf-8")
    for number in ("0.731", "0.0731", "0.1731"):
        assert number in text
        source.write_text(text.replace(number, f"{number}01"), encoding="utf-8")
        assert not passes(), number


def test_the_header_says_what_it_needs(tmp_path: Path) -> None:
    robot = ROBOTS["chain"]
    tf.write_c(program_of("chain", "inverse_dynamics"), tmp_path / "c", name="arm")
    header = (tmp_path / "c" / "arm.h").read_text(encoding="utf-8")
    assert "degrees Celsius" in header
    assert "const double temperature[4]" in header
    for name in robot.parameter_names[robot.layout.further]:
        assert name in header


@pytest.mark.parametrize("kind", representatives(KINDS, "loop"))
def test_derivative_programs_are_complex_steps(kind: str) -> None:
    robot = ROBOTS[kind]
    q, qd, qdd, T = states(robot)
    tau = tf.inverse_dynamics(robot, q, qd, qdd, T)
    for name, vectors, function in (
        ("linearize_inverse", (q, qd, qdd), lambda *v: tf.inverse_dynamics(robot, *v, T)),
        ("linearize_forward", (q, qd, tau), lambda *v: tf.forward_dynamics(robot, *v, temperature=T)),
    ):
        found = tf.compile(program_of(kind, name))(*vectors, T)
        for k, matrix in enumerate(found):
            for j in range(robot.n_joints):
                moved = [v.astype(complex) for v in vectors]
                moved[k][..., j] += 1j * STEP
                slope = function(*moved).imag / STEP
                assert np.abs(matrix[..., j] - slope).max() <= 1e-9 * np.abs(matrix).max(), (name, k)


def test_observers_with_friction_that_a_contact_changes_are_refused() -> None:
    with pytest.raises(DescriptionError, match="without the load terms"):
        tf.generate(ROBOTS["chain"], "momentum_observer")
    robot = ROBOTS["tree"]
    robot = robot.with_drives([term for term in robot.drives if not isinstance(term, SHAPES["load"])])
    q, qd, tau, T = states(robot)
    rest = np.zeros_like(q)
    gain, period = np.ones_like(q), np.full((N_STATES, 1), 1e-3)
    found = tf.compile(robot, "momentum_observer")(q, qd, tau, rest, rest, gain, period, T)
    expected = tf.momentum_observer(robot, q, qd, tau, rest, rest, gain, 1e-3, T)
    agree(found[0], expected.residual, 1e-12)
    agree(found[1], expected.integral, 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_base_regressor_times_base_values_is_the_torque(kind: str) -> None:
    robot = ROBOTS[kind]
    q, qd, qdd, T = states(robot)
    kernel = tf.compile(robot, "base_regressor")
    theta = kernel.program.theta_of(robot)
    agree(kernel(q, qd, qdd, T) @ theta, tf.inverse_dynamics(robot, q, qd, qdd, T), 1e-12)
    base = tf.base_parameters(robot, include="declared")
    assert base.names == kernel.program.theta_names
    assert np.linalg.matrix_rank(kernel(q, qd, qdd, T).reshape(-1, base.n)) == base.n


@pytest.mark.parametrize("kind", KINDS)
def test_every_source_finds_the_same_base_parameters(kind: str) -> None:
    sets = [
        tf.base_parameters(ROBOTS[kind], include="declared", source=s) for s in ("dynamic", "velocity_free", "energy")
    ]
    assert len({base.pivots for base in sets}) == 1
    assert all(np.abs(base.grouping - sets[0].grouping).max() <= 1e-8 for base in sets)


def test_base_parameters_depend_on_geometry_alone() -> None:
    """Geometry decides also with friction that depends on load, where links have no inertia yet."""
    robot = ROBOTS["chain"]
    parameters = np.array(robot.parameters)
    parameters[robot.layout.links] = 0.0
    unknown = tf.base_parameters(robot.with_parameters(parameters), include="declared")
    assert unknown.pivots == tf.base_parameters(robot, include="declared").pivots


def test_steps_of_any_width_are_told_apart() -> None:
    steps = [tf.Drive.of("smooth", joints=0, coefficient=1.0, width=w) for w in (1e-4, 0.003, 0.1, 50.0)]
    fading = [tf.Drive.of("stribeck", joints=0, coefficient=1.0, width=w) for w in (1e-4, 0.05)]
    arm = tf.load("two_link").with_drives([tf.Drive.of("coulomb", joints=0, coefficient=1.0), *steps, *fading])
    base = tf.base_parameters(arm, include="declared")
    assert set(arm.parameter_names[arm.layout.further]) <= set(base.alone)
    assert base.gap > 1e3


def test_what_gravity_shows_too_is_folded_into_the_links() -> None:
    """About a horizontal axis sin q and cos q are those of the weight; the two springs of one joint are one."""
    arm = tf.load("two_link")
    terms = [tf.Drive.of(shape, joints=0, coefficient=1.0) for shape in ("sine", "cosine")]
    springs = [tf.Drive.of("stiffness", joints=1, coefficient=1.0, label=label) for label in ("left", "right")]
    base = tf.base_parameters(arm.with_drives([*arm.drives, *terms, *springs]), include="declared")
    assert {"Ks_1", "Kc_1", "K_2@right"} <= set(base.regrouped)
    assert "KR_2@left" in base.names


@pytest.mark.parametrize("kind", representatives(KINDS, "tree"))
def test_runtime_theta_holds_every_coefficient(kind: str) -> None:
    robot = ROBOTS[kind]
    q, qd, qdd, T = states(robot)
    rng = np.random.default_rng(4)
    other = robot.with_parameters(robot.parameters * rng.uniform(0.5, 1.5, robot.layout.n))
    tau = tf.inverse_dynamics(other, q, qd, qdd, T)
    for name, arrays, expected, tolerance in (
        ("inverse_dynamics", (q, qd, qdd, T), tau, 1e-12),
        ("forward_dynamics", (q, qd, tau, T), qdd, 1e-9),
    ):
        kernel = tf.compile(robot, name, parameters="runtime")
        agree(kernel(*arrays, kernel.program.theta_of(other)), expected, tolerance)


def test_runtime_coefficients_may_be_zero_in_the_description() -> None:
    """A shared rotor of zero couples the joints as soon as theta says so."""
    robot = tf.random_robot(3, seed=2)
    robot = robot.with_drives([*robot.drives, tf.Drive.of("coupled_inertia", joints=(1, 2), coefficient=0.0)])
    kernel = tf.compile(robot, "forward_dynamics", parameters="runtime")
    coupled = robot.with_drives([*robot.drives[:-1], robot.further_drives[0].with_coefficient(0.02)])
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 20, 3))
    tau = tf.inverse_dynamics(coupled, q, qd, qdd)
    agree(kernel(q, qd, tau, kernel.program.theta_of(coupled)), qdd, 1e-9)
