"""The numbers that decide how many base parameters there are and which.  [Gautier1991, Table II]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.elimination import threshold_in_gap
from tauform.closedform.base.parameters import observed
from tauform.closedform.base.preference import order_of_preference
from tauform.closedform.base.scaling import ROUNDING, scale
from tauform.errors import ModelError
from tauform.portable.factorization import by_size, in_order, singular_values
from tauform.wording import call


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Spectrum of the c columns of W that have an effect, by three decompositions.

    Attributes:
        names: (c,) standard parameters in the order in which they are preferred.
        T: (c,) |T_ii| of QR with pivoting, decreasing; l of them are above the threshold.
        sigma: (c,) singular values, decreasing.
        R: (c,) |R_ii| of QR without pivoting: zero for the parameters that are regrouped.
        V2: (c,) norms of the rows of the null space V2: zero for those that stand alone (the paper's V2 N).
        threshold: tau, below which T and R are rounding.
        S: largest over smallest entry of W in SI units, zeros and rounding left out; the paper's criterion for samples.
        scaled: whether rows and columns of W were scaled to unit size first.
    """

    names: tuple[str, ...]
    T: Array
    sigma: Array
    R: Array
    V2: Array
    threshold: float
    S: float
    scaled: bool

    @property
    def rank(self) -> int:
        """The number of base parameters, l."""
        return int(np.sum(self.threshold < self.T))

    def __str__(self) -> str:
        """Table II: a row per parameter."""
        head = f"{'i':>3} {'T_ii':>10} {'sigma_i':>10} {'R_ii':>10} {'|V2_i|':>10}  parameter"
        columns = zip(self.T, self.sigma, self.R, self.V2, self.names, strict=True)
        rows = [
            f"{i:3d} {t:10.3e} {s:10.3e} {r:10.3e} {v:10.3e}  {name}" for i, (t, s, r, v, name) in enumerate(columns, 1)
        ]
        return "\n".join([head, *rows, f"threshold {self.threshold:.1e}, rank {self.rank}, S {self.S:.1e}"])


def spectrum(base: BaseParameters, scaled: bool = True) -> Spectrum:
    """The decompositions of the matrix that these base parameters were decided by; see `BaseParameters.spectrum`."""
    if base.robot is None:
        raise ModelError(f"spectrum: a file holds no geometry; call {call('base_parameters')} on the robot")
    robot, columns = base.robot, base.columns
    raw, names = observed(robot, columns, base.source), robot.parameter_names
    # Closed forms come sparse; decompositions here are dense.
    raw = np.asarray(raw.toarray() if hasattr(raw, "toarray") else raw)
    matrix = scale(raw, robot, columns).matrix
    position = {c: k for k, c in enumerate(columns)}
    preferred = [position[c] for c in order_of_preference(robot, columns, None) if names[c] not in base.no_effect]
    # on the triangle, whose columns stand to one another as those of the matrix do
    chosen = (matrix if scaled else raw)[:, preferred]
    whole = by_size(chosen)
    T = np.sort(whole.sizes)[::-1]
    # Relative to the largest, then back in units of T.
    threshold = threshold_in_gap(T / T[0]) * float(T[0])
    walk = in_order(whole.R, threshold)
    null = whole.null_space(base.n)
    sizes = np.abs(raw[:, preferred])
    return Spectrum(
        names=tuple(names[columns[k]] for k in preferred),
        T=T,
        sigma=singular_values(whole.R),
        R=walk.sizes,
        V2=np.sqrt((null * null).sum(axis=1)),
        threshold=threshold,
        # Entries at the level of rounding would make S infinite.
        S=float(sizes.max() / sizes[sizes > ROUNDING * sizes.max()].min()),
        scaled=scaled,
    )
