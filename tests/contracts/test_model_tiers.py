"""Closed forms and fits on kernels: the results of their terms and columns, and the same refusals."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import tauform as tf
from random_drives import random_temperatures, with_random_drives
from tauform.errors import GenerationError, TauformError
from tauform.fast import dispatch, models

N_STATES = 24
AGREEMENT = 1e-12  # of each output's peak; accelerations also by the condition of the mass matrix
METHODS = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "mass_matrix": ("q",),
    "coriolis_matrix": ("q", "qd"),
    "gravity_torque": ("q",),
    "induced_torque": ("q", "qd"),
    "forward_dynamics": ("q", "qd", "tau"),
}
WARM = ("inverse_dynamics", "induced_torque", "forward_dynamics")


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORM_CACHE", str(tmp_path_factory.mktemp("kernels")))
        yield


@cache
def bound(kind: str) -> tf.BoundModel:
    """Plain friction, a slide, or friction that depends on temperature and springs."""
    robot = {
        "chain": lambda: tf.random_robot("RRR", 1),
        "slide": lambda: tf.random_robot("RPR", 2),
        "drives": lambda: with_random_drives(tf.random_robot("RRR", 3), 1, ("thermal", "stiffness", "quadratic")),
    }[kind]()
    return tf.derive(robot).bind(robot)


@cache
def fit() -> tf.Fit:
    robot = tf.load("two_link", gravity=(0, -9.81, 0))
    t, rate = np.arange(0.0, 5.0, 0.01), np.array([2.0, 3.1])
    phase = np.outer(t, rate)
    motion = tf.Trajectory(t, np.sin(phase), rate * np.cos(phase), -(rate**2) * np.sin(phase), robot.joint_names)
    measured = tf.simulated_recording(robot, motion, np.random.default_rng(0), torque_noise=0.1)
    return tf.identify(robot, measured, friction="stribeck", couplings=None)


def states(name: str, n: int = 3) -> dict[str, np.ndarray]:
    vectors = np.random.default_rng(7).uniform(-2, 2, (len(METHODS[name]), N_STATES, n))
    return dict(zip(METHODS[name], vectors, strict=True))


def temperatures_of(model: tf.BoundModel, name: str) -> dict[str, np.ndarray]:
    needed = name in WARM and model.beside.needs_temperature
    return {"temperature": random_temperatures(model.as_robot(), N_STATES, 3)} if needed else {}


def check(kind: str, name: str, tier: int) -> None:
    model, given = bound(kind), states(name)
    warm = temperatures_of(model, name)
    expected = getattr(model.textbook, name)(**given, **warm)
    share = AGREEMENT
    if name == "forward_dynamics":
        share *= np.linalg.cond(model.textbook.mass_matrix(given["q"])).max()
    found = getattr(model, name)(**given, **warm, tier=tier)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=share * max(np.abs(expected).max(), 1e-3))
    alone = {key: value[0] for key, value in {**given, **warm}.items()}
    np.testing.assert_allclose(getattr(model, name)(**alone, tier=tier), expected[0], rtol=0, atol=share * 1e2)


@pytest.mark.parametrize("name", METHODS)
def test_a_kernel_agrees_with_the_terms(name: str) -> None:
    check("chain", name, 2)


@pytest.mark.parametrize(
    ("kind", "name"), [("slide", "inverse_dynamics"), ("drives", "inverse_dynamics"), ("drives", "forward_dynamics")]
)
def test_a_kernel_agrees_with_the_terms_of_any_model(kind: str, name: str) -> None:
    check(kind, name, 2)


@pytest.mark.nightly
@pytest.mark.parametrize("tier", [2, 3])
@pytest.mark.parametrize("kind", ["chain", "slide", "drives"])
@pytest.mark.parametrize("name", METHODS)
def test_all_tiers_agree_with_the_terms(kind: str, name: str, tier: int) -> None:
    check(kind, name, tier)


def test_a_kernel_predicts_what_the_columns_of_a_fit_do() -> None:
    given = states("inverse_dynamics", 2)
    expected = fit().predict(**given, tier=1)
    for tier in (2, 3):
        found = fit().predict(**given, tier=tier)
        np.testing.assert_allclose(found, expected, rtol=0, atol=AGREEMENT * np.abs(expected).max())


def said(call: Callable[[], Any]) -> tuple[type, str]:
    with pytest.raises(TauformError) as caught:
        call()
    return type(caught.value), str(caught.value)


WRONG: dict[str, Any] = {
    "a NaN": lambda q: np.where(np.arange(q.size).reshape(q.shape) == 0, np.nan, q),
    "one joint too many": lambda q: np.concatenate([q, q[..., :1]], axis=-1),
    "another batch": lambda q: np.zeros((5, q.shape[-1])),
    "a text": lambda q: "abc",
    "None": lambda q: None,
}


@pytest.mark.parametrize("wrong", WRONG)
def test_kernels_refuse_the_same_with_the_same_words(wrong: str) -> None:
    """Faults are in the last argument, or a temperature, which the columns of a fit are never given in vain."""
    for call, terms, n in (
        (bound("chain").inverse_dynamics, bound("chain").textbook.inverse_dynamics, 3),
        (fit().predict, lambda **given: fit().predict(**given, tier=1), 2),
    ):
        given: dict[str, Any] = states("inverse_dynamics", n)
        given["qdd"] = WRONG[wrong](given["qdd"])
        assert said(lambda c=call, g=given: c(**g, tier=2)) == said(lambda c=terms, g=given: c(**g))


def test_a_temperature_too_low_is_refused_by_every_tier() -> None:
    model, given = bound("drives"), states("inverse_dynamics")
    for cold in ({}, {"temperature": np.full(3, -300.0)}):
        words = said(lambda cold=cold: model.textbook.inverse_dynamics(**given, **cold))
        assert said(lambda cold=cold: model.inverse_dynamics(**given, **cold, tier=2)) == words
    words = said(lambda: fit().predict(**states("inverse_dynamics", 2), temperature=[1.0, np.nan], tier=1))
    assert said(lambda: fit().predict(**states("inverse_dynamics", 2), temperature=[1.0, np.nan], tier=2)) == words


def test_complex_states_are_computed_term_by_term() -> None:
    model, given = bound("chain"), states("inverse_dynamics")
    stepped = {**given, "q": given["q"] + 1e-20j}
    found, expected = model.inverse_dynamics(**stepped, tier=2), model.textbook.inverse_dynamics(**stepped)
    np.testing.assert_array_equal(found, expected)
    assert np.abs(found.imag).max() > 0


def test_a_model_with_dropped_terms_stays_with_its_terms() -> None:
    model = bound("chain").with_terms(20)
    given = states("inverse_dynamics")
    np.testing.assert_array_equal(model.inverse_dynamics(**given), model.textbook.inverse_dynamics(**given))
    with pytest.raises(GenerationError, match=r"has no kernel: .*dropped terms"):
        model.inverse_dynamics(**given, tier=2)


def test_work_promotes_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeated calls end on a kernel, and what is pickled knows nothing of it."""
    monkeypatch.delenv("TAUFORM_TIER")
    monkeypatch.setattr(dispatch, "PAYS_FOR_KERNEL", 0.0)
    robot = tf.random_robot("RR", 5)
    model = tf.derive(robot).bind(robot)
    q = np.array([0.3, -0.2])
    expected = model.textbook.gravity_torque(q)
    np.testing.assert_array_equal(model.gravity_torque(q), expected)
    entry = models._METHODS["gravity_torque"]._entry(model, (("function", "gravity_torque"),))
    end = time.monotonic() + 60
    while entry.tier < 2:
        assert time.monotonic() < end, entry.refused
        time.sleep(0.01)
    np.testing.assert_allclose(model.gravity_torque(q), expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).textbook.gravity_torque(q), expected)
