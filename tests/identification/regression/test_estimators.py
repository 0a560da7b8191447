"""Every estimator: the truth without noise; with noise, the truth as often as the deviations say."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from sampling import representatives
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.regression.estimators import METHODS

PLAIN = {"friction": "plain", "couplings": None}


# Work is summed by the trapezoidal rule, which is exact only as samples come closer.
@pytest.mark.parametrize("method", sorted(set(METHODS) - {"energy"}))
def test_without_noise_every_estimator_finds_the_truth(method: str) -> None:
    robot = arm()
    recording = simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), exact_states=True)
    fit = tf.identify(robot, recording, method=method, filters=None, **PLAIN)
    truth = fit.base.values(robot)
    assert np.abs(fit.theta - truth).max() <= 1e-9 * np.abs(truth).max()


def test_without_noise_the_energy_model_nears_the_truth_by_the_square_of_the_period() -> None:
    robot, errors = arm(), []
    for rate in (100.0, 200.0):
        path = motion(robot, 1, rate=rate)
        recording = simulated_recording(robot, path, np.random.default_rng(0), exact_states=True)
        fit = tf.identify(robot, recording, method="energy", filters=None, **PLAIN)
        truth = fit.base.values(robot)
        errors.append(np.abs(fit.theta - truth).max() / np.abs(truth).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_without_noise_no_further_term_is_found() -> None:
    robot = arm()
    recording = simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), exact_states=True)
    fit = tf.identify(robot, recording, filters=None)
    assert fit.terms == ()
    assert fit.design.widths == (0.0,) * robot.n_bodies
    assert np.abs(fit.theta - fit.base.values(robot)).max() <= 1e-9


@pytest.mark.parametrize("n_fits", representatives([25, 200], 25))
def test_the_truth_lies_within_the_deviations_as_often_as_it_should(n_fits: int) -> None:
    robot = arm()
    path = motion(robot, 2, duration=6.0, rate=50.0)
    inside, total, worst = 0, 0, 0.0
    for seed in range(n_fits):
        rng = np.random.default_rng(seed)
        recording = simulated_recording(robot, path, rng, torque_noise=[2.0, 1.0, 0.5], exact_states=True)
        fit = tf.identify(robot, recording, filters=None, **PLAIN)
        z = np.abs(fit.theta - fit.base.values(robot)) / fit.deviations
        inside, total, worst = inside + int((z < 2).sum()), total + len(z), max(worst, float(z.max()))
    # Two deviations hold 95.4 % of a normal law; three hold 99.7 %.
    assert 0.93 <= inside / total <= 0.98
    assert worst < 6


def test_noise_on_positions_and_filters_keep_the_truth_within_the_deviations() -> None:
    robot = arm()
    rng = np.random.default_rng(3)
    recordings = [
        simulated_recording(robot, motion(robot, k, rate=200.0), rng, torque_noise=[2, 1, 0.5], position_noise=2e-5)
        for k in (3, 4)
    ]
    fit = tf.identify(robot, recordings, **PLAIN)
    z = np.abs(fit.theta - fit.base.values(robot)) / fit.deviations
    assert (z < 3).mean() > 0.9
    assert fit.verdict.grade == "good"


def test_robust_estimation_shrugs_off_spikes() -> None:
    robot = arm()
    rng = np.random.default_rng(4)
    clean = simulated_recording(robot, motion(robot, 5), rng, torque_noise=0.5, exact_states=True)
    tau = np.array(clean.tau)
    tau[rng.integers(0, len(tau), 30)] += 200.0
    spiked = tf.Recording(clean.t, clean.q, tau, clean.qd, clean.qdd)

    def error(method: str) -> float:
        fit = tf.identify(robot, spiked, method=method, filters=None, **PLAIN)
        return float(np.linalg.norm(fit.theta - fit.base.values(robot)))

    assert error("robust") < 0.2 * error("weighted")


def test_instruments_remove_the_bias_of_noisy_positions() -> None:
    parameters = np.array(arm().parameters)
    parameters[10 * 3 :].reshape(-1, 4)[:, 2] = 0.0
    robot = arm().with_parameters(parameters)
    groups = ("link", "rotor", "viscous", "offset")

    def bias(method: str) -> float:
        errors = []
        for seed in range(6):
            rng = np.random.default_rng(seed)
            recording = simulated_recording(
                robot, motion(robot, 6, rate=50.0), rng, torque_noise=0.2, position_noise=3e-4
            )
            fit = tf.identify(robot, recording, method=method, filters=None, include=groups, **PLAIN)
            truth = fit.base.values(robot)
            errors.append((fit.theta - truth)[[k for k, name in enumerate(fit.names) if name.startswith("I")]])
        return float(np.linalg.norm(np.mean(errors, axis=0)))

    assert bias("instrumental") < 0.5 * bias("weighted")


def test_torque_std_covers_the_error_of_the_prediction() -> None:
    robot = arm()
    path, other = motion(robot, 7), motion(robot, 8)
    truth = tf.inverse_dynamics(robot, other.q, other.qd, other.qdd)
    ratios = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        recording = simulated_recording(robot, path, rng, torque_noise=[2.0, 1.0, 0.5], exact_states=True)
        fit = tf.identify(robot, recording, filters=None, **PLAIN)
        error = fit.predict(other.q, other.qd, other.qdd) - truth
        ratios.append(np.mean((error / fit.torque_std(other.q, other.qd, other.qdd)) ** 2))
    assert 0.6 < np.mean(ratios) < 1.5
