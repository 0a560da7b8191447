"""Equations and relations as text and LaTeX: what is written evaluates to the torques and the base parameters."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tauform as tf
from random_robots import random_states, random_tree
from tauform.closedform.notation import digits_of

TOKEN = re.compile(
    r"\\operatorname\{sign\}|\\d*dot q_\{\d+\}|[A-Za-z]_\{[^}]*\}|[a-zA-Z]+|"
    r"\\times 10\^\{-?\d+\}|\d+\.?\d*|\^\{?-?\d+\}?|."
)


def python_of(latex: str) -> str:
    """An expression that Python can evaluate, products written out."""
    written: list[str] = []
    for token in TOKEN.findall(latex):
        if token.isspace():
            continue
        if token.startswith(r"\times"):
            written[-1] += "e" + token[len(r"\times 10^{") : -1]
            continue
        if token.startswith("^"):
            written.append("**(" + token.strip("^{}") + ")")
            continue
        factor = re.sub(r"[\\{}_, ]", "", token.replace("operatorname{sign}", "sign"))
        follows = written and written[-1] not in "+-(" and written[-1] != "sign" and token not in "+-)"
        written.extend(["*", factor] if follows else [factor])
    return "".join(written)


def values_of(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, parameters: dict[str, float]) -> dict[str, Any]:
    """What the letters of the LaTeX stand for."""
    values: dict[str, Any] = {"sign": np.sign}
    for i in range(len(q)):
        values |= {f"q{i + 1}": q[i], f"s{i + 1}": np.sin(q[i]), f"c{i + 1}": np.cos(q[i])}
        values |= {f"dotq{i + 1}": qd[i], f"ddotq{i + 1}": qdd[i]}
    return values | {name.replace("_", ""): value for name, value in parameters.items()}


def torques_of(latex: str, values: dict[str, Any]) -> list[float]:
    inner = latex.removeprefix("\\begin{align}\n").removesuffix("\n\\end{align}\n")
    return [eval(python_of(line.split("&=")[1]), {}, values) for line in inner.split(" \\\\\n")]


@pytest.mark.parametrize("include", [None, "declared"])
@pytest.mark.parametrize("seed", range(4))
def test_latex_evaluates_to_the_torque(seed: int, include: Any) -> None:
    robot = random_tree(2, seed, chain=True, prismatic=0.5)
    model = tf.derive(robot, include=include)
    bound = model.bind(robot)
    states = q, qd, qdd = random_states(robot, 1, seed)[:, 0]
    values = values_of(q, qd, qdd, dict(zip(model.base.names, bound.theta, strict=True)))
    expected = tf.inverse_dynamics(robot, *states)
    np.testing.assert_allclose(torques_of(bound.to_latex(), values), expected, rtol=1e-12)
    alone = model.bind(bound.theta).inverse_dynamics(*states)
    np.testing.assert_allclose(torques_of(model.to_latex(), values), alone, rtol=1e-12)


@pytest.mark.parametrize("name", ["puma560_gautier", "kr6_r700", "sr6ia"])
def test_relations_in_latex_are_the_grouping(name: str) -> None:
    from tauform.closedform.base.relations.nullvectors import length_values

    robot = tf.load(name)
    base = tf.base_parameters(robot)
    values = {key.replace("_", ""): x for key, x in zip(robot.parameter_names, robot.parameters, strict=True)}
    values |= {key.replace("_", ""): x for key, x in length_values(robot).items()}
    found = [eval(python_of(relation.text("latex").split(" = ")[1]), {}, values) for relation in base.relations]
    np.testing.assert_allclose(found, base.values(robot), rtol=1e-9, atol=1e-12)


def test_numbers_have_the_digits_that_matter() -> None:
    assert (
        tf.derive(tf.load("two_link"))
        .bind(tf.load("two_link"))
        .equations()[1]
        .endswith("+ 0.807467*qdd1 + 1.32*c2*qdd1 + 0.807467*qdd2 + 1.32*s2*qd1**2")
    )
    rng = np.random.default_rng(0)
    for value in rng.normal(size=1000) * 10.0 ** rng.integers(-20, 20, 1000):
        assert abs(float(digits_of(value)) - value) <= 2e-15 * abs(value)
    assert digits_of(0.1 + 0.2) == "0.3"
    assert digits_of(1 / 3, 4) == "0.3333"


def test_digits_are_a_choice() -> None:
    bound = tf.derive(tf.load("two_link")).bind(tf.load("two_link"))
    assert "0.81*qdd1" in bound.equations(digits=2)[1]
    assert r"0.81 \ddot q_{1}" in bound.to_latex(digits=2)
    with pytest.raises(tf.errors.ModelError, match="digits: expected 1 to 17, got 0"):
        bound.equations(digits=0)


def test_small_numbers_are_powers_of_ten_in_latex() -> None:
    robot = tf.load("two_link")
    light = robot.with_parameters(1e-9 * robot.parameters)
    assert r"\times 10^{-9}" in tf.derive(robot).bind(light).to_latex()


def test_notebooks_draw_what_is_short() -> None:
    model = tf.derive(tf.load("two_link"))
    assert model._repr_latex_().startswith("$\\displaystyle\n\\begin{aligned}\n\\tau_{1} &= ")
    assert "0.807467" in model.bind(tf.load("two_link"))._repr_latex_()
    assert tf.derive(tf.load("kr6_r700"))._repr_latex_() is None
    assert "| `mxR_1` | `mx_1 + a1 m_2` |" in model.base._repr_markdown_()


def test_a_style_that_does_not_exist_is_refused() -> None:
    with pytest.raises(tf.errors.UnknownNameError, match="style: no 'tex'; choose from 'names', 'gautier', 'latex'"):
        tf.base_parameters(tf.load("two_link")).relations[0].text("tex")  # type: ignore[arg-type]


def test_python_evaluates_equations_of_any_length():
    robot = tf.load("kr6_r700")
    bound = tf.derive(robot).bind(robot)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 6))
    names = {}
    for i in range(6):
        names |= {f"q{i + 1}": q[i], f"s{i + 1}": np.sin(q[i]), f"c{i + 1}": np.cos(q[i])}
        names |= {f"qd{i + 1}": qd[i], f"qdd{i + 1}": qdd[i]}
    for line in bound.equations(max_terms=10_000):
        exec(line, names)
    tau = [names[f"tau{i + 1}"] for i in range(6)]
    np.testing.assert_allclose(tau, bound.inverse_dynamics(q, qd, qdd), rtol=0, atol=1e-10)
