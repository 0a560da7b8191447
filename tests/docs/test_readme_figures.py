"""Figures of the README that do not depend on the machine are those that the code gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tauform as tf

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
COLUMNS = {"kr6_r700": 0, "lbr7": 1, "sr6ia": 2}


def cells(row: str) -> list[str]:
    found = re.search(rf"^\| {re.escape(row)} \|(.*)\|$", README, re.MULTILINE)
    assert found, row
    return [cell.strip() for cell in found[1].split("|")]


@pytest.mark.parametrize("name", COLUMNS)
def test_closed_form(name: str) -> None:
    model = tf.derive(tf.load(name))
    quoted = cells("terms p / base parameters l of the closed form")[COLUMNS[name]]
    assert quoted == f"{model.n_terms} / {model.n_base}"


@pytest.mark.parametrize("name", COLUMNS)
def test_operations_are_no_more_than_quoted(name: str) -> None:
    program = tf.generate(tf.load(name), "inverse_dynamics")
    multiplications, additions = map(int, cells("operations of inverse dynamics, mult + add")[COLUMNS[name]].split("+"))
    assert program.n_operations <= multiplications + additions
