"""Gautier1991, Tables II-V (PUMA 560), and Izaguirre1992, section 6 (PUMA 260)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from tauform.closedform.base.parameters import SOURCES
from tauform.closedform.base.relations.nullvectors import length_values
from tauform.closedform.base.relations.relations import gautier_name
from tauform.description.joint import Joint
from tauform.description.robot import Robot

NO_EFFECT = "XX1 XY1 XZ1 YY1 YZ1 MX1 MY1 MZ1 M1 MZ2 M2"
REGROUPED = "Ia1 YY2 Ia2 YY3 MZ3 M3 YY4 MZ4 M4 YY5 MZ5 M5 YY6 MZ6 M6"
ALONE = "XY2 YZ2 MY2 XZ3 YZ3 Ia3 XY4 XZ4 YZ4 MX4 Ia4 XY5 XZ5 YZ5 MX5 Ia5 XY6 XZ6 YZ6 ZZ6 MX6 MY6 Ia6"
# Table V; Python's operators in place of typography.
TABLE_V = {
    "ZZR1": "ZZ1+YY2+YY3+2*R3*MZ3+(R3**2+D3**2+D4**2)*(M4+M5+M6)+(R3**2+D3**2)*M3+Ia1",
    "XXR2": "XX2-YY2-D3**2*(M3+M4+M5+M6)",
    "XZR2": "XZ2-D3*MZ3-D3*R3*(M3+M4+M5+M6)",
    "ZZR2": "ZZ2+D3**2*(M3+M4+M5+M6)+Ia2",
    "MXR2": "MX2+D3*(M3+M4+M5+M6)",
    "XXR3": "XX3-YY3+YY4+2*R4*MZ4+(R4**2-D4**2)*(M4+M5+M6)",
    "XYR3": "XY3-D4*MZ4-D4*R4*(M4+M5+M6)",
    "ZZR3": "ZZ3+YY4+2*R4*MZ4+(D4**2+R4**2)*(M4+M5+M6)",
    "MXR3": "MX3+D4*(M4+M5+M6)",
    "MYR3": "MY3+MZ4+R4*(M4+M5+M6)",
    "XXR4": "XX4-YY4+YY5",
    "ZZR4": "ZZ4+YY5",
    "MYR4": "MY4-MZ5",
    "XXR5": "XX5-YY5+YY6",
    "ZZR5": "ZZ5+YY6",
    "MYR5": "MY5+MZ6",
    "XXR6": "XX6-YY6",
}
# Table III, column XB1.
TABLE_III = """
    ZZR1 5.0186 XXR2 -2.05 XY2 0.7 XZR2 -1.07 YZ2 0.65 ZZR2 6.55 MXR2 4.3 MY2 0.6 XXR3 0.7634 XYR3 0.6872
    XZ3 0.55 YZ3 -0.6 ZZR3 0.9646 MXR3 0.528 MYR3 1.14 Ia3 1.0 XXR4 -0.42 XY4 0.02 XZ4 0.02 YZ4 0.015
    ZZR4 0.07 MX4 0.02 MYR4 -0.07 Ia4 0.3 XXR5 0.02 XY5 0.01 XZ5 0.01 YZ5 0.01 ZZR5 0.06 MX5 0.02 MYR5 0.03
    Ia5 0.3 XXR6 0.0 XY6 0.01 XZ6 0.01 YZ6 0.01 ZZ6 0.02 MX6 0.01 MY6 0.01 Ia6 0.3
"""


@pytest.fixture(scope="module")
def puma() -> Robot:
    return tf.load("puma560_gautier")


def in_gautier(base: tf.BaseParameters, names: tuple[str, ...]) -> set[str]:
    return {gautier_name(base.layout.parameter(name)) for name in names}


@pytest.mark.parametrize("method", ["qr", "svd"])
@pytest.mark.parametrize("source", SOURCES)
def test_puma560_has_the_papers_base_parameters(puma: Robot, method: str, source: str) -> None:
    base = tf.base_parameters(puma, method=method, source=source)
    assert (len(base.columns), len(base.columns) - len(base.no_effect), base.n) == (66, 55, 40)
    assert in_gautier(base, base.no_effect) == set(NO_EFFECT.split())
    assert in_gautier(base, base.regrouped) == set(REGROUPED.split())
    assert in_gautier(base, base.alone) == set(ALONE.split())
    cells = TABLE_III.split()
    printed = dict(zip(cells[::2], map(float, cells[1::2]), strict=True))
    values = {gautier_name(own): value for own, value in zip(base.parameters, base.values(puma), strict=True)}
    assert values.keys() == printed.keys()
    for name, value in printed.items():
        assert abs(values[name] - value) < 0.5e-4 + 1e-12, name
    assert base.gap > 1e10
    assert not base.findings


def with_lengths(robot: Robot, values: dict[str, float]) -> Robot:
    """The same robot with other values of its named lengths."""

    def moved(joint: Joint) -> Joint:
        lengths = tuple(replace(length, value=values[length.name]) for length in joint.lengths)
        T = np.array(joint.parent_from_joint)
        T[:3, 3] = sum((length.value * length.direction for length in lengths), np.zeros(3))
        return replace(joint, parent_from_joint=T, lengths=lengths)

    return replace(robot, joints=tuple(moved(joint) for joint in robot.joints))


def test_puma560_relations_are_those_of_table_v_for_any_lengths(puma: Robot) -> None:
    """The same polynomials: equal at 20 random values of the lengths and of the parameters."""
    found = tf.base_parameters(puma)
    relations = dict(zip(map(gautier_name, found.parameters), found.relations, strict=True))
    assert all(relation.exact for relation in relations.values())
    assert {name for name, relation in relations.items() if len(relation.terms) > 1} == TABLE_V.keys()
    rng = np.random.default_rng(0)
    for _ in range(20):
        lengths = dict(zip(("D3", "R3", "D4", "R4"), rng.normal(size=4), strict=True))
        other = with_lengths(puma, lengths)
        numeric = tf.base_parameters(other)
        parameters = rng.normal(size=84)
        symbols = {gautier_name(own): value for own, value in zip(puma.layout.parameters, parameters, strict=True)}
        theta = dict(zip(map(gautier_name, numeric.parameters), numeric.values(parameters), strict=True))
        for name, relation in relations.items():
            terms = {gautier_name(relation.parameters[k]): c.evaluate(lengths) for k, c in relation.terms.items()}
            ours = sum(value * symbols[k] for k, value in terms.items())
            assert ours == pytest.approx(theta[name], rel=1e-12, abs=1e-12)
            if name in TABLE_V:
                assert ours == pytest.approx(eval(TABLE_V[name], {}, {**symbols, **lengths}), rel=1e-12, abs=1e-12)


def test_relations_read_as_the_paper_writes_them(puma: Robot) -> None:
    base = tf.base_parameters(puma)
    text = base.relations[0].text("gautier")
    assert text == ("ZZR1 = ZZ1 + Ia1 + YY2 + YY3 + 2 R3 MZ3 + (R3^2 + D3^2) M3 + (R3^2 + D3^2 + D4^2) (M4 + M5 + M6)")
    assert base.names[0] == "IzzR_1"
    assert str(base.relations[0]).startswith("IzzR_1 = Izz_1 + Ia_1 + Iyy_2")
    assert str(base.relations[0]) in str(base)


def test_lengths_are_named_by_the_description(puma: Robot) -> None:
    assert length_values(puma) == {"D3": 0.5, "R3": 0.2, "D4": 0.02, "R4": 0.6}


def test_puma260_has_52_independent_of_78_with_motor_inertias_kept() -> None:
    robot = tf.load("puma260_izaguirre")
    base = tf.base_parameters(robot, include=("link", "rotor", "viscous", "coulomb"), order=("Ia",))
    kinds = [name.split("_")[0].removesuffix("R") for name in base.names]
    assert (len(base.columns), base.n) == (78, 52)
    assert kinds.count("Ia") == kinds.count("Fv") == kinds.count("Fc") == 6
    assert sum(kind[0] in "mI" and kind != "Ia" for kind in kinds) == 34
    # "Two parameters were dependent on the actuator inertias of links 1 and 2."
    assert [name for name in base.names if name.startswith("IaR")] == ["IaR_1", "IaR_2"]
