"""Operation counts that generated programs must not exceed, next to what the papers and CasADi need."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from real_robots import urdf
from tauform.codegen.minimal.problem import PayloadBinding
from tauform.codegen.program.program import Op
from tauform.description.inertia import parameter_transform
from tauform.description.robot import Robot

EXTRA_PAIR = 40  # what a sine-cosine pair beyond one a revolute joint counts
QUARTER = np.pi / 2

# a, alpha, d, theta of the makers' tables
PANDA = (
    (0.0, 0.0, 0.333, 0.0),
    (0.0, -QUARTER, 0.0, 0.0),
    (0.0, QUARTER, 0.316, 0.0),
    (0.0825, QUARTER, 0.0, 0.0),
    (-0.0825, -QUARTER, 0.384, 0.0),
    (0.0, QUARTER, 0.0, 0.0),
    (0.088, QUARTER, 0.0, 0.0),
)
UR5 = (
    (0.0, QUARTER, 0.089159, np.pi),
    (-0.425, 0.0, 0.0, 0.0),
    (-0.39225, 0.0, 0.0, 0.0),
    (0.0, QUARTER, 0.10915, 0.0),
    (0.0, -QUARTER, 0.09465, 0.0),
    (0.0, 0.0, 0.0823, 0.0),
)


def cost(program: tf.Program, robot: Robot) -> int:
    """Multiplications and additions, with a charge for each sine-cosine pair beyond one a revolute joint."""
    pairs = len({i.args[0] for i in program.instructions if i.op in (Op.SIN, Op.COS)})
    joints = sum(joint.is_revolute for joint in robot.joints)
    return program.n_operations + EXTRA_PAIR * max(0, pairs - joints)


@pytest.mark.parametrize(
    ("name", "most", "paper", "casadi"),
    [("kr6_r700", 460, 10185, 846), ("lbr7", 522, 32368, 869), ("sr6ia", 56, 210, 120)],
)
def test_inverse_dynamics(name: str, most: int, paper: int, casadi: int) -> None:
    robot = tf.load(name)
    found = cost(tf.generate(robot, "inverse_dynamics"), robot)
    assert found <= most < casadi < paper


# Izaguirre1992 section 7.1: 98 + 70 and 140 + 110, with an arbitrary load 190 + 150 and 200 + 170
@pytest.mark.parametrize(
    ("function", "payload", "most", "paper"),
    [
        ("coefficients", "baked", 131, 98 + 70),
        ("velocity_torque", "baked", 170, 140 + 110),
        ("coefficients", "runtime", 280, 190 + 150),
        ("velocity_torque", "runtime", 265, 200 + 170),
    ],
)
def test_puma260(function: str, payload: PayloadBinding, most: int, paper: int) -> None:
    robot = tf.load("puma260_izaguirre")
    assert cost(tf.generate(robot, function, payload=payload), robot) <= most < paper


def from_table(robot: Robot, table: tuple[tuple[float, ...], ...], convention: str) -> Robot:
    """The robot with the frames of an exact DH table, each link's inertia carried over."""
    rows = [dict(zip(("a", "alpha", "d", "theta"), row, strict=True), joint="revolute", mass=1.0) for row in table]
    exact = Robot.from_dh(rows, convention, name=f"{robot.name}_dh")
    q = np.random.default_rng(0).normal(size=(3, robot.n_joints))
    ours, theirs = tf.link_placements(exact, q), tf.link_placements(robot, q)
    exact_from_link = np.linalg.inv(ours) @ theirs
    np.testing.assert_allclose(exact_from_link[1:], exact_from_link[:-1], rtol=0, atol=1e-9)
    moved = [
        parameter_transform(T) @ ten
        for T, ten in zip(exact_from_link[0], robot.layout.by_link(robot.parameters), strict=True)
    ]
    return exact.with_parameters(np.concatenate([*moved, robot.parameters[robot.layout.drives]]))


@pytest.mark.parametrize(
    ("name", "table", "convention"),
    [pytest.param("panda", PANDA, "modified", marks=pytest.mark.nightly), ("ur5_robot", UR5, "standard")],
)
def test_real_urdf_robots_cost_what_their_exact_tables_cost(
    name: str, table: tuple[tuple[float, ...], ...], convention: str
) -> None:
    robot = tf.load(urdf(name), snap=1e-5, tip="panda_link7" if name == "panda" else None)
    exact = from_table(robot, table, convention)
    states = np.random.default_rng(1).normal(size=(3, 5, robot.n_joints))
    tau = tf.inverse_dynamics(robot, *states)
    np.testing.assert_allclose(tf.inverse_dynamics(exact, *states), tau, rtol=0, atol=1e-6 * np.abs(tau).max())
    from_urdf, from_dh = (cost(tf.generate(r, "inverse_dynamics"), r) for r in (robot, exact))
    assert from_urdf <= 1.15 * from_dh


def test_mass_matrix_by_composites_beats_the_general_algorithms() -> None:
    """Composite bodies with base parameters need fewer operations than CRBA or GDAHJ traced as they stand."""
    program = tf.generate(tf.load("kr6_r700"), "mass_matrix")
    counts = {c.algorithm: c.n_multiplications + c.n_additions for c in program.candidates}
    assert min(counts, key=counts.__getitem__).startswith("composite")
    assert 2 * counts["composite"] < counts["gdahj"]
