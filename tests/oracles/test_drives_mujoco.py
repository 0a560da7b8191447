"""Forces between two points: MuJoCo's spatial tendons have the same length, slopes, torque and energy."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import tauform as tf
from tauform.description.drives import End, PointForce, PointSpring

STIFFNESS, REST = 35.0, 0.15
# Two branches on a turning base; the tendon runs from the base or from one branch to the other.
MODEL = """
<mujoco>
  <compiler angle="radian"/>
  <option gravity="0.3 -1 -9.5"/>
  <worldbody>
    <site name="world" pos="0.3 -0.2 0.4"/>
    <body name="turret" pos="0 0 0.3">
      <joint name="a" axis="0 0 1"/>
      <inertial mass="2" pos="0.1 0.02 0.3" diaginertia="0.03 0.04 0.05"/>
      <body name="left" pos="0.2 0 0.1" quat="0.8 0.6 0 0">
        <joint name="b" axis="0 1 0" damping="0.4"/>
        <inertial mass="1" pos="0 0.1 0" diaginertia="0.03 0.04 0.05"/>
        <site name="left" pos="0.1 0.2 0.05"/>
        <body name="fork" pos="0 0 0.3">
          <joint name="c" type="slide" axis="0.6 0 0.8" armature="0.2"/>
          <inertial mass="0.5" pos="0 0 0.1" diaginertia="0.01 0.01 0.02"/>
          <site name="fork" pos="-0.1 0.05 0.2"/>
        </body>
      </body>
      <body name="right" pos="-0.2 0.1 0">
        <joint name="d" axis="1 0 0"/>
        <inertial mass="1" pos="0 0.1 0" diaginertia="0.03 0.04 0.05"/>
        <site name="right" pos="0.1 -0.2 0.15"/>
      </body>
    </body>
  </worldbody>
  <tendon><spatial name="t"><site site="{0}"/><site site="{1}"/></spatial></tendon>
</mujoco>
"""
POINTS = {
    "world": (None, (0.3, -0.2, 0.4)),
    "left": ("left", (0.1, 0.2, 0.05)),
    "fork": ("fork", (-0.1, 0.05, 0.2)),
    "right": ("right", (0.1, -0.2, 0.15)),
}


def end(robot: tf.Robot, site: str) -> End:
    """Place of the site, in the frame of our link."""
    body, point = POINTS[site]
    if body is None:
        return End(-1, point)
    frame = robot.frame(body)
    return End(frame.link, tuple((frame.link_from_frame @ [*point, 1.0])[:3].tolist()))


@pytest.mark.parametrize(
    "sites", [("world", "left"), ("left", "right"), ("fork", "right"), ("fork", "world")], ids="-".join
)
def test_spring_and_force_are_those_of_a_tendon(sites: tuple[str, str], tmp_path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(MODEL.format(*sites))
    robot = tf.load(path)
    ends = tuple(end(robot, site) for site in sites)
    spring = robot.with_drives([*robot.drives, PointSpring(coefficient=STIFFNESS, rest=REST, ends=ends)])
    force = robot.with_drives([*robot.drives, PointForce(coefficient=1.0, ends=ends)])
    text = MODEL.format(*sites).replace('name="t"', f'name="t" stiffness="{STIFFNESS}" springlength="{REST}"')
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    data = mujoco.MjData(model)
    energies = []
    for q, qd, qdd in np.random.default_rng(2).normal(size=(20, 3, 4)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        tau = tf.inverse_dynamics(spring, q, qd, qdd)
        assert np.abs(tau - data.qfrc_inverse).max() < 1e-11 * np.abs(data.qfrc_inverse).max()
        pull = tf.friction(force, qd, q) - tf.friction(robot, qd)
        slopes = np.zeros(4)
        slopes[model.ten_J_colind[: model.ten_J_rownnz[0]]] = data.ten_J.ravel()[: model.ten_J_rownnz[0]]
        assert np.abs(pull - slopes).max() < 1e-12
        length = tf.potential_energy(force, q) - tf.potential_energy(robot, q)
        assert abs(length - data.ten_length[0]) < 1e-12
        mujoco.mj_energyPos(model, data)
        energies.append((tf.potential_energy(spring, q), data.energy[0]))
    ours, theirs = np.array(energies).T
    assert np.abs((ours - theirs) - (ours - theirs)[0]).max() < 1e-11 * np.abs(theirs).max()
