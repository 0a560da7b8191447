"""Operation counts of the general algorithms next to the papers' formulas, as the tables of docs/operation_counts.md.

Run with `python -m tools.operation_counts`; it prints the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import tauform as tf
from tools.linearization_counting import (
    ALGORITHMS,
    count_linearization,
    linearization_crossovers,
    paper_count,
)
from tools.operation_counting import Tally, count_mass_matrix, mass_matrix_crossovers, table_1

MASS_MATRIX_SIZES = (1, 2, 3, 6, 7, 10, 13, 20, 50, 100)
LINEARIZATION_SIZES = (6, 7, 10, 20, 50)
VECTOR_SIZES = (2, 6, 7, 10, 20, 30, 40, 50, 100)
PROGRAM_ROBOTS = ("kr6_r700", "lbr7")
# Function and algorithm; "auto" is the cheapest.
PROGRAMS = (
    ("inverse_dynamics", "auto"),
    ("forward_dynamics", "auto"),
    ("linearize_inverse_vector", "auto"),
    ("linearize_inverse", "auto"),
    ("linearize_forward_vector", "auto"),
    ("linearize_forward", "auto"),
    ("linearize_forward", "algorithm_4"),
    ("linearize_forward", "algorithm_6"),
)

INTRODUCTION = """# Operation counts

Multiplications + additions of the general algorithms, counted exactly by running them on scalars that count
(`tools.operation_counting`): a revolute chain whose joint frames have the zeros of a DH table, everything
else unknown, no rotors, no friction, no gravity. Products with 0 and 1 are not counted, nor are sines and cosines; a
division counts as a multiplication. Generated programs know the robot's numbers and cost far less.
Printed by `python -m tools.operation_counts`.
"""


def cell(tally: Tally) -> str:
    """Multiplications + additions."""
    return f"{tally.multiplications} + {tally.additions}"


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def mass_matrix_rows(sizes: Iterable[int]) -> list[tuple[object, ...]]:
    """CRBA, GDAHJ with and without direct kinematics, and Safeea2018 Table I."""
    counts = map(count_mass_matrix, sizes)
    return [
        (c.n, *map(cell, (c.crba, c.gdahj, c.gdahj_without_kinematics, c.crba_paper, c.gdahj_paper))) for c in counts
    ]


def linearization_rows(sizes: Iterable[int]) -> list[tuple[object, ...]]:
    """Algorithms 1 to 6, ours and the paper's."""
    rows: list[tuple[object, ...]] = []
    for n in sizes:
        rows.append((n, "tauform", *(cell(count_linearization(algorithm, n)) for algorithm in ALGORITHMS)))
        rows.append((n, "Jain1993", "", "", *(cell(paper_count(algorithm, n)) for algorithm in "123456")))
    return rows


def vector_rows(sizes: Iterable[int]) -> list[tuple[object, ...]]:
    """How the vector forms grow."""
    rows = []
    for n in sizes:
        inverse, one, five, six = (count_linearization(name, n).total for name in ("inverse dynamics", "1", "5", "6"))
        rows.append((n, inverse, one, f"{one / inverse:.2f}", five, six, f"{five / six:.2f}"))
    return rows


def program_rows(
    programs: Iterable[tuple[str, str]], robots: Sequence[str] = PROGRAM_ROBOTS
) -> list[tuple[object, ...]]:
    """Generated programs, and their size beside that of inverse dynamics."""
    loaded = [tf.load(robot) for robot in robots]
    inverse = [_program(robot, "inverse_dynamics") for robot in loaded]
    rows = []
    for name, algorithm in programs:
        counts = [_program(robot, name, algorithm) for robot in loaded]
        ratios = [f"{count.total / base.total:.2f}" for count, base in zip(counts, inverse, strict=True)]
        entries = (entry for pair in zip(map(cell, counts), ratios, strict=True) for entry in pair)
        rows.append((f"`{name}`", algorithm, *entries))
    return rows


def _program(robot: tf.Robot, name: str, algorithm: str = "auto") -> Tally:
    program = tf.generate(robot, name, algorithm=algorithm)
    return Tally(program.n_multiplications, program.n_additions)


def page() -> str:
    """The whole page."""
    sections = [
        INTRODUCTION,
        "## Mass matrix\n\nSafeea2018 Table I leaves out the direct kinematics of GDAHJ.\n",
        table(
            ("n", "CRBA", "GDAHJ", "GDAHJ, kinematics known", "CRBA, Safeea2018", "GDAHJ, Safeea2018"),
            mass_matrix_rows(MASS_MATRIX_SIZES),
        ),
        "\nGDAHJ costs less than CRBA from this many joints on. The first row compares like with like: both with all "
        "that they\nneed, both in the frames of a DH table. Searched programs, which know a robot's numbers, "
        "cross at 16 joints (a generic arm).\n",
        table(
            ("GDAHJ", "CRBA", "joints"),
            [(*pair.split(", "), joints) for pair, joints in mass_matrix_crossovers().items()],
        ),
        "\nSafeea2018 Table I, with the rows for other methods:\n",
        table(("n", *table_1(1)), [(n, *map(cell, table_1(n).values())) for n in (6, 7, 13, 30, 60)]),
        "\n## Linearised dynamics\n\nAlgorithms 3 to 6 contain the nominal accelerations here (the articulated body "
        "algorithm, or the solution with\nthe mass matrix), which Jain1993 takes as known.\n",
        table(
            ("n", "", "inverse dynamics", "forward dynamics", *(f"Alg. {k}" for k in "123456")),
            linearization_rows(LINEARIZATION_SIZES),
        ),
        "\nThe direct method costs less than the conventional one from this many joints on:\n",
        table(("", "joints"), linearization_crossovers().items()),
        "\nThe vector forms grow linearly, the matrices quadratically (sums of both operations):\n",
        table(("n", "inverse dynamics", "Alg. 1", "ratio", "Alg. 5", "Alg. 6", "5 / 6"), vector_rows(VECTOR_SIZES)),
        "\n## Generated programs\n\nFor the numbers of one robot, base parameters in place of link parameters; the "
        'ratio is to inverse dynamics.\n"auto" is the cheapest of all that are traced, derivatives of traced programs '
        "among them.\n",
        table(
            ("program", "algorithm", *(heading for robot in PROGRAM_ROBOTS for heading in (robot, "ratio"))),
            program_rows(PROGRAMS),
        ),
    ]
    return "\n".join(sections) + "\n"


if __name__ == "__main__":
    print(page(), end="")
