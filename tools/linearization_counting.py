"""Operation counts of the linearised dynamics, next to the formulas of Jain1993."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tauform.rigidbody.articulated_body import articulated_body
from tauform.rigidbody.inverse_dynamics import newton_euler
from tauform.rigidbody.linearize.forward_matrices import forward_matrices, forward_matrices_conventional
from tauform.rigidbody.linearize.forward_vector import forward_vector, forward_vector_conventional
from tauform.rigidbody.linearize.inverse_matrices import inverse_matrices
from tauform.rigidbody.linearize.inverse_vector import inverse_vector
from tools.operation_counting import Geometry, Tally, count, counting_tree, crossover, unknowns

# Name -> algorithm and how many joint vectors it takes.
ALGORITHMS: dict[str, tuple[Callable[..., Any], int]] = {
    "inverse dynamics": (newton_euler, 3),
    "forward dynamics": (articulated_body, 3),
    "1": (inverse_vector, 6),
    "2": (inverse_matrices, 3),
    "3": (forward_vector_conventional, 6),
    "4": (forward_matrices_conventional, 3),
    "5": (forward_vector, 6),
    "6": (forward_matrices, 3),
}
# Coefficients of n^3, n^2, n and 1: multiplications, then additions.
_PAPER: dict[str, tuple[tuple[int | str, ...], tuple[int | str, ...]]] = {
    "1": ((0, 0, 320, -159), (0, 0, 303, -149)),
    "2": ((0, 21, 333, -132), (0, "47/2", "605/2", -145)),
    "3": (("1/6", "3/2", "952/3", -153), ("1/6", 1, "1805/6", -147)),
    "4": (("17/6", "43/2", "998/3", -132), ("17/6", 20, "1819/6", -145)),
    "5": ((0, 0, 259, -129), (0, 0, 232, -123)),
    "6": ((0, 36, 781, -225), (0, 33, 773, -255)),
}


def count_linearization(algorithm: str, n: int, geometry: Geometry = "dh") -> Tally:
    """Operations of one algorithm for a revolute chain of n joints.

    Args:
        algorithm: "1" to "6" (Jain1993), "inverse dynamics" or "forward dynamics". Algorithms 3 to 6 count the
            nominal accelerations too, which the paper takes as known.
        n: number of joints.
        geometry: "dh" has the zeros of a modified DH frame, "general" has none.
    """
    core, n_vectors = ALGORITHMS[algorithm]
    tree = counting_tree(n, geometry)
    return count(core, tree, *[unknowns(tree)] * n_vectors)


def paper_count(algorithm: str, n: int) -> Tally:
    """What Jain1993 states for Algorithm "1" to "6", rounded to whole operations."""
    powers = (n**3, n**2, n, 1)
    sums = (sum(Fraction(str(c)) * power for c, power in zip(row, powers, strict=True)) for row in _PAPER[algorithm])
    return Tally(*(round(total) for total in sums))


def linearization_crossovers(geometry: Geometry = "dh", limit: int = 40) -> dict[str, int | None]:
    """Number of joints from which the direct method beats the conventional one, in operations."""

    def ours(algorithm: str) -> Callable[[int], int]:
        return lambda n: count_linearization(algorithm, n, geometry).total

    def paper(algorithm: str) -> Callable[[int], int]:
        return lambda n: paper_count(algorithm, n).total

    return {
        "5 beats 3": crossover(ours("5"), ours("3"), limit),
        "6 beats 4": crossover(ours("6"), ours("4"), limit),
        "5 beats 3 (Jain1993)": crossover(paper("5"), paper("3"), limit),
        "6 beats 4 (Jain1993)": crossover(paper("6"), paper("4"), limit),
    }
