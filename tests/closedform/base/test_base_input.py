"""Bad input to base parameters and its command: one clear sentence. And the polynomials that relations are made of."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse

import tauform as tf
from tauform.cli import main
from tauform.closedform.base.regroup import regroup
from tauform.closedform.base.relations.polynomial import Polynomial
from tauform.errors import ModelError, ShapeError, UnknownNameError


@pytest.fixture(scope="module")
def arm() -> tf.Robot:
    return tf.load("two_link")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"method": "lu"}, UnknownNameError, "method: no 'lu'; choose from 'qr', 'qr_pivoted', 'svd'"),
        ({"source": "static"}, UnknownNameError, "choose from 'dynamic', 'velocity_free'"),
        ({"order": ["Izz_7"]}, UnknownNameError, "with 1 to 2"),
        ({"include": ["links"]}, UnknownNameError, "links"),
        ({"order": ["Ia"], "method": "qr_pivoted"}, ModelError, "with an order"),
    ],
)
def test_unknown_names_are_refused(arm: tf.Robot, options: dict, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        tf.base_parameters(arm, **options)


def test_matrix_must_fit_its_columns(arm: tf.Robot) -> None:
    with pytest.raises(ShapeError, match=r"expected \(rows, 3\)"):
        regroup(np.ones((4, 2)), arm, (0, 1, 2))
    with pytest.raises(ShapeError, match="not finite"):
        regroup(np.full((4, 2), np.nan), arm, (0, 1))


def test_dense_and_sparse_agree_and_tall_matrices_are_shortened(arm: tf.Robot) -> None:
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 500, 2))
    Y = tf.regressor(arm, q, qd, qdd, include=("link",)).reshape(-1, 20)
    columns = arm.columns(("link",))
    dense, sparse, few = (regroup(W, arm, columns) for W in (Y, scipy.sparse.csr_array(Y), Y[:40]))
    assert dense.names == sparse.names == few.names
    np.testing.assert_allclose(dense.grouping, few.grouping, rtol=0, atol=1e-12)


def test_matrix_of_zeros_has_no_base_parameters(arm: tf.Robot) -> None:
    base = regroup(np.zeros((5, 3)), arm, (0, 1, 2))
    assert base.n == 0
    assert base.no_effect == ("m_1", "mx_1", "my_1")


def test_command_prints_the_relations(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["base", "puma560_gautier", "--symbols", "gautier", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["standard"], len(data["no_effect"]), len(data["regrouped"]), data["n"]) == (66, 11, 15, 40)
    relations = [row["relation"] for row in data["base"]]
    assert "XZR2 = XZ2 - D3 MZ3 - D3 R3 (M3 + M4 + M5 + M6)" in relations
    assert main(["base", "two_link", "--order", "m_2"]) == 0
    assert "6 base parameters" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [["--method", "lu"], ["--source", "x"], ["--order", "x"], ["--include", "x"], ["--symbols", "x"]]
)
def test_command_refuses_in_one_sentence(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["base", "two_link", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.strip().splitlines()) <= 2


def test_polynomials_follow_the_rules_of_algebra() -> None:
    a, b = Polynomial.symbol("a"), Polynomial.symbol("b")
    values = {"a": 1.7, "b": -0.6}
    product = (a + b) * (a - b)
    assert str(product) == "-b^2 + a^2"
    assert product.evaluate(values) == pytest.approx(1.7**2 - 0.6**2)
    assert (product - a * a + b * b).is_zero
    assert str((a * a * b * 3.0 + b) / b) == "3 a^2 + 1"
    assert str(a / b) == "a b^-1"
