"""The same recording, whatever file it was written to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io

import tauform as tf
from identification.arms import DATA, arm, motion, real_robot
from tauform.errors import RecordingError
from tauform.identification.motion.simulate import simulated_recording


def recorded() -> tf.Recording:
    robot = arm()
    return simulated_recording(robot, motion(robot, 1, rate=50.0), np.random.default_rng(0))


def columns(recording: tf.Recording, q: str, tau: str, first: int = 1) -> dict[str, np.ndarray]:
    numbers = range(first, first + recording.n_joints)
    table = {f"{q}{k}": recording.q[:, k - first] for k in numbers}
    return {"t": recording.t, **table, **{f"{tau}{k}": recording.tau[:, k - first] for k in numbers}}


def write_csv(path: Path, table: dict[str, np.ndarray], separator: str = ",") -> None:
    np.savetxt(
        path, np.column_stack(list(table.values())), delimiter=separator, header=separator.join(table), comments=""
    )


@pytest.mark.parametrize(
    ("q", "tau", "first"), [("q", "tau", 1), ("actual_q_", "actual_torque_", 0), ("position", "effort", 0)]
)
def test_usual_names_are_guessed(tmp_path: Path, q: str, tau: str, first: int) -> None:
    recording = recorded()
    write_csv(tmp_path / "log.csv", columns(recording, q, tau, first))
    read = tf.read_recording(tmp_path / "log.csv", arm())
    np.testing.assert_allclose(read.q, recording.q)
    np.testing.assert_allclose(read.tau, recording.tau)


def test_joint_names_and_given_columns_decide(tmp_path: Path) -> None:
    recording = recorded()
    table = {"stamp": recording.t}
    for j in (2, 0, 1):  # the order in the file is not the robot's
        table[f"joint{j + 1}/pos"] = recording.q[:, j]
        table[f"motor{j + 1}"] = recording.tau[:, j]
    write_csv(tmp_path / "log.csv", table, ";")
    read = tf.read_recording(tmp_path / "log.csv", arm(), columns={"tau": ["motor1", "motor2", "motor3"]})
    np.testing.assert_allclose(read.q, recording.q)
    np.testing.assert_allclose(read.tau, recording.tau)


@pytest.mark.parametrize(
    ("q", "tau", "joints"),
    [
        ("J{}_enc", "J{}_trq", ["1", "2", "3"]),
        ("j{}_enc", "J{}_trq", ["0", "1", "2"]),
        ("enc[{}].value", "trq ({}) raw", ["01", "02", "03"]),
        ("/arm/{}/position", "/arm/{}/torque", ["joint1", "joint2", "joint3"]),
        ("{}", "{}_load", ["Joint1", "Joint2", "Joint3"]),
    ],
)
def test_a_pattern_stands_for_the_columns_of_all_joints(tmp_path: Path, q: str, tau: str, joints: list[str]) -> None:
    recording = recorded()
    table = {"t": recording.t, "J4_enc_old": recording.t}
    for j in (1, 2, 0):
        table[f"{q.format(joints[j])} [rad]".replace("j", "J", 1)] = recording.q[:, j]
        table[tau.format(joints[j])] = recording.tau[:, j]
    write_csv(tmp_path / "log.csv", table, ";")
    read = tf.read_recording(tmp_path / "log.csv", arm(), columns={"q": q, "tau": tau})
    np.testing.assert_allclose(read.q, recording.q)
    np.testing.assert_allclose(read.tau, recording.tau)


def test_npz_mat_and_parquet_hold_the_same(tmp_path: Path) -> None:
    recording = recorded()
    arrays = {"t": recording.t, "q": recording.q, "tau": recording.tau}
    np.savez(tmp_path / "log.npz", **arrays)
    scipy.io.savemat(tmp_path / "log.mat", arrays)
    names = ["log.npz", "log.mat"]
    try:
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.table(columns(recording, "q", "tau")), tmp_path / "log.parquet")
        names.append("log.parquet")
    except ImportError:
        pass
    for name in names:
        read = tf.read_recording(tmp_path / name, arm())
        np.testing.assert_array_equal(read.q, recording.q)
        np.testing.assert_array_equal(read.tau, recording.tau)


def test_degrees_and_gains_are_applied(tmp_path: Path) -> None:
    recording = recorded()
    gains = np.array([10.0, 20.0, 5.0])
    np.savez(tmp_path / "log.npz", t=recording.t, q=np.rad2deg(recording.q), tau=recording.tau / gains)
    read = tf.read_recording(tmp_path / "log.npz", arm(), degrees=True, gains=gains)
    np.testing.assert_allclose(read.q, recording.q)
    np.testing.assert_allclose(read.tau, recording.tau)


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
def test_bags_of_joint_states(tmp_path: Path, storage: str) -> None:
    rosbag2 = pytest.importorskip("rosbags.rosbag2")
    from rosbags.typesys import Stores, get_typestore

    recording = recorded()
    store = get_typestore(Stores.ROS2_HUMBLE)
    state, header, stamp = (
        store.types[f"{name}"]
        for name in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    plugin = rosbag2.StoragePlugin.SQLITE3 if storage == "sqlite3" else rosbag2.StoragePlugin.MCAP
    names = ["gripper", "joint3", "joint1", "joint2"]
    order = [2, 0, 1]
    with rosbag2.Writer(tmp_path / "bag", version=8, storage_plugin=plugin) as writer:
        connection = writer.add_connection("/joint_states", state.__msgtype__, typestore=store)
        for t, q, tau in zip(recording.t, recording.q, recording.tau, strict=True):
            nanoseconds = round((t + 100.0) * 1e9)
            message = state(
                header(stamp(nanoseconds // 10**9, nanoseconds % 10**9), ""),
                names,
                np.array([0.0, *q[order]]),
                np.zeros(0),
                np.array([0.0, *tau[order]]),
            )
            writer.write(connection, nanoseconds, store.serialize_cdr(message, state.__msgtype__))
    read = tf.read_recording(tmp_path / "bag", arm())
    np.testing.assert_allclose(read.t, recording.t, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(read.q, recording.q)
    np.testing.assert_array_equal(read.tau, recording.tau)


def test_the_original_bag_of_the_ur10_equals_its_table() -> None:
    if not DATA.exists():
        pytest.skip("the real recordings are not here")
    pytest.importorskip("rosbags")
    robot = real_robot("ur10")
    table = tf.read_recording(DATA / "ur10" / "ur10_exciting.csv", robot)
    bag = tf.read_recording(DATA / "ur10" / "ur10_exciting_trajectory.db3", robot)
    np.testing.assert_allclose(bag.q, table.q, rtol=0, atol=1e-7)
    np.testing.assert_allclose(bag.tau, table.tau, rtol=0, atol=1e-5)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="no such file"):
        tf.read_recording(tmp_path / "absent.csv", arm())
    (tmp_path / "bare.csv").write_text("0.1,0.2\n0.3,0.4\n")
    with pytest.raises(RecordingError, match="first line holds numbers"):
        tf.read_recording(tmp_path / "bare.csv", arm())
    (tmp_path / "log.xyz").write_text("")
    with pytest.raises(RecordingError, match=r"cannot read \.xyz"):
        tf.read_recording(tmp_path / "log.xyz", arm())


@pytest.mark.parametrize("field", ["t", "q", "tau", "qd", "qdd", "reference", "temperature"])
def test_what_a_recording_was_made_of_may_change_afterwards(field: str) -> None:
    path = motion(arm(), 1)
    given = {"t": path.t, "q": path.q, "tau": path.q, "qd": path.qd, "qdd": path.qdd, "reference": path.q}
    given = {name: np.array(values) for name, values in {**given, "temperature": path.q}.items()}
    recording = tf.Recording(**given)
    before = np.array(getattr(recording, field))
    given[field][5] = np.nan
    np.testing.assert_array_equal(getattr(recording, field), before)
    with pytest.raises(ValueError, match="read-only"):
        getattr(recording, field)[5] = np.nan


def test_a_read_only_view_of_what_may_change_is_copied_and_what_nobody_can_change_is_not() -> None:
    path = motion(arm(), 1)
    table = np.array(path.q)
    view = table[:]
    view.setflags(write=False)
    recording = tf.Recording(path.t, view, path.q)
    assert not np.shares_memory(recording.q, table)
    part = recording.between(1.0, 3.0)
    assert np.shares_memory(part.q, recording.q)
    table.setflags(write=False)
    assert np.shares_memory(tf.Recording(path.t, table, path.q).q, table)
