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
from tauform.identification.export.urdf import check_urdf, without_rotors_and_offsets
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


@pytest.mark.parametrize("cut", [False, True], ids=["locked", "cut off"])
def test_joints_that_the_robot_lacks_are_fixed_in_a_copy(tmp_path: Path, cut: bool) -> None:
    """Free, they would carry links without inertia: a singular mass matrix in every engine."""
    pin = pytest.importorskip("pinocchio")
    arm().rigid.save(tmp_path / "arm.urdf")
    whole = tf.load(tmp_path / "arm.urdf")
    last = whole.joint_names[-1]
    robot = whole.up_to(whole.links[-2].name) if cut else whole.locked({last: 0.7})
    rng = np.random.default_rng(0)
    fit = tf.identify(robot, simulated_recording(robot, motion(robot, 1), rng), friction="plain", couplings=None)
    written = fit.physically_consistent().write_urdf(tmp_path / "arm.urdf", tmp_path / "identified.urdf")
    assert any(f"are fixed, as what they carry is part of a link: {last}" in text for text in written.findings)

    read, described = (pin.buildModelFromUrdf(str(path)) for path in (written.path, tmp_path / "arm.urdf"))
    data, before = read.createData(), described.createData()
    states = rng.uniform(-1, 1, (20, 3, robot.n_joints))
    bare = without_rotors_and_offsets(written.robot).rigid
    for q, qd, qdd in states:
        tau = pin.rnea(read, data, turned(q), qd, qdd)
        np.testing.assert_allclose(tau, tf.textbook.inverse_dynamics(bare, q, qd, qdd), rtol=0, atol=1e-9)
        np.testing.assert_allclose(pin.aba(read, data, turned(q), qd, tau), qdd, atol=1e-6)
    q = states[0, 0]
    pin.framesForwardKinematics(read, data, turned(q))
    pin.framesForwardKinematics(described, before, turned(np.append(q, 0.0 if cut else 0.7)))
    name = whole.links[-1].name
    found, expected = (d.oMf[m.getFrameId(name)].homogeneous for m, d in ((read, data), (described, before)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def turned(q: np.ndarray) -> np.ndarray:
    """Positions as Pinocchio wants them of joints without limits."""
    return np.stack([np.cos(q), np.sin(q)], axis=-1).ravel()
