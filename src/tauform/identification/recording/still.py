"""Still runs: samples about which the mean position of a joint stays, in pauses and wherever it turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from tauform.arrays import AnyArray, Array

# Samples of a piece that is looked through at once.
SAMPLES_PER_PIECE = 100_000


@dataclass(frozen=True, eq=False)
class Runs:
    """Some runs of a joint.

    Attributes:
        samples: (k, 2) the first sample of each, and the one after it.
        near: (N,) positions of the joint from the sample `start` on, around most of the runs.
    """

    joint: int
    samples: AnyArray
    near: Array
    start: int

    @property
    def lengths(self) -> AnyArray:
        """(k,) samples."""
        return np.asarray(self.samples[:, 1] - self.samples[:, 0])

    def levels(self, chosen: AnyArray) -> Array:
        """Median positions of some runs, all within `near`."""
        length, first = self.lengths[chosen, None], self.samples[chosen, :1] - self.start
        place = np.arange(length.max())
        # Sorted, with what is beyond the end of a run behind it.
        values = np.where(place < length, self.near[np.minimum(first + place, len(self.near) - 1)], np.inf)
        values.sort(axis=1)
        middle = np.take_along_axis(values, np.concatenate([(length - 1) // 2, length // 2], axis=1), axis=1)
        return np.asarray(middle.mean(axis=1))


def by_joint(q: Array) -> Array:
    """(n, N) of (N, n): samples that follow each other lie beside each other, which is several times quicker."""
    return np.ascontiguousarray(np.asarray(q, dtype=np.float64).T)


def still_runs(q: Array, same: Array, half: int) -> Iterator[Runs]:
    """Runs of samples, in order, before and after which the mean positions differ by no more than this."""
    before, began = np.zeros((len(same), 1), dtype=bool), np.zeros(len(same), dtype=int)
    for start in range(0, len(q), SAMPLES_PER_PIECE):
        stop, margin = min(start + SAMPLES_PER_PIECE, len(q)), min(start, half)
        part = by_joint(q[start - margin : stop + half])
        # Relative to a sample, so that sums lose no digits.
        means = ndimage.uniform_filter1d(part - part[:, :1], half, axis=1, mode="nearest")
        means = np.pad(means, ((0, 0), (half, half)), mode="edge")
        # The mean of `half` samples up to each one, and of those from it on.
        first = margin + half - half // 2
        earlier, later = (means[:, k : k + stop - start] for k in (first, first + half))
        still = np.abs(later - earlier) <= same[:, None]
        changes = np.diff(np.concatenate([before, still], axis=1), axis=1)
        for joint, (own, changed) in enumerate(zip(still, changes, strict=True)):
            edges = start + np.flatnonzero(changed)
            if before[joint]:
                edges = np.append(began[joint], edges)
            if own[-1] and stop < len(q):
                edges, began[joint] = edges[:-1], edges[-1]
            elif own[-1]:
                edges = np.append(edges, len(q))
            yield Runs(joint, edges.reshape(-1, 2), part[joint], start - margin)
        before = still[:, -1:]
