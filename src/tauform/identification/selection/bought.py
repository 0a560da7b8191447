"""What the terms that were found buy: the error on held-out blocks with and without each, and on how many blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.arrays import Array
from tauform.description.drives import Drive
from tauform.identification.regression.evidence import Evidence
from tauform.identification.selection.held_out import HeldOut
from tauform.identification.selection.select import Candidates


def purchases(choice: Candidates, evidence: Evidence, columns: Sequence[int], start: Sequence[int]) -> list[str]:
    """A sentence for each further term of a selection, those of a coupling together."""
    held_out = HeldOut(evidence)
    held_out.settle_weights(columns)
    squares = held_out.squares(columns)
    steps = {c for own in choice.coulomb.values() for c in own}
    coupled = [[c for c in group if c in columns] for group in choice.groups]
    grouped = {c for group in coupled for c in group}
    plain = [own for own in choice.coulomb.values() if sum(c in columns for c in own) < 2]
    only = {c for own in plain for c in own}  # a width in place of another is no further term
    singles = [[c] for c in columns if c not in grouped | set(start) and (c not in steps or c not in only)]
    return [
        _sentence(choice, group, squares, held_out.squares([c for c in columns if c not in group]), evidence)
        for group in (*singles, *coupled)
        if group
    ]


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
    meaning = "a shaft that two joints turn together" if len(terms) > 1 and isinstance(first, Drive) else first.meaning
    name = choice.design.robot.joint_names[joint]
    return (
        f"found {names}: {meaning}; it lowers the held-out error of {name!r} from {before:.3g} to {after:.3g} %, on "
        f"{helped} of {len(squares)} blocks"
    )
