"""Estimates from each recording on its own, and how they scatter.  [Izaguirre1992, Tables 1 and 2]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.errors import IdentificationError
from tauform.identification.fitted.model import FittedModel
from tauform.identification.regression.estimate import least_squares


@dataclass(frozen=True, eq=False)
class Scatter:
    """Statistics over recordings.

    Attributes:
        names: of the values.
        estimates: (recordings, p), one row a recording.
        condition: (recordings,) of the columns as they are.
    """

    names: tuple[str, ...]
    estimates: Array
    condition: Array

    @property
    def mean(self) -> Array:
        """(p,) average."""
        return self.estimates.mean(axis=0)

    @property
    def std(self) -> Array:
        """(p,) standard deviation."""
        # An estimate of the spread from few recordings: n - 1 of them are free.
        return self.estimates.std(axis=0, ddof=1)

    @property
    def maximum(self) -> Array:
        """(p,) largest."""
        return self.estimates.max(axis=0)

    @property
    def minimum(self) -> Array:
        """(p,) smallest."""
        return self.estimates.min(axis=0)


def per_recording(fit: FittedModel) -> Scatter:
    """Identify each recording on its own with the fit's columns and weights.

    Raises:
        IdentificationError: there is only one recording, or one alone leaves values open.
    """
    recordings = sorted(set(fit.evidence.recordings))
    if len(recordings) < 2:
        raise IdentificationError("per_recording: there is only one recording; give several to identify")
    estimates, conditions = [], []
    for recording in recordings:
        # Blocks know their recording: no row is evaluated again.
        blocks = [k for k, r in enumerate(fit.evidence.recordings) if r == recording]
        try:
            # The weights of the whole fit, so that only the data differ.
            found = least_squares(fit.evidence.blocks(blocks), sigma=fit.sigma)
        except IdentificationError:
            raise IdentificationError(
                f"recording {recording + 1} alone does not show every value; fit.reduced() may leave what it shows"
            ) from None
        estimates.append(found.values)
        conditions.append(found.raw_condition)
    return Scatter(fit.names, np.array(estimates), np.array(conditions))
