"""Portable sine, cosine and angle against extended precision, and single numbers against arrays bit by bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tauform.portable import correct, elementwise
from tauform.portable.sincos import DOUBLE

needs_extended = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="long double has no more digits here")
# Nearest double: off by half a unit, and by what extended precision itself may be.
NEAREST = 0.5 + 2.0**-9


def _angles() -> np.ndarray:
    rng = np.random.default_rng(0)
    multiples = np.arange(-40, 41) * (np.pi / 2)
    spread = rng.uniform(-1, 1, 3000) * 10.0 ** rng.uniform(-8, 5, 3000)
    return np.concatenate([multiples, np.nextafter(multiples, 9), spread, rng.uniform(-4, 4, 5000), [0.0, 5e-324]])


def _ulps(found: np.ndarray, exact: np.ndarray) -> float:
    unit = np.spacing(np.abs(exact.astype(np.float64)))
    return float((np.abs(found.astype(np.longdouble) - exact) / unit).max())


@needs_extended
def test_single_sines_are_the_nearest_doubles() -> None:
    x = _angles()
    found = np.array([correct.sin_cos(angle) for angle in x.tolist()])
    # beyond a few turns extended precision reduces an angle no better than doubles do
    near = np.abs(x) < 100
    assert _ulps(found[near, 0], np.sin(x[near].astype(np.longdouble))) <= NEAREST
    assert _ulps(found[near, 1], np.cos(x[near].astype(np.longdouble))) <= NEAREST


@pytest.mark.parametrize(
    ("angle", "sine", "cosine"),
    # sin and cos of the worst angle to reduce, and of large ones (Muller, Elementary Functions, 2006)
    [
        (6381956970095103 * 2.0**797, 1.0, -4.68716592425462761112e-19),
        (1e22, -0.85220084976718880177, 0.52321478539513894549),
        (math.pi, 1.2246467991473532e-16, -1.0),
    ],
)
def test_large_angles_are_reduced_exactly(angle: float, sine: float, cosine: float) -> None:
    assert correct.sin_cos(angle) == (sine, cosine)
    many = elementwise.sin_cos(np.full(20, angle))
    assert np.allclose(many, [[sine], [cosine]], rtol=1e-12, atol=0)


@needs_extended
def test_arrays_of_sines_stay_within_their_bound() -> None:
    x = _angles()
    x = x[np.abs(x) < 100]
    sine, cosine = elementwise.sin_cos(x)
    wide = x.astype(np.longdouble)
    assert max(_ulps(sine, np.sin(wide)), _ulps(cosine, np.cos(wide))) < 1.5


@pytest.mark.parametrize("shape", [(), (1,), (3, 2), (5, 400)])
def test_an_array_holds_what_its_entries_give_alone(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).uniform(-1, 1, shape) * 2 * DOUBLE.limit
    sine, cosine = elementwise.sin_cos(x)
    alone = [elementwise.sin_cos(np.array(angle)) for angle in x.ravel().tolist()]
    assert sine.shape == cosine.shape == shape
    assert [(float(s), float(c)) for s, c in alone] == list(zip(sine.ravel(), cosine.ravel(), strict=True))


def test_other_scalars_keep_their_type() -> None:
    assert elementwise.sin_cos(np.array([0.3 + 1e-20j]))[0].imag == pytest.approx([np.cos(0.3) * 1e-20])
    assert np.isnan(elementwise.sin_cos(np.array([np.nan, np.inf]))).all()


@needs_extended
def test_angles_and_lengths_are_the_nearest_doubles() -> None:
    rng = np.random.default_rng(2)
    y, x = rng.uniform(-1, 1, (2, 4000)) * 10.0 ** rng.uniform(-9, 9, (2, 4000))
    angles = elementwise.arctan2(y, x)
    assert _ulps(angles, np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))) <= NEAREST
    lengths = np.array([correct.hypot(*point) for point in zip(x.tolist(), y.tolist(), strict=True)])
    assert _ulps(lengths, np.hypot(y.astype(np.longdouble), x.astype(np.longdouble))) <= NEAREST
    for point in ((0.0, -1.0), (-0.0, -1.0), (1.0, 0.0), (0.0, 0.0), (2.0, 2.0)):
        assert correct.arctan2(*point) == math.atan2(*point)


@pytest.mark.parametrize("exponent", [-3, -1, 0, 1, 2, 5])
def test_whole_powers(exponent: int) -> None:
    assert correct.power(0.3, exponent) == pytest.approx(0.3**exponent, rel=1e-15)


@needs_extended
def test_exponentials_and_hyperbolic_tangents() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(-700, 700, 1000), rng.uniform(-1, 1, 2000) * 10.0 ** rng.uniform(-12, 1, 2000)])
    wide = x.astype(np.longdouble)
    for single, many, exact in (
        (correct.exp, elementwise.exp, np.exp(wide)),
        (correct.tanh, elementwise.tanh, np.tanh(wide)),
    ):
        assert _ulps(np.array([single(value) for value in x.tolist()]), exact) <= NEAREST
        assert _ulps(many(x), exact) < 3.0
    ends = [-np.inf, -1e308, -800.0, 0.0, 800.0, 1e308, np.inf]
    for f in (elementwise.exp, lambda x: np.array([correct.exp(value) for value in x.tolist()])):
        assert f(np.array(ends)).tolist() == [0.0, 0.0, 0.0, 1.0, np.inf, np.inf, np.inf]
    for f in (elementwise.tanh, lambda x: np.array([correct.tanh(value) for value in x.tolist()])):
        assert f(np.array(ends)).tolist() == [-1.0, -1.0, -1.0, 0.0, 1.0, 1.0, 1.0]
        assert np.isnan(f(np.array([np.nan]))).all()
