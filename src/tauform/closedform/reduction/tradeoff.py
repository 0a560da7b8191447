"""Tradeoff: accuracy against time of closed forms with fewer and fewer terms.  [Lloyd2021, Figure 7]"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tauform.arrays import Array
from tauform.deferred import deferred


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """Closed forms with fewer and fewer terms, L of them.

    Attributes:
        robot, profile: whose terms, over which states.
        n_kept: (L,) terms kept for their contribution; removed: (L,) share of the terms that were not.
        digits: (L, 2) correct digits, -log10 of the relative error that 95 % and 99.9 % of the states stay below.
        operations: (L,) of the factored program.
        nanoseconds: (L,) a state in a batch, compiled on this machine.
        exact_nanoseconds: the same of the exact recursive program.
        n_states: fresh states of each.
    """

    robot: str
    profile: str
    n_kept: Array
    removed: Array
    digits: Array
    operations: Array
    nanoseconds: Array
    exact_nanoseconds: float
    n_states: int

    def plot(self, path: str | Path) -> Path:
        """Draw correct digits and times over the terms removed: .png, .svg or .pdf.  [Lloyd2021, Figure 7]

        Raises:
            ModelError: another ending, or the file cannot be written.
            MissingExtraError: matplotlib is not installed.
        """
        return deferred("plot_tradeoff")(self, Path(path))

    def __repr__(self) -> str:
        return f"Tradeoff({self.robot}, {self.profile}: {len(self.n_kept)} models at {self.n_states} states)"
