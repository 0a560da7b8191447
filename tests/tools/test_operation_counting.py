"""Operation counts against the formulas of Safeea2018."""

from __future__ import annotations

import numpy as np
import pytest

from tauform.rigidbody.inertia.composite_rigid_body import composite_rigid_body
from tauform.rigidbody.inertia.mass_matrix import MANY_JOINTS
from tools.linearization_counting import count_linearization, linearization_crossovers, paper_count
from tools.operation_counting import (
    CountingScalar,
    Tally,
    count,
    count_mass_matrix,
    counting_tree,
    crossover,
    mass_matrix_crossovers,
    table_1,
    unknowns,
)


def test_counting_scalar_counts_and_folds_constants():
    tally = Tally()
    x = CountingScalar(tally)
    assert (0 * x, x * 0, x + 0, 1 * x) == (0, 0, x, x)
    assert tally == Tally(0, 0)
    _ = (x * x + x) / x - 2 * x
    assert tally == Tally(multiplications=3, additions=2)
    vector = np.array([x, 0, x], dtype=object)
    _ = (vector * vector).sum()
    assert tally == Tally(multiplications=5, additions=3)


def quadratic_term(values):
    """Second difference of three consecutive counts, halved: the coefficient of n^2."""
    return (values[2] - 2 * values[1] + values[0]) / 2


def test_gdahj_has_the_papers_quadratic_cost():
    counts = [count_mass_matrix(n).gdahj_without_kinematics for n in (20, 21, 22)]
    # Safeea2018, Table I: 3 n^2 multiplications and 2.5 n^2 additions
    assert quadratic_term([c.multiplications for c in counts]) == 3
    assert quadratic_term([c.additions for c in counts]) == 2.5


def test_gdahj_beats_crba_for_many_joints_only():
    found = mass_matrix_crossovers("dh", limit=20)
    # Table I's own formulas cross at 13; ours leave the direct kinematics out or count it
    assert found["Safeea2018 without direct kinematics, Safeea2018"] == 13
    assert found["ours without direct kinematics, ours"] == 12
    assert found["ours with direct kinematics, ours"] == found["ours with direct kinematics, Safeea2018"] == MANY_JOINTS
    few, many = count_mass_matrix(3), count_mass_matrix(100)
    assert few.crba.total < few.gdahj.total
    assert many.gdahj.total < many.crba.total / 2
    assert many.gdahj_without_kinematics.total < 1.02 * many.gdahj_paper.total


@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_crba_costs_no_more_than_the_papers(n):
    found, paper = count_mass_matrix(n).crba, table_1(n)["CRBA"]
    assert found.multiplications <= paper.multiplications
    assert found.additions <= paper.additions


def test_table_1_is_the_papers():
    # 3/2 n^3 + 35/2 n^2 + 9 n - 16 and 7/6 n^3 + 23/2 n^2 + 64/3 n - 28; RNEA 93 n - 108 and 81 n - 100, twice
    assert table_1(2)["symbolic-numeric"] == Tally(84, 70)
    assert table_1(2)["RNEA, n times"] == Tally(156, 124)


def test_sliding_chains_cost_less():
    sliding, turning = counting_tree(5, revolute=False), counting_tree(5)
    assert count(composite_rigid_body, sliding, unknowns(sliding)).total < (
        count(composite_rigid_body, turning, unknowns(turning)).total
    )


@pytest.mark.parametrize(("cheaper", "expected"), [(lambda n: 10, 11), (lambda n: 0, 1), (lambda n: 200, None)])
def test_crossover(cheaper, expected):
    assert crossover(cheaper, lambda n: n) == expected


def test_linearization_counts_beside_the_paper():
    # Jain1993: Algorithm 1 costs 320n - 159 multiplications and 303n - 149 additions
    assert paper_count("1", 7) == Tally(2081, 1972)
    assert paper_count("4", 6) == Tally(3250, 3006)
    for n in (6, 10):
        assert count_linearization("1", n).total < paper_count("1", n).total
        assert count_linearization("6", n).total < paper_count("6", n).total


def test_vector_forms_grow_linearly_and_matrices_quadratically():
    for algorithm in ("1", "5"):
        totals = [count_linearization(algorithm, n).total for n in (9, 10, 11)]
        assert quadratic_term(totals) == 0
    for algorithm in ("2", "6"):
        totals = [count_linearization(algorithm, n).total for n in (7, 8, 9, 10)]
        assert np.diff(totals, 3) == 0
        assert quadratic_term(totals) > 0
    assert np.diff([count_linearization("4", n).total for n in (7, 8, 9, 10)], 3) > 0


def test_inverse_vector_costs_at_most_two_and_a_half_inverse_dynamics():
    for geometry in ("dh", "general"):
        vector, once = (count_linearization(name, 7, geometry).total for name in ("1", "inverse dynamics"))
        assert vector < 2.5 * once


def test_direct_methods_win_for_many_joints():
    found = linearization_crossovers(limit=18)
    assert found["6 beats 4 (Jain1993)"] == 16
    assert found["6 beats 4"] <= 16
    assert found["5 beats 3"] <= 8
    # with many joints the vector costs less than a third of the matrices
    assert 3 * count_linearization("5", 40).total < count_linearization("6", 40).total
