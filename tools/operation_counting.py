"""Exact operation counts: algorithms run on scalars that count, next to the formulas of the papers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.joint_types import PRISMATIC, REVOLUTE
from tauform.description.tree import Tree
from tauform.rigidbody.inertia.composite_rigid_body import composite_rigid_body
from tauform.rigidbody.inertia.gdahj import gdahj, gdahj_from_kinematics
from tauform.rigidbody.inertia.mass_matrix import MANY_JOINTS as MANY_JOINTS
from tauform.rigidbody.sweeps.base_frame import base_placements
from tauform.rigidbody.sweeps.motion import transforms_of

Geometry = Literal["dh", "general"]


@dataclass
class Tally:
    """Operations of one run; a division counts as a multiplication, as in the papers."""

    multiplications: int = 0
    additions: int = 0

    @property
    def total(self) -> int:
        return self.multiplications + self.additions


class CountingScalar:
    """An unknown number; arithmetic with it is tallied, except with the constants 0, 1 and -1, which fold away."""

    __slots__ = ("tally",)

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    def __add__(self, other: Any) -> Any:
        if _is_constant(other, 0):
            return self
        self.tally.additions += 1
        return self

    def __mul__(self, other: Any) -> Any:
        if _is_constant(other, 0):
            return 0
        if not _is_constant(other, 1, -1):
            self.tally.multiplications += 1
        return self

    def __truediv__(self, other: Any) -> CountingScalar:
        if not _is_constant(other, 1, -1):
            self.tally.multiplications += 1
        return self

    def __rtruediv__(self, other: Any) -> Any:
        if _is_constant(other, 0):
            return 0
        self.tally.multiplications += 1
        return self

    def __neg__(self) -> CountingScalar:
        return self  # a sign is carried into the addition that follows

    def sin(self) -> CountingScalar:
        """A new unknown; sines and cosines are not counted, as in the papers."""
        return self

    cos = sign = sqrt = abs = exp = tanh = sin
    __radd__ = __sub__ = __rsub__ = __add__
    __rmul__ = __mul__


def _is_constant(value: Any, *constants: int) -> bool:
    return not isinstance(value, CountingScalar) and value in constants


def counting_tree(n: int, geometry: Geometry = "dh", *, revolute: bool = True, rotors: bool = False) -> Tree:
    """A chain of n joints whose numbers are all unknown; run an algorithm on it with `unknowns` of the same tally.

    Args:
        geometry: "dh" has the zeros of a DH table, Tz(d) Tx(a) Rx(alpha) between joints (d = 0 for a sliding joint);
            "general" has none.
        revolute: whether all joints turn, or all slide.
        rotors: whether joints have rotor inertia; friction and gravity are zero.
    """
    x = CountingScalar(Tally())
    placement = np.full((n, 4, 4), x, dtype=object)
    if geometry == "dh":
        placement[:, :3, :3] = np.array([[1, 0, 0], [0, x, x], [0, x, x]], dtype=object)
        placement[:, 1 if revolute else slice(1, 3), 3] = 0
    joints = np.zeros((n, 4), dtype=object)
    if rotors:
        joints[:, 0] = x
    return Tree.of(
        parents=tuple(range(-1, n - 1)),
        types=(REVOLUTE if revolute else PRISMATIC,) * n,
        parent_from_joint=placement,
        inertias=np.full((n, 10), x, dtype=object),
        joint_parameters=joints,
        gravity=np.zeros(3, dtype=object),
    )


def tally_of(tree: Tree) -> Tally:
    """The tally that all numbers of a counting tree report to."""
    return tree.inertias[0, 0, 0].tally


def unknowns(tree: Tree) -> AnyArray:
    """(n, 1) unknown joint positions, velocities, accelerations or torques."""
    return np.full((tree.n, 1), tree.inertias[0, 0, 0], dtype=object)


def count(algorithm: Callable[..., Any], tree: Tree, *arguments: Any) -> Tally:
    """Operations of algorithm(tree, *arguments)."""
    tally = tally_of(tree)
    tally.multiplications = tally.additions = 0
    algorithm(tree, *arguments)
    return Tally(tally.multiplications, tally.additions)


def table_1(n: int) -> dict[str, Tally]:
    """Safeea2018 Table I at n joints: the mass matrix by each method; the symbolic one has Coriolis terms with it.

    Of n runs of RNEA the paper gives the quadratic part, (93 n^2 - x1 n)m + (81 n^2 - x2 n)a; here all of each run.
    """
    symbolic = (9 * n**3 + 105 * n**2 + 54 * n - 96) / 6, (7 * n**3 + 69 * n**2 + 128 * n - 168) / 6
    return {
        "GDAHJ": Tally(3 * n**2 + 88 * n - 3, round(2.5 * n**2 + 95.5 * n - 18)),
        "CRBA": Tally(10 * n**2 + 22 * n - 32, 6 * n**2 + 37 * n - 43),
        "symbolic-numeric": Tally(*map(round, symbolic)),
        "RNEA, n times": Tally(n * (93 * n - 108), n * (81 * n - 100)),
    }


@dataclass(frozen=True)
class MassMatrixCount:
    """Operations of both mass-matrix algorithms for n joints, and what Safeea2018 Table I states."""

    n: int
    crba: Tally
    gdahj: Tally
    gdahj_without_kinematics: Tally
    crba_paper: Tally
    gdahj_paper: Tally


def count_mass_matrix(n: int, geometry: Geometry = "dh") -> MassMatrixCount:
    """Counts for a revolute chain of n joints. The paper's GDAHJ leaves out the direct kinematics."""
    tree = counting_tree(n, geometry)
    q, paper = unknowns(tree), table_1(n)
    placements = base_placements(tree.centred, transforms_of(tree.centred, q))
    return MassMatrixCount(
        n=n,
        crba=count(composite_rigid_body, tree, q),
        gdahj=count(gdahj, tree, q),
        gdahj_without_kinematics=count(gdahj_from_kinematics, tree, placements),
        crba_paper=paper["CRBA"],
        gdahj_paper=paper["GDAHJ"],
    )


def crossover(cheaper: Callable[[int], int], dearer: Callable[[int], int], limit: int = 100) -> int | None:
    """Smallest n from which on, up to the limit, cheaper(n) < dearer(n); None where there is none."""
    found = None
    for n in reversed(range(1, limit + 1)):
        if cheaper(n) >= dearer(n):
            return found
        found = n
    return found


def mass_matrix_crossovers(geometry: Geometry = "dh", limit: int = 40) -> dict[str, int | None]:
    """Number of joints from which GDAHJ beats CRBA, in operations."""
    counts = {n: count_mass_matrix(n, geometry) for n in range(1, limit + 1)}

    def total(which: str) -> Callable[[int], int]:
        return lambda n: getattr(counts[n], which).total

    return {
        "ours with direct kinematics, ours": crossover(total("gdahj"), total("crba"), limit),
        "ours without direct kinematics, ours": crossover(total("gdahj_without_kinematics"), total("crba"), limit),
        "ours with direct kinematics, Safeea2018": crossover(total("gdahj"), total("crba_paper"), limit),
        "Safeea2018 without direct kinematics, Safeea2018": crossover(total("gdahj_paper"), total("crba_paper"), limit),
    }
