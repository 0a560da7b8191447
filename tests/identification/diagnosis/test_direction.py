"""The direction of gravity is found with an interval that covers it, whatever the description's masses are."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tauform.identification.diagnosis.direction import Direction, across
from tauform.identification.gravity import measured_direction
from tauform.identification.recording.segments import uniform_segments
from tauform.identification.regression.design import Design
from tauform.identification.regression.rows import RowSource
from tauform.identification.signals.differentiate import Smoother
from tauform.identification.signals.filters import choose_filters
from verdicts.stands import Stand, stand

# 95 % quantile of chi square with two degrees of freedom.
CHI_SQUARE_95 = 5.99


def tilt(own: Stand) -> np.ndarray:
    """Gravity of a base that is 3 to 15 degrees off level."""
    rng = np.random.default_rng([own.seed, 7])
    angle, about = np.deg2rad(rng.uniform(3.0, 15.0)), rng.uniform(-np.pi, np.pi)
    return 9.81 * np.array([np.sin(angle) * np.cos(about), np.sin(angle) * np.sin(about), -np.cos(angle)])


def found_at(own: Stand, gravity: np.ndarray) -> Direction:
    """The direction that a stand's torques show, from one that is 5 degrees away."""
    true, states = own.true.with_gravity(gravity), own.states(0)
    tau = tf.inverse_dynamics(true, states["q"], states["qd"], states["qdd"])
    segments = uniform_segments(tf.Recording(**own.measured(states, tau, 0))).segments
    plain = partial(Design.of)
    source = RowSource(plain(own.described), segments, choose_filters(segments), Smoother("lowpass"))
    start = Direction(np.asarray(own.described.gravity), gravity).turned(np.array([0.05, -0.07])).gravity
    return measured_direction(start, own.described, plain, source, (True, False))


@pytest.mark.parametrize("n_stands", representatives([4, 40], 4))
def test_intervals_cover_the_direction_of_gravity(n_stands: int) -> None:
    inside = []
    for seed in range(600, 600 + n_stands):
        # Described masses are off by as much as 10 %: they must not count.
        own = stand(seed)
        gravity = tilt(own)
        found = found_at(own, gravity)
        assert found.covariance is not None
        off = across(found.gravity) @ (found.gravity - gravity) / 9.81
        inside.append(float(off @ np.linalg.solve(found.covariance, off)) < CHI_SQUARE_95)
    assert np.mean(inside) > (0.7 if n_stands < 10 else 0.87), inside


def test_the_described_masses_do_not_bend_the_direction() -> None:
    own = stand(601)
    gravity = tilt(own)
    heavier = replace(own, described=own.described.with_parameters(1.5 * np.asarray(own.described.parameters)))
    first, second = (found_at(each, gravity).gravity for each in (own, heavier))
    np.testing.assert_allclose(first, second, atol=2e-3)


def test_an_angle_of_nothing_is_zero_and_small_ones_keep_their_digits() -> None:
    g = np.array([0.0, 0.0, -9.81])
    assert Direction(g, g).angle == 0.0
    small = Direction(g, g).turned(np.array([1e-6, 0.0]))
    assert small.angle == pytest.approx(np.rad2deg(1e-6), rel=1e-6)
    assert Direction(g, g).figure == "about 0 degrees"
