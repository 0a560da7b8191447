"""Prints: which logs hold the same samples, whatever they are called: copies must not count twice."""

from __future__ import annotations

import zlib

import numpy as np

from tauform.identification.recording.recording import Recording, pieces


def print_of(recording: Recording) -> int:
    """63 bits that positions and torques make; time is left out, for the place of a log may shift it."""
    q = tau = recording.n_samples
    # Piece by piece: recordings may be larger than memory. Torques too: commanded positions are the same every day.
    for part, _ in pieces(recording.n_samples):
        q = zlib.crc32(np.ascontiguousarray(recording.q[part]).tobytes(), q)
        tau = zlib.crc32(np.ascontiguousarray(recording.tau[part]).tobytes(), tau)
    return (q & 0x7FFFFFFF) << 32 | tau
