"""Damaged files: every command line that reads one ends well or is refused in one sentence."""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tauform as tf
from fuzz.mutations import damaged
from fuzz.runs import cases, check
from tauform.errors import TauformError

TESTS = Path(__file__).resolve().parents[1]
CATALOGUE = TESTS.parent / "src" / "tauform" / "description" / "catalogue"

URDF = b"""<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.1 0 0" rpy="0 0 0"/><mass value="2"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0.1 0.02 0"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
  <link name="finger"><inertial><mass value="0.1"/>
    <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.3" rpy="1.5707963 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="10" velocity="3"/><dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="slide" type="prismatic"><parent link="fore"/><child link="finger"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.1" effort="5" velocity="1"/></joint>
  <joint name="flange" type="fixed"><parent link="fore"/><child link="tool"/><origin xyz="0.3 0 0"/></joint>
</robot>
"""
TOML = [(CATALOGUE / f"{name}.toml").read_bytes() for name in ("two_link", "parallelogram", "sr6ia")]
MJCF = b"""<mujoco model="arm"><compiler angle="radian"/><worldbody><body name="a" pos="0 0 0.1">
<joint name="j1" type="hinge" axis="0 0 1" damping="0.1" armature="0.01"/><inertial pos="0.1 0 0" mass="1"
diaginertia="0.01 0.01 0.01"/><body name="b" pos="0.3 0 0"><joint name="j2" type="slide" axis="1 0 0"/>
<geom type="sphere" size="0.05" mass="0.5"/></body></body></worldbody></mujoco>
"""

VERBS = (["show"], ["base"], ["derive"], ["linearize"])


def commands(path: Path) -> list[list[str]]:
    """A verb that reads the robot; which one goes with the size of the file, so that all take part."""
    return [[*VERBS[path.stat().st_size % len(VERBS)], str(path), "--json"]]


@cases(350)
@given(data=damaged([URDF]))
def test_damaged_urdf(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    read_damaged(tmp_path_factory, data, "arm.urdf")


@cases(400)
@given(data=damaged(TOML))
def test_damaged_toml(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    read_damaged(tmp_path_factory, data, "arm.toml")


@cases(150)
@given(data=damaged([MJCF]))
def test_damaged_mjcf(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    pytest.importorskip("mujoco")
    read_damaged(tmp_path_factory, data, "arm.xml")


def read_damaged(factory: pytest.TempPathFactory, data: bytes, name: str) -> None:
    folder = factory.getbasetemp() / "fuzz"
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(data)
    for arguments in commands(path):
        check(arguments, folder)


def saved_model() -> dict[str, np.ndarray]:
    """The arrays of a model file."""
    with tempfile.TemporaryDirectory() as folder:
        tf.derive(tf.load("two_link")).save(Path(folder) / "model.npz")
        with np.load(Path(folder) / "model.npz") as archive:
            return {name: archive[name] for name in archive.files}


ARRAYS = saved_model()


def archive_of(arrays: dict[str, np.ndarray]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def reshaped(array: np.ndarray, how: str) -> np.ndarray:
    """An array of another shape or type, as another program might have written it."""
    flat = array.reshape(-1)
    return {
        "empty": flat[:0],
        "flat": flat,
        "short": array[: len(array) // 2] if array.ndim else flat,
        "text": np.array(["a", "b"]),
        "huge": np.full(array.shape, 2**62 if array.dtype.kind in "iu" else 1e300).astype(array.dtype),
        "negative": (-np.ones(array.shape)).astype(array.dtype),
        "nan": np.full(array.shape, np.nan),
        "complex": array.astype(complex),
    }[how]


HOW = ("empty", "flat", "short", "text", "huge", "negative", "nan", "complex")


def read_damaged_model(factory: pytest.TempPathFactory, data: bytes) -> None:
    """A model that can be read can be used; one that cannot says so, once."""
    path = factory.getbasetemp() / "damaged.npz"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            model = tf.load_model(path)
        except TauformError:
            return
    assert model.n_joints >= 1
    with contextlib.suppress(TauformError), np.errstate(all="ignore"):
        model.bind(np.ones(model.n_base)).inverse_dynamics(*np.zeros((3, model.n_joints)))


@cases(100)
@given(data=damaged([archive_of(ARRAYS)]))
def test_damaged_model(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    read_damaged_model(tmp_path_factory, data)


@cases(150)
@given(name=st.sampled_from(sorted(ARRAYS)), how=st.sampled_from(HOW))
def test_model_with_an_array_of_another_shape(tmp_path_factory: pytest.TempPathFactory, name: str, how: str) -> None:
    read_damaged_model(tmp_path_factory, archive_of({**ARRAYS, name: reshaped(ARRAYS[name], how)}))


@cases(200)
@given(facts=damaged([ARRAYS["facts"].tobytes()]))
def test_model_with_damaged_facts(tmp_path_factory: pytest.TempPathFactory, facts: bytes) -> None:
    read_damaged_model(tmp_path_factory, archive_of({**ARRAYS, "facts": np.frombuffer(facts, dtype=np.uint8)}))
