"""Random numbers: NumPy's generators give the same integers everywhere, so only what is made of them needs care."""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array


def uniform(rng: np.random.Generator, low: float, high: float, shape: tuple[int, ...]) -> Array:
    """Numbers spread evenly between bounds; `rng.uniform` may fuse the product with the sum."""
    return low + (high - low) * rng.random(shape)
