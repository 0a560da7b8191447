"""Drive terms of every shape beside closed forms, in reduced programs and in multi-rate tasks."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from compiled_c import compiled, run
from random_drives import random_temperatures, robot_with_every_drive, with_random_drives
from random_robots import random_tree
from sampling import representatives
from tauform.errors import GenerationError, ModelError

N_STATES = 40
KINDS = ("chain", "tree", "loop")
ROBOT = with_random_drives(random_tree(3, 8, chain=True), 8)
KNOWN = ROBOT.with_drives([term for term in ROBOT.drives if term.shape not in ("load", "thermal")])
ROBOTS = {kind: robot_with_every_drive(kind) for kind in KINDS}


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORM_CACHE", str(tmp_path_factory.mktemp("kernels")))
        yield


def states() -> tuple[np.ndarray, ...]:
    q, qd, qdd = np.random.default_rng(2).uniform(-2, 2, (3, N_STATES, 3))
    return q, qd * np.resize([1.0, 0.1, 0.01], (N_STATES, 1)), qdd, random_temperatures(ROBOT, N_STATES, 6)


def states_of(robot: tf.Robot) -> tuple[np.ndarray, ...]:
    q, qd, qdd = np.random.default_rng(2).uniform(-2, 2, (3, N_STATES, robot.n_joints))
    return q, qd * np.resize([1.0, 0.1, 0.01], (N_STATES, 1)), qdd, random_temperatures(robot, N_STATES, 6)


def agree(found: np.ndarray, expected: np.ndarray, tolerance: float = 1e-12) -> None:
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("include", [None, "declared"])
def test_a_closed_form_has_the_dynamics_of_its_robot(tmp_path: Path, include: str | None) -> None:
    q, qd, qdd, T = states()
    tau = tf.inverse_dynamics(ROBOT, q, qd, qdd, T)
    model = tf.derive(ROBOT, include=include)
    model.save(tmp_path / "model.npz")
    for bound in (model.bind(ROBOT), tf.load_model(tmp_path / "model.npz").bind(ROBOT)):
        agree(bound.inverse_dynamics(q, qd, qdd, T), tau)
        agree(bound.forward_dynamics(q, qd, tau, T), qdd, 1e-10)
        agree(bound.induced_torque(q, qd, T), tf.inverse_dynamics(ROBOT, q, qd, 0 * q, T))
        agree(bound.mass_matrix(q), tf.mass_matrix(ROBOT, q))
        agree(bound.breakdown(q, qd, qdd, T).friction, tf.friction(ROBOT, qd, q, qdd, T))
        agree(tf.inverse_dynamics(bound.as_robot(), q, qd, qdd, T), tau)


@pytest.mark.parametrize("algorithm", ["factored", "recursive"])
def test_programs_of_a_closed_form_hold_the_drives(algorithm: str) -> None:
    q, qd, qdd, T = states()
    tau = tf.inverse_dynamics(ROBOT, q, qd, qdd, T)
    bound = tf.derive(ROBOT).bind(ROBOT)
    agree(tf.generate(bound, algorithm=algorithm)(q, qd, qdd, T), tau)
    agree(tf.generate(bound, "forward_dynamics", algorithm=algorithm)(q, qd, tau, T), qdd, 1e-10)


def test_drives_of_fixed_joints_are_those_at_their_position() -> None:
    q, qd, qdd, T = states()
    bound = tf.derive(ROBOT, fixed={ROBOT.joint_names[1]: 0.4}).bind(ROBOT)
    held = [np.array(array) for array in (q, qd, qdd)]
    for array, value in zip(held, (0.4, 0.0, 0.0), strict=True):
        array[:, 1] = value
    expected = tf.inverse_dynamics(ROBOT, *held, T)
    agree(bound.inverse_dynamics(q, qd, qdd, T), expected)
    agree(tf.generate(bound)(q, qd, qdd, T), expected)
    with pytest.raises(GenerationError, match="use factored"):
        tf.generate(bound, algorithm="recursive")


def test_a_model_takes_a_robot_with_other_drives() -> None:
    q, qd, qdd, _ = states()
    model = tf.derive(ROBOT.with_drives([term for term in ROBOT.drives if term.is_inertial]))
    agree(model.bind(KNOWN).inverse_dynamics(q, qd, qdd), tf.inverse_dynamics(KNOWN, q, qd, qdd))
    assert not model.bind(model.theta(KNOWN)).drives


def test_a_shared_rotor_is_a_base_parameter() -> None:
    model = tf.derive(KNOWN, include="declared")
    assert [name for name in model.base.names if name.startswith("Iam")]
    q, qd, qdd, _ = states()
    rigid = KNOWN.rigid
    model = tf.derive(rigid, include="declared")
    agree(model.regressor(q, qd, qdd) @ model.theta(rigid), tf.inverse_dynamics(rigid, q, qd, qdd))
    assert model.base.pivots == tf.base_parameters(rigid, include="declared").pivots


def test_what_theta_cannot_hold_is_refused_by_name() -> None:
    with pytest.raises(ModelError, match=r"cannot hold stribeck.*bind"):
        tf.derive(ROBOT, include=["link", "stribeck"])
    with pytest.raises(ModelError, match=r"Fs_1.*source dynamic"):
        tf.base_parameters(KNOWN, include="declared", source="closed_form")
    slide = tf.random_robot("PR", seed=3)
    slide = slide.with_drives([*slide.drives, tf.Drive.of("load", joints=1, coefficient=0.1)])
    with pytest.raises(ModelError, match="mixes the weight of links"):
        tf.derive(slide, include="declared").bind(slide)
    base = tf.base_parameters(slide, include="declared")
    with pytest.raises(ModelError, match="mixes the weight of links"):
        slide.with_base_parameters(base.values(slide), base)
    with pytest.raises(ModelError, match="without its load terms"):
        tf.derive(ROBOT).bind(ROBOT).equations()


@pytest.fixture(scope="module")
def reduction() -> tf.Reduction:
    """A reduced program of an arm with a term of every shape that its joints allow."""
    robot = with_random_drives(random_tree(2, 8, chain=True, prismatic=0.0), 8)
    profile = tf.Profile.within(robot, "slow", temperature=(0.0, 60.0))
    return tf.reduce(robot, profile, tolerance=0.05, confidence=0.9, n_fresh=2000)


def test_a_reduced_program_keeps_the_drives(reduction: tf.Reduction) -> None:
    robot = reduction.robot
    assert {"load", "thermal"} <= {term.shape for term in robot.drives}
    assert {candidate.name for candidate in reduction.candidates} >= {"terms", "parameters", "velocity", "operations"}
    states = reduction.profile.sample(4000, np.random.default_rng(5))
    tau = tf.textbook.inverse_dynamics(robot, *states)
    for candidate in reduction.candidates:
        if candidate.verification.holds:
            errors = np.linalg.norm(candidate.program(*states) - tau, axis=1) / np.linalg.norm(tau, axis=1)
            assert np.quantile(errors, 0.9) <= 0.055, candidate.name


def test_the_compiled_c_of_a_reduced_program_keeps_its_guarantee(reduction: tf.Reduction, tmp_path: Path) -> None:
    """Against the textbook function, on states and temperatures of the profile."""
    program = reduction.program
    assert reduction.route != "exact"
    tf.write_c(program, tmp_path / "c", name="arm")
    states = reduction.profile.sample(400, np.random.default_rng(6))
    found = run(compiled(tmp_path / "c", program), program, list(states))
    agree(found, program(*states))
    tau = tf.textbook.inverse_dynamics(reduction.robot, *states)
    assert np.quantile(np.linalg.norm(found - tau, axis=1) / np.linalg.norm(tau, axis=1), 0.9) <= 0.055


@pytest.mark.parametrize("kind", representatives(KINDS, "loop"))
@pytest.mark.parametrize("function", representatives(["inverse_dynamics", "forward_dynamics"], "forward_dynamics"))
def test_velocity_terms_leave_programs_under_load(kind: str, function: str) -> None:
    """What is left is checked against the textbook function; friction is that of the load that is left."""
    from tauform.realtime.reduction.velocity import Quiet, recursive, without_velocity

    robot = ROBOTS[kind]
    q, qd, qdd, T = states_of(robot)
    for quiet in (Quiet(joints=frozenset([0, 1])), Quiet(links=frozenset([1]))):
        left = without_velocity(robot, quiet, q, qd, qdd, T)
        if function == "inverse_dynamics":
            program, given, expected = recursive(robot, function, quiet), (q, qd, qdd, T), left
        else:
            program, given, expected = recursive(robot, function, quiet), (q, qd, left, T), qdd
        if not quiet.links:  # what is left out of links hangs on how the program regroups parameters
            agree(program(*given), expected, 1e-9)


@pytest.mark.parametrize("kind", representatives(KINDS, "loop"))
@pytest.mark.parametrize("task", representatives(["background", "synchronous"], "background"))
def test_two_tasks_make_the_whole_torque(kind: str, task: str) -> None:
    robot = ROBOTS[kind]
    q, qd, qdd, T = states_of(robot)
    split = tf.multirate(robot, task)
    tau = tf.textbook.inverse_dynamics(robot, q, qd, qdd, T)
    M, stored, beside = split.results(q, qd, T)
    agree(split.torque(M, stored, qd, qdd, T, beside), tau)
    M, gravity = split.coefficients_kernel(q)
    velocity, beside = split.velocity_kernel(q, qd, *[T] * (task == "background"))
    agree(split.torque(M, gravity + velocity, qd, qdd, T, beside), tau)
    # a background that is never late errs by nothing
    profile = tf.Profile.trajectory(q, qd, qdd, temperature=T)
    assert split.predict(profile, tf.Rates(0.001, 0.001)).relative <= 1e-12
    assert split.predict(profile, tf.Rates(0.001, 0.05)).relative > 1e-4


def test_load_friction_follows_accelerations_at_once() -> None:
    """At a tick after the background ran, a new acceleration changes the load, and friction with it."""
    robot = tf.load("two_link")
    robot = robot.with_drives([*robot.drives, tf.Drive.of("load", joints=(0,), coefficient=0.3)])
    split = tf.multirate(robot)
    q, qd = np.array([[0.3, -0.4]]), np.array([[1.0, 2.0]])
    results = split.results(q, qd)
    for qdd in np.array([[[0.0, 0.0]], [[30.0, 5.0]], [[-50.0, 5.0]]]):
        found = split.torque(*results[:2], qd, qdd, beside=results[2])
        agree(found, tf.textbook.inverse_dynamics(robot, q, qd, qdd))


@pytest.mark.parametrize("task", ["background", "synchronous"])
def test_the_error_of_late_results_is_predicted_with_every_drive(task: str) -> None:
    """States of a swing predict what a run along the swing shows."""
    from tauform.realtime.multirate.prediction import measure

    robot = with_random_drives(random_tree(2, 8, chain=True, prismatic=0.0), 8)
    split, rates = tf.multirate(robot, task), tf.Rates(0.001, 0.01)
    V, A, warm = np.array([2.0, 2.5]), np.array([12.0, 14.0]), 45.0

    def motion(t: np.ndarray) -> tuple[np.ndarray, ...]:
        phase = np.outer(t, A / V) + np.arange(2)
        return V * V / A * np.sin(phase), V * np.cos(phase), -A * np.sin(phase), np.full_like(phase, warm)

    errors = measure(split, np.arange(0.0, 20.0, rates.control), motion, rates)
    predicted = split.predict(tf.Profile.harmonic(np.zeros(2), V, A, temperature=(warm, warm)), rates)
    measured = np.sqrt((errors**2).mean(axis=0))
    assert np.abs(predicted.rms / measured - 1).max() <= 0.1


def test_the_c_of_both_tasks_has_every_drive(tmp_path: Path) -> None:
    """Its self-test passes, its demonstration runs, and both tasks together are the textbook torque."""
    robot = with_random_drives(random_tree(2, 8, chain=True, prismatic=0.0), 8)
    tf.multirate(robot).write_c(tmp_path / "c", name="arm")
    if shutil.which("gcc") is None or shutil.which("make") is None:
        pytest.skip("gcc and make are not installed")
    subprocess.run(["make", "-s", "check"], cwd=tmp_path / "c", check=True, capture_output=True)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O0"]
    sources = ["arm_multirate.c", "arm.c", "-lm"]
    demo = ["gcc", *flags, "-pthread", "demo_arm_multirate.c", *sources, "-o", "demo"]
    subprocess.run(demo, cwd=tmp_path / "c", check=True)
    shown = subprocess.run(["./demo", "0.05"], cwd=tmp_path / "c", check=True, capture_output=True, text=True).stdout
    assert 0.0 <= float(shown.split("torque error")[1].split("%")[0]) < 50.0
    subprocess.run(["gcc", *flags, "-shared", "-fPIC", *sources, "-o", "arm.so"], cwd=tmp_path / "c", check=True)
    library = ctypes.CDLL(str(tmp_path / "c" / "arm.so"))
    q, qd, qdd, T = states_of(robot)
    tasks, tau = ctypes.create_string_buffer(1 << 14), np.empty_like(q)
    for every in (1, 2):
        for k in range(len(q)):
            q_, qd_, qdd_, T_, tau_ = (ctypes.c_void_p(array[k].ctypes.data) for array in (q, qd, qdd, T, tau))
            library.arm_multirate_start(tasks, ctypes.c_uint(every), q_, qd_, T_)
            library.arm_multirate_renew(tasks, q_, qd_, T_)
            library.arm_multirate_torque(tasks, qd_, qdd_, tau_)
        agree(tau, tf.textbook.inverse_dynamics(robot, q, qd, qdd, T))


def test_a_profile_without_temperatures_is_refused() -> None:
    robot = KNOWN.with_drives([*KNOWN.drives, tf.Drive.of("thermal", joints=0, coefficient=0.1)])
    cold = tf.Profile.ranges(3, 1.0, 1.0, 1.0)
    for call in (lambda: tf.reduce(robot, cold), lambda: tf.multirate(robot).predict(cold, tf.Rates(0.001, 0.02))):
        with pytest.raises(ModelError, match=r"depends on temperature, and the profile has none; give temperature="):
            call()
    with pytest.raises(ModelError, match="below absolute zero"):
        tf.Profile.ranges(3, 1.0, 1.0, 1.0, temperature=(-300.0, 20.0))
    for wrong in (20.0, (60.0, 10.0), (np.nan, 20.0), (1.0, 2.0, 3.0)):
        with pytest.raises(ModelError, match="temperature"):
            tf.Profile.ranges(3, 1.0, 1.0, 1.0, temperature=wrong)
    assert len(tf.Profile.within(robot).lower) == 4
    assert len(tf.Profile.within(robot).suited(KNOWN).lower) == 3


def test_equations_hold_the_drives() -> None:
    """Python evaluates them; LaTeX is written with balanced brackets."""
    robot = KNOWN.with_drives([*KNOWN.drives, tf.Drive.of("thermal", joints=0, coefficient=0.1)])
    bound = tf.derive(robot).bind(robot)
    q, qd, qdd, T = (array[:5] for array in states())
    tau = tf.inverse_dynamics(robot, q, qd, qdd, T)
    for k in range(5):
        names = {"sign": np.sign, "tanh": np.tanh, "exp": np.exp, "sqrt": np.sqrt, "abs": abs}
        for i in range(3):
            values = {"q": q, "s": np.sin(q), "c": np.cos(q), "qd": qd, "qdd": qdd, "T": T}
            names |= {f"{name}{i + 1}": array[k, i] for name, array in values.items()}
        found = [eval(line.split(" = ")[1], {}, names) for line in bound.equations()]
        assert np.abs(np.array(found) - tau[k]).max() <= 1e-12 * np.abs(tau).max()
    text = bound.to_latex(digits=3)
    assert text.count("{") == text.count("}")
    assert text.count("(") == text.count(")")


def test_planned_motions_know_the_drives() -> None:
    """Their columns and slopes are those of the regressor."""
    from tauform.identification.motion.slopes import Columns

    q, qd, qdd, _ = states()
    columns = Columns.of(KNOWN, "declared")
    agree(columns(q, qd, qdd) @ columns.values, tf.inverse_dynamics(KNOWN, q, qd, qdd))
    weights = np.broadcast_to(columns.values, (N_STATES, 3, len(columns.values)))
    found = columns.slopes(q, qd, qdd, weights)
    expected = tf.linearize_inverse_transposed(KNOWN, q, qd, qdd, np.ones_like(q))
    for part, slope in zip(found, (expected.dq, expected.dqd, expected.dqdd), strict=True):
        agree(part, slope, 1e-10)


@pytest.mark.parametrize("include", [None, "declared"])
def test_virtual_links_of_the_base_parameters_have_the_same_dynamics(include: str | None) -> None:
    q, qd, qdd, T = states()
    robot = with_random_drives(random_tree(3, 5, chain=True, prismatic=0.0), 5, ("load", "thermal", "coupled_inertia"))
    base = tf.base_parameters(robot, include=include)
    virtual = robot.with_base_parameters(base.values(robot), base)
    agree(tf.inverse_dynamics(virtual, q, qd, qdd, T), tf.inverse_dynamics(robot, q, qd, qdd, T))
