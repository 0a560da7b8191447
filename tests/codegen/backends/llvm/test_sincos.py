"""Sine and cosine: constants against exact arithmetic, values against extended precision."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from tauform.codegen.backends.llvm.module import compile_object, host_vector, load_object, print_module
from tauform.codegen.backends.llvm.text import Vector
from tauform.codegen.runtime.kernel import Kernel
from tauform.portable.sincos import DOUBLE, FLOAT, SinCos
from traced_programs import sines

HALF_PI = Fraction("1.57079632679489661923132169163975144209858469968755291048747")
PROGRAM = sines()


def _kernel(fuses: bool) -> Kernel:
    best = host_vector()
    if fuses and not best.fuses:
        pytest.skip("this processor has no fused multiply-add")
    vector = Vector(best.lanes, fuses)
    text = print_module(PROGRAM, vector)
    if not fuses:
        # no contraction either: the plain reduction must stand on its own
        text = text.replace(" contract", "")
    return Kernel(PROGRAM, load_object(compile_object(text)), vector)


def _ulps(kernel: Kernel, x: np.ndarray) -> float:
    """Largest error of sin and cos in units of the last place of the result."""
    sine, cosine = kernel(x[:, None])
    wide = x.astype(np.longdouble)
    largest = 0.0
    for computed, exact in ((sine[:, 0], np.sin(wide)), (cosine[:, 0], np.cos(wide))):
        unit = np.spacing(np.abs(exact.astype(np.float64)))
        largest = max(largest, float((np.abs(computed.astype(np.longdouble) - exact) / unit).max()))
    return largest


@pytest.mark.parametrize(("scheme", "mantissa", "bits"), [(DOUBLE, 53, 36), (FLOAT, 24, 11)])
def test_products_of_the_reduction_are_exact(scheme: SinCos, mantissa: int, bits: int) -> None:
    largest_k = int(Fraction(scheme.limit) / HALF_PI) + 1
    assert largest_k < 2 ** (mantissa - bits)
    for part in scheme.half_pi[:2]:
        assert Fraction(part).numerator.bit_length() <= bits
    error = abs(sum(map(Fraction, scheme.half_pi)) - HALF_PI)
    assert error * largest_k < Fraction(1, 2 ** (mantissa + 10))


@pytest.mark.parametrize(("scheme", "tolerance"), [(DOUBLE, 1.1e-17), (FLOAT, 7e-9)])
def test_polynomials_against_taylor_series_in_rationals(scheme: SinCos, tolerance: float) -> None:
    for r in [Fraction(k, 40) for k in range(1, 32)]:  # up to 0.775, near pi / 4
        u = r * r
        sine = r + r * u * sum(Fraction(c) * u**k for k, c in enumerate(scheme.sine))
        cosine = 1 + u * sum(Fraction(c) * u**k for k, c in enumerate(scheme.cosine))
        exact_sine = sum(Fraction((-1) ** k) * r ** (2 * k + 1) / factorial(2 * k + 1) for k in range(15))
        exact_cosine = sum(Fraction((-1) ** k) * r ** (2 * k) / factorial(2 * k) for k in range(15))
        assert abs(sine / exact_sine - 1) < tolerance
        assert abs(cosine / exact_cosine - 1) < tolerance


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no extended precision to compare with")
@pytest.mark.parametrize("fuses", [True, False])
def test_error_in_units_of_the_last_place(fuses: bool) -> None:
    kernel = _kernel(fuses)
    rng = np.random.default_rng(0)
    for scale in (0.8, 7.0, 1e3, DOUBLE.limit):
        assert _ulps(kernel, rng.uniform(-scale, scale, 40_000)) < 1.6
    # closest doubles to multiples of pi / 2, where all leading digits cancel
    k = np.arange(1, 6000)
    multiples = k * (np.pi / 2)
    for x in (multiples, np.nextafter(multiples, 1e9), np.nextafter(multiples, -1e9)):
        sine, cosine = kernel(x[:, None])
        assert np.abs(sine[:, 0] - np.sin(x)).max() < 2.3e-16
        small = np.where(k % 2 == 0, sine[:, 0] / np.sin(x), cosine[:, 0] / np.cos(x))
        assert np.abs(small - 1).max() < 5e-16


@pytest.mark.parametrize("fuses", [True, False])
def test_angles_beyond_the_reduction(fuses: bool) -> None:
    x = np.array([1e5, np.nextafter(1e5, 2e5), -1e6, 1e9, -1e9 - 0.1, 1e15, 1e22, -1e300])
    sine, cosine = _kernel(fuses)(x[:, None])
    np.testing.assert_allclose(sine[:, 0], np.sin(x), rtol=0, atol=5e-16)
    np.testing.assert_allclose(cosine[:, 0], np.cos(x), rtol=0, atol=5e-16)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_no_angle_gives_no_number_and_leaves_its_neighbours_alone() -> None:
    x = np.linspace(-2, 2, 21)
    bad = x.copy()
    bad[[3, 11, 17]] = np.nan, np.inf, -np.inf
    kernel = _kernel(host_vector().fuses)
    clean, spoilt = kernel(x[:, None])[0][:, 0], kernel(bad[:, None])[0][:, 0]
    assert np.isnan(spoilt[[3, 11, 17]]).all()
    others = np.isfinite(bad)
    np.testing.assert_array_equal(spoilt[others], clean[others])
