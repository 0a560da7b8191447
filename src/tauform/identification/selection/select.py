"""Selection of further terms that the data ask for, decided on held-out blocks of time.

The loss is the sum over joints of log(held-out squares). A term joins when it lowers the loss by more than a
threshold; single samples are never shuffled, so a term must help on stretches of motion it has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.description.drives import Drive
from tauform.description.robot import Robot
from tauform.identification.regression.design import Design
from tauform.identification.regression.evidence import Evidence
from tauform.identification.regression.terms import coupling
from tauform.identification.selection.chance import Chance, independent
from tauform.identification.selection.held_out import HeldOut

# Loss that a term must save: e^-0.08, so 8 % of one joint's held-out squares.
MIN_GAIN = 0.08
# A coupling brings three columns; a change of width brings none.
MIN_COUPLING_GAIN, MIN_WIDTH_GAIN = 2 * MIN_GAIN, 0.1 * MIN_GAIN
# Widths of the Coulomb step, relative to the speed that a joint exceeds 5 % of the time; narrower ones show in less
# than one row of a hundred and cannot be told from a sharp step.
WIDTHS = (0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)
FIRST_WIDTH, COUPLING_WIDTH = 0.02, 0.01
PER_JOINT = ("asymmetric", "quadratic", "stiffness", "sine", "cosine")
# Candidates that look best on all rows and are tried on held-out blocks.
N_TRIED = 8
MAX_STEPS = 60
# Level of the test that a richer law helps on held-out stretches in general, and not on a few by chance; a width in
# place of another costs no column.
SIGNIFICANCE_LEVEL, WIDTH_LEVEL = 0.05, 0.1


@dataclass(frozen=True, eq=False)
class Candidates:
    """A design with all candidates among its terms.

    Attributes:
        design: base parameters with sharp Coulomb friction, then every candidate.
        coulomb: per joint the column of its own Coulomb step, sharp first, then one a width.
        singles: per joint its further single columns (smooth steps included).
        groups: couplings, each a tuple of columns.
        rivals: pairs of columns that are two laws of one thing, a spring about the joint and one between two points.
    """

    design: Design
    coulomb: dict[int, tuple[int, ...]]
    singles: dict[int, tuple[int, ...]]
    groups: tuple[tuple[int, ...], ...]
    rivals: tuple[tuple[int, int], ...] = ()

    @property
    def further(self) -> list[int]:
        """All columns that may be found."""
        return [c for columns in (*self.singles.values(), *self.groups) for c in columns]

    @property
    def smooth(self) -> list[int]:
        """All steps that may take the place of a sharp one."""
        return [c for sharp, *steps in self.coulomb.values() for c in steps]


def candidates(
    plain: Design, speeds: Array, friction: bool, couplings: bool, balances: Mapping[int, Drive] | None = None
) -> Candidates:
    """All candidates for a robot whose joints move at these speeds; loop constraints have none.

    Args:
        balances: counterbalances of some joints.
    """
    robot, base = plain.robot, plain.base
    terms: list[Drive] = []
    coulomb: dict[int, tuple[int, ...]] = {}
    singles: dict[int, tuple[int, ...]] = {}
    rivals: list[tuple[int, int]] = []
    first = base.n + len(plain.terms)
    # A joint that stands shows no friction, whatever the width; it is refused for its motion.
    speeds = np.where(speeds > 0, speeds, 1.0)
    own = {p: k for k, p in enumerate(base.pivots)}
    for j in range(robot.n_joints if friction and robot.closure is None else 0):
        start = first + len(terms)
        terms += [Drive.of("smooth", j, width=float(width * speeds[j])) for width in WIDTHS]
        steps = tuple(range(start, start + len(WIDTHS)))
        # None where Coulomb friction is no base parameter of its own.
        sharp = own.get(robot.layout.coulomb(j))
        kinds = [k for k in PER_JOINT if robot.joints[j].type.is_angle or k not in ("sine", "cosine")]
        terms += [Drive.of(kind, j) for kind in kinds]
        if balances and j in balances:
            rivals.append((start + len(WIDTHS) + kinds.index("stiffness"), first + len(terms)))
            terms.append(balances[j])
        others = tuple(range(start + len(WIDTHS), first + len(terms)))
        if sharp is not None:
            coulomb[j] = (sharp, *steps)
        singles[j] = (*steps, *others)
    groups = []
    for i, j in neighbours(robot) if couplings else ():
        # The gear may turn the shaft either way: both are tried, and held-out blocks choose.
        for sense in (1, -1):
            start = first + len(terms)
            terms += coupling(i, j, float(COUPLING_WIDTH * (speeds[i] + speeds[j])), sense)
            groups.append((start, start + 1, start + 2))
    return Candidates(plain.with_terms([*plain.terms, *terms]), coulomb, singles, tuple(groups), tuple(rivals))


def neighbours(robot: Robot) -> list[tuple[int, int]]:
    """Pairs of joints that sit next to each other on a branch."""
    # Loops have no branches: which joints share a shaft is not to be guessed.
    if robot.closure is not None:
        return []
    return [(joint.parent, i) for i, joint in enumerate(robot.joints) if joint.parent >= 0]


@on_one_thread
def select(
    choice: Candidates,
    evidence: Evidence,
    start: Sequence[int],
    inflation_at: Callable[[Array], Array],
    progress: Callable[[str], None] | None = None,
) -> list[int]:
    """Columns of `choice.design` that predict held-out blocks best, found step by step from the plain `start`.

    Args:
        inflation_at: (n,) how much the residuals' correlation in time adds to a variance, for values of all columns.
    """
    held_out = HeldOut(evidence)
    # From a moderate width: between sharp and smooth, a step finds its way to either.
    chosen = _started(choice, start)
    held_out.settle_weights(chosen)
    for _ in range(MAX_STEPS):
        loss = held_out.loss(chosen)
        moves = [*_additions(choice, held_out, chosen), *_changes(choice, chosen), *_removals(choice, chosen, start)]
        losses = held_out.losses(chosen, [following for following, _ in moves])
        gains = [(loss - after - price, k) for k, (after, (_, price)) in enumerate(zip(losses, moves, strict=True))]
        # The best of all moves, not the first: there are few, and each changes what the others are worth.
        best, k = max(gains, default=(0.0, 0))
        if best <= 0:
            break
        chosen = moves[k][0]
        held_out.settle_weights(chosen)
        if progress is not None:
            progress(f"{len(chosen)} columns")
    chosen = _simplified(choice, held_out, chosen, start)
    if not choice.further:
        return chosen
    inflation = inflation_at(held_out.values(chosen)[: choice.design.n_columns])
    counts = (independent(held_out, columns, start) for columns in (choice.further, choice.smooth))
    chosen = _beyond_chance(choice, Chance(held_out, inflation, *counts), chosen, start)
    return _throughout(choice, held_out, chosen)


def _beyond_chance(choice: Candidates, chance: Chance, chosen: list[int], start: Sequence[int]) -> list[int]:
    """The selection without what chance finds among so many candidates, the least of it first."""
    while True:
        ways = [
            (chance.explains(chosen, following), following) for following in _simplifications(choice, chosen, start)
        ]
        most, following = max(ways, default=(0.0, chosen), key=lambda way: way[0])
        if most < 1:
            return chosen
        chosen = following
        chance.held_out.settle_weights(chosen)


def _simplified(choice: Candidates, held_out: HeldOut, best: list[int], start: Sequence[int]) -> list[int]:
    """The simplest selection on the way back to the plain one that is not clearly worse than the best.

    Chance finds a term that helps somewhere; one that is there helps on most stretches of the motion. So a selection
    is worse only if what the best one saves is more than its scatter from stretch to stretch explains.
    """
    chosen, squares = best, held_out.squares(best)
    # One-sided: a richer law has to help, not merely to differ.
    for_terms, for_widths = -special.stdtrit(len(held_out.folds) - 1, (SIGNIFICANCE_LEVEL, WIDTH_LEVEL))
    while True:
        ways = []
        for following in _simplifications(choice, chosen, start):
            saved, error = held_out.gain(squares, held_out.squares(following))
            needed = for_terms if len(following) < len(chosen) else for_widths
            ways.append((saved - needed * error, following))
        least, following = min(ways, default=(0.0, chosen), key=lambda way: way[0])
        if not ways or least > 0:
            return chosen
        chosen = following


def _throughout(choice: Candidates, held_out: HeldOut, chosen: list[int]) -> list[int]:
    """The selection without springs and couplings that one block asks for, or that change sign between blocks.

    A spring pulls alike in every stretch of the motion: it helps without the block that it helps most on, and its
    coefficient from one half of the blocks has the sign of that from the other.
    """
    while True:
        squares, values = held_out.squares(chosen), held_out.halves(chosen)
        for group in _conservative(choice, chosen):
            saved = held_out.saved(squares, held_out.squares([c for c in chosen if c not in group]))
            if saved.sum() <= saved.max() or (len(group) == 1 and np.prod(values[:, group[0]]) < 0):
                chosen = [c for c in chosen if c not in group]
                held_out.settle_weights(chosen)
                break
        else:
            return chosen


def _conservative(choice: Candidates, chosen: list[int]) -> list[list[int]]:
    """Springs one by one, couplings as groups, of a selection."""
    found = [[c for c in group if c in chosen] for group in choice.groups]
    first = choice.design.base.n
    for columns in choice.singles.values():
        terms = {c: choice.design.terms[c - first] for c in columns if c in chosen}
        found += [[c] for c, term in terms.items() if isinstance(term, Drive) and term.is_conservative]
    return [group for group in found if group]


def _joints_of(choice: Candidates, column: int) -> tuple[int, ...]:
    term = choice.design.terms[column - choice.design.base.n]
    assert isinstance(term, Drive)
    return term.joints


def _simplifications(choice: Candidates, chosen: list[int], start: Sequence[int]) -> Iterator[list[int]]:
    """Each further term or coupling left out, each smooth Coulomb step made sharp, each counterbalance a spring."""

    def without(columns: Sequence[int]) -> list[int]:
        return [c for c in chosen if c not in columns]

    for columns in choice.coulomb.values():
        own = [c for c in chosen if c in columns]
        yield from (without([c]) for c in own[1:])
        if columns[0] not in own:
            yield from ([columns[0] if other == c else other for other in chosen] for c in own)
    # As many columns, but the force between two points has two constants that were found besides.
    for spring, balance in choice.rivals:
        if balance in chosen:
            yield [spring if c == balance else c for c in chosen]
    steps = {c for columns in choice.coulomb.values() for c in columns}
    coupled = {c for group in choice.groups for c in group}
    yield from (without([c]) for c in chosen if c not in steps | coupled | set(start))
    yield from (without(group) for group in choice.groups if set(group) & set(chosen))


def _started(choice: Candidates, start: Sequence[int]) -> list[int]:
    """The plain columns, with a moderate width for every Coulomb step."""
    chosen = list(start)
    for columns in choice.coulomb.values():
        chosen[chosen.index(columns[0])] = columns[1 + WIDTHS.index(FIRST_WIDTH)]
    return chosen


def _changes(choice: Candidates, chosen: list[int]) -> Iterator[tuple[list[int], float]]:
    """Each Coulomb step with a width one or two sizes away, each spring as its rival."""
    for pair in choice.rivals:
        for old, new in (pair, pair[::-1]):
            if old in chosen:
                yield [new if c == old else c for c in chosen], MIN_WIDTH_GAIN
    for columns in choice.coulomb.values():
        for place, old in enumerate(columns):
            if old in chosen:
                for new in columns[max(0, place - 2) : place + 3]:
                    if new not in chosen:
                        yield [new if c == old else c for c in chosen], MIN_WIDTH_GAIN


def _removals(choice: Candidates, chosen: list[int], start: Sequence[int]) -> Iterator[tuple[list[int], float]]:
    """Each further term taken away again; it may go if that costs less than half of what it had to bring."""
    steps = {c: columns for columns in choice.coulomb.values() for c in columns}
    for c in chosen:
        spare = c not in start if c not in steps else sum(other in steps[c] for other in chosen) > 1
        if spare and not any(c in group for group in choice.groups):
            yield [other for other in chosen if other != c], -0.5 * MIN_GAIN


def _additions(choice: Candidates, held_out: HeldOut, chosen: list[int]) -> Iterator[tuple[list[int], float]]:
    """The further terms that look best on all rows."""
    expected_gain = held_out.expected_gain(chosen)
    barred = {c for pair in choice.rivals if set(pair) & set(chosen) for c in pair} | set(chosen)
    singles = [c for columns in choice.singles.values() for c in columns if c not in barred and expected_gain[c] > 0]
    # All rows rank the candidates cheaply; held-out blocks are asked about the best.
    for c in sorted(singles, key=lambda c: -expected_gain[c])[:N_TRIED]:
        yield [*chosen, c], MIN_GAIN
    taken = {_pair(choice, group) for group in choice.groups if set(group) & set(chosen)}
    free = [group for group in choice.groups if _pair(choice, group) not in taken]
    for group in sorted(free, key=lambda g: -max(expected_gain[list(g)]))[: N_TRIED // 2]:
        # Parallel axes make parts of a coupling depend on link inertias; those parts stay out.
        fresh = [c for c in group if expected_gain[c] > 0]
        if fresh:
            yield [*chosen, *fresh], MIN_COUPLING_GAIN


def _pair(choice: Candidates, group: Sequence[int]) -> tuple[int, ...]:
    return _joints_of(choice, group[0])
