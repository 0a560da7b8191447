"""MJCF through MuJoCo's own model reader: bodies, hinge and slide joints, armature, damping, friction loss, springs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import Array, fixed_array
from tauform.deferred import deferred
from tauform.description.formats.assembly import Body, BodyJoint, assemble
from tauform.description.formats.mjcf.document import check_document
from tauform.description.formats.mjcf.drives import drive_of, gravity_of, refuse_other_forces, springs_of
from tauform.description.formats.mjcf.shapes import mjcf_shapes, mjcf_visuals
from tauform.description.formats.mjcf.warnings import without_warnings
from tauform.description.inertia import Inertia
from tauform.description.joint_types import spelled
from tauform.description.robot import Robot
from tauform.description.transform import tidy
from tauform.errors import DescriptionError, MissingExtraError, TauformError

# Random states: a force that was not read shows at nearly every one.
N_STATES = 3
# Meshes, textures and height fields that a model may name.
ASSETS = (".stl", ".obj", ".msh", ".png", ".hf")
# Of the largest torque: rounding of two different algorithms stays far below.
TORQUE_TOLERANCE = 1e-6


def read_mjcf(path: Path) -> Robot:
    """Read a MuJoCo model with a fixed base; gravity is the model's, none where a flag disables it.

    A body with several joints becomes a chain with massless links between them; linear joint equalities become
    relations; springs of joints become drive terms; named sites become frames. Motors add their armature and damping,
    times the square of their gear. What would silently change the torque (springs that are not linear, compensated
    gravity, a medium, other equalities) is refused, at last by comparing with MuJoCo's.

    Raises:
        DescriptionError: MuJoCo cannot read the file, or it holds something that we do not support.
        MissingExtraError: mujoco is not installed.
    """
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError("reading MJCF needs mujoco; pip install tauform[mjcf]") from None
    try:
        # Before MuJoCo opens it: its own reader takes sizes and includes as they come.
        check_document(path)
        with without_warnings():
            model = _compiled(mujoco, path)
    except TauformError as error:
        raise type(error)(f"{path.name}: {error}") from None
    except (ValueError, RuntimeError, MemoryError) as error:
        raise DescriptionError(f"{path.name}: MuJoCo cannot read it ({' '.join(str(error).split())})") from None
    try:
        # What acts beside joints and bodies is refused by name; check_torques catches what has none.
        refuse_other_forces(mujoco, model)
        bodies = [body for i in range(model.nbody) for body in _bodies(mujoco, model, i)]
        # Tools and sensors are sites: users name them as frames.
        bodies += _sites(mujoco, model, {body.name for body in bodies})
        robot = assemble(_model_name(model) or path.stem, bodies, gravity_of(mujoco, model))
        robot = replace(
            robot, further_drives=springs_of(model, [_joint_name(model, k) for k in range(model.njnt)], robot)
        )
        with without_warnings():
            check_torques(mujoco, model, robot)
        shapes, visuals = mjcf_shapes(mujoco, model, _body_name), mjcf_visuals(mujoco, model, _body_name)
        robot = replace(robot, shapes=shapes, visuals=visuals)
        relations = _relations(mujoco, model)
        return robot.with_relations(relations) if relations else robot
    except TauformError as error:
        raise type(error)(f"{path.name}: {error}") from None


def _compiled(mujoco: Any, path: Path) -> Any:
    """MuJoCo's model of a file; assets that are not where it says may lie beside it."""
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        beside = [file for file in path.parent.iterdir() if file.suffix.lower() in ASSETS and file.is_file()]
        if "opening file" not in str(error) or not beside:
            raise
        # Files that were sent or dropped together have lost their folders: MuJoCo finds assets by name, too.
        return mujoco.MjModel.from_xml_path(str(path), {file.name: file.read_bytes() for file in beside})


def _model_name(model: Any) -> str:
    return bytes(model.names).split(b"\0", 1)[0].decode()


def _body_name(model: Any, i: int) -> str:
    return model.body(i).name or f"body{i}"


def _joint_name(model: Any, k: int) -> str:
    return model.joint(k).name or f"joint{k + 1}"


def _bodies(mujoco: Any, model: Any, i: int) -> list[Body]:
    """Body i, preceded by a massless one for each joint but its last."""
    name = _body_name(model, i)
    if i == 0:
        return [Body(name, None, np.eye(4), Inertia.zero())]
    placement = _placement(mujoco, model.body_pos[i], model.body_quat[i], f"body {name!r}")
    parent = _body_name(model, model.body_parentid[i])
    first, count = int(model.body_jntadr[i]), int(model.body_jntnum[i])
    mass = float(fixed_array(model.body_mass[i], (), f"body {name!r}: mass"))
    # Principal moments, in the axes of the inertial frame.
    inertia = Inertia.of(mass, inertia=np.diag(model.body_inertia[i]), inertia_about="com")
    inertia = inertia.moved(_placement(mujoco, model.body_ipos[i], model.body_iquat[i], f"body {name!r}: inertial"))
    if count == 0:
        return [Body(name, parent, placement, inertia)]
    bodies = []
    # Several joints of one MuJoCo body become massless bodies in a row, the last one with the mass.
    for k in range(first, first + count):
        last = k == first + count - 1
        own = name if last else f"{name}:{_joint_name(model, k)}"
        bodies.append(Body(own, parent, placement, inertia if last else Inertia.zero(), _joint(mujoco, model, k, name)))
        # Joints of one body share its frame.
        parent, placement = own, np.eye(4)
    return bodies


def _sites(mujoco: Any, model: Any, taken: set[str]) -> list[Body]:
    """Named sites as massless bodies, which become frames; one that is called as a body is `<name>:site`."""
    sites = []
    for k in range(model.nsite):
        name = model.site(k).name
        if name:
            placement = _placement(mujoco, model.site_pos[k], model.site_quat[k], f"site {name!r}")
            parent = _body_name(model, model.site_bodyid[k])
            sites.append(Body(f"{name}:site" if name in taken else name, parent, placement, Inertia.zero()))
    return sites


def _placement(mujoco: Any, position: Array, quaternion: Array, place: str) -> Array:
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, fixed_array(quaternion, (4,), f"{place}: quat"))
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation.reshape(3, 3), fixed_array(position, (3,), f"{place}: pos")
    return tidy(T)


def _joint(mujoco: Any, model: Any, k: int, body: str) -> BodyJoint:
    name = _joint_name(model, k)
    # By the words of our types: a new one is read with its line in the registry.
    known = {int(getattr(mujoco.mjtJoint, f"mjJNT_{word.upper()}")): own for word, own in spelled("mjcf").items()}
    own = known.get(int(model.jnt_type[k]))
    if own is None:
        what = "free" if model.jnt_type[k] == mujoco.mjtJoint.mjJNT_FREE else "ball"
        raise DescriptionError(
            f"body {body!r}: its {what} joint {name!r} is not supported; remove it (a fixed base) or use hinges"
        )
    # MuJoCo counts q from the pose of the file, we from the joint's own zero.
    reference, drive = float(model.qpos0[model.jnt_qposadr[k]]), drive_of(mujoco, model, k, name)
    return BodyJoint(name, own, model.jnt_axis[k].copy(), model.jnt_pos[k].copy(), reference, drive)


def _relations(mujoco: Any, model: Any) -> dict[str, dict[str, float]]:
    relations: dict[str, dict[str, float]] = {}
    for e in range(model.neq):
        # Switched off in the file: it acts in no simulation either.
        if not model.eq_active0[e]:
            continue
        if model.eq_type[e] != mujoco.mjtEq.mjEQ_JOINT:
            name = model.equality(e).name or f"number {e + 1}"
            raise DescriptionError(
                f"equality {name!r} closes a loop; only linear relations between joints are supported: "
                "remove it and add the loop with Robot.with_relations"
            )
        follower, leader = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
        # q - q0 = c0 + c1 (p - p0) + c2 (p - p0)^2 + ...
        c = model.eq_data[e, :5]
        if np.any(c[2:]):
            raise DescriptionError(f"joint {_joint_name(model, follower)!r}: its equality is not linear; make it so")
        # From MuJoCo's zero, the pose of the file, to the joints' own.
        start = float(model.qpos0[model.jnt_qposadr[follower]]) + float(c[0])
        terms = {}
        if leader >= 0:
            start -= float(c[1]) * float(model.qpos0[model.jnt_qposadr[leader]])
            terms[_joint_name(model, leader)] = float(c[1])
        if _joint_name(model, follower) in relations:
            raise DescriptionError(f"joint {_joint_name(model, follower)!r} follows in two equalities; keep one")
        relations[_joint_name(model, follower)] = {**terms, "": start}
    return relations


# A robot that was read, compared with MuJoCo's own torques of the same file: what acts there must have been read.


def check_torques(mujoco: Any, model: Any, robot: Robot) -> None:
    """Compare the tree's torques (without Coulomb friction, which MuJoCo counts as a constraint) with mj_inverse.

    Raises:
        DescriptionError: they differ, so that something acts in the model which the reader does not know.
    """
    # Against the direction of imports: the reader's own check needs dynamics.
    inverse_dynamics = deferred("read_mjcf")
    # Equalities and dry friction are constraints to MuJoCo, which mj_inverse leaves to its solver.
    tree = replace(robot, closure=None, joints=tuple(replace(joint, coulomb=0.0) for joint in robot.joints))
    states = np.random.default_rng(0).uniform(-1.0, 1.0, (3, N_STATES, robot.n_bodies))
    expected = np.array([_mujoco_torque(mujoco, model, *state) for state in states.transpose(1, 0, 2)])
    # Joint by joint, so that the sentence can name one.
    error = np.abs(inverse_dynamics(tree, *states) - expected).max(axis=0)
    worst = int(error.argmax())
    # A sum of large torques that cancel is compared with what it is made of: the largest of all.
    if not error[worst] <= TORQUE_TOLERANCE * np.abs(expected).max():
        raise DescriptionError(
            f"MuJoCo finds other torques than were read, at joint {robot.joints[worst].name!r} by {error[worst]:.2g}: "
            "something acts on it that is not supported; leave out all but bodies, joints and inertias"
        )


def _mujoco_torque(mujoco: Any, model: Any, q: Array, qd: Array, qdd: Array) -> Array:
    """M qdd + bias - passive forces, as they hold for bodies in continuous time without constraints."""
    # Put back afterwards: the model is the caller's.
    flags, others = model.opt.disableflags, model.opt.enableflags
    try:
        # Contacts and limits would act at random states, where links overlap.
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        model.opt.enableflags = 0
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        return np.array(data.qfrc_inverse)
    finally:
        model.opt.disableflags, model.opt.enableflags = flags, others
