"""Which friction law is chosen: the plain one where it is true, at any rate; a richer one where it is there."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion, with_drives
from sampling import representatives
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.regression.evidence import Evidence
from tauform.identification.selection.chance import independent
from tauform.identification.selection.held_out import HeldOut

# Standard deviations of the torques' noise [N m] and step of the encoders [rad], as on an industrial arm.
NOISE, ENCODER = np.array([0.6, 0.3, 0.15]), 2 * np.pi / 2**17


def recorded(rate: float, seed: int, extra: tuple[tf.Drive, ...] = (), velocity: bool = False) -> tf.Recording:
    """What a drive would log: positions in steps of the encoder, noisy torques, perhaps noisy velocities."""
    robot, rng = arm(), np.random.default_rng(seed)
    path = motion(robot, seed, duration=12.0, rate=rate)
    truth = robot.with_drives([*robot.drives, *extra])
    tau = tf.inverse_dynamics(truth, path.q, path.qd, path.qdd) + rng.normal(size=path.q.shape) * NOISE
    qd = path.qd + rng.normal(scale=2e-3, size=path.qd.shape) if velocity else None
    return tf.Recording(path.t, np.round(path.q / ENCODER) * ENCODER, tau, qd)


def error_on_fresh_states(fit: tf.Fit, extra: tuple[tf.Drive, ...] = ()) -> float:
    path = motion(arm(), 99)
    truth = tf.inverse_dynamics(arm().with_drives([*arm().drives, *extra]), path.q, path.qd, path.qdd)
    return float(np.linalg.norm(fit.predict(path.q, path.qd, path.qdd) - truth) / np.linalg.norm(truth))


@pytest.mark.parametrize("rate", representatives([50.0, 200.0, 500.0, 1000.0, 2000.0], 50.0, 1000.0))
def test_plain_friction_is_taken_for_what_it_is_at_every_rate(rate: float) -> None:
    fit = tf.identify(arm(), [recorded(rate, 1), recorded(rate, 3)])
    assert fit.terms == ()
    assert not any(fit.design.widths)
    assert error_on_fresh_states(fit) < 0.005
    coulomb = [k for k, name in enumerate(fit.names) if name.startswith("Fc_")]
    z = (fit.theta - fit.base.values(arm()))[coulomb] / fit.deviations[coulomb]
    assert np.abs(z).max() < 4


@pytest.mark.parametrize("velocity", representatives([False, True], True))
def test_the_default_call_has_the_truth_within_its_deviations(velocity: bool) -> None:
    inside, plain = [], 0
    for seed in range(12):
        fit = tf.identify(arm(), recorded((100.0, 500.0)[seed % 2], seed, velocity=velocity))
        z = np.abs(fit.theta - fit.base.values(arm())) / fit.deviations[: fit.base.n]
        inside.append((z < 3).mean())
        plain += not (fit.terms or any(fit.design.widths))
    # Three deviations hold 99.7 % of a normal law; chance finds a term in one fit of twenty at most.
    assert np.mean(inside) > 0.98
    assert plain >= 11


@pytest.mark.parametrize("n_fits", representatives([3, 12], 3))
def test_chance_does_not_find_terms_among_many_candidates(n_fits: int) -> None:
    """A hundred candidates on short, noisy recordings of six joints; each would pass a test at 5 % now and then."""
    robot, found = with_drives(tf.load("kr6_r700")), []
    for seed in range(n_fits):
        path = motion(robot, 100 + seed, duration=20.0, rate=50.0)
        noise = [2.0, 2.0, 1.0, 0.3, 0.3, 0.2]
        recording = simulated_recording(robot, path, np.random.default_rng(seed), torque_noise=noise)
        fit = tf.identify(robot, recording)
        found.append(len(fit.terms) + np.count_nonzero(fit.design.widths))
    assert np.count_nonzero(found) <= 1


def test_copies_of_a_candidate_are_one_chance() -> None:
    """Independent columns count one by one, copies once, and what the plain columns hold not at all."""
    rng = np.random.default_rng(0)
    plain, fresh, tau = rng.normal(size=(5000, 4)), rng.normal(size=(5000, 6)), rng.normal(size=(5000, 1))
    table = np.column_stack([plain, fresh, fresh[:, :1], plain @ [1.0, 2.0, 3.0, 4.0], tau])
    triangles = np.array([[np.linalg.qr(part, mode="r")] for part in np.array_split(table, 8)])
    evidence = Evidence(triangles, np.full(8, 625), (0,) * 8, np.ones((1, 12)), np.ones(1))
    held_out, start = HeldOut(evidence), range(4)
    assert independent(held_out, range(4, 10), start) == pytest.approx(6, abs=0.7)
    assert independent(held_out, [4, 10], start) == pytest.approx(1, abs=0.1)
    assert independent(held_out, [4, 10, 11], start) == pytest.approx(1, abs=0.1)


def test_losses_of_near_selections_are_those_of_each_alone() -> None:
    """One column more, fewer, another, or all of these for several: from one inverse as from a solution each."""
    rng = np.random.default_rng(1)
    table = rng.normal(size=(4000, 3, 13)) * rng.uniform(0.01, 100.0, 13)
    table[:, 1, 3:6] = 0.0  # felt at some joints only
    table[:, :, 7] = table[:, :, 6] + 1e-3 * table[:, :, 8]  # nearly the same
    triangles = np.array([[np.linalg.qr(part[:, j], mode="r") for j in range(3)] for part in np.array_split(table, 8)])
    held_out = HeldOut(Evidence(triangles, np.full(8, 500), (0,) * 8, np.ones((3, 12)), np.ones(3)))
    chosen = [0, 1, 4, 6, 9]
    held_out.settle_weights(chosen)
    moves = [[*chosen, 7], [0, 1, 4, 9], [0, 1, 7, 4, 9], [*chosen, 10, 11], [0, 3, 4, 6, 9], [1, 4], chosen]
    np.testing.assert_allclose(held_out.losses(chosen, moves), [held_out.loss(move) for move in moves], rtol=1e-9)


@pytest.mark.parametrize("rate", representatives([100.0, 1000.0], 100.0))
def test_viscous_friction_that_differs_by_direction_is_found(rate: float) -> None:
    extra = (tf.Drive.of("asymmetric", 1, 4.0),)
    fit = tf.identify(arm(), recorded(rate, 2, extra))
    assert [term.name for term in fit.terms] == ["Fa_2"]
    assert abs(fit.values[-1] - 4.0) < 4 * fit.deviations[-1]
    assert error_on_fresh_states(fit, extra) < 0.005


@pytest.mark.parametrize("rate", representatives([100.0, 1000.0], 1000.0))
def test_break_away_friction_is_predicted_though_no_single_step_has_its_shape(rate: float) -> None:
    extra = tuple(tf.Drive.of("stribeck", j, value, width=0.15) for j, value in enumerate((6.0, 6.0, 3.0)))
    fit = tf.identify(arm(), recorded(rate, 3, extra))
    assert any(term.name.startswith("Fs_") for term in fit.terms)
    plain = tf.identify(arm(), recorded(rate, 3, extra), friction="plain")
    assert error_on_fresh_states(fit, extra) < min(0.01, 0.5 * error_on_fresh_states(plain, extra))
