"""docs/operation_counts.md holds what is counted now."""

from __future__ import annotations

from pathlib import Path

from tools import operation_counts as counts

ROOT = Path(__file__).resolve().parents[2]


def test_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "operation_counts.md").read_text(encoding="utf-8")
    assert page.startswith(counts.INTRODUCTION)
    # The longest rows take seconds to count; if the short ones are right, the page was printed by this code.
    rows = counts.mass_matrix_rows([1, 7, 13]) + counts.linearization_rows([6, 7]) + counts.vector_rows([2, 7])
    rows += counts.program_rows([("inverse_dynamics", "auto")])
    for row in rows:
        assert counts.table([], [row]).splitlines()[-1] in page


def test_vector_programs_cost_a_fraction_of_the_matrices() -> None:
    """Change of torque: at most 2.5 times inverse dynamics; change of acceleration: a third of Algorithm 6."""
    programs = [
        ("linearize_inverse_vector", "tangent"),
        ("linearize_forward_vector", "tangent"),
        ("linearize_forward", "algorithm_6"),
    ]
    torque, acceleration, matrices = (float(row[-1]) for row in counts.program_rows(programs, ["kr6_r700"]))
    assert torque <= 2.5
    assert acceleration <= matrices / 3
