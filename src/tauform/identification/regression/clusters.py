"""Errors that stand together: starts and stops, where samples and filters are too slow, leave more than other rows.

Beside noise of one size and colour throughout, values have the covariance that clusters of rows show (Bell and
McCaffrey 2002),

    sum over clusters of d d',   d = H (1 - H' A_c' W A_c H)^-1/2 H' A_c' W e_c,   H H' = C,

with the cluster's own columns A_c and residuals e_c; the root makes up for what a fit takes on of a cluster's errors.
Where that is larger, deviations are enlarged to it; correlations of the values stay.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tauform.arrays import Array
from tauform.identification.regression.estimate import Estimate
from tauform.identification.regression.evidence import Evidence
from tauform.identification.regression.rows import Rows

# Length of a cluster [s]: a stop and the start after it are in one as a rule.
SECONDS_PER_CLUSTER = 0.5
# Least share of what is known of a value that other clusters say: without any it would be infinitely unsure.
MIN_SHARE_OF_OTHERS = 0.1


def with_clusters(evidence: Evidence, estimate: Estimate, rows: Iterable[Rows]) -> Evidence:
    """The evidence with factors by which clusters of rows enlarge deviations, where joints stop and start.

    Args:
        rows: all that the evidence condenses, or stretches of it.
    """
    if not len(evidence.heard):
        return evidence
    # In coordinates of the values in which C is the identity.
    values, vectors = np.linalg.eigh(estimate.bread)
    half = vectors * np.sqrt(np.maximum(values, 0.0))
    changes, count = [], 0
    for part in rows:
        columns = (part.A * estimate.weights[:, None]) @ half
        errors = (part.tau - part.A @ estimate.values) * estimate.weights
        # Clusters begin at fixed times, wherever pieces do.
        label = np.floor(part.t / SECONDS_PER_CLUSTER)
        edges = np.flatnonzero(np.diff(label, prepend=np.nan, append=np.nan) != 0)
        changes += [_change(columns[a:b], errors[a:b]) for a, b in itertools.pairwise(edges.tolist())]
        count += len(part.t)
    shown = ((half @ np.array(changes).T) ** 2).sum(axis=1) * evidence.n_rows / max(1, count)
    usual = np.diag(estimate.covariance(evidence))
    return replace(evidence, factors=np.sqrt(np.maximum(1.0, shown / np.maximum(usual, 1e-300))))


def _change(columns: Array, errors: Array) -> Array:
    """(p,) what a cluster's columns (R, n, p) and errors (R, n) do to the values."""
    flat = columns.reshape(-1, columns.shape[-1])
    values, vectors = np.linalg.eigh(flat.T @ flat)
    others = np.maximum(1.0 - values, MIN_SHARE_OF_OTHERS)
    return np.asarray(vectors @ ((vectors.T @ (flat.T @ errors.ravel())) / np.sqrt(others)))
