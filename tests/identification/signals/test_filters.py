"""Filters and derivatives: against SciPy's recursive filter, and on motions whose derivatives are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import signal

import tauform as tf
from identification.arms import arm, motion
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.recording.segments import Segment, uniform_segments
from tauform.identification.regression.design import Design
from tauform.identification.regression.rows import RowSource
from tauform.identification.signals.differentiate import SMOOTHERS, Smoother, SmootherName
from tauform.identification.signals.filters import Filters, choose_filters, grid_of, lowpass
from tauform.identification.signals.fir import butterworth, decimation, filtered, refined, with_derivatives

RATE = 500.0


def wavy(rate: float = RATE, seconds: float = 6.0) -> tuple[np.ndarray, ...]:
    """Time, and two columns of sines up to 1.1 Hz with their exact derivatives."""
    t = np.arange(0, seconds, 1 / rate)[:, None]
    w = 2 * np.pi * np.array([0.4, 1.1])
    return t[:, 0], np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)


@pytest.mark.parametrize("cutoff", [0.02, 0.1, 0.5])
def test_the_kernel_is_butterworths_run_both_ways(cutoff: float) -> None:
    x = np.random.default_rng(0).normal(size=(4000, 2)).cumsum(axis=0)
    sections = signal.butter(4, cutoff, output="sos")
    inner = slice(700, -700)
    twice = signal.sosfiltfilt(sections, x, axis=0, padlen=1000)[inner]
    np.testing.assert_allclose(lowpass(x, 2.0, cutoff)[inner], twice, rtol=0, atol=1e-6 * np.abs(x).max())


def test_every_kth_sample_is_that_of_the_whole() -> None:
    x = np.random.default_rng(1).normal(size=(1003, 2, 3))
    kernel = butterworth(0.1)[None]
    np.testing.assert_allclose(filtered(x, kernel, 7), filtered(x, kernel)[::7], rtol=0, atol=1e-13)


def test_decimation_keeps_the_band_and_folds_nothing_into_it() -> None:
    frequencies, gain = signal.freqz(decimation(10), worN=8192, fs=10.0)  # in units of the new rate
    assert np.abs(np.abs(gain[frequencies < 0.25]) - 1).max() < 3e-6
    assert np.abs(gain[frequencies > 0.75]).max() < 3e-6


def test_values_between_samples_are_those_of_the_motion() -> None:
    _, fine, *_ = wavy(400.0)
    np.testing.assert_allclose(refined(fine[::8], 8)[400:-400], fine[400:-400], rtol=0, atol=1e-5)


def test_derivatives_of_a_polynomial_are_exact() -> None:
    t = np.arange(200) / 50.0
    q, qd, qdd = filtered(t**3 - t, with_derivatives(np.ones(1), 50.0)).T
    inner = slice(5, -5)
    np.testing.assert_allclose(q[inner], (t**3 - t)[inner], rtol=1e-12)
    np.testing.assert_allclose(qd[inner], (3 * t**2 - 1)[inner], rtol=1e-9)
    np.testing.assert_allclose(qdd[inner], 6 * t[inner], rtol=1e-9)


@pytest.mark.parametrize("name", SMOOTHERS)
@pytest.mark.parametrize("stride", [1, 5])
def test_every_smoother_finds_the_derivatives_through_noise(name: SmootherName, stride: int) -> None:
    t, q, qd, qdd = wavy()
    noisy = q + 1e-4 * np.random.default_rng(2).normal(size=q.shape)
    segment = Segment(t, RATE, noisy, np.zeros_like(q), None, None)
    states = Smoother(name).states(segment, slice(None), Filters.of(12.0, 6.0), stride)
    differences = np.gradient(np.gradient(noisy, 1 / RATE, axis=0), 1 / RATE, axis=0)
    for found, true, allowed in zip(states, (q, qd, qdd), (1e-4, 0.01, 0.5), strict=True):
        inner = slice(200 // stride, -(200 // stride))
        error = np.sqrt(((found - true[::stride])[inner] ** 2).mean())
        assert error < allowed
    assert np.sqrt(((differences - qdd)[200:-200] ** 2).mean()) > 10 * 0.5  # what no filter would give


@pytest.mark.parametrize("name", SMOOTHERS)
def test_measured_velocities_are_used(name: SmootherName) -> None:
    t, q, qd, qdd = wavy()
    segment = Segment(t, RATE, q, np.zeros_like(q), 2 * qd, None)
    states = Smoother(name).states(segment, slice(None), Filters.of(12.0, 6.0))
    inner = slice(300, -300)
    np.testing.assert_allclose(states[1][inner], 2 * qd[inner], rtol=0, atol=0.01)
    np.testing.assert_allclose(states[2][inner], 2 * qdd[inner], rtol=0, atol=0.2)


def test_rows_do_not_depend_on_how_a_recording_is_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = arm()
    recording = simulated_recording(robot, motion(robot, 3, rate=1000.0), np.random.default_rng(0), torque_noise=1.0)
    segments = uniform_segments(recording).segments
    filters = Filters.of(15.0, 10.0)
    assert grid_of(1000.0, filters).states > 1
    source = RowSource(Design.of(robot), segments, filters, Smoother())

    def everything() -> list[np.ndarray]:
        parts = list(source)
        return [np.concatenate([getattr(rows, name) for rows in parts]) for name in ("t", "tau", "rate_of_tau", "A")]

    whole = everything()
    monkeypatch.setattr("tauform.identification.regression.rows.SAMPLES_PER_PIECE", 700)
    for one, other in zip(whole, everything(), strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-12 * np.abs(one).max())


def test_steps_of_friction_pass_the_filters_of_the_torques(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = arm()
    recording = simulated_recording(robot, motion(robot, 4, rate=1000.0), np.random.default_rng(0))
    source = RowSource(Design.of(robot), uniform_segments(recording).segments, Filters.of(15.0, 10.0), Smoother())

    def error() -> float:
        (rows,) = source
        return float(np.abs(rows.A @ source.design.base.values(robot) - rows.tau).max() / np.abs(rows.tau).max())

    alike = error()
    assert alike < 2e-3
    monkeypatch.setattr(RowSource, "_decimate_steps", lambda *_: None)
    assert error() > 3 * alike


def test_the_band_of_a_motion_is_found_through_noise() -> None:
    t, q, *_ = wavy(seconds=60.0)
    rng = np.random.default_rng(4)
    segment = Segment(t, RATE, q + 1e-4 * rng.normal(size=q.shape), np.zeros_like(q), None, None)
    filters = choose_filters([segment])
    assert filters.bandwidth == pytest.approx(1.1, rel=0.05)
    spectrum = filters.spectrum
    assert spectrum is not None
    f, density = np.array(spectrum.frequencies), np.array(spectrum.density)
    slow = f < 5  # above, noise of the position is lifted by differentiation
    np.testing.assert_allclose(f[np.argmax(density * slow, axis=1)], [0.4, 1.1], rtol=0.1)
    assert density[:, -1].min() > 100 * density[:, slow][:, -1].max()


def test_a_report_shows_the_spectrum_and_the_cut_offs(tmp_path: Path) -> None:
    robot = arm()
    recording = simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), torque_noise=0.5)
    fit = tf.identify(robot, recording, friction="plain", couplings=None)
    assert fit.filters is not None
    fit.save(tmp_path / "fit.npz")
    assert tf.load_fit(tmp_path / "fit.npz", robot).filters == fit.filters
    page = fit.report(tmp_path / "chosen.html").read_text(encoding="utf-8")
    assert "Spectrum of the velocities" in page
    assert f"{fit.filters.torque:.3g} Hz" in page
    given = tf.identify(robot, recording, friction="plain", couplings=None, filters=Filters.of(20, 10))
    page = given.report(tmp_path / "given.html").read_text(encoding="utf-8")
    assert "The cut-offs were given" in page
    assert "Spectrum of the velocities" not in page
