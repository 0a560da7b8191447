"""Figures of the papers, redrawn for docs/papers.md: `python -m tools.paper_figures [name ...]`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tauform.report.figures.terms import contribution_figure, tradeoff_figure
from tools.measuring.drawing import OURS, SETTINGS

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures" / "papers"
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


def lloyd_2() -> Any:
    """Shares of the KR6's terms, slow and fast, at the paper's 1e5 states."""
    robot = tf.load("kr6_r700")
    bound = tf.derive(robot).bind(robot)
    return contribution_figure([bound.contributions(speed, 100_000) for speed in ("slow", "fast")])


def lloyd_7() -> Any:
    """Accuracy against time of the KR6 and the LBR7."""
    curves = []
    for name in ("kr6_r700", "lbr7"):
        robot = tf.load(name)
        bound = tf.derive(robot).bind(robot)
        curves += [bound.tradeoff(speed, n_states=100_000) for speed in ("slow", "fast")]
    return tradeoff_figure(curves)


def izaguirre_6_9() -> Any:
    """Errors of the PUMA 260 in open loop, without and with gravity compensation."""
    spec = spec_from_file_location("open_loop", ROOT / "examples" / "14_puma260_open_loop.py")
    assert spec is not None
    assert spec.loader is not None
    open_loop = module_from_spec(spec)
    spec.loader.exec_module(open_loop)
    return open_loop.figure(open_loop.found_errors())


def _figure(size: tuple[float, float], *panels: int) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(*panels)


FIGURES = {"lloyd_2": lloyd_2, "lloyd_7": lloyd_7, "izaguirre_6_9": izaguirre_6_9, "safeea_5": safeea_5}


def main(names: Sequence[str] = ()) -> None:
    """Draw those that are named, or all."""
    import matplotlib

    FOLDER.mkdir(exist_ok=True)
    with matplotlib.rc_context(SETTINGS):
        for name in names or FIGURES:
            FIGURES[name]().savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
            print(f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
