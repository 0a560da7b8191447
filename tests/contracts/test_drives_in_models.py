"""Drive terms of every shape beside closed forms, in reduced programs and in multi-rate tasks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from random_drives import random_temperatures, with_random_drives
from random_robots import random_tree
from tauform.errors import GenerationError, ModelError

N_STATES = 40
HIDDEN = ("load", "thermal")
ROBOT = with_random_drives(random_tree(3, 8, chain=True), 8)
KNOWN = ROBOT.with_drives([term for term in ROBOT.drives if term.shape not in HIDDEN])


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORM_CACHE", str(tmp_path_factory.mktemp("kernels")))
        yield


def states() -> tuple[np.ndarray, ...]:
    q, qd, qdd = np.random.default_rng(2).uniform(-2, 2, (3, N_STATES, 3))
    return q, qd * np.resize([1.0, 0.1, 0.01], (N_STATES, 1)), qdd, random_temperatures(ROBOT, N_STATES, 6)


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


def test_a_reduced_program_keeps_the_drives() -> None:
    robot = with_random_drives(random_tree(2, 8, chain=True, prismatic=0.0), 8)
    robot = robot.with_drives([term for term in robot.drives if term.shape not in HIDDEN])
    profile = tf.Profile.within(robot, "slow")
    reduction = tf.reduce(robot, profile, tolerance=0.05, confidence=0.9, n_fresh=2000)
    assert {candidate.name for candidate in reduction.candidates} >= {"terms", "parameters"}
    q, qd, qdd = profile.sample(4000, np.random.default_rng(5))
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    for candidate in reduction.candidates:
        if candidate.verification.holds:
            errors = np.linalg.norm(candidate.program(q, qd, qdd) - tau, axis=1) / np.linalg.norm(tau, axis=1)
            assert np.quantile(errors, 0.9) <= 0.055, candidate.name


@pytest.mark.parametrize("task", ["background", "synchronous"])
def test_two_tasks_make_the_whole_torque(task: str) -> None:
    q, qd, qdd, _ = states()
    split = tf.multirate(KNOWN, task)
    M, stored = split.results(q, qd)
    agree(split.torque(M, stored, qd, qdd), tf.inverse_dynamics(KNOWN, q, qd, qdd))
    M, gravity = split.coefficients_kernel(q)
    agree(split.torque(M, gravity + split.velocity_kernel(q, qd), qd, qdd), tf.inverse_dynamics(KNOWN, q, qd, qdd))


@pytest.mark.parametrize("shape", HIDDEN)
def test_what_no_profile_holds_is_refused_by_name(shape: str) -> None:
    robot = KNOWN.with_drives([*KNOWN.drives, tf.Drive.of(shape, joints=0, coefficient=0.1)])
    for verb in (tf.reduce, tf.multirate):
        with pytest.raises(GenerationError, match=rf"d.shape != '{shape}'"):
            verb(robot)


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
