"""Programs of many joints as loops: the numbers of Pinocchio and of the textbook functions, in Python and in C."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from typer.testing import CliRunner

import tauform as tf
from compiled_c import compiled, run
from pinocchio_oracle import model_of
from random_drives import FURTHER, random_temperatures, with_random_drives
from tauform.cli import app
from tauform.description.drives import SHAPES
from tauform.errors import GenerationError, SingularMassMatrixError, UnknownNameError

LOOPED = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
TREE = tf.random_robot(12, seed=2, branching=0.4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """C of a tree with turns and slides, friction and rotors."""
    path = tmp_path_factory.mktemp("loops")
    tf.write_c([tf.generate_loops(TREE, function) for function in LOOPED], path / "c", name="arm")
    return path / "c"


@pytest.mark.parametrize("branching", [0.0, 0.4])
def test_sixty_joints_agree_with_pinocchio(branching: float) -> None:
    robot = tf.random_robot(60, seed=1, branching=branching, drives=False)
    pair = model_of(robot)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 60))
    tau = pin.rnea(pair.model, pair.data, q, qd, qdd)
    M = pin.crba(pair.model, pair.data, q)
    M = np.triu(M) + np.triu(M, 1).T
    for function, given, expected in (
        ("inverse_dynamics", (q, qd, qdd), tau),
        ("mass_matrix", (q,), M),
        # The condition of M decides how many digits of an acceleration torques hold.
        ("forward_dynamics", (q, qd, tau), qdd),
    ):
        found = tf.generate_loops(robot, function)(*given)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max(), err_msg=function)


@pytest.mark.parametrize("function", LOOPED)
def test_compiled_loops_are_the_textbook_function(folder: Path, function: str) -> None:
    program = tf.generate_loops(TREE, function)
    states = list(np.random.default_rng(1).uniform(-2, 2, (len(program.inputs), 20, TREE.n_joints)))
    found = run(compiled(folder, program), program, states)
    expected = getattr(tf.textbook, function)(TREE, *states)
    scale = np.abs(expected).max(axis=0)
    assert (np.abs(found - expected) / np.maximum(scale, 1e-3 * scale.max())).max() < 1e-10


def test_the_self_test_of_loops_passes_also_in_place(folder: Path) -> None:
    """It calls every function with each input as each output, warnings are errors."""
    done = subprocess.run(
        ["make", "check", "CFLAGS=-std=c99 -O1 -Wall -Wextra -Wpedantic -Wshadow -Werror"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert all(function in done.stdout for function in LOOPED)


def test_single_precision_has_its_own_tolerance(tmp_path: Path) -> None:
    tf.write_c([tf.generate_loops(TREE, function) for function in LOOPED], tmp_path / "c", name="arm", real="float")
    flags = "CFLAGS=-std=c99 -O1 -Wall -Wextra -Wconversion -Wdouble-promotion -Werror"
    done = subprocess.run(["make", "check", flags], cwd=tmp_path / "c", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_drive_term_takes_part() -> None:
    """All but shafts that two joints turn, whose inertia ties bodies together."""
    shapes = [name for name in FURTHER if not SHAPES[name].is_inertial]
    robot = with_random_drives(tf.random_robot("RRPR", seed=4), 4, shapes)
    q, qd, qdd = np.random.default_rng(5).uniform(-1, 1, (3, 5, 4))
    temperature = random_temperatures(robot, 5, 6)
    tau = tf.textbook.inverse_dynamics(robot, q, qd, qdd, temperature=temperature)
    found = tf.generate_loops(robot)(q, qd, qdd, temperature)
    np.testing.assert_allclose(found, tau, rtol=0, atol=1e-12 * np.abs(tau).max())
    again = tf.generate_loops(robot, "forward_dynamics")(q, qd, tau, temperature)
    np.testing.assert_allclose(again, qdd, rtol=0, atol=1e-9)


def test_numbers_that_all_bodies_share_are_no_columns_of_the_table() -> None:
    chain = tf.planar_chain(40)
    alike, random = tf.generate_loops(chain), tf.generate_loops(tf.random_robot("R" * 40, seed=0))
    assert alike.table.shape[1] < 4 < random.table.shape[1]
    assert alike.n_operations < random.n_operations / 2


def test_digits_survive_a_base_far_away() -> None:
    """Sums about the base's origin would lose a million times the rounding."""
    near = tf.random_robot("R" * 12, seed=3)
    placed = near.joints[0].parent_from_joint.copy()
    placed[:3, 3] += 1e3
    far = replace(near, joints=(replace(near.joints[0], parent_from_joint=placed, lengths=()), *near.joints[1:]))
    q = np.random.default_rng(0).uniform(-1, 1, 12)
    ours, exact = (tf.generate_loops(robot, "mass_matrix")(q) for robot in (far, near))
    assert np.abs(ours - exact).max() < 1e-12 * np.abs(exact).max()


def test_operations_are_those_that_run() -> None:
    """A chain's products of pairs are six multiplications and five additions each."""
    small, large = (tf.generate_loops(tf.planar_chain(n), "mass_matrix") for n in (10, 20))
    pairs = 20 * 19 // 2 - 10 * 9 // 2
    per_body = (large.n_multiplications - small.n_multiplications - 6 * pairs) / 10
    assert per_body == int(per_body) > 0
    assert large.n_pairs == 190


def test_the_command_line_writes_loops_where_a_line_would_be_too_long(tmp_path: Path) -> None:
    robot, out = tmp_path / "snake.toml", tmp_path / "c"
    tf.random_robot("R" * 70, seed=0).save(robot)
    done = CliRunner().invoke(app, ["generate", str(robot), "-o", str(out), "--functions", "mass_matrix", "--json"])
    assert done.exit_code == 0, done.output
    assert "for (i = 70; i > 0; i--)" in (out / "random70_0.c").read_text(encoding="utf-8")


def test_what_has_no_loops_is_refused_in_a_sentence(tmp_path: Path) -> None:
    looped = tf.generate_loops(TREE)
    with pytest.raises(GenerationError, match=r"gravity_torque has no form as loops; those that have are inverse"):
        tf.generate_loops(TREE, "gravity_torque")
    with pytest.raises(UnknownNameError, match="did you mean 'mass_matrix'"):
        tf.generate_loops(TREE, "mass_matrx")
    with pytest.raises(GenerationError, match="joints are tied together"):
        tf.generate_loops(tf.load("hitachi_hpr_gautier"))
    with pytest.raises(GenerationError, match=r"is a loop over 12 bodies, which Rust does not have; write it in C"):
        tf.write(looped, tmp_path / "rust", target="rust")
    with pytest.raises(GenerationError, match=r"batch: .* takes one state"):
        tf.write_c(looped, tmp_path / "c", batch=True)
    assert not list(tmp_path.iterdir())


def test_a_link_without_inertia_is_named() -> None:
    chain = tf.planar_chain(5)
    massless = chain.with_parameters(np.where(np.arange(len(chain.parameters)) >= 40, 0.0, chain.parameters))
    with pytest.raises(SingularMassMatrixError, match="not positive definite"):
        tf.generate_loops(massless, "forward_dynamics")
