"""Data that chose does not judge: whatever is chosen again without the judging blocks does not depend on them."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.arrays import Array
from tauform.identification.fit import Fit
from tauform.identification.fitted.model import FittedModel
from tauform.identification.identify import identify
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.recording.segments import uniform_segments
from tauform.identification.regression import choices
from tauform.identification.regression.blocks import JUDGING_FOLDS, N_FOLDS, block_of, spans_of
from tauform.identification.regression.design import Design
from tauform.identification.regression.evidence import gather
from tauform.identification.regression.rows import RowSource
from tauform.identification.selection.counterbalance import counterbalances
from tauform.identification.signals.differentiate import Smoother
from tauform.identification.signals.filters import choose_filters
from tauform.identification.verdict.refit import of_blocks

DURATION, LAG = 40.0, 0.05
# Filters reach into the choosing blocks by less than that [s].
REACH = 1.0


def recording(seed: int = 3) -> tf.Recording:
    """A spring at the last joint, soft friction, and measured velocities that lag."""
    own = simulated_recording(arm(), motion(arm(), seed, DURATION, harmonics=25), np.random.default_rng(seed))
    rates = np.gradient(own.q, own.t, axis=0)
    lagging = np.zeros_like(rates)
    step = float(own.t[1] - own.t[0])
    for k in range(1, len(rates)):
        lagging[k] = lagging[k - 1] + step / LAG * (rates[k] - lagging[k - 1])
    noise = np.random.default_rng(seed).normal(size=rates.shape) * 0.3
    return replace(own, tau=own.tau + [0, 0, 6.0] * np.asarray(own.q) + noise, qd=lagging)


def judging(t: Array) -> Array:
    """(N,) whether times lie within judging blocks, and not near their ends."""
    place = (t - t[0]) / (t[-1] - t[0]) * N_FOLDS
    fold, inside = place.astype(int), (place % 1) * DURATION / N_FOLDS
    return np.asarray(np.isin(fold, JUDGING_FOLDS) & (np.minimum(inside, DURATION / N_FOLDS - inside) > REACH))


def otherwise(own: tf.Recording) -> tf.Recording:
    """Other torques in the judging blocks: a robot whose friction grows with the square of the speed, and no spring."""
    q, rates = np.asarray(own.q), np.gradient(own.q, own.t, axis=0)
    other = np.asarray(own.tau) - [0, 0, 6.0] * q + [5.0, 5.0, 3.0] * rates * np.abs(rates) + [0, 4.0, 0] * np.sin(q)
    return replace(own, tau=np.where(judging(np.asarray(own.t))[:, None], other, own.tau))


def plain(own: tf.Recording) -> Fit:
    """A fit whose columns are given."""
    return identify(arm(), own, friction="plain", couplings=None, method="weighted")


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """What each choice is without the judging blocks, by the function that makes it."""
    original, again = choices.cost_of_choice, dict[str, list[Any]]()

    def spy(judges: Any, made: Any, choose: Callable[[Sequence[int]], Any], squares_left: Any) -> float:
        again.setdefault(choose.__qualname__.split(".")[0], []).append(choose(judges[0]))
        return original(judges, made, choose, squares_left)

    for user in [module for module in sys.modules.values() if getattr(module, "cost_of_choice", None) is original]:
        monkeypatch.setattr(user, "cost_of_choice", spy)
    return again


def test_no_choice_that_is_repeated_sees_the_blocks_that_judge_it(found: dict[str, list[Any]]) -> None:
    one, other = (identify(arm(), own) for own in (recording(), otherwise(recording())))
    terms, velocities = found["chosen_regression"], found["settled_velocities"]
    assert velocities == [True, True]
    assert terms[0] == terms[1]
    # Cut-offs come from positions.
    assert one.filters == other.filters
    # With these blocks the choice is another, and its price is part of the error.
    assert one.names != other.names
    assert other.choice_cost > one.choice_cost
    # Values, of equal columns.
    found.clear()
    for own in (recording(), otherwise(recording())):
        plain(own).reduced()
    assert found["reduced"][0] == found["reduced"][1]


def test_a_fit_of_some_blocks_knows_nothing_of_the_others() -> None:
    """What estimators are chosen by."""
    one, two = recording(), otherwise(recording())
    parts = []
    for own in (one, two):
        fit = plain(own)
        judges = fit.evidence.judges()
        assert judges is not None
        parts.append(of_blocks(fit, judges[0]))
    assert not (np.abs(parts[0].evidence.triangles - parts[1].evidence.triangles) > 1e-9).any()
    for mine, others in zip(*map(_numbers, parts), strict=True):
        np.testing.assert_allclose(mine, others, rtol=1e-6)


def _numbers(fit: FittedModel) -> list[Array]:
    assert fit.weights is not None
    assert fit.inflation is not None
    own = fit.evidence
    return [fit.values, fit.weights, fit.sigma, fit.inflation, fit.held_out.joints, own.peaks, own.torque_peaks]


@pytest.mark.parametrize("n_segments", [1, 2, 5])
def test_shapes_of_counterbalances_are_found_where_nothing_judges(n_segments: int) -> None:
    """In the blocks by which terms are judged, one recording or several of different lengths."""
    whole = replace(recording(), qd=None)
    ends = DURATION * np.linspace(0, 1, n_segments + 1) ** 1.5
    parts = [whole.between(first, last) for first, last in itertools.pairwise(ends)]
    segments = tuple(s for k, part in enumerate(parts) for s in uniform_segments(part, k).segments)
    source = RowSource(Design.of(arm()), segments, choose_filters(segments), Smoother("lowpass"))
    judges = gather(source, source).judges()
    assert judges is not None
    spans = spans_of(source)
    assert judges[1] == [k for k, span in enumerate(spans) if span.is_judging]

    def changed(index: int, segment: Any) -> Any:
        inside = np.isin(block_of(spans, index, segment.t), judges[1])
        # Filters reach beyond the ends of a block.
        reach = np.ones(2 * round(REACH * segment.rate) + 1)
        deep = np.convolve(~inside, reach, mode="same") == 0
        return replace(segment, tau=np.where(deep[:, None], -3.0 * segment.tau + 50 * np.sin(segment.q), segment.tau))

    other = replace(source, segments=tuple(changed(k, s) for k, s in enumerate(segments)))
    assert any((a.tau != b.tau).any() for a, b in zip(segments, other.segments, strict=True))
    assert counterbalances(source) == counterbalances(other)
