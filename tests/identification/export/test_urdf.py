"""URDF of a fit: links as judged, friction as far as it goes, and what that costs on the recordings."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.errors import IdentificationError
from tauform.identification.export.urdf import check_urdf
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.regression.residuals import relative_error

pytest.importorskip("clarabel")


@cache
def recordings() -> tuple[tf.Recording, ...]:
    """Coulomb friction that builds up over a velocity, and a spring."""
    robot, rng, made = arm(), np.random.default_rng(0), []
    for k in (1, 2):
        path = motion(robot, k)
        recording = simulated_recording(robot, path, rng, torque_noise=0.5, exact_states=True)
        coulomb = [joint.coulomb for joint in robot.joints]
        bent = coulomb * (np.tanh(path.qd / 0.3) - np.sign(path.qd)) + 3.0 * path.q * [0, 0, 1]
        made.append(replace(recording, tau=recording.tau + bent))
    return tuple(made)


@cache
def bent_fit() -> tf.Fit:
    fit = tf.identify(arm(), recordings(), filters=None, couplings=None)
    assert any(fit.design.widths)
    assert "K_3" in fit.names
    return fit


def test_the_loss_is_that_of_the_written_file(tmp_path: Path) -> None:
    """Rows are the samples where no filter is used, so that anybody can repeat the figure."""
    fit = bent_fit().physically_consistent()
    written = fit.write_urdf(None, tmp_path / "arm.urdf")
    read = tf.load(written.path)
    for torque, loss in (
        (tf.inverse_dynamics, written.loss),
        (lambda _, *states: tf.inverse_dynamics(written.robot, *states), written.loss_with_notes),
    ):
        told = [torque(read, r.q, r.qd, r.qdd) for r in recordings()]
        error = relative_error(np.concatenate([r.tau for r in recordings()]), np.concatenate(told), None)
        # rows at which all joints stand are no rows
        assert loss.other == pytest.approx(error, rel=1e-3)
    assert 0 < written.loss_with_notes.points < written.loss.points
    assert written.loss.fit == fit.residuals.total
    sentence = next(text for text in written.findings if "a loss of" in text)
    assert f"a loss of {written.loss} (" in sentence
    assert sentence in written.path.read_text()
    assert any("the width of Coulomb steps, K_3" in text for text in written.findings)


def test_only_the_friction_differs_from_the_fit(tmp_path: Path) -> None:
    fit = bent_fit().physically_consistent()
    robot = fit.write_urdf(None, tmp_path / "arm.urdf").robot
    assert robot.inertias == fit.rigid_robot.inertias
    assert [joint.rotor_inertia for joint in robot.joints] == [j.rotor_inertia for j in fit.rigid_robot.joints]
    # No other Fv and Fc explain the recordings better.

    def squares(of: tf.Robot) -> float:
        return float(sum(((r.tau - tf.inverse_dynamics(of, r.q, r.qd, r.qdd)) ** 2).sum() for r in recordings()))

    for field in ("viscous", "coulomb"):
        for factor in (0.98, 1.02):
            joints = tuple(replace(joint, **{field: factor * getattr(joint, field)}) for joint in robot.joints)
            assert squares(replace(robot, joints=joints)) > squares(robot)


def test_plain_friction_stays_as_judged_also_after_loading(tmp_path: Path) -> None:
    robot, rng = arm(), np.random.default_rng(0)
    made = [simulated_recording(robot, motion(robot, k), rng, torque_noise=1.0) for k in (1, 2)]
    fit = tf.identify(robot, made, friction="plain", couplings=None, physical=True)
    written = fit.write_urdf(None, tmp_path / "arm.urdf")
    assert written.robot.joints == fit.identified_robot.joints
    assert written.loss_with_notes.points == pytest.approx(0.0, abs=1e-9)
    again = tf.load_fit(fit.save(tmp_path / "fit.npz")).write_urdf(None, tmp_path / "again.urdf")
    assert again.loss.other == pytest.approx(written.loss.other, rel=1e-9)
    assert again.path.read_text() == written.path.read_text()


def test_a_loaded_fit_with_other_friction_is_refused(tmp_path: Path) -> None:
    loaded = tf.load_fit(bent_fit().save(tmp_path / "fit.npz"))
    with pytest.raises(IdentificationError, match=r"need its recordings .* fit\.write_code"):
        loaded.write_urdf(None, tmp_path / "arm.urdf")
    assert not (tmp_path / "arm.urdf").exists()


def test_validation_recordings_decide_the_loss(tmp_path: Path) -> None:
    fit = tf.identify(arm(), recordings()[0], filters=None, couplings=None, validate=recordings()[1])
    written = fit.write_urdf(None, tmp_path / "arm.urdf")
    assert fit.validation is not None
    assert (written.loss.fit, written.loss.rows) == (fit.validation.total, "validation recordings")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda text: text.replace('name="joint2"', 'name="elbow"'), "has no joint 'joint2'"),
        (lambda text: text.replace("0.025 0", "0.325 0"), "joint 'joint2' stands elsewhere than in kr6_r700"),
        (lambda text: text[:200], "cannot be read as a URDF"),
        (lambda text: text.replace('<child link="link3"', '<child link="link9"'), "has no link 'link9'"),
    ],
    ids=["name", "place", "damaged", "link"],
)
def test_the_urdf_of_another_robot_is_refused_before_any_work(change: object, expected: str, tmp_path: Path) -> None:
    robot = arm()
    source = robot.save(tmp_path / "arm.urdf").path
    check_urdf(robot, source)
    assert callable(change)
    damaged = tmp_path / "other.urdf"
    text = change(source.read_text())
    assert text != source.read_text()
    damaged.write_text(text)
    with pytest.raises(IdentificationError, match=expected):
        check_urdf(robot, damaged)


def test_comments_of_the_source_are_no_obstacle(tmp_path: Path) -> None:
    source = arm().save(tmp_path / "arm.urdf").path
    text = source.read_text()
    source.write_text(text.replace("<link", "<!-- from a drawing -->\n  <link", 1))
    assert source.read_text() != text
    check_urdf(arm(), source)


def test_joints_that_follow_several_have_no_urdf() -> None:
    robot = tf.random_robot("RRR", 4).with_relations({"joint3": {"joint1": 0.5, "joint2": -0.5}})
    with pytest.raises(IdentificationError, match=r"'joint3' of .* follows several joints"):
        check_urdf(robot, None)
