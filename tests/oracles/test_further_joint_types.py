"""Types that the package does not have, a screw and a ball, join by their class alone: Pinocchio's inverse dynamics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import tauform as tf
from pinocchio_oracle import pin
from tauform.arrays import AnyArray, Array
from tauform.description.joint import Joint
from tauform.description.joint_types import JOINT_TYPES, PRISMATIC, REVOLUTE, JointType
from tauform.description.parametric import random_robot
from tauform.errors import DescriptionError, ModelError, TauformError

PITCH = 0.07


@dataclass(frozen=True)
class Helical(JointType):
    """q is the angle; S = (z, pitch z), the pitch in metres per radian."""

    pitch: float = PITCH

    name, letter = "helical", "H"
    unit, effort, effort_unit = "rad", "torque", "N m"
    length_power, is_angle, display_factor = 0, True, 180 / np.pi
    usual_range = generic_range = np.pi
    component, has_functions = None, False
    free_groups, rotor_like = (("Ixx", "Iyy"),), "Izz"
    dh_column = "theta"
    spelling: ClassVar[dict[str, tuple[str, ...]]] = {"pinocchio": ("JointModelHZ",)}

    @property
    def screw(self) -> tuple[float, float]:
        return 1.0, self.pitch

    def placed(self, R: AnyArray, p: AnyArray, q: AnyArray) -> tuple[AnyArray, AnyArray]:
        return REVOLUTE.placed(R, p, q)[0], PRISMATIC.placed(R, p, self.pitch * q)[1]

    def motion(self, position: float) -> Array:
        return REVOLUTE.motion(position) @ PRISMATIC.motion(self.pitch * position)

    def axis_in(self, R: AnyArray, p: AnyArray) -> AnyArray:
        return REVOLUTE.axis_in(R, p) + self.pitch * PRISMATIC.axis_in(R, p)

    def axis_rate(self, twist: AnyArray) -> AnyArray:
        return REVOLUTE.axis_rate(twist) + self.pitch * PRISMATIC.axis_rate(twist)

    def axis_cross_force(self, wrench: AnyArray) -> AnyArray:
        return REVOLUTE.axis_cross_force(wrench) + self.pitch * PRISMATIC.axis_cross_force(wrench)


@dataclass(frozen=True)
class Ball(JointType):
    """q is a unit quaternion x y z w, qd the angular velocity in the link's frame; S has three columns."""

    name, letter, n_q, n_v = "ball", "B", 4, 3
    unit, effort, effort_unit = "1", "torque", "N m"
    length_power, is_angle, display_factor = 0, False, 1.0
    usual_range = generic_range = 1.0
    component, has_functions = None, False
    free_groups, rotor_like = (("m",),), None
    dh_column = "theta"
    spelling: ClassVar[dict[str, tuple[str, ...]]] = {"pinocchio": ("JointModelSpherical",)}

    def placed(self, R: AnyArray, p: AnyArray, q: AnyArray) -> tuple[AnyArray, AnyArray]:
        x, y, z, w = q
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        return (R[:, :, None] * turn[None]).sum(axis=1), np.broadcast_to(p, (3, *q.shape[1:]))

    def moved(self, twist: AnyArray, rate: Any) -> AnyArray:
        twist[:3] = twist[:3] + rate
        return twist

    def drift(self, twist: AnyArray, rate: Any) -> AnyArray:
        return np.concatenate([np.cross(part, rate, axis=0) for part in (twist[:3], twist[3:])])

    def felt(self, wrench: AnyArray) -> Any:
        return wrench[:3]


def robot_of(letters: str, monkeypatch: pytest.MonkeyPatch) -> tf.Robot:
    for own in (Helical(), Ball()):
        monkeypatch.setitem(JOINT_TYPES, own.name, own)
    kinds = {own.letter: own for own in JOINT_TYPES.values()}
    base = random_robot("R" * len(letters), seed=3)
    joints = [
        Joint(joint.name, kinds[letter].name, joint.parent, joint.parent_from_joint, constants=kinds[letter].constants)
        for joint, letter in zip(base.joints, letters, strict=True)
    ]
    return replace(base, joints=tuple(joints))


@pytest.mark.parametrize("letters", ["RHB", "BRP", "HBH", "BBR"])
def test_inverse_dynamics_is_pinocchios(letters: str, monkeypatch: pytest.MonkeyPatch) -> None:
    robot, model = robot_of(letters, monkeypatch), pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    for joint, link in zip(robot.joints, robot.links, strict=True):
        kind = getattr(pin, joint.type.words("pinocchio")[0])
        own = kind(PITCH) if joint.kind == "helical" else kind()
        index = model.addJoint(joint.parent + 1, own, pin.SE3(np.array(joint.parent_from_joint)), joint.name)
        body = pin.Inertia.FromDynamicParameters(np.array(link.inertia.parameters))
        model.appendBodyToJoint(index, body, pin.SE3.Identity())
    assert (robot.n_q, robot.n_v) == (model.nq, model.nv)
    q = np.array([pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq)) for _ in range(5)])
    qd, qdd = np.random.default_rng(0).normal(size=(2, 5, model.nv))
    data = model.createData()
    theirs = np.array([pin.rnea(model, data, *state) for state in zip(q, qd, qdd, strict=True)])
    np.testing.assert_allclose(tf.inverse_dynamics(robot, q, qd, qdd), theirs, rtol=1e-11, atol=1e-11)


def test_a_screw_is_taken_by_the_other_algorithms_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inverse dynamics are linear in qdd and invert forward dynamics; generated programs compute the same."""
    robot = robot_of("RHP", monkeypatch)
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 4, 3))
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    np.testing.assert_allclose(tf.forward_dynamics(robot, q, qd, tau), qdd, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(tf.regressor(robot, q, qd, qdd) @ robot.parameters, tau, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(tf.generate(robot)(q, qd, qdd), tau, rtol=1e-11, atol=1e-11)


def test_what_does_not_take_a_type_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    robot = robot_of("RB", monkeypatch)
    q, qd = np.array([0.1, 0.0, 0.0, 0.6, 0.8]), np.zeros(4)
    one_velocity: dict[str, Any] = {
        "mass matrix": lambda: tf.mass_matrix(robot, q),
        "forward dynamics": lambda: tf.forward_dynamics(robot, q, qd, qd),
        "regressor": lambda: tf.regressor(robot, q, qd, qd),
        "kinematics": lambda: tf.forward_kinematics(robot, q),
        "base parameters": lambda: tf.base_parameters(robot),
        "derivatives": lambda: tf.linearize_inverse(robot, q, qd, qd),
        "programs": lambda: tf.generate(robot),
    }
    for call in one_velocity.values():
        with pytest.raises(ModelError, match="velocities; only inverse_dynamics takes them"):
            call()
    with pytest.raises(TauformError, match="no closed form"):
        tf.derive(robot)
    with pytest.raises(DescriptionError, match="joints of type ball have no word in urdf"):
        robot.save(tmp_path / "ball.urdf")
