"""A Robot as a model of another tool, so that both compute the same mechanism; friction is left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauform.description.robot import Robot


def pinocchio_model(robot: Robot) -> Any:
    """Joints about or along z in the same placements, inertias of the links, rotors as armature."""
    import pinocchio

    model = pinocchio.Model()
    model.name = robot.name
    # Ids of Pinocchio by our index; its 0 is the universe.
    ids: list[int] = []
    for joint, inertia in zip(robot.joints, robot.inertias, strict=True):
        kind = getattr(pinocchio, joint.type.words("pinocchio")[0])()
        placement = pinocchio.SE3(joint.parent_from_joint[:3, :3], joint.parent_from_joint[:3, 3])
        index = model.addJoint(ids[joint.parent] if joint.parent >= 0 else 0, kind, placement, joint.name)
        # Built directly: Inertia.FromDynamicParameters divides by the mass.
        # Our com and tensor about it, in link axes, are what its constructor takes.
        body = pinocchio.Inertia(inertia.mass, np.array(inertia.com), inertia.tensor_about_com)
        model.appendBodyToJoint(index, body, pinocchio.SE3.Identity())
        ids.append(index)
    model.gravity.linear = np.array(robot.gravity)
    # One entry per velocity: every joint here has one degree of freedom.
    model.armature = np.array([joint.rotor_inertia or 0.0 for joint in robot.joints])
    return model


def mujoco_model(robot: Robot) -> Any:
    """Bodies with one hinge or slide about or along z, rotors as armature."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.gravity = np.array(robot.gravity)
    bodies: list[Any] = []
    for joint, inertia in zip(robot.joints, robot.inertias, strict=True):
        parent = bodies[joint.parent] if joint.parent >= 0 else spec.worldbody
        body = parent.add_body(pos=joint.parent_from_joint[:3, 3], quat=_quaternion(joint.parent_from_joint[:3, :3]))
        # Its compiler refuses bodies without mass and unphysical inertias; the numbers follow below.
        # One kilogram and unit inertias pass the compiler for every body.
        body.mass, body.ipos, body.inertia, body.explicitinertial = 1.0, inertia.com, [1, 1, 1], True
        kind = getattr(mujoco.mjtJoint, f"mjJNT_{joint.type.words('mjcf')[0].upper()}")
        body.add_joint(type=kind, axis=[0, 0, 1], armature=joint.rotor_inertia or 0.0)
        bodies.append(body)
    model = spec.compile()
    # From 1: its body 0 is the world.
    for i, inertia in enumerate(robot.inertias, start=1):
        # Its bodies hold principal inertias and the quaternion of their axes.
        principal, axes = np.linalg.eigh(inertia.tensor_about_com)
        axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])  # right-handed
        model.body_mass[i], model.body_inertia[i], model.body_iquat[i] = inertia.mass, principal, _quaternion(axes)
        # Flags with which it leaves out rotations that its own compiler found to be none.
        model.body_sameframe[i], model.body_simple[i] = 0, 0
    return model


def _quaternion(rotation: Any) -> Any:
    import mujoco

    result = np.empty(4)
    mujoco.mju_mat2Quat(result, np.ascontiguousarray(rotation).ravel())
    return result
