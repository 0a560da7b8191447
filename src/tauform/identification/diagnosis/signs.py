"""Columns of single joints with the opposite sign: the shared parameters of the links contradict them."""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.identification.diagnosis.explained import MIN_LOG_GAIN, Explained, Order
from tauform.identification.diagnosis.suspicion import Suspicion
from tauform.wording import argument

# Whether a kind of column is of the motion, and the words for it.
KINDS = {"positions": "signs", "torques": "torque_signs"}
# Two explanations are as good as each other where the logarithms of their squares differ by less than this.
MAX_LOG_RATIO_OF_EQUALS = np.log(2.0)


@on_one_thread
def find_signs(explained: Explained, names: tuple[str, ...]) -> tuple[float, list[Suspicion]]:
    """Errors of other signs, as a sum of logarithms, and the suspicions; none where they do not help far more."""
    if explained.needs_no_reason:
        return np.inf, []
    start = float(np.log(explained.before).sum())
    found = {kind: _turned(explained, word) for kind, word in KINDS.items()}
    losses = {kind: float(np.log(left).sum()) for kind, (_, left) in found.items()}
    best = min(losses.values())
    if start - best < MIN_LOG_GAIN:
        return np.inf, []
    close = [kind for kind, loss in losses.items() if loss < best + MAX_LOG_RATIO_OF_EQUALS and min(found[kind][0]) < 0]
    sentences = [_described(kind, *found[kind], explained.before, names) for kind in close]
    which = " or ".join(kind for kind in close)
    remedy = f"turn the {which} of these joints in the log ({argument('gains')} turns torques), then identify again"
    return best, [Suspicion("; or ".join(sentences), remedy)]


def _turned(explained: Explained, word: str) -> tuple[Order, Array]:
    """The signs that explain most, found joint by joint, and the squares that they leave."""
    signs: Order = (1,) * len(explained.as_is)
    left = explained.before
    for _ in explained.as_is[:-1]:
        trials = [(explained.left(**{word: other}), other) for other in _with_one_more(signs)]
        after, other = min(trials, key=lambda trial: float(np.log(trial[0]).sum()), default=(left, signs))
        if np.log(left).sum() - np.log(after).sum() < MIN_LOG_GAIN / 2:
            break
        signs, left = other, after
    return signs, left


def _with_one_more(signs: Order) -> list[Order]:
    return [(*signs[:j], -1, *signs[j + 1 :]) for j, sign in enumerate(signs) if sign > 0]


def _described(kind: str, signs: Order, left: Array, before: Array, names: tuple[str, ...]) -> str:
    which = ", ".join(names[j] for j, sign in enumerate(signs) if sign < 0)
    figures = [100 * float(np.sqrt(x.mean())) for x in (left, before)]
    gain = f"turned, they leave {figures[0]:.2g} % of the torques unexplained instead of {figures[1]:.2g} %"
    return f"the {kind} of {which} seem to have the opposite sign: {gain}"
