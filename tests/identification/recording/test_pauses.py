"""Pauses are found in positions, whatever the encoder, turning points are none; and so is creeping, by its speed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tauform.arrays import AnyArray, Array
from tauform.identification.recording import pauses, still
from tauform.identification.recording.pauses import DEVIATIONS_OF_SPEED, find_creeping, find_pauses, moves, speed_noise
from tauform.identification.recording.still import Runs
from verdicts.stands import fourier, trapezoids

RATE = 500.0


def sensed(q: Array, encoder: str) -> Array:
    """Positions with noise, or in steps, of ten micrometres."""
    if encoder == "exact":
        return q
    return np.round(q / 1e-5) * 1e-5 if encoder == "steps" else q + 1e-5 * np.random.default_rng(3).normal(size=q.shape)


@pytest.mark.parametrize("encoder", ["exact", "noise", "steps"])
@pytest.mark.parametrize("lengths", [(2.0, 4.0), (0.7, 1.5)])
def test_pauses_of_moves_are_found_to_a_few_milliseconds(lengths: tuple[float, float], encoder: str) -> None:
    _, q, qd, _ = trapezoids(2, 60.0, RATE, np.random.default_rng(1), lengths, (0.1, 0.1), pause=0.1)
    still = np.abs(qd[:, 0]) < 1e-9
    edges = np.flatnonzero(np.diff(still.astype(int))) + 0.5
    # The log begins with a move, from rest.
    inner = edges[edges > 1]
    for own in find_pauses(sensed(q, encoder), RATE):
        found = own[(own[:, 0] > 0) & (own[:, 1] < len(q))]
        stops, starts = inner[0::2][: len(found)], inner[1::2][: len(found)]
        assert len(found) >= len(inner) // 2 - 1
        # The ends of a move of a millimetre per second hide in the encoder.
        np.testing.assert_allclose(found, np.column_stack([stops, starts]), atol=0.04 * RATE)
        assert np.median(np.abs(found - np.column_stack([stops, starts]))) < 0.004 * RATE


@pytest.mark.parametrize("encoder", ["exact", "noise", "steps"])
def test_a_motion_that_only_turns_has_hardly_any(encoder: str) -> None:
    _, q, _, _ = fourier(4, 60.0, RATE, np.random.default_rng(1))
    moving = moves(find_pauses(sensed(q, encoder), RATE), np.arange(len(q)), 0.0)
    assert (~moving).mean() < 0.003


def test_creeping_is_what_noise_hides_the_direction_of() -> None:
    # One millimetre per second for a second, then a tenth of that, and back; ten micrometres of noise behind 40 Hz.
    speeds = np.repeat([1e-1, 1e-3, 1e-1, -1e-3, -1e-1], 500)[:, None]
    q = sensed(np.cumsum(speeds, axis=0) / RATE, "noise")
    (noise,) = speed_noise(q, None, RATE, 40.0)
    qd = speed_of(q - np.cumsum(speeds, axis=0) / RATE)
    assert noise == pytest.approx(qd.std(), rel=0.3)
    assert noise > 3e-4
    (own,) = find_creeping(q, RATE, np.array([DEVIATIONS_OF_SPEED * noise]))
    np.testing.assert_allclose(own, [[500, 1000], [1500, 2000]], atol=0.03 * RATE)


def speed_of(q: Array) -> Array:
    """Positions of white noise differentiated behind an ideal low-pass of 40 Hz."""
    f = np.fft.rfftfreq(len(q), 1 / RATE)[:, None]
    return np.asarray(np.fft.irfft(np.fft.rfft(q, axis=0) * (2j * np.pi * f) * (f < 40.0), len(q), axis=0))


def test_a_joint_that_stands_throughout_pauses_throughout() -> None:
    q = 1e-5 * np.random.default_rng(0).normal(size=(3000, 1)) + 0.3
    (own,) = find_pauses(q, RATE)
    np.testing.assert_array_equal(own, [[-np.inf, np.inf]])


def test_pauses_do_not_depend_on_the_pieces_that_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    _, q, _, _ = trapezoids(2, 60.0, RATE, np.random.default_rng(1), pause=0.3)
    whole = find_pauses(q, RATE)
    monkeypatch.setattr(pauses, "still_runs", small_pieces(still.still_runs))
    for own, other in zip(whole, find_pauses(q, RATE), strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize("encoder", ["exact", "noise", "steps"])
@pytest.mark.parametrize("rate", [30.0, 100.0, 1000.0])
def test_turning_points_are_told_all_at_once_as_they_are_one_by_one(
    rate: float, encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    q = np.concatenate([trapezoids(2, 20.0, rate, rng, pause=0.1)[1], fourier(2, 20.0, rate, rng)[1]])
    q[::97, 1] += 1e-4
    found = find_pauses(sensed(q, encoder), rate)
    one_by_one: list[int] = []

    def told(runs: Runs, *limits: float) -> AnyArray:
        none = np.zeros(len(runs.samples), dtype=bool)
        one_by_one.append(int(told_at_once(runs, *limits).sum()))
        return none

    told_at_once: Callable[..., AnyArray] = pauses._are_short
    monkeypatch.setattr(pauses, "_are_short", told)
    for own, other in zip(found, find_pauses(sensed(q, encoder), rate), strict=True):
        np.testing.assert_array_equal(own, other)
    # Noise makes runs of turning points, steps and exact values hardly any.
    assert encoder != "noise" or sum(one_by_one) > 10


def test_motion_is_the_same_in_parts() -> None:
    _, q, _, _ = trapezoids(2, 30.0, RATE, np.random.default_rng(1), pause=0.3)
    own, samples = find_pauses(q, RATE), np.arange(0, len(q), 3)
    whole = moves(own, samples, 20.0)
    assert 0.02 < (~whole).mean() < 0.9
    np.testing.assert_array_equal(whole, np.concatenate([moves(own, part, 20.0) for part in np.split(samples, 10)]))


def small_pieces(runs: object) -> object:
    """The same with pieces of 777 samples; what noise is told from stays."""

    def divided(*arguments: object) -> object:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(still, "SAMPLES_PER_PIECE", 777)
            return list(runs(*arguments))  # type: ignore[operator]

    return divided
