"""Figures of the pages that the code gives, the same on every machine, each with what counts it.

`python -m tools.measuring.counted` writes them anew; a test asks whether that would change anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import tauform as tf
from tools.measuring.quoted import ARMS, ROOT, cell
from tools.real_robots import urdf

SNAP = 1e-5


@dataclass(frozen=True)
class Count:
    """A figure: where it stands, and what counts it.

    Attributes:
        page: file in the repository.
        place: regular expression whose one group is the figure.
        count: gives its text.
    """

    page: str
    place: str
    count: Callable[[], str]


def counts() -> Iterator[Count]:
    """All of them."""
    for k, arm in enumerate(ARMS):
        label = "terms p / base parameters l of the closed form"
        yield Count("README.md", cell(label, k), partial(_closed_form, arm))
        yield Count("README.md", cell("operations of inverse dynamics, mult + add", k), partial(_operations, arm))
    for file, name in (("xarm7", "an xArm 7"), ("kinova", "a Kinova arm")):
        yield Count("docs/mistakes.md", rf"(\d+ instead of \d+) for {name}", partial(_with_and_without_snapping, file))


def refresh(root: Path = ROOT) -> None:
    """Write the figures into the pages.

    Raises:
        LookupError: a page has no place for one.
    """
    for figure in counts():
        page = root / figure.page
        text = page.read_text(encoding="utf-8")
        found = re.search(figure.place, text, re.MULTILINE)
        if found is None:
            raise LookupError(f"{figure.page} has no place for a figure: {figure.place}")
        changed = text[: found.start(1)] + figure.count() + text[found.end(1) :]
        if changed != text:
            page.write_text(changed, encoding="utf-8")


def _closed_form(arm: str) -> str:
    model = tf.derive(tf.load(arm))
    return f"{model.n_terms} / {model.n_base}"


def _operations(arm: str) -> str:
    program = tf.generate(tf.load(arm), "inverse_dynamics")
    return f"{program.n_multiplications} + {program.n_additions}"


def _with_and_without_snapping(file: str) -> str:
    rough, straight = (tf.generate(tf.load(urdf(file), snap=snap)).n_operations for snap in (None, SNAP))
    return f"{rough} instead of {straight}"


if __name__ == "__main__":
    refresh()
