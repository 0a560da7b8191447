"""Errors on held-out blocks are those of the estimator itself, refitted without them, and of no other."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

import tauform as tf
from identification.arms import arm, motion
from sampling import representatives
from tauform.identification.recording.segments import uniform_segments
from tauform.identification.regression.blocks import N_BLOCKS
from tauform.identification.regression.design import Design
from tauform.identification.regression.estimators import METHODS, estimate
from tauform.identification.regression.evidence import gather
from tauform.identification.regression.rows import RowSource
from tauform.identification.signals.differentiate import Smoother

OPTIONS: dict[str, Any] = {"friction": "plain", "couplings": None, "filters": None}
OWN = sorted(set(METHODS) - {"auto"})
# Weights of joints and the firmness of a prior are tuned without each block, by other folds here than there; commanded
# positions are differentiated at the ends of the parts.
TOLERANCE = {"ordinary": 1e-9, "robust": 1e-6, "weighted": 1e-4, "energy": 1e-3, "ridge": 1e-3, "instrumental": 0.03}
TUNED = 5e-3
# A prior decides where torques are noisy.
NOISE = {"ridge": 100.0}


@cache
def recording(noise: float) -> tf.Recording:
    """Noisy states and some spikes: estimators differ by far more than tuning does."""
    path, rng = motion(arm(), 2, duration=12.0, rate=100.0), np.random.default_rng(0)
    errors = [scale * rng.normal(size=path.q.shape) for scale in (5e-4, 0.1, 3.0)]
    q, qd, qdd = (x + e for x, e in zip((path.q, path.qd, path.qdd), errors, strict=True))
    tau = tf.inverse_dynamics(arm(), path.q, path.qd, path.qdd) + noise * rng.normal(size=q.shape)
    tau[rng.integers(0, len(tau), 12)] += 80.0
    return tf.Recording(path.t, q, tau, qd, qdd, reference=path.q)


def part(whole: tf.Recording, inside: np.ndarray) -> tf.Recording:
    fields = (whole.t, whole.q, whole.tau, whole.qd, whole.qdd)
    assert whole.reference is not None
    t, q, tau, qd, qdd = (np.asarray(x)[inside] for x in fields if x is not None)
    return tf.Recording(t, q, tau, qd, qdd, reference=np.asarray(whole.reference)[inside])


@cache
def refitted(method: str, noise: float) -> np.ndarray:
    """(n,) RMS of held-out blocks, each predicted by a fit of a recording that lacks it."""
    whole, squares = recording(noise), np.zeros(arm().n_joints)
    edges = np.linspace(whole.t[0], whole.t[-1], N_BLOCKS + 1)
    edges[-1] = np.inf
    for start, end in pairwise(edges):
        sides = [part(whole, inside) for inside in (whole.t < start, whole.t >= end) if inside.any()]
        fit = tf.identify(arm(), sides, method=method, **OPTIONS)
        unseen = part(whole, (whole.t >= start) & (whole.t < end))
        squares += ((fit.predict(unseen.q, unseen.qd, unseen.qdd) - unseen.tau) ** 2).sum(axis=0)
    return np.sqrt(squares / len(whole.t))


# One whose equations are condensed, one that iterates, one of other equations.
@pytest.mark.parametrize("method", representatives(OWN, "ordinary", "robust", "energy"))
def test_held_out_errors_are_those_of_the_same_estimator_on_the_other_blocks(method: str) -> None:
    noise = NOISE.get(method, 3.0)
    fit = tf.identify(arm(), recording(noise), method=method, **OPTIONS)
    tolerance = TOLERANCE.get(method, TUNED)
    np.testing.assert_allclose(fit.held_out.rms, refitted(method, noise), rtol=tolerance)
    # Least squares would be found out.
    if method not in {"weighted", "ordinary"}:
        others = np.abs(refitted("weighted", noise) / fit.held_out.rms - 1)
        assert others.max() > 5 * tolerance


def refits(method: str, disturbed: float) -> tuple[np.ndarray, np.ndarray]:
    """Values from all blocks but the third, whose torques are that many times as large; and from all of them."""
    whole = recording(3.0)
    edges = np.linspace(whole.t[0], whole.t[-1], N_BLOCKS + 1)
    third = (whole.t >= edges[2]) & (whole.t < edges[3])
    # One joint alone: what changes is how much the joints count.
    tau = np.where(third[:, None] & np.array([True, False, False]), disturbed * whole.tau, whole.tau)
    changed = replace(whole, tau=tau)
    source = RowSource(Design.of(arm()), uniform_segments(changed).segments, None, Smoother())
    rows = list(source)
    evidence = gather(rows, source)
    found = estimate(method, source.design, evidence, rows, source, arm())  # type: ignore[arg-type]
    assert found.refit is not None
    return found.refit([0, 1, 3, 4, 5, 6, 7]), found.values


@pytest.mark.parametrize("method", representatives(OWN, "weighted", "ridge"))
def test_data_that_judges_does_not_choose(method: str) -> None:
    """Nothing about a held-out block, its weight in tuning included, shows in the values that predict it."""
    (quiet, everything), (loud, disturbed) = (refits(method, factor) for factor in (1.0, 30.0))
    np.testing.assert_allclose(loud, quiet, rtol=1e-3 if method == "robust" else 1e-9, atol=1e-9)
    assert np.abs(disturbed - everything).max() > 1.0


def test_instruments_stand_at_the_rows_whose_torques_they_explain() -> None:
    """A robot that pauses: the command stands at other instants than the noisy positions do."""
    path, rng = motion(arm(), 1), np.random.default_rng(0)
    t = np.arange(0.0, 16.0, 0.01)
    phase = np.where(t < 4, t, np.where(t < 8, 4.0, t - 4)) % path.t[-1]
    command = np.column_stack([np.interp(phase, path.t, path.q[:, j]) for j in range(3)])
    command = gaussian_filter1d(command, 5, axis=0)
    qd = np.gradient(command, 0.01, axis=0)
    tau = tf.inverse_dynamics(arm(), command, qd, np.gradient(qd, 0.01, axis=0)) + 0.3 * rng.normal(size=qd.shape)
    noisy = tf.Recording(t, command + 1e-4 * rng.normal(size=qd.shape), tau, reference=command)
    fit = tf.identify(arm(), noisy, method="instrumental", friction="plain", couplings=None)
    plain = tf.identify(arm(), noisy, method="weighted", friction="plain", couplings=None)
    assert fit.held_out.total < 1.2 * plain.held_out.total


def test_blocks_that_alone_show_a_value_are_said_to_be_seen() -> None:
    path = motion(arm(), 2, duration=12.0)
    # The last joint moves within the fourth of eight blocks only.
    since = np.clip((path.t - 4.6) / 1.3, 0.0, 1.0)
    q = np.column_stack([path.q[:, :2], (since < 1) * np.sin(np.pi * since) ** 4 * np.sin(20 * path.t)])
    qd = np.gradient(q, path.t, axis=0)
    qdd = np.gradient(qd, path.t, axis=0)
    tau = tf.inverse_dynamics(arm(), q, qd, qdd)
    fit = tf.identify(arm(), tf.Recording(path.t, q, tau, qd, qdd), method="weighted", **OPTIONS)
    assert any("predicted by values that had seen them" in finding for finding in fit.findings)


def test_refits_on_condensed_rows_are_called_least_squares() -> None:
    fit = tf.identify(arm(), recording(3.0), method="total", **OPTIONS)
    assert fit.method == METHODS["total"]
    assert fit.reduced().method == METHODS["weighted"]
