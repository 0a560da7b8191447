"""Which further terms the data ask for, decided on blocks of time that were held out.

The loss is the sum over joints of log(held-out squares). A term joins when it lowers the loss by more than a
threshold; single samples are never shuffled, so a term must help on stretches of motion it has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.identification.design import Design
from tauform.identification.evidence import Evidence
from tauform.identification.terms import SHAPES, Term, coupling

# Loss that a term must save: e^-0.08, so 8 % of one joint's held-out squares.
ENOUGH = 0.08
# A coupling brings three columns; a change of width brings none.
ENOUGH_COUPLING, ENOUGH_WIDTH = 2 * ENOUGH, 0.1 * ENOUGH
# Widths of the Coulomb step, relative to the speed that a joint exceeds 5 % of the time.
WIDTHS = (0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)
FIRST_WIDTH, COUPLING_WIDTH = 0.02, 0.01
PER_JOINT = ("asymmetric", "quadratic", "stiffness", "sine", "cosine")
# Candidates that look best on all rows and are tried on held-out blocks.
N_TRIED = 8
MOST_STEPS = 60
RIDGE = 1e-6
# Ways to divide the blocks into folds that are held out in turn; losses are averaged, so that the place of an edge
# decides nothing.
FOLDS = (8,)
# A column with less than this part of its squares outside the others' span says nothing of its own.
DEPENDENT = 1e-4
# Squares below this part of the torque's are not worth a term.
NEGLIGIBLE = 1e-10


@dataclass(frozen=True, eq=False)
class Candidates:
    """A design with all candidates among its terms.

    Attributes:
        design: base parameters with sharp Coulomb friction, then every candidate.
        coulomb: per joint the column of its own Coulomb step, sharp first, then one a width.
        singles: per joint its further single columns (smooth steps included).
        groups: couplings, each a tuple of columns.
    """

    design: Design
    coulomb: dict[int, tuple[int, ...]]
    singles: dict[int, tuple[int, ...]]
    groups: tuple[tuple[int, ...], ...]


def candidates(plain: Design, speeds: Array, friction: bool, couplings: bool) -> Candidates:
    """All candidates for a robot whose joints move at these speeds; loop constraints have none."""
    robot, base = plain.robot, plain.base
    terms: list[Term] = []
    coulomb: dict[int, tuple[int, ...]] = {}
    singles: dict[int, tuple[int, ...]] = {}
    first = base.n + len(plain.terms)
    own = {p: k for k, p in enumerate(base.pivots)}
    for j in range(robot.n_joints if friction and robot.closure is None else 0):
        start = first + len(terms)
        terms += [Term("smooth", (j,), float(width * speeds[j])) for width in WIDTHS]
        steps = tuple(range(start, start + len(WIDTHS)))
        sharp = own.get(10 * robot.n_bodies + 4 * j + 2)
        kinds = [k for k in PER_JOINT if robot.joints[j].is_revolute or k not in ("sine", "cosine")]
        terms += [Term(kind, (j,)) for kind in kinds]
        others = tuple(range(start + len(WIDTHS), first + len(terms)))
        if sharp is not None:
            coulomb[j] = (sharp, *steps)
        singles[j] = (*steps, *others)
    groups = []
    for i, j in neighbours(robot) if couplings else ():
        for sense in (1, -1):
            start = first + len(terms)
            terms += coupling(i, j, float(COUPLING_WIDTH * (speeds[i] + speeds[j])), sense)
            groups.append((start, start + 1, start + 2))
    return Candidates(plain.with_terms([*plain.terms, *terms]), coulomb, singles, tuple(groups))


def neighbours(robot: Robot) -> list[tuple[int, int]]:
    """Pairs of joints that sit next to each other on a branch."""
    if robot.closure is not None:
        return []
    return [(joint.parent, i) for i, joint in enumerate(robot.joints) if joint.parent >= 0]


class HeldOut:
    """Losses of selections of columns on held-out blocks."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.floor = NEGLIGIBLE * evidence.torque_squares
        self.ways = [evidence.folds(count) for count in FOLDS]
        folds = [fold for way in self.ways for fold in way]
        self.member = np.array(
            [[block in fold for block in range(len(evidence.counts))] for fold in folds], dtype=float
        )
        self.weigh(np.ones(evidence.n_joints))

    def weigh(self, weights: Array) -> None:
        """Set the weights of the joints."""
        self.by_block = np.einsum("j,bjpq->bpq", weights**2, self.evidence.products)
        self.total = self.by_block.sum(axis=0)
        self.without = self.total - np.tensordot(self.member, self.by_block, axes=1)

    def settle_weights(self, chosen: Sequence[int]) -> None:
        """Weights that suit a selection: the inverse of each joint's residuals."""
        weights = np.ones(self.evidence.n_joints)
        for _ in range(3):
            self.weigh(weights)
            squares = self.evidence.residual_squares(self.values(chosen)).sum(axis=0)
            weights = 1.0 / np.sqrt((squares + self.floor) / self.evidence.n_rows)
        self.weigh(weights)

    def loss(self, chosen: Sequence[int]) -> float:
        """Sum over the joints of the log of their squares on folds whose values come from all other folds."""
        values = self._solve(self.without, chosen)
        losses, first = [], 0
        for way in self.ways:
            squares = np.zeros(self.evidence.n_joints)
            for k, fold in enumerate(way):
                with_torque = np.append(values[first + k], -1.0)
                part = slice(fold[0], fold[-1] + 1)  # neighbours: a view, not a copy
                squares += ((self.evidence.triangles[part] @ with_torque) ** 2).sum(axis=(0, 2))
            losses.append(np.log(squares + self.floor).sum())
            first += len(way)
        return float(np.mean(losses))

    def values(self, chosen: Sequence[int]) -> Array:
        """(p,) values of a selection from all blocks, zero elsewhere."""
        return self._solve(self.total[None], chosen)[0]

    def promise(self, chosen: Sequence[int]) -> Array:
        """(p,) how much the weighted squares of all rows would fall with each further column; 0 for dependent ones."""
        p = self.evidence.n_columns
        values = self.values(chosen)
        S = self.total[np.ix_(chosen, chosen)]
        size = np.sqrt(np.diag(S))
        cross = self.total[:p][:, chosen] / size
        inverse = np.linalg.inv(S / np.outer(size, size) + RIDGE * np.eye(len(size)))
        left = np.diag(self.total)[:p] - np.einsum("ij,jk,ik->i", cross, inverse, cross)
        slope = self.total[:p, p] - self.total[:p, :p] @ values
        fresh = left > DEPENDENT * np.diag(self.total)[:p]
        return np.where(fresh, slope**2 / np.where(fresh, left, 1.0), 0.0)

    def _solve(self, products: Array, chosen: Sequence[int]) -> Array:
        index = np.array(chosen)
        p = self.evidence.n_columns
        size = np.sqrt(np.diag(self.total)[index])
        size = np.where(size > 0, size, 1.0)
        A = products[:, index[:, None], index] / np.outer(size, size) + RIDGE * np.eye(len(index))
        b = products[:, index, p] / size
        values = np.zeros((len(products), p))
        values[:, index] = np.linalg.solve(A, b[..., None])[..., 0] / size
        return values


def select(
    choice: Candidates, evidence: Evidence, start: Sequence[int], progress: Callable[[str], None] | None = None
) -> list[int]:
    """Columns of `choice.design` that predict held-out blocks best, found step by step from the plain `start`."""
    held_out = HeldOut(evidence)
    chosen = _started(choice, start)
    held_out.settle_weights(chosen)
    for _ in range(MOST_STEPS):
        loss = held_out.loss(chosen)
        moves = [*_additions(choice, held_out, chosen), *_changes(choice, chosen), *_removals(choice, chosen, start)]
        gains = [(loss - held_out.loss(following) - price, k) for k, (following, price) in enumerate(moves)]
        best, k = max(gains, default=(0.0, 0))
        if best <= 0:
            break
        chosen = moves[k][0]
        held_out.settle_weights(chosen)
        if progress is not None:
            progress(f"{len(chosen)} columns")
    return chosen


def _started(choice: Candidates, start: Sequence[int]) -> list[int]:
    """The plain columns, with a moderate width for every Coulomb step."""
    chosen = list(start)
    for columns in choice.coulomb.values():
        chosen[chosen.index(columns[0])] = columns[1 + WIDTHS.index(FIRST_WIDTH)]
    return chosen


def _changes(choice: Candidates, chosen: list[int]) -> Iterator[tuple[list[int], float]]:
    """Each Coulomb step with a width one or two sizes away."""
    for columns in choice.coulomb.values():
        for place, old in enumerate(columns):
            if old in chosen:
                for new in columns[max(0, place - 2) : place + 3]:
                    if new not in chosen:
                        yield [new if c == old else c for c in chosen], ENOUGH_WIDTH


def _removals(choice: Candidates, chosen: list[int], start: Sequence[int]) -> Iterator[tuple[list[int], float]]:
    """Each further term taken away again; it may go if that costs less than half of what it had to bring."""
    steps = {c: columns for columns in choice.coulomb.values() for c in columns}
    for c in chosen:
        spare = c not in start if c not in steps else sum(other in steps[c] for other in chosen) > 1
        if spare and not any(c in group for group in choice.groups):
            yield [other for other in chosen if other != c], -0.5 * ENOUGH


def _additions(choice: Candidates, held_out: HeldOut, chosen: list[int]) -> Iterator[tuple[list[int], float]]:
    """The further terms that look best on all rows."""
    promise = held_out.promise(chosen)
    singles = [c for columns in choice.singles.values() for c in columns if c not in chosen and promise[c] > 0]
    for c in sorted(singles, key=lambda c: -promise[c])[:N_TRIED]:
        yield [*chosen, c], ENOUGH
    taken = {_pair(choice, group) for group in choice.groups if set(group) & set(chosen)}
    free = [group for group in choice.groups if _pair(choice, group) not in taken]
    for group in sorted(free, key=lambda g: -max(promise[list(g)]))[: N_TRIED // 2]:
        # Parallel axes make parts of a coupling depend on link inertias; those parts stay out.
        fresh = [c for c in group if promise[c] > 0]
        if fresh:
            yield [*chosen, *fresh], ENOUGH_COUPLING


def _pair(choice: Candidates, group: Sequence[int]) -> tuple[int, ...]:
    term = choice.design.terms[group[0] - choice.design.base.n]
    assert isinstance(term, Term)
    return term.joints


def describe(terms: Sequence[Term]) -> list[str]:
    """One sentence a chosen term."""
    return [f"{term.name}: {term.meaning}" for term in terms if term.kind in SHAPES or term.is_coupling]
