"""Good files of every kind that is read, small, made of one robot or one recording."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import tauform as tf

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
XACRO = b"""<?xml version="1.0"?>
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="length" value="0.4"/>
  <xacro:property name="masses" value="${[2.0, 1.0]}"/>
  <xacro:arg name="tool" default="true"/>
  <xacro:macro name="limb" params="name parent k *origin">
    <link name="${name}"><inertial><origin xyz="${length / 2} 0 0"/><mass value="${masses[k]}"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="${0.02 * masses[k]}" iyz="0" izz="${masses[k] * length**2 / 12}"/>
    </inertial></link>
    <joint name="${name}_joint" type="revolute"><parent link="${parent}"/><child link="${name}"/>
      <xacro:insert_block name="origin"/><axis xyz="0 ${1 if k == 0 else -1} 0"/>
      <limit lower="${-pi / 2}" upper="${radians(90)}" effort="10" velocity="3"/></joint>
  </xacro:macro>
  <link name="base"/>
  <xacro:limb name="upper" parent="base" k="0"><origin xyz="0 0 0.3"/></xacro:limb>
  <xacro:limb name="fore" parent="upper" k="1"><origin xyz="${length} 0 0" rpy="0 ${sin(0.1)} 0"/></xacro:limb>
  <xacro:if value="$(arg tool)"><link name="tool"/>
    <joint name="flange" type="fixed"><parent link="fore"/><child link="tool"/><origin xyz="0.3 0 0"/></joint>
  </xacro:if>
</robot>
"""
MJCF = b"""<mujoco model="arm"><compiler angle="radian"/><size nuser_body="2" nuserdata="3"/>
<worldbody><body name="a" pos="0 0 0.1">
<joint name="j1" type="hinge" axis="0 0 1" damping="0.1" armature="0.01"/><inertial pos="0.1 0 0" mass="1"
diaginertia="0.01 0.01 0.01"/><body name="b" pos="0.3 0 0"><joint name="j2" type="slide" axis="1 0 0"/>
<geom type="sphere" size="0.05" mass="0.5"/></body></body></worldbody><actuator>
<general name="m" joint="j1" gear="3" dyntype="filter" actdim="1"/></actuator></mujoco>
"""


@cache
def robot() -> tf.Robot:
    """The robot of the recordings."""
    return tf.load("two_link")


def toml_by_hand() -> list[bytes]:
    """Tables of the catalogue, which end anywhere."""
    found = {path.stem: path for path in (Path(tf.__file__).parent / "description").rglob("catalogue/*.toml")}
    return [found[name].read_bytes() for name in ("two_link", "parallelogram", "sr6ia")]


def toml_saved() -> list[bytes]:
    """Robots as `robot.save` writes them."""
    with tempfile.TemporaryDirectory() as folder:
        robots = [tf.load(name) for name in ("two_link", "parallelogram")]
        return [one.save(Path(folder) / f"{k}.toml").path.read_bytes() for k, one in enumerate(robots)]


@cache
def swing(n_samples: int = 60) -> dict[str, Any]:
    """A short recording."""
    t = np.arange(n_samples) * 0.01
    q = np.stack([np.sin(9 * t), np.cos(13 * t)], axis=-1)
    qd = np.stack([9 * np.cos(9 * t), -13 * np.sin(13 * t)], axis=-1)
    tau = tf.inverse_dynamics(robot(), q, qd, np.stack([-81 * q[:, 0], -169 * q[:, 1]], axis=-1))
    return {"t": t, "q": q, "tau": tau}


def columns() -> dict[str, Any]:
    """The recording, one column per joint."""
    held = swing()
    return {"t": held["t"], **{f"{f}{j + 1}": held[f][:, j] for f in ("q", "tau") for j in range(2)}}


def csv(separator: str, names: str) -> bytes:
    """The recording as a table."""
    stream = io.StringIO()
    table = np.column_stack(list(columns().values()))
    np.savetxt(stream, table, delimiter=separator, header=separator.join(names.split()), comments="", fmt="%.6g")
    return stream.getvalue().encode()


LOG_NAMES = ((",", "time q1 q2 tau1 tau2"), (";", "t position_joint1 position_joint2 effort_joint1 effort_joint2"))


def logs() -> list[bytes]:
    """The recording as CSV."""
    return [csv(*named) for named in LOG_NAMES]


def npz(writer: Any = np.savez) -> bytes:
    """The recording as an archive."""
    stream = io.BytesIO()
    writer(stream, **swing())
    return stream.getvalue()


def mat(compressed: bool) -> bytes:
    """The recording as MATLAB's -v6 or -v7, with what else people save."""
    import scipy.io

    stream = io.BytesIO()
    others = {"info": {"name": "arm", "rate": 100.0}, "list": np.array([1, "x"], dtype=object), "word": "hello"}
    scipy.io.savemat(stream, {**swing(), **others}, do_compression=compressed)
    return stream.getvalue()


def hdf5(compression: str | None) -> bytes:
    """The recording as MATLAB's -v7.3."""
    import h5py

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.mat"
        with h5py.File(path, "w", userblock_size=512) as file:
            for name, values in swing().items():
                file.create_dataset(name, data=np.atleast_2d(values.T), compression=compression)
        return b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + path.read_bytes()[128:]


def parquet(compression: str) -> bytes:
    """The recording as Parquet, with checksums."""
    import pyarrow
    import pyarrow.parquet

    stream = io.BytesIO()
    table = pyarrow.table(columns())
    pyarrow.parquet.write_table(table, stream, compression=compression, write_page_checksum=True)
    return stream.getvalue()


def bag(storage: str) -> dict[str, bytes]:
    """The recording as a rosbag2: file -> content."""
    from rosbags import rosbag2
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    kinds = ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    state, header, stamp = (store.types[kind] for kind in kinds)
    plugin = rosbag2.StoragePlugin.SQLITE3 if storage == "db3" else rosbag2.StoragePlugin.MCAP
    held = swing()
    with tempfile.TemporaryDirectory() as folder:
        with rosbag2.Writer(Path(folder) / "bag", version=9, storage_plugin=plugin) as writer:
            connection = writer.add_connection("/joint_states", state.__msgtype__, typestore=store)
            for k, (q, tau) in enumerate(zip(held["q"], held["tau"], strict=True)):
                message = state(header(stamp(1, 10_000_000 * k), ""), ["joint1", "joint2"], q, np.zeros(0), tau)
                writer.write(connection, 10_000_000 * k, store.serialize_cdr(message, state.__msgtype__))
        return {path.name: path.read_bytes() for path in sorted((Path(folder) / "bag").iterdir())}


def bag_ros1(compression: str | None) -> bytes:
    """The recording as a bag of ROS 1."""
    from rosbags import rosbag1
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    kinds = ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    state, header, stamp = (store.types[kind] for kind in kinds)
    held = swing()
    with tempfile.TemporaryDirectory() as folder:
        writer = rosbag1.Writer(Path(folder) / "a.bag")
        if compression is not None:
            writer.set_compression(rosbag1.Writer.CompressionFormat[compression])
        with writer:
            connection = writer.add_connection("/joint_states", state.__msgtype__, typestore=store)
            for k, (q, tau) in enumerate(zip(held["q"], held["tau"], strict=True)):
                message = state(header(k, stamp(1, 10_000_000 * k), ""), ["joint1", "joint2"], q, np.zeros(0), tau)
                data = store.serialize_ros1(message, state.__msgtype__)
                writer.write(connection, 1_000_000_000 + 10_000_000 * k, data)
        return (Path(folder) / "a.bag").read_bytes()


def _arrays(path: Path) -> dict[str, Any]:
    with np.load(path) as archive:
        return {name: archive[name] for name in archive.files}


@cache
def model() -> dict[str, Any]:
    """Arrays of a saved closed form."""
    with tempfile.TemporaryDirectory() as folder:
        tf.derive(robot()).save(Path(folder) / "model.npz")
        return _arrays(Path(folder) / "model.npz")


@cache
def fit() -> dict[str, Any]:
    """Arrays of a saved fit."""
    with tempfile.TemporaryDirectory() as folder:
        return _arrays(_fitted().save(Path(folder) / "fit.npz"))


def fit_json() -> bytes:
    """The same fit as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        return _fitted().save(Path(folder) / "fit.json").read_bytes()


def _fitted() -> tf.Fit:
    """A fit of an arm with a drive term at every joint."""
    held = swing()
    recording = tf.Recording(held["t"], held["q"], held["tau"])
    return tf.identify(robot(), recording, friction="stribeck", couplings=None)


def motion() -> bytes:
    """A motion as `Trajectory.save_csv` writes it."""
    held = swing()
    path = tf.Trajectory(held["t"], held["q"], held["q"], held["q"], robot().joint_names)
    with tempfile.TemporaryDirectory() as folder:
        return path.save_csv(Path(folder) / "motion.csv").read_bytes()


@cache
def program() -> Any:
    """A small program, ready to be written as C."""
    return tf.generate(robot(), "gravity_torque")


@cache
def program_entry(function: str) -> tuple[str, bytes]:
    """Name and payload of a stored program."""
    arm = replace(robot(), joints=tuple(replace(joint, viscous=0.3) for joint in robot().joints))
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("TAUFORM_CACHE")
        os.environ["TAUFORM_CACHE"] = folder
        try:
            tf.generate(arm if function == "friction" else robot(), function)
        finally:
            os.environ["TAUFORM_CACHE"] = before or ""
        (entry,) = Path(folder).glob("*.program")
        return entry.name, entry.read_bytes()[hashlib.sha256().digest_size :]


def manifest() -> bytes:
    """The list of what stands in a folder of C."""
    with tempfile.TemporaryDirectory() as folder:
        tf.write_c(program(), Path(folder) / "out")
        return (Path(folder) / "out" / ".tauform.json").read_bytes()
