"""Fits as files: what is loaded predicts as before, and brings its robot."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion, with_drives
from identification.fits import fit, states
from tauform.description.drives import Drive
from tauform.errors import IdentificationError
from tauform.identification.load_fit import load_fit
from tauform.identification.motion.simulate import simulated_recording


@pytest.mark.parametrize("name", ["fit.npz", "fit.json"])
def test_a_saved_fit_predicts_the_same(tmp_path: Path, name: str) -> None:
    fit().save(tmp_path / name)
    again = load_fit(tmp_path / name, arm())
    q = states(arm())
    np.testing.assert_array_equal(again.predict(*q), fit().predict(*q))
    assert again.verdict.grade == fit().verdict.grade
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["two_link", "parallelogram"])
def test_a_saved_fit_brings_its_robot(tmp_path: Path, name: str) -> None:
    robot = with_drives(tf.load(name)) if name == "two_link" else tf.load(name)
    recording = simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), torque_noise=0.5)
    fitted = tf.identify(robot, recording, friction="plain", couplings=None)
    again = tf.load_fit(fitted.save(tmp_path / "fit.npz"))
    q = states(robot)
    np.testing.assert_array_equal(again.predict(*q), fitted.predict(*q))
    np.testing.assert_array_equal(again.robot.parameters, robot.parameters)
    assert again.verdict.reasons == fitted.verdict.reasons
    assert again.robot.joint_names == robot.joint_names


def test_a_file_without_its_robot_asks_for_it(tmp_path: Path) -> None:
    path = fit().save(tmp_path / "fit.npz")
    with np.load(path) as archive:
        arrays = {key: archive[key] for key in archive.files}
    np.savez(path, **{key: array for key, array in arrays.items() if key != "robot"})
    with pytest.raises(IdentificationError, match=r"give it too, tf\.load_fit\('fit\.npz', robot\)"):
        tf.load_fit(path)
    assert tf.load_fit(path, arm()).names == fit().names
    for robot, said in (("name = 1 2", "not a fit, or a damaged one"), ("a = 1", "the robot in it is damaged")):
        np.savez(path, **{**arrays, "robot": np.array(robot)})
        with pytest.raises(IdentificationError, match=said):
            tf.load_fit(path)


# What a file does not hold: the recordings themselves.
RECORDED = {"rows", "source", "segments", "others"}
# Its own door to the file, where it differs.
SAVED = {"saved_unfiltered"}


def same(a: object, b: object) -> bool:
    """Whether two values of a fit say the same, whatever they are made of."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True))
    if isinstance(a, tf.Robot):
        return isinstance(b, tf.Robot) and a.joint_names == b.joint_names and same(a.parameters, b.parameters)
    if isinstance(a, tuple | list):
        return isinstance(b, tuple | list) and len(a) == len(b) and all(map(same, a, b))
    if is_dataclass(a) and not isinstance(a, Drive):
        names = [field.name for field in fields(a) if field.name not in RECORDED | {"spans", "carrier"}]
        return type(a) is type(b) and all(same(getattr(a, name), getattr(b, name)) for name in names)
    return a == b or a is b


@pytest.mark.parametrize("suffix", ["npz", "json"])
def test_every_public_attribute_of_a_fit_survives_its_file(tmp_path: Path, suffix: str) -> None:
    """Whatever users can ask of a fit they can ask of the one that they load; recordings alone stay behind."""
    before = fit().reduced()
    after = tf.load_fit(before.save(tmp_path / f"fit.{suffix}"))
    asked = [
        name for name in dir(before) if not name.startswith("_") and not callable(getattr(type(before), name, None))
    ]
    assert {"unfiltered", "verdict", "held_out", "terms", "identified_robot", "theta", "deviations"} <= {*asked}
    for name in set(asked) - RECORDED - SAVED:
        assert same(getattr(before, name), getattr(after, name)), name
    # What needs the recordings says that they are not there, and returns nothing empty.
    with pytest.raises(IdentificationError, match=r"unfiltered: a fit of .* has no recordings"):
        after.reduced(tolerance=0.05).unfiltered  # noqa: B018
    assert not after.reduced(tolerance=0.05).has_unfiltered


def test_a_saved_fit_keeps_its_errors_on_torques_as_measured(tmp_path: Path) -> None:
    held = replace(fit().held_out, unfiltered=fit().unfiltered)
    again = load_fit(replace(fit(), validation=held).save(tmp_path / "fit.npz"), arm()).validation
    assert held.unfiltered is not None
    assert again is not None
    assert again.unfiltered is not None
    assert again.total == held.total
    assert again.unfiltered.total == held.unfiltered.total
    np.testing.assert_array_equal(again.unfiltered.rms, held.unfiltered.rms)
