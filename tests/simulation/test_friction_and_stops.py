"""Dry friction as the set-valued law, and stops: joints stick and rest exactly, and what moves loses what it should."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from random_robots import random_tree
from real_robots import urdf
from sampling import in_turns, representatives
from tauform.errors import ShapeError, SimulationError
from tauform.simulation import rollout
from tauform.simulation.dry import MAX_ROUNDS, JointBounds, settled
from tauform.simulation.settling import Contact, guessed

INTEGRATORS = ("semi_implicit", "rk4", "midpoint")


def slider(coulomb: float, mass: float = 2.0, **further) -> tf.Robot:
    """A mass on a horizontal rail."""
    row = {"joint": "prismatic", "a": 0, "alpha": 0, "theta": 0, "mass": mass, "coulomb": coulomb, **further}
    return tf.Robot.from_dh([row], "standard", gravity=[0, -9.81, 0])


@pytest.mark.parametrize("integrator", representatives(INTEGRATORS, "semi_implicit"))
def test_a_stuck_joint_stays_put(integrator):
    rng = np.random.default_rng(0)
    robot = random_tree(4, 2, friction=False)
    q0 = rng.uniform(-1, 1, (6, 4))
    weight = tf.gravity_torque(robot, q0)
    coulomb = np.abs(weight).max(axis=0) + 1.0
    joints = [term for term in robot.drives if term.shape != "coulomb"]
    rough = robot.with_drives([*joints, *(tf.Drive.of("coulomb", k, float(f)) for k, f in enumerate(coulomb))])
    tau = rng.uniform(-1, 1, (6, 1, 4)) * (coulomb - np.abs(weight)[:, None])  # within what friction holds
    motion = tf.simulate(rough, q0, None, np.repeat(tau, 200, axis=1), 0.2, integrator=integrator, limits=False)
    assert (motion.q == q0[:, None]).all()
    assert (motion.qd == 0).all()
    assert (motion.qdd == 0).all()


@pytest.mark.parametrize("integrator", representatives(INTEGRATORS, "rk4"))
def test_a_sliding_mass_stops_where_its_energy_is_spent(integrator):
    # v0^2 m / 2 = F s, v0 m / F seconds
    motion = tf.simulate(slider(4.0), [0.0], [1.5], None, 1.0, 1e-3, integrator=integrator)
    distance, time = 1.5**2 * 2.0 / 2 / 4.0, 1.5 * 2.0 / 4.0
    assert motion.q[-1, 0] == pytest.approx(distance, abs=1e-3 if integrator == "semi_implicit" else 2e-6)
    at_rest = motion.t[np.flatnonzero(motion.qd[:, 0] == 0)[0]]
    assert at_rest == pytest.approx(time, abs=1.1e-3)
    assert (motion.qd[motion.t > time + 1e-3] == 0).all()


def test_a_mass_breaks_loose_beyond_its_friction():
    motion = tf.simulate(slider(4.0), np.zeros((3, 1)), None, np.array([[[3.9]], [[4.0]], [[4.5]]]).repeat(500, 1), 0.5)
    assert (motion.q[:2] == 0).all()
    assert motion.qd[2, -1, 0] == pytest.approx((4.5 - 4.0) / 2.0 * 0.5, rel=1e-9)


def test_break_away_friction_holds_more_than_it_drags():
    robot = slider(3.0)
    robot = robot.with_drives([*robot.drives, tf.Drive.of("stribeck", 0, 2.0, width=0.01)])
    held, loose = (tf.simulate(robot, [0.0], None, [tau], 0.5) for tau in (4.9, 5.1))
    assert (held.q == 0).all()
    assert loose.qd[-1, 0] == pytest.approx((5.1 - 3.0) / 2.0 * 0.5, rel=0.2)


def test_friction_by_load_holds_what_it_carries():
    robot = slider(1.0)
    robot = robot.with_drives([*robot.drives, tf.Drive.of("load", 0, 0.5)])
    # a stuck joint carries the torque itself: 1 + 0.5 * 1.9 holds it, 1 + 0.5 * 2.1 does not
    held, loose = (tf.simulate(robot, [0.0], None, [tau], 0.2) for tau in (1.9, 2.1))
    assert (held.q == 0).all()
    # sliding: tau = rigid + 1 + rigid / 2
    assert loose.qdd[-1, 0] == pytest.approx((2.1 - 1.0) / 1.5 / 2.0, rel=1e-6)


def best(M, u, impulses, lower, upper):
    """The minimum by trying every pattern of sticking, sliding and resting on a stop."""
    n, found, least = len(u), None, np.inf
    for pattern in itertools.product((-1, 0, 1, "low", "high"), repeat=n):
        v = np.array([lower[j] if s == "low" else upper[j] if s == "high" else 0.0 for j, s in enumerate(pattern)])
        free = [j for j, s in enumerate(pattern) if s in (-1, 1)]
        signs = np.array([pattern[j] for j in free])
        if free:
            held = [j for j in range(n) if j not in free]
            right = (M @ u)[free] - impulses[free] * signs - M[np.ix_(free, held)] @ v[held]
            v[free] = np.linalg.solve(M[np.ix_(free, free)], right)
        if (v < lower - 1e-12).any() or (v > upper + 1e-12).any():
            continue
        value = (v - u) @ M @ (v - u) / 2 + impulses @ np.abs(v)
        if value < least - 1e-15:
            found, least = v, value
    return found, least


def arms(n, seed, count):
    """Mass matrices of planar chains, whose joints are strongly coupled, at random postures."""
    return tf.mass_matrix(tf.planar_chain(n), np.random.default_rng(seed).uniform(-3, 3, (count, n)))


@pytest.mark.parametrize(("stops", "n"), in_turns([False, True], [2, 3, 4]))
def test_velocities_settle_at_the_minimum(n, stops):
    rng, count = np.random.default_rng(3), 40
    M = arms(n, 4, count)
    u, before = rng.normal(size=(2, count, n))
    before *= rng.random((count, n)) < 0.5
    impulses = rng.uniform(0, 1.0, (count, n)) * np.abs(M @ u[..., None])[..., 0]
    lower, upper = (-rng.uniform(0, 1, (count, n)), rng.uniform(0, 1, (count, n)))
    wide = 1e3 * np.ones((count, n))
    lower, upper = (lower, upper) if stops else (-wide, wide)
    box = JointBounds(list(lower.T), list(upper.T))
    v = settled(np.moveaxis(M, 0, -1), u.T, before.T, impulses.T, box).T
    for k in range(count):
        expected, least = best(M[k], u[k], impulses[k], lower[k], upper[k])
        value = (v[k] - u[k]) @ M[k] @ (v[k] - u[k]) / 2 + impulses[k] @ np.abs(v[k])
        assert value - least < 1e-12 * max(1.0, abs(least))
        np.testing.assert_allclose(v[k], expected, atol=1e-9)
        np.testing.assert_array_equal(v[k] == 0, expected == 0)


@pytest.mark.parametrize(("stops", "n"), in_turns([False, True], [2, 4, 7]))
def test_rounds_that_are_compiled_settle_at_the_same_minimum(n, stops):
    """Compiled steps follow those in arrays from the guess on: who sticks and who rests is the same, exactly."""
    rng, count, joints = np.random.default_rng(n), 60, tuple(range(n))
    M = arms(n, 4, count)
    u, before = rng.normal(size=(2, count, n))
    before *= rng.random((count, n)) < 0.5
    contact = Contact(n, joints[1:], joints if stops else (), joints[1:] if stops else ())  # one slides freely
    impulses = rng.uniform(0, 1.0, (count, n)) * np.abs(M @ u[..., None])[..., 0] * (np.arange(n) > 0)
    given = {"M": np.stack([M[:, i, j] for i in range(n) for j in range(i + 1)]), "impulses": impulses.T[1:]}
    given["momentum"] = (M @ u[..., None])[..., 0].T
    box = JointBounds([None] * n, [None] * n)
    room = {}
    if stops:
        low, high = -rng.uniform(0, 1, (n, count)), rng.uniform(0, 1, (n, count))
        box = JointBounds(list(low), [None, *high[1:]])
        room = {"lower": low, "upper": high[1:]}
    problem = contact.problem({**given, **room})
    v = guessed(problem, contact, list(before.T), room)
    for _ in range(MAX_ROUNDS):
        left = problem.unbalanced(v) > 0
        if not left.any():
            break
        v = [np.where(left, after, x) for after, x in zip(problem.round(v), v, strict=True)]
    expected = settled(np.moveaxis(M, 0, -1), u.T, before.T, impulses.T, box)
    np.testing.assert_allclose(v, expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(np.array(v)[1:] == 0, expected[1:] == 0)


def rubbing(robot, *shapes):
    """The robot with dry friction of these shapes, on some joints each."""
    terms = {
        "coulomb": [tf.Drive.of("coulomb", k, 0.4 + 0.1 * k) for k in range(robot.n_joints - 1)],
        "stribeck": [tf.Drive.of("stribeck", 0, 0.5, width=0.05)],
        "load": [tf.Drive.of("load", 1, 0.2)],
        "viscous": [tf.Drive.of("viscous", k, 0.1) for k in range(robot.n_joints)],
    }
    return robot.with_drives([term for shape in shapes for term in terms[shape]])


@pytest.mark.parametrize(
    ("shapes", "integrator", "stops"),
    in_turns(
        [("coulomb",), ("coulomb", "stribeck", "viscous"), ("load", "coulomb"), ("viscous",)],
        INTEGRATORS,
        [True, False],
    ),
)
def test_compiled_steps_with_friction_and_stops_are_those_of_the_textbook(shapes, integrator, stops, monkeypatch):
    chain = rubbing(tf.planar_chain(3), *shapes)
    limits = [replace(joint.limits, lower=-0.8, upper=0.6) for joint in chain.joints]
    robot = replace(chain, joints=tuple(replace(j, limits=x) for j, x in zip(chain.joints, limits, strict=True)))
    rng = np.random.default_rng(2)
    q0, qd0 = rng.uniform(-0.5, 0.5, (11, 3)), rng.uniform(-3, 3, (11, 3))
    hold = tf.Controller.pd(4.0, 0.4, gravity=True)
    options = {"integrator": integrator, "limits": stops}
    fast = tf.simulate(robot, q0, qd0, hold, 0.25, 2e-3, **options)
    for compiled in ("compiled", "compiled_contact"):
        monkeypatch.setattr(rollout, compiled, lambda plant: None)
    slow = tf.simulate(robot, q0, qd0, hold, 0.25, 2e-3, **options)
    np.testing.assert_allclose(fast.q, slow.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(fast.qd, slow.qd, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(fast.qd == 0, slow.qd == 0)
    np.testing.assert_array_equal(np.isin(fast.q, (-0.8, 0.6)), np.isin(slow.q, (-0.8, 0.6)))
    assert stops <= (np.isin(slow.q, (-0.8, 0.6))).any()
    assert ("coulomb" in shapes) <= (slow.qd[:, 1:] == 0).any()


def test_torques_end_at_the_efforts_of_the_motors():
    robot = slider(0.0, effort=3.0)
    for control in ([9.0], tf.Controller.pd(100.0, 0.0, [1.0]), lambda t, q, qd: 9.0 + 0 * q):
        motion = tf.simulate(robot, [0.0], None, control, 0.1, effort_limits=True)
        assert motion.tau.max() == 3.0
        np.testing.assert_allclose(motion.qd[-1], 3.0 / 2.0 * 0.1)
    assert tf.simulate(robot, [0.0], None, [9.0], 0.1).tau.max() == 9.0


def test_friction_is_what_the_law_says():
    robot = tf.planar_chain(4)
    rough = robot.with_drives([tf.Drive.of("coulomb", k, 1.0) for k in range(4)])
    q0, qd0 = np.random.default_rng(5).uniform(-2, 2, (2, 30, 4))
    h = 1e-3
    motion = tf.simulate(rough, q0, qd0, None, h, h, limits=False)
    smooth = tf.simulate(robot, q0, qd0, None, h, h, limits=False)
    after, without = motion.qd[:, 1], smooth.qd[:, 1]
    friction = (tf.mass_matrix(robot, q0) @ (after - without)[..., None])[..., 0] / h
    assert np.abs(friction).max() <= 1.0 + 1e-8
    moving = after != 0
    np.testing.assert_allclose(friction[moving], -np.sign(after)[moving], atol=1e-8)


@pytest.mark.parametrize("integrator", representatives(INTEGRATORS, "midpoint"))
def test_steps_that_reach_no_stop_are_those_without_stops(integrator):
    # stops of some joints are reached, of others not: compiled steps are taken as far as they hold
    chain = tf.planar_chain(3)
    limits = [replace(joint.limits, lower=-1.0, upper=1.0) for joint in chain.joints]
    robot = replace(chain, joints=tuple(replace(j, limits=x) for j, x in zip(chain.joints, limits, strict=True)))
    q0 = np.array([[0.5, 0.2, -0.3], [0.0, 0.0, 0.0]])
    motion = tf.simulate(robot, q0, None, None, 0.6, integrator=integrator)
    assert np.abs(motion.q).max() <= 1.0
    assert (np.abs(motion.q) == 1.0).any()
    free = tf.simulate(robot, q0, None, None, 0.6, integrator=integrator, limits=False)
    held = np.argmax((np.abs(motion.q) >= 1.0).any(axis=(0, 2)))
    np.testing.assert_array_equal(motion.q[:, : held - 1], free.q[:, : held - 1])


@pytest.mark.parametrize("integrator", representatives(INTEGRATORS, "midpoint"))
@pytest.mark.parametrize("name", representatives(["xarm7", "z1", "finger_edu"], "z1"))
def test_real_arms_are_simulated_with_their_own_limits(name, integrator):
    robot = tf.load(urdf(name))
    middle = [0.5 * ((j.limits.lower or 0.0) + (j.limits.upper or 0.0)) for j in robot.joints]
    motion = tf.simulate(robot, middle, None, None, 0.02, integrator=integrator)
    assert np.isfinite(motion.q).all()


def test_a_recording_replays_the_motion_that_it_is_of():
    robot = tf.planar_chain(2)
    motion = tf.simulate(robot, [0.3, 0.2], None, lambda t, q, qd: [np.sin(9 * t), np.cos(7 * t)], 0.3)
    again = tf.simulate(robot, [0.3, 0.2], None, motion.recording(), 0.3)
    np.testing.assert_allclose(again.q, motion.q, rtol=0, atol=1e-12)
    with pytest.raises(SimulationError, match=r"holds 0.3 s of torques"):
        tf.simulate(robot, [0.3, 0.2], None, motion.recording(), 1.0)


def test_a_batch_of_nothing_is_refused():
    with pytest.raises(ShapeError, match="holds no state"):
        tf.simulate(tf.planar_chain(2), np.zeros((0, 2)), None, None, 0.1)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_joints_stop_at_their_limits(integrator):
    robot = slider(0.0, lower=-0.2, upper=0.3)
    motion = tf.simulate(robot, [[0.0], [0.1]], [[1.0], [-2.0]], None, 0.5, integrator=integrator)
    assert motion.q.max() == 0.3
    assert motion.q.min() == -0.2
    assert (motion.qd[:, -1] == 0).all()  # without rebound
    free = tf.simulate(robot, [0.0], [1.0], None, 0.5, integrator=integrator, limits=False)
    assert free.q[-1, 0] == pytest.approx(0.5)


def test_a_joint_rests_on_its_stop_under_its_weight_and_leaves_it():
    row = {"joint": "revolute", "a": 0.5, "alpha": 0, "d": 0, "theta": 0, "mass": 1.0, "com": [-0.2, 0, 0]}
    robot = tf.Robot.from_dh([{**row, "lower": -0.4, "upper": 1.0}], "standard", gravity=[0, -9.81, 0])
    weight = tf.gravity_torque(robot, [-0.4])[0]
    tau = np.where(np.arange(1000) < 500, 0.0, 1.5 * weight)[:, None]
    motion = tf.simulate(robot, [0.2], None, tau, 1.0)
    resting = (motion.t > 0.4) & (motion.t < 0.5)
    np.testing.assert_allclose(motion.q[resting], -0.4, rtol=0, atol=1e-15)
    assert motion.q[-1, 0] > 0.0


def test_a_start_beyond_its_limits_is_refused():
    with pytest.raises(SimulationError, match=r"q0: joint 'joint1' starts at 0.5, beyond its limits"):
        tf.simulate(slider(0.0, lower=-0.2, upper=0.3), [0.5], None, None, 0.1)


def test_dry_friction_of_joints_that_follow():
    mimic = random_tree(3, 6, chain=True, prismatic=0.0).with_relations({"joint3": {"joint2": -0.5}})
    motion = tf.simulate(mimic, [0.1, 0.2], [0.3, -0.2], None, 0.05, limits=False)
    assert np.isfinite(motion.q).all()
    both = random_tree(3, 6, chain=True, prismatic=0.0).with_relations({"joint3": {"joint2": -0.5, "joint1": 1.0}})
    with pytest.raises(SimulationError, match=r"'joint3' .*follows several coordinates; give that friction a width"):
        tf.simulate(both, [0.1, 0.2], None, None, 0.05)
