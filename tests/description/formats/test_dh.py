"""DH tables: the product of the rows' matrices is the forward kinematics, and inertia lands in the right frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tauform as tf
from tauform.description.formats.dh import COLUMNS
from tauform.errors import ArgumentError, DescriptionError, UnknownNameError

# Inertial data of a row in its own DH frame.
BODY = {"mass": 2.0, "com": [0.1, -0.2, 0.3], "inertia": [0.3, 0.35, 0.4, 0.01, 0.02, 0.03], "inertia_about": "com"}
ROWS: list[dict[str, Any]] = [
    {"joint": "revolute", "a": 0.3, "alpha": 0.4, "d": 0.1, "theta": 0.5, **BODY},
    {"joint": "prismatic", "a": -0.2, "alpha": -1.1, "d": 0.25, "theta": 0.7, "sign": -1, **BODY},
    {"joint": "revolute", "a": 0.15, "alpha": "pi/2", "d": -0.3, "theta": -0.2, "sign": -1, **BODY},
    {"joint": "revolute", "a": 0.0, "alpha": 0.9, "d": 0.2, **BODY},
]
BASE = np.array([[0.0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])
TOOL = np.array([[1.0, 0, 0, 0.1], [0, 0, -1, 0.2], [0, 1, 0, 0.3], [0, 0, 0, 1]])


def Rx(x: float) -> np.ndarray:
    return np.array([[1, 0, 0, 0], [0, np.cos(x), -np.sin(x), 0], [0, np.sin(x), np.cos(x), 0], [0, 0, 0, 1]])


def Rz(x: float) -> np.ndarray:
    return np.array([[np.cos(x), -np.sin(x), 0, 0], [np.sin(x), np.cos(x), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def shift(x: float = 0.0, z: float = 0.0) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = x, 0, z
    return T


def row_placements(convention: str, q: np.ndarray) -> list[np.ndarray]:
    """World placement of each DH frame, by the book's formula."""
    placements, T = [], BASE
    for row, value in zip(ROWS, q, strict=True):
        moved = row.get("sign", 1) * value
        theta = row.get("theta", 0.0) + (moved if row["joint"] == "revolute" else 0.0)
        d = row["d"] + (moved if row["joint"] == "prismatic" else 0.0)
        alpha = np.pi / 2 if row["alpha"] == "pi/2" else row["alpha"]
        turn, link = Rz(theta) @ shift(z=d), shift(x=row["a"]) @ Rx(alpha)
        T = T @ (turn @ link if convention == "standard" else link @ turn)
        placements.append(T)
    return placements


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_forward_kinematics_is_the_product_of_the_rows(convention: str) -> None:
    robot = tf.Robot.from_dh(ROWS, convention, base=BASE, tool=TOOL)
    for q in np.random.default_rng(0).normal(size=(5, 4)):
        expected = row_placements(convention, q)[-1] @ TOOL
        np.testing.assert_allclose(tf.forward_kinematics(robot, q), expected, atol=1e-14)


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("base", [None, BASE])
def test_torque_is_the_gradient_of_the_potential_of_the_rows(convention: str, base: np.ndarray | None) -> None:
    robot = tf.Robot.from_dh(ROWS, convention, base=base)

    def potential(q: np.ndarray) -> float:
        to_world = np.eye(4) if base is not None else np.linalg.inv(BASE)
        places = [to_world @ T @ [*BODY["com"], 1] for T in row_placements(convention, q)]
        return sum(BODY["mass"] * 9.81 * place[2] for place in places)

    q, h = np.array([0.3, -0.4, 0.8, 0.2]), 1e-6
    gradient = [(potential(q + h * e) - potential(q - h * e)) / (2 * h) for e in np.eye(4)]
    zero = np.zeros(4)
    np.testing.assert_allclose(tf.inverse_dynamics(robot, q, zero, zero), gradient, atol=1e-7)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_kinetic_energy_is_that_of_the_rows(convention: str) -> None:
    robot = tf.Robot.from_dh(ROWS, convention, base=BASE)
    q, qd = np.random.default_rng(1).normal(size=(2, 4))
    h = 1e-6
    ahead, behind = row_placements(convention, q + h * qd), row_placements(convention, q - h * qd)
    xx, yy, zz, xy, xz, yz = BODY["inertia"]
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    energy = 0.0
    for T, after, before in zip(row_placements(convention, q), ahead, behind, strict=True):
        rate = (after - before) / (2 * h)
        spin = T[:3, :3].T @ rate[:3, :3]  # skew(omega) in the row's frame
        omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        velocity = rate @ [*BODY["com"], 1]
        energy += 0.5 * BODY["mass"] * velocity[:3] @ velocity[:3] + 0.5 * omega @ tensor @ omega
    assert 0.5 * qd @ tf.mass_matrix(robot, q) @ qd == pytest.approx(energy, rel=1e-7)


def test_inertia_about_origin_is_the_same_body() -> None:
    com, mass = np.array(BODY["com"]), BODY["mass"]
    about_com = tf.Inertia.of(mass, com, BODY["inertia"], inertia_about="com")
    about_origin = tf.Inertia.of(mass, com, about_com.tensor, inertia_about="origin")
    np.testing.assert_allclose(about_origin.parameters, about_com.parameters, atol=1e-15)


def test_parameters_by_name_or_in_order() -> None:
    row = {"joint": "revolute", "a": 0, "alpha": 0, "d": 0}
    ten = [1.0, 0.1, 0, 0, 0, 0, 0, 0, 0, 0.5]
    named = tf.Robot.from_dh([{**row, "parameters": {"m": 1.0, "mx": 0.1, "Izz": 0.5}}], "modified")
    ordered = tf.Robot.from_dh([{**row, "parameters": ten}], "modified")
    np.testing.assert_array_equal(named.parameters[:10], ten)
    np.testing.assert_array_equal(ordered.parameters, named.parameters)


def test_quarter_turns_are_exact() -> None:
    robot = tf.Robot.from_dh(
        [{"joint": "revolute", "a": 0, "alpha": -np.pi / 2, "d": 0, "theta": np.pi}] * 2, "modified"
    )
    np.testing.assert_array_equal(robot.joints[1].parent_from_joint[:3, :3], [[-1, 0, 0], [0, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": None}, "DH row 2: alpha: expected a number"),
        ({"a": "left"}, "DH row 2: a: expected a number.*'left'"),
        ({"d": float("inf")}, "DH row 2: d: expected a finite number"),
        ({"sign": 2}, r"DH row 2: sign must be \+1 or -1, got 2"),
        ({"joint": "ball"}, "DH row 2: column \"joint\" must be.*'ball'"),
        ({"mas": 1.0}, "DH row 2: unknown column 'mas'"),
        ({"mass": -1.0}, "DH row 2: .*negative mass"),
        ({"mass": 1.0, "com": [0, 0]}, r"DH row 2: com: expected shape \(3,\), got \(2,\)"),
        ({"mass": 1.0, "inertia": [0] * 6}, 'DH row 2: "inertia" needs "inertia_about"'),
        ({"mass": 1.0, "inertia": [0] * 6, "inertia_about": "center"}, "DH row 2: .*inertia_about: .*'center'"),
        ({"inertia": [[1, 1, 0], [0, 1, 0], [0, 0, 1]], "inertia_about": "com"}, "DH row 2: .*not symmetric"),
        ({"mass": 1.0, "parameters": [0.0] * 10}, 'DH row 2: give "parameters" or'),
        ({"viscous": "much"}, "DH row 2: viscous: expected a number"),
    ],
)
def test_bad_row_is_named(change: dict[str, Any], message: str) -> None:
    row = {"joint": "revolute", "a": 0.1, "alpha": 0.0, "d": 0.0}
    with pytest.raises(DescriptionError, match=message):
        tf.Robot.from_dh([row, {**row, **change}], "standard")


@pytest.mark.parametrize("column", ["a", "alpha", "d"])
def test_missing_column_is_named(column: str) -> None:
    row = {"joint": "revolute", "a": 0.1, "alpha": 0.0, "d": 0.0}
    del row[column]
    with pytest.raises(DescriptionError, match=f'DH row 1: column "{column}" is missing; write 0 if it is zero'):
        tf.Robot.from_dh([row], "standard")


@pytest.mark.parametrize("end", ["base", "tool"])
def test_placement_that_is_no_rotation_is_named(end: str) -> None:
    with pytest.raises(DescriptionError, match=f"{end} does not hold a rotation"):
        tf.Robot.from_dh(ROWS, "standard", **{end: 2 * np.eye(4)})


@pytest.mark.parametrize("table", [[[0.1, 0.0, 0.0, 0.0]], np.zeros((3, 4))], ids=["list", "array"])
def test_table_without_names_is_told_how_to_name_its_columns(table: Any) -> None:
    with pytest.raises(
        DescriptionError, match="DH row 1: expected a mapping, as columns have no agreed order"
    ) as error:
        tf.Robot.from_dh(table, "standard")
    rows = eval(str(error.value).split("name them: ")[1], {"table": table})
    assert tf.Robot.from_dh(rows, "standard").n_joints == len(table)


def test_misspelt_option_is_told_its_name() -> None:
    with pytest.raises(ArgumentError, match=r"Robot\.from_dh: no argument 'grav'; did you mean 'gravity'\?"):
        tf.Robot.from_dh(ROWS, "standard", grav=[0, 0, -9.81])  # type: ignore[call-arg]


def test_help_names_every_column() -> None:
    shown = tf.Robot.from_dh.__doc__ or ""
    assert [column for column in COLUMNS if column not in shown.split("Args:")[0]] == []


def test_empty_table_and_unknown_convention() -> None:
    with pytest.raises(DescriptionError, match="no rows"):
        tf.Robot.from_dh([], "standard")
    with pytest.raises(UnknownNameError, match="convention: no 'khalil'; choose from 'standard', 'modified'"):
        tf.Robot.from_dh(ROWS, "khalil")  # type: ignore[arg-type]


def test_a_table_in_degrees_is_refused() -> None:
    row = {"joint": "revolute", "a": 0.0, "alpha": 90.0, "d": 0.1}
    with pytest.raises(DescriptionError, match="DH row 1: alpha = 90 is more than two turns; angles are in radians"):
        tf.Robot.from_dh([row], "standard")
