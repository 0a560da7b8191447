"""Every entry point counts the same parameters: `Robot.columns` is the only place that decides which take part."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import tauform as tf
from sampling import in_turns, representatives
from tauform.description.drives import SHAPES
from tauform.description.parameter_groups import PARAMETER_GROUPS

PATTERNS = list(product((False, True), repeat=3))


def arm(rotors: tuple[bool, ...], friction: bool = False) -> tf.Robot:
    """A spatial arm of three joints, of which some declare a rotor."""
    rows = [
        {
            "joint": "revolute",
            "a": 0.4,
            "d": 0.1,
            "alpha": "pi/2" if k == 0 else 0,
            "mass": 2.0,
            "com": [-0.2, 0.01, 0.02],
            "inertia": [0.01, 0.03, 0.03, 0, 0, 0],
            "inertia_about": "com",
            **({"rotor_inertia": 0.05 * (k + 1)} if rotors[k] else {}),
            **({"viscous": 0.1 + 0.1 * k, "coulomb": 0.2} if friction else {}),
        }
        for k in range(3)
    ]
    return tf.Robot.from_dh(rows, "standard")


@pytest.mark.parametrize(("rotors", "friction"), in_turns(PATTERNS, [False, True]))
def test_declared_rotors_alone_take_part_everywhere(rotors: tuple[bool, ...], friction: bool) -> None:
    robot = arm(rotors, friction)
    states = np.random.default_rng(0).normal(size=(3, 50, 3))
    expected = tf.inverse_dynamics(robot, *states)
    rigid = tf.base_parameters(robot)
    columns = [*range(30), *(30 + 4 * k for k in range(3) if rotors[k])]
    assert rigid.n == np.linalg.matrix_rank(tf.regressor(robot, *states).reshape(150, -1)[:, columns])
    assert rigid.columns == tuple(columns)
    assert tf.derive(robot).base.names == rigid.names
    base = tf.base_parameters(robot, include="declared")
    assert base.n == rigid.n + 6 * friction
    theta = base.values(robot)
    regressor = tf.generate(robot, "base_regressor")
    assert regressor.theta_names == base.names
    np.testing.assert_allclose(regressor(*states) @ theta, expected, atol=1e-11)
    assert tf.derive(robot, include="declared").base.names == base.names
    kernel = tf.compile(robot, parameters="runtime")
    assert kernel.program.theta_names == base.names
    np.testing.assert_allclose(kernel(*states, theta), expected, atol=1e-11)


@pytest.mark.parametrize("rotors", representatives(PATTERNS, PATTERNS[0], PATTERNS[5]))
@pytest.mark.parametrize("friction", representatives([False, True], True))
def test_motions_and_fits_show_the_same_parameters(rotors: tuple[bool, ...], friction: bool) -> None:
    robot = arm(rotors, friction)
    base = tf.base_parameters(robot)
    motion = tf.excite(robot, duration=4, harmonics=3, max_seconds=0.2, n_starts=1)
    Y = tf.regressor(robot, motion.q, motion.qd, motion.qdd)[..., list(base.pivots)].reshape(-1, base.n)
    # The plan is judged at fewer states than it has.
    assert motion.condition == pytest.approx(np.linalg.cond(Y), rel=0.2)
    recording = tf.Recording(motion.t, motion.q, tf.inverse_dynamics(robot, motion.q, motion.qd, motion.qdd), motion.qd)
    fit = tf.identify(robot, recording, include="declared", friction="plain", couplings=None, filters=None)
    assert fit.base.names == tf.base_parameters(robot, include="declared").names


def test_reductions_count_declared_rotors_only() -> None:
    robot = arm((True, False, False))
    reduction = tf.reduce(robot, tf.Profile.slow(3), tolerance=0.05, routes=["terms"], n_fresh=1000)
    assert "of 15 base parameters" in "\n".join(c.remark for c in reduction.candidates)


def test_saved_fits_keep_what_took_part(tmp_path) -> None:
    robot = arm((True, False, True), friction=True)
    motion = tf.excite(robot, duration=4, harmonics=3, max_seconds=0.2, n_starts=1)
    recording = tf.Recording(motion.t, motion.q, tf.inverse_dynamics(robot, motion.q, motion.qd, motion.qdd), motion.qd)
    fit = tf.identify(robot, recording, include="declared", friction="plain", couplings=None, filters=None)
    fit.save(tmp_path / "fit.npz")
    read = tf.load_fit(tmp_path / "fit.npz", robot)
    np.testing.assert_allclose(read.predict(*np.ones((3, 3))), fit.predict(*np.ones((3, 3))), rtol=1e-12)


def test_every_shape_of_drive_terms_is_a_group() -> None:
    assert set(PARAMETER_GROUPS) == {"link", *SHAPES}


def test_groups_by_name_are_whole() -> None:
    robot = arm((True, False, False))
    assert len(robot.columns(["link", "rotor"])) == 33
    assert len(robot.columns()) == len(robot.columns("declared")) == 31
    some = replace(robot, joints=(replace(robot.joints[0], viscous=0.1), *robot.joints[1:]))
    assert len(some.columns("declared")) == 34
    assert len(some.columns(["declared", "offset"])) == 37


def test_a_theta_of_other_columns_is_told_which_it_needs() -> None:
    robot = arm((True, True, True), friction=True)
    kernel = tf.compile(robot, parameters="runtime")
    with pytest.raises(tf.errors.ShapeError, match="theta_of"):
        kernel(*np.zeros((3, 3)), tf.base_parameters(robot).values(robot))
    kernel(*np.zeros((3, 3)), kernel.program.theta_of(robot))
