"""The regression of the terms that held-out blocks ask for, and what each of them buys."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.description.drives import Drive, Smooth
from tauform.identification.diagnosis.suspicion import Suspicion
from tauform.identification.recording.recording import FIELDS
from tauform.identification.recording.segments import Segment
from tauform.identification.regression.choices import cost_of_choice
from tauform.identification.regression.design import Design
from tauform.identification.regression.evidence import Evidence, RowsOfBlocks, gather
from tauform.identification.regression.rows import Rows, RowSource
from tauform.identification.selection.counterbalance import counterbalances
from tauform.identification.selection.held_out import HeldOut
from tauform.identification.selection.select import Candidates, candidates, select
from tauform.identification.selection.synchrony import check_delay
from tauform.identification.signals.filters import grid_of
from tauform.identification.verdict.validate import (
    inflation_of,
    inflation_of_filters,
    residuals_of,
)

# Rows that decide which terms to take; more would not change the decision.
SELECTION_ROWS = 20_000
# Speed that a joint exceeds 5 % of the time.
SPEED_PERCENTILE = 95
# Share of that speed below which a joint stands.
MAX_SPEED_SHARE_AT_REST = 0.002


@dataclass(frozen=True, eq=False)
class Regression:
    """Rows and evidence of a design.

    Attributes:
        shown: the rows whose residuals are kept: all, or stretches spread over a long recording.
        stretches: where these come from.
        choice_cost: as in Fit.
    """

    design: Design
    source: RowSource
    rows: Sequence[Rows] | RowSource
    evidence: Evidence
    shown: Sequence[Rows] | RowSource
    stretches: RowSource
    choice_cost: float


def chosen_regression(
    source: RowSource, friction: bool, couplings: bool, in_order: bool, say: Callable[[str], None]
) -> tuple[Regression, list[str], list[Suspicion]]:
    """The design that held-out blocks ask for, with its rows; delays mean something where columns are in order."""
    speeds = _speeds(source)
    # Rows at rest say nothing of sliding friction: their sign of velocity is noise.
    source = replace(source, rest=MAX_SPEED_SHARE_AT_REST * speeds)
    # Choosing tries many sets of columns; a part of a long recording decides as well.
    few = few_stretches(source)
    balances = counterbalances(few) if friction and in_order else {}
    choice = candidates(source.design, speeds, friction, couplings, balances)
    few = replace(few, design=choice.design)
    rows = few.kept()
    evidence = gather(rows, few, delay_column=True)
    start = list(range(source.design.n_columns))
    # Before terms are chosen: some could take on what a delay does.
    late, built = check_delay(evidence, start, source) if in_order else ([], [])
    say("choosing terms on held-out blocks")
    rate = few.segments[0].rate
    of_filters = inflation_of_filters(few.filters, rate)

    def chosen(blocks: Sequence[int]) -> list[int]:
        part = evidence.blocks(blocks)
        own = RowsOfBlocks(rows, part)
        return select(choice, part, start, lambda x: inflation_of(residuals_of(x, own, rate), of_filters))

    # Chosen on all blocks; what that choice costs on unseen data is measured by choosing again without some.
    columns = chosen(range(len(evidence.counts)))
    cost = cost_of_columns(evidence, columns, chosen)
    bought = purchases(choice, evidence, columns, start)
    design, columns = settled(choice, source.design, columns)
    findings = [*built, *bought]
    own = replace(source, design=design)
    # Nothing was left out for the choice: its rows serve for the fit, restricted to the chosen columns.
    if few.segments is source.segments and isinstance(rows, list):
        fitting = [replace(part, A=part.A[:, :, columns]) for part in rows]
        return Regression(design, own, fitting, evidence.chosen(columns), fitting, own, cost), findings, late
    everything = own.kept()
    stretches = replace(own, segments=few.segments)
    return (
        Regression(design, own, everything, gather(everything, own), stretches.kept(), stretches, cost),
        findings,
        late,
    )


def settled(choice: Candidates, plain: Design, columns: Sequence[int]) -> tuple[Design, list[int]]:
    """The design of a selection: a smooth step in place of a sharp one is that joint's Coulomb friction."""
    widths = list(plain.widths)
    chosen, order = set(columns), list(range(plain.n_columns))
    # A smooth step replaces the sharp one of its joint, so that Fc keeps its name and place.
    for j, steps in choice.coulomb.items():
        if steps[0] not in chosen:
            smooth = next(c for c in columns if c in steps)
            term = choice.design.terms[smooth - plain.base.n]
            assert isinstance(term, Smooth)
            widths[j] = term.width
            order[steps[0]] = smooth
    extra = sorted(chosen - set(order))
    terms = [choice.design.terms[c - plain.base.n] for c in extra]
    return plain.with_terms([*plain.terms, *terms]).with_widths(widths), [*order, *extra]


def _speeds(source: RowSource) -> Array:
    speeds = []
    for segment in source.segments:
        stretch = slice(0, min(segment.n_samples, 200_000))
        stride = grid_of(segment.rate, source.filters).states
        # Smoothed: differences of raw positions would be the noise's speed.
        speeds.append(np.abs(source.smoother.states(segment, stretch, source.filters, stride)[1]))
    return np.percentile(np.concatenate(speeds), SPEED_PERCENTILE, axis=0)


def few_stretches(source: RowSource) -> RowSource:
    """Stretches spread over the recordings that hold no more rows than the selection needs."""
    # How many times more rows there are than the choice needs.
    excess = source.total_rows / SELECTION_ROWS
    if excess <= 1:
        return source
    parts: list[Segment] = []
    for segment in source.segments:
        # Eight stretches of each recording: the beginning alone may be a warm-up.
        edges = np.linspace(0, segment.n_samples, 9).astype(int)
        for first, last in itertools.pairwise(edges):
            cut = slice(first, first + max(1, int((last - first) / excess)))
            fields: dict[str, Any] = {name: getattr(segment, name) for name in FIELDS}
            fields = {name: None if values is None else values[cut] for name, values in fields.items()}
            parts.append(replace(segment, **fields))
    return replace(source, segments=tuple(parts))


def cost_of_columns(evidence: Evidence, columns: Sequence[int], chosen: Callable[[Sequence[int]], list[int]]) -> float:
    """Growth of errors on blocks that took no part in a choice of columns; at least one.

    Args:
        columns: that all blocks chose.
        chosen: the choice that blocks of these numbers make.
    """

    def squares_left(choosing: Sequence[int], judging: Sequence[int], columns: Sequence[int]) -> float:
        return float(unseen_squares(evidence, choosing, judging, columns).sum())

    return cost_of_choice(evidence.judges(), list(columns), chosen, squares_left)


def unseen_squares(
    evidence: Evidence, choosing: Sequence[int], judging: Sequence[int], columns: Sequence[int]
) -> Array:
    """(n,) squares on the judging blocks, of values from the others."""
    held_out = HeldOut(evidence.blocks(choosing))
    held_out.settle_weights(columns)
    return np.asarray(evidence.blocks(judging).residual_squares(held_out.values(columns)).sum(axis=0))


def purchases(choice: Candidates, evidence: Evidence, columns: Sequence[int], start: Sequence[int]) -> list[str]:
    """A sentence for each further law of a selection: a joint's friction, what pulls at it, a coupling."""
    held_out = HeldOut(evidence)
    held_out.settle_weights(columns)
    squares = held_out.squares(columns)
    steps = {c for own in choice.coulomb.values() for c in own}
    coupled = [[c for c in group if c in columns] for group in choice.groups]
    grouped = {c for group in coupled for c in group}
    plain = [own for own in choice.coulomb.values() if sum(c in columns for c in own) < 2]
    only = {c for own in plain for c in own}  # a width in place of another is no further term
    singles = [c for c in columns if c not in grouped | set(start) and (c not in steps or c not in only)]
    # Several steps of one joint are one law of friction, and whatever follows its position is one pull.
    laws: dict[object, list[int]] = {}
    for c in singles:
        term = choice.design.terms[c - choice.design.base.n]
        law = (term.joints, "q" in term.reads or term.shape) if isinstance(term, Drive) else c
        laws.setdefault(law, []).append(c)
    return [
        _sentence(choice, group, squares, held_out.squares(_without(choice, columns, group)), evidence)
        for group in (*laws.values(), *coupled)
        if group
    ]


def _without(choice: Candidates, columns: Sequence[int], group: Sequence[int]) -> list[int]:
    """The columns but a group; a joint whose steps all go has the sharp one of plain friction."""
    left = [c for c in columns if c not in group]
    sharp = [own[0] for own in choice.coulomb.values() if set(own) & set(group) and not set(own) & set(left)]
    return sorted([*left, *sharp])


def _sentence(choice: Candidates, group: Sequence[int], squares: Array, without: Array, evidence: Evidence) -> str:
    """What the terms mean, and what is lost at the joint that needs them most."""
    terms = [choice.design.terms[c - choice.design.base.n] for c in group]
    total, other = squares.sum(axis=0), without.sum(axis=0)
    joint = int(np.argmax(np.log((other + 1e-300) / (total + 1e-300))))
    size = np.maximum(evidence.torque_squares[joint], 1e-300)
    before, after = (100 * np.sqrt(x[joint] / size) for x in (other, total))
    helped = int((without[:, joint] > squares[:, joint]).sum())
    names = ", ".join(term.name for term in terms)
    first = terms[0]
    meaning = first.meaning
    if isinstance(first, Drive) and len(first.joints) > 1 and len(terms) > 1:
        meaning = "a shaft that two joints turn together"
    elif len({term.meaning for term in terms}) > 1:
        meaning = "a pull that follows the position (a spring, a counterbalance, a weight that is not described)"
    name = choice.design.robot.joint_names[joint]
    return (
        f"found {names}: {meaning}; it lowers the held-out error of {name!r} from {before:.3g} to {after:.3g} %, on "
        f"{helped} of {len(squares)} blocks"
    )
