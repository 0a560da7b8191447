"""A saved fit is loaded on the robot that it was identified on, and by a version that knows its format."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion, with_drives
from tauform.errors import IdentificationError
from tauform.files.file import fresh_file
from tauform.identification.motion.simulate import simulated_recording

SAVED = Path(__file__).parent / "saved"
PLAIN = {"friction": "plain", "couplings": None}


@cache
def robot() -> tf.Robot:
    return with_drives(tf.load("two_link"))


@cache
def fit() -> tf.Fit:
    recording = simulated_recording(robot(), motion(robot(), 1), np.random.default_rng(0), torque_noise=0.5)
    return tf.identify(robot(), recording, **PLAIN)  # type: ignore[arg-type]


def moved(place: int, by: float) -> tf.Robot:
    """The robot with one joint farther away."""
    joint = robot().joints[place]
    transform = np.array(joint.parent_from_joint)
    transform[0, 3] += by
    joints = list(robot().joints)
    joints[place] = replace(joint, parent_from_joint=transform)
    return replace(robot(), joints=tuple(joints))


def turned(place: int, angle: float) -> tf.Robot:
    """The robot with one axis tilted."""
    joint = robot().joints[place]
    c, s = np.cos(angle), np.sin(angle)
    transform = np.array(joint.parent_from_joint) @ [[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]]
    joints = list(robot().joints)
    joints[place] = replace(joint, parent_from_joint=transform)
    return replace(robot(), joints=tuple(joints))


@pytest.mark.parametrize(
    ("other", "where"),
    [
        (lambda: robot().with_gravity((0.0, 0.0, -9.81)), "gravity"),
        (lambda: robot().with_gravity(0.99 * np.array(robot().gravity)), "gravity"),
        (lambda: moved(1, 1e-6), f"the place of '{tf.load('two_link').joint_names[1]}'"),
        (lambda: turned(1, 1e-3), f"the place of '{tf.load('two_link').joint_names[1]}'"),
        (lambda: tf.random_robot("RP", 1), "its joints"),
        (arm, "its joints"),
    ],
)
def test_a_fit_is_not_loaded_on_another_robot(tmp_path: Path, other: object, where: str) -> None:
    path = fit().save(tmp_path / "fit.npz")
    said = rf"fit\.npz: was identified on 'two_link', which differs from '.*' in {where}; load it without a robot"
    with pytest.raises(IdentificationError, match=said):
        tf.load_fit(path, other())  # type: ignore[operator]


def test_a_fit_is_loaded_on_a_robot_of_other_masses_and_friction(tmp_path: Path) -> None:
    other = robot().with_parameters(2 * np.array(robot().parameters))
    again = tf.load_fit(fit().save(tmp_path / "fit.npz"), other)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 5, 2))
    np.testing.assert_array_equal(again.predict(q, qd, qdd), fit().predict(q, qd, qdd))
    np.testing.assert_array_equal(again.robot.parameters, other.parameters)


def test_loops_of_another_ratio_are_another_robot(tmp_path: Path) -> None:
    tree = with_drives(tf.random_robot("RRR", 0))
    first, second = (tree.with_relations({"joint3": {"joint1": ratio}}) for ratio in (1.0, 1.5))
    recording = simulated_recording(first, motion(first, 1), np.random.default_rng(0), torque_noise=0.01)
    path = tf.identify(first, recording, **PLAIN).save(tmp_path / "fit.npz")  # type: ignore[arg-type]
    assert tf.load_fit(path, first).names == tf.load_fit(path).names
    with pytest.raises(IdentificationError, match=r"differs from .* in its loops"):
        tf.load_fit(path, second)


def test_a_fit_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = fit().save(tmp_path / "fit.npz")
    with np.load(path) as archive:
        arrays = {key: archive[key] for key in archive.files}
    text = json.loads(str(arrays["summary"]))
    np.savez(path, **{**arrays, "summary": np.array(json.dumps({**text, "format": text["format"] + 1}))})
    with pytest.raises(IdentificationError, match=r"written by a newer tauform \(format 5, .* up to 4\); upgrade"):
        tf.load_fit(path)
    np.savez(path, **{**arrays, "summary": np.array(json.dumps({**text, "format": "x"}))})
    with pytest.raises(IdentificationError, match="not a fit, or a damaged one"):
        tf.load_fit(path)
    with pytest.raises(IdentificationError, match="no such file"):
        tf.load_fit(tmp_path / "absent.npz")


@pytest.mark.parametrize("name", ["two_link", "parallelogram"])
def test_fits_that_earlier_versions_saved_predict_what_they_did(name: str) -> None:
    """Files of format 3, whose terms were no drive terms of a robot, with the torques that were predicted then."""
    older = tf.load_fit(SAVED / f"{name}_format_3.npz")
    q, qd, qdd, tau = np.split(np.loadtxt(SAVED / f"{name}_format_3.csv", delimiter=","), 4, axis=1)
    for predicted in (older.predict(q, qd, qdd), tf.inverse_dynamics(older.identified_robot, q, qd, qdd)):
        np.testing.assert_allclose(predicted, tau, rtol=0, atol=1e-9 * np.abs(tau).max())
    assert [term.shape for term in older.terms] == [
        "stribeck", "quadratic", "stiffness", "smooth", "coupled_coulomb"
    ]  # fmt: skip


def test_an_older_json_that_held_a_part_says_so(tmp_path: Path) -> None:
    path = fit().save(tmp_path / "fit.json")
    text = json.loads(path.read_text())
    path.write_text(json.dumps({key: value for key, value in text.items() if key != "arrays"} | {"format": 3}))
    with pytest.raises(IdentificationError, match=r"held a part of a fit only; load its \.npz"):
        tf.load_fit(path)


@pytest.mark.parametrize(
    "damage", [{"arrays": "xx"}, {"arrays": 3}, {"terms": [{"shape": "stribeck"}]}, {"values": []}]
)
def test_a_damaged_json_ends_in_one_sentence(tmp_path: Path, damage: dict[str, object]) -> None:
    path = fit().save(tmp_path / "fit.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))
    with pytest.raises(IdentificationError, match="not a fit, or a damaged one"):
        tf.load_fit(path)


def test_a_fit_of_drives_alone_is_loaded_again(tmp_path: Path) -> None:
    recording = simulated_recording(robot(), motion(robot(), 1), np.random.default_rng(0), torque_noise=0.5)
    drives = tf.identify(robot(), recording, include=("rotor", "viscous"), **PLAIN)  # type: ignore[arg-type]
    again = tf.load_fit(drives.save(tmp_path / "fit.npz"))
    assert again.names == drives.names == ("Ia_1", "Fv_1", "Ia_2", "Fv_2")


@pytest.mark.parametrize("name", ["fit.npz", "fit.json"])
def test_two_writers_of_one_fit_do_not_meet(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    # What a writer of a fixed name would write to, or find in its way.
    (tmp_path / f".fit.part{path.suffix}").mkdir()
    with fresh_file(path, IdentificationError) as first:
        first.write(b"half")
        first.seek(0)
        fit().save(path)
        whole = path.read_bytes()
        first.write(whole)
    assert path.read_bytes() == whole
    assert sorted(os.listdir(tmp_path)) == sorted([name, f".fit.part{path.suffix}"])
