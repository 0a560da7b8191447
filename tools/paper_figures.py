"""Figures of the papers, redrawn for docs/papers.md: `python -m tools.paper_figures`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tools.measuring.drawing import OURS, SETTINGS

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "papers"
# Joints of the random chains of Safeea2018, Figures 4 and 5.
CHAIN_SIZES = (2, 4, 6, 8, 10, 13, 16, 20, 25, 30, 40, 50, 60)


def random_chain(n: int, seed: int = 0) -> tf.Robot:
    """A chain as in Safeea2018, section IV: masses of 1 to 10 kg, tensors with entries of 1 to 10 kg m^2."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        off_diagonal = rng.uniform(1, 3, 3)
        # Diagonal entries that keep the tensor positive definite and those of a body: none above the sum of the others.
        Ixx, Iyy, Izz = rng.uniform(7, 10, 3)
        a, d, alpha = rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-np.pi, np.pi)
        rows.append(
            {"joint": "revolute", "a": a, "d": d, "alpha": alpha, "mass": rng.uniform(1, 10)}
            | {"com": rng.uniform(-0.5, 0.5, 3), "inertia": [Ixx, Iyy, Izz, *off_diagonal], "inertia_about": "com"}
        )
    return tf.Robot.from_dh(rows, "modified", name=f"chain{n}")


def mass_matrix_differences(sizes: Iterable[int] = CHAIN_SIZES) -> Array:
    """e = sum |A_GDAHJ - A_CRBA| / max |mean of both| at random postures.  [Safeea2018 (32), Figure 5]"""
    found = []
    for n in sizes:
        robot, q = random_chain(n), np.random.default_rng(n).uniform(-np.pi, np.pi, n)
        A, B = (tf.textbook.mass_matrix(robot, q, method=method) for method in ("gdahj", "crba"))
        found.append(np.abs(A - B).sum() / np.abs((A + B) / 2).max())
    return np.array(found)


def safeea_5() -> Any:
    """Relative difference of GDAHJ and CRBA over the number of joints."""
    figure, axes = _figure((5.2, 3.2))
    axes.plot(CHAIN_SIZES, mass_matrix_differences(), "o-", color=OURS)
    axes.set(xlabel="joints", ylabel="e of (32)", yscale="log", title="GDAHJ beside CRBA")
    return figure


def _figure(size: tuple[float, float], *panels: int) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(*panels)


FIGURES = {"safeea_5": safeea_5}


def main() -> None:
    """Draw all of them."""
    import matplotlib

    FOLDER.mkdir(exist_ok=True)
    with matplotlib.rc_context({**SETTINGS, "axes.spines.right": False}):
        for name, draw in FIGURES.items():
            draw().savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
            print(f"{name}.svg")


if __name__ == "__main__":
    main()
