"""Terms left out of closed forms: contributions, refit, symmetry, profiles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from tauform.closedform.model.equations import term_names
from tauform.closedform.profile import Profile
from tauform.closedform.reduction import fewest
from tauform.closedform.reduction.contribution import contributions, ranked_terms
from tauform.closedform.reduction.fewest import TermSearch
from tauform.closedform.reduction.reduction import Refit, relative_error, with_terms
from tauform.description.joint import Limits
from tauform.errors import ModelError, ShapeError, TauformError


@pytest.fixture(scope="module")
def scara() -> tf.BoundModel:
    robot = tf.load("sr6ia")
    return tf.derive(robot).bind(robot)


@pytest.fixture(scope="module")
def kr6() -> tf.BoundModel:
    robot = tf.load("kr6_r700")
    return tf.derive(robot).bind(robot)


def test_contributions_follow_their_definition(scara: tf.BoundModel) -> None:
    # Eqs. 65-66, term by term in the plainest way
    profile = Profile.slow(4)
    found = contributions(scara, profile, 300, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    parts = [profile.sample(k, *rng.spawn(1)) for k in (128, 128, 44)]
    states = [np.concatenate(part) for part in zip(*parts, strict=True)]
    q, qd, qdd = states
    generators = np.concatenate([q, np.sin(q), np.cos(q), qd, qdd], axis=1)
    y = np.prod(generators[:, :, None] ** scara.exponents, axis=1)
    tau = y[:, None, :] * scara.coefficients
    rho = np.linalg.norm(tau, axis=1) / np.linalg.norm(scara.inverse_dynamics(q, qd, qdd), axis=1)[:, None]
    np.testing.assert_allclose(found.mean, rho.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.maximum, rho.max(axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.median, np.median(rho, axis=0), rtol=1e-6)
    np.testing.assert_array_equal(found.order, ranked_terms(scara, profile, 300, np.random.default_rng(1)))


def test_all_terms_kept_is_the_same_model(scara: tf.BoundModel) -> None:
    same = with_terms(scara, np.ones(scara.n_terms, dtype=bool))
    states = Profile.fast(4).sample(50, np.random.default_rng(0))
    np.testing.assert_allclose(same.inverse_dynamics(*states), scara.inverse_dynamics(*states), rtol=1e-12, atol=1e-12)


def test_few_states_refuse_only_what_all_would(scara: tf.BoundModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first states alone decide, or never: the same terms, whatever was asked for before."""

    def found(first: int) -> list[tuple[int, float]]:
        monkeypatch.setattr(fewest, "FIRST_STATES", first)
        search = TermSearch.over(scara, Profile.slow(4), 0.99, np.random.default_rng(0))
        return [(r.bound.n_terms, r.error) for r in map(search.fewest, (0.05, 0.01, 0.03, 0.002))]

    with_few, with_all = found(500), found(1)
    assert [n for n, _ in with_few] == [n for n, _ in with_all]
    np.testing.assert_allclose([e for _, e in with_few], [e for _, e in with_all], rtol=1e-9)


def test_fewest_terms_keep_the_promise_and_drop_parameters(kr6: tf.BoundModel) -> None:
    profile = Profile.slow(6)
    found = TermSearch.over(kr6, profile, 0.99, np.random.default_rng(0)).fewest(0.01)
    assert found.bound.n_terms < kr6.n_terms / 10
    assert found.bound.base.n < kr6.base.n
    fresh = profile.sample(4000, np.random.default_rng(7))
    error = relative_error(found.bound.inverse_dynamics(*fresh), kr6.inverse_dynamics(*fresh), 0.99)
    assert error < 0.012


def test_refit_lowers_the_error(kr6: tf.BoundModel) -> None:
    profile, rng = Profile.slow(6), np.random.default_rng(0)
    order = contributions(kr6, profile, 300, rng).order
    kept = np.zeros(kr6.n_terms, dtype=bool)
    kept[order[:60]] = True
    fresh = profile.sample(1000, rng)
    exact = kr6.inverse_dynamics(*fresh)
    plain, fitted = with_terms(kr6, kept), with_terms(kr6, kept, Refit.at(kr6, profile.sample(400, rng)))
    size = np.linalg.norm(exact, axis=1, keepdims=True)
    errors = [np.linalg.norm((model.inverse_dynamics(*fresh) - exact) / size) for model in (plain, fitted)]
    assert errors[1] < errors[0]


def test_reduced_mass_matrix_is_symmetric(kr6: tf.BoundModel) -> None:
    found = TermSearch.over(kr6, Profile.slow(6), 0.95, np.random.default_rng(0)).fewest(0.02)
    M = found.bound.mass_matrix(Profile.slow(6).sample(200, np.random.default_rng(3))[0])
    np.testing.assert_allclose(M, np.swapaxes(M, 1, 2), rtol=0, atol=1e-12)


def test_forward_dynamics_keep_the_mass_matrix(scara: tf.BoundModel) -> None:
    found = TermSearch.over(scara, Profile.fast(4), 0.9, np.random.default_rng(0), function="forward_dynamics").fewest(
        0.2
    )
    q, qd, qdd = Profile.fast(4).sample(2000, np.random.default_rng(3))
    accelerations = found.bound.forward_dynamics(q, qd, scara.inverse_dynamics(q, qd, qdd))
    assert relative_error(accelerations, qdd, 0.9) < 0.22
    assert found.bound.n_terms < scara.n_terms
    n_accelerations = scara.exponents[16:].any(axis=0).sum()
    assert found.bound.exponents[16:].any(axis=0).sum() == n_accelerations
    np.testing.assert_allclose(found.bound.mass_matrix(q), scara.mass_matrix(q), rtol=1e-12, atol=1e-12)


def test_ranges_bound_the_states() -> None:
    profile = Profile.ranges(2, q=[[-1.0, 0.0], [1.0, 0.5]], qd=0.1, qdd=[1.0, 2.0])
    q, qd, qdd = profile.sample(1000, np.random.default_rng(0))
    assert (q >= [-1, 0]).all()
    assert (q <= [1, 0.5]).all()
    assert np.abs(qd).max() <= 0.1
    assert (np.abs(qdd) <= [1, 2]).all()


def test_harmonic_states_reach_their_bounds_and_are_consistent() -> None:
    profile = Profile.harmonic([0.3, 0.0], [1.0, 2.0], [4.0, 8.0])
    assert profile.recorded is not None
    q, qd, qdd = profile.recorded
    np.testing.assert_allclose(np.abs(qd).max(axis=0), [1, 2], rtol=1e-4)
    np.testing.assert_allclose(np.abs(qdd).max(axis=0), [4, 8], rtol=1e-4)
    np.testing.assert_allclose(q, [0.3, 0.0] - qdd / (np.array([4.0, 8.0]) / [1.0, 2.0]) ** 2)  # qdd = -w^2 (q - c)


@pytest.mark.parametrize(
    "bounds",
    [{"q": np.inf}, {"q": [[1.0, 1.0], [0.0, 0.0]]}, {"qd": "fast"}, {"qdd": [1.0, 2.0, 3.0]}],
)
def test_bad_bounds_are_refused(bounds: dict[str, object]) -> None:
    with pytest.raises(ModelError):
        Profile.ranges(2, **{"q": 1.0, "qd": 1.0, "qdd": 1.0, **bounds})


def test_an_empty_trajectory_is_refused() -> None:
    with pytest.raises(ModelError, match="at least one state"):
        Profile.trajectory(np.zeros((0, 2)), np.zeros((0, 2)), np.zeros((0, 2)))
    with pytest.raises(ShapeError):
        Profile.trajectory(np.full((3, 2), np.nan), np.zeros((3, 2)), np.zeros((3, 2)))


def test_a_profile_outside_joint_limits_is_refused() -> None:
    robot = tf.load("two_link")
    joint = robot.joints[1]
    limited = replace(robot, joints=(robot.joints[0], replace(joint, limits=replace(joint.limits, upper=1.0))))
    with pytest.raises(ModelError, match=f"joint '{joint.name}'"):
        Profile.slow(2).check_limits(limited)
    Profile.ranges(2, 1.0, 0.1, 1.0).check_limits(limited)
    with pytest.raises(ModelError, match="describes 3 joints"):
        Profile.slow(3).check_limits(robot)


def test_profiles_by_name_keep_within_the_limits_and_others_are_told_what_does() -> None:
    robot = tf.load("sr6ia")
    slide = replace(robot.joints[2], limits=Limits(0.0, 0.2, velocity=0.05))
    robot = replace(robot, joints=(*robot.joints[:2], slide, robot.joints[3]))
    found = tf.reduce(robot, "slow", tolerance=0.05, routes=("parameters",), n_fresh=2000)
    assert (found.profile.lower[0, 2], found.profile.upper[0, 2], found.profile.upper[1, 2]) == (0.0, 0.2, 0.05)
    with pytest.raises(ModelError, match=r"tf\.Profile\.within\(robot\) \(profile='slow' or profile='fast'\)"):
        tf.reduce(robot, Profile.slow(4))
    with pytest.raises(TauformError, match=r"slow.*fast"):
        tf.reduce(robot, "slowly")  # type: ignore[arg-type]


def test_speeds_of_a_profile_within_limits_may_be_given_by_joint() -> None:
    robot = tf.load("two_link")
    profile = Profile.within(robot, "fast", velocity=[0.5, 3.0], acceleration=2.0)
    np.testing.assert_array_equal(profile.upper[1:], [[0.5, 3.0], [2.0, 2.0]])
    np.testing.assert_array_equal(profile.lower, -profile.upper)
    with pytest.raises(ModelError, match="qd: expected one bound, 2 bounds"):
        Profile.within(robot, velocity=[1, 2, 3])


def test_contributions_have_names_and_an_order(scara: tf.BoundModel) -> None:
    found = scara.contributions("fast", n_states=200)
    assert found.names == term_names(scara.exponents)
    assert (np.diff(found.mean[found.order]) <= 0).all()
    lines = str(found).splitlines()
    assert lines[1].split()[-1] == found.names[found.order[0]]
    assert lines[-1].startswith(f"and {len(found) - 20} more")


def test_the_largest_terms_err_less_than_the_smallest(scara: tf.BoundModel) -> None:
    states = Profile.slow(4).sample(500, np.random.default_rng(3))
    exact = scara.inverse_dynamics(*states)
    errors = [relative_error(scara.with_terms(k).inverse_dynamics(*states), exact, 0.95) for k in (5, 20, 60)]
    assert errors[0] > errors[1] > errors[2]
    plain = scara.with_terms(20, refit=False, whole_sums=False)
    assert relative_error(plain.inverse_dynamics(*states), exact, 0.95) >= errors[1]
    assert 20 <= plain.n_terms < 30  # mirror images of the mass matrix stay with their terms


def test_bad_numbers_of_terms_and_profiles_are_one_sentence(scara: tf.BoundModel) -> None:
    with pytest.raises(ModelError, match="n_terms: expected 1 to 69"):
        scara.with_terms(0)
    with pytest.raises(ModelError, match="n_states: expected at least 1"):
        scara.contributions(n_states=0)
    with pytest.raises(ModelError, match=r"is of 6 joints, .* has 4"):
        scara.contributions(Profile.slow(6))
