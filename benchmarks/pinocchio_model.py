"""A tauform Robot as a Pinocchio model, so that both compute the same arm."""

from __future__ import annotations

import numpy as np
import pinocchio

from tauform import Robot


def pinocchio_model(robot: Robot) -> pinocchio.Model:
    """Joints about or along z in the same placements, inertias of the links, rotors as armature; no friction."""
    model = pinocchio.Model()
    model.name = robot.name
    ids: list[int] = []
    for joint, inertia in zip(robot.joints, robot.inertias, strict=True):
        kind = pinocchio.JointModelRZ() if joint.is_revolute else pinocchio.JointModelPZ()
        placement = pinocchio.SE3(joint.parent_from_joint[:3, :3], joint.parent_from_joint[:3, 3])
        index = model.addJoint(ids[joint.parent] if joint.parent >= 0 else 0, kind, placement, joint.name)
        # Built directly: Inertia.FromDynamicParameters divides by the mass.
        body = pinocchio.Inertia(inertia.mass, np.array(inertia.com), inertia.tensor_about_com)
        model.appendBodyToJoint(index, body, pinocchio.SE3.Identity())
        ids.append(index)
    model.gravity.linear = np.array(robot.gravity)
    model.armature = np.array([joint.rotor_inertia or 0.0 for joint in robot.joints])
    return model
