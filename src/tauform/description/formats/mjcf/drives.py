"""Drive of a joint of a MuJoCo model: rotor, friction and limits, its own and those of its motors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tauform.arrays import Array, fixed_array, read_only
from tauform.description.drives import Drive, Stiffness
from tauform.description.joint import Limits
from tauform.description.robot import Robot
from tauform.errors import DescriptionError

# Of a gear, whose square must still be a number.
LARGEST_RATIO = 1e9

# Properties of tendons that give torques or inertia; readers of different ages know more or fewer of them.
TENDON_FORCES = ("stiffness", "stiffnesspoly", "damping", "dampingpoly", "frictionloss", "armature")
MOTOR_FORCES = ("armature", "damping", "dampingpoly")
# Flags that switch off what we would read, and where a model holds that.
SWITCHES = {
    "passive": ("PASSIVE", "dof_damping", "actuator_damping", "jnt_stiffness"),
    "spring": ("SPRING", "jnt_stiffness"),
    "damper": ("DAMPER", "dof_damping", "actuator_damping"),
    "frictionloss": ("FRICTIONLOSS", "dof_frictionloss"),
    "constraint": ("CONSTRAINT", "dof_frictionloss"),
    "equality": ("EQUALITY", "eq_active0"),
}


def drive_of(mujoco: Any, model: Any, k: int, name: str) -> dict[str, Any]:
    """Keyword arguments of Joint for joint k.

    Raises:
        DescriptionError: damping that is not linear, of the joint or of a motor, or a gear beyond any ratio.
    """
    dof = int(model.jnt_dofadr[k])
    if np.any(_held(model, "dof_dampingpoly", dof)):
        raise DescriptionError(f"joint {name!r} has damping that is not linear in velocity; make it linear")
    armature, damping = float(model.dof_armature[dof]), float(model.dof_damping[dof])
    for a in _motors(mujoco, model, k):
        if np.any(_held(model, "actuator_dampingpoly", a)):
            raise DescriptionError(f"a motor of joint {name!r} has damping that is not linear; make it linear")
        # Behind a gear a rotor acts with the square of the ratio.
        ratio = float(model.actuator_gear[a, 0])
        if not abs(ratio) <= LARGEST_RATIO:
            raise DescriptionError(f"a motor of joint {name!r} has the gear {ratio:g}, which no robot has; correct it")
        armature += ratio**2 * float(_held(model, "actuator_armature", a))
        damping += ratio**2 * float(_held(model, "actuator_damping", a))
    return {
        "limits": _limits(model, k),
        "rotor_inertia": armature or None,  # MuJoCo's default is 0: nothing was declared
        "viscous": damping,
        "coulomb": float(model.dof_frictionloss[dof]),
    }


def _held(model: Any, field: str, i: int) -> Any:
    """Entry i of a field; 0 where this version of MuJoCo does not have it."""
    return getattr(model, field)[i] if hasattr(model, field) else 0.0


def _motors(mujoco: Any, model: Any, k: int) -> list[int]:
    """Actuators that drive joint k directly."""
    # Both act on one joint; motors on tendons and sites are refused elsewhere.
    kinds = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    driven = zip(model.actuator_trntype, model.actuator_trnid[:, 0], strict=True)
    return [a for a, (kind, joint) in enumerate(driven) if int(kind) in kinds and int(joint) == k]


def springs_of(model: Any, names: Sequence[str], robot: Robot) -> tuple[Drive, ...]:
    """Springs of the joints of these names: stiffness (q - springref).

    Raises:
        DescriptionError: a spring that is not linear.
    """
    places, springs = {joint.name: i for i, joint in enumerate(robot.joints)}, []
    for k, name in enumerate(names):
        if np.any(_held(model, "jnt_stiffnesspoly", k)):
            raise DescriptionError(f"joint {name!r} has a spring that is not linear in position; make it linear")
        stiffness = float(fixed_array(model.jnt_stiffness[k], (), f"joint {name!r}: stiffness"))
        if stiffness:
            rest = float(model.qpos_spring[model.jnt_qposadr[k]])
            springs.append(Stiffness(joints=(places[name],), coefficient=stiffness, rest=rest))
    return tuple(springs)


def _limits(model: Any, k: int) -> Limits:
    bounds = {}
    if model.jnt_limited[k]:
        bounds = {"lower": float(model.jnt_range[k, 0]), "upper": float(model.jnt_range[k, 1])}
    # Of all actuators together, which is what a joint can bear.
    if model.jnt_actfrclimited[k]:
        bounds["effort"] = float(np.abs(model.jnt_actfrcrange[k]).max())
    return Limits(**bounds)


# Forces on the bodies of a MuJoCo model: gravity as its flag says, what we have no term for is refused.


def gravity_of(mujoco: Any, model: Any) -> Array:
    """Gravity of the model, none where its flag disables it."""
    return read_only(np.zeros(3) if _disabled(mujoco, model, "GRAVITY") else model.opt.gravity)


def refuse_other_forces(mujoco: Any, model: Any) -> None:
    """Refuse what would silently change the torque.

    Raises:
        DescriptionError: compensated gravity, a medium around the bodies, tendons that pull, switches that are off.
    """
    # It would take weight off the torque, and no drive term says so.
    compensated = np.flatnonzero(model.body_gravcomp)
    if len(compensated):
        name = model.body(int(compensated[0])).name or f"body{compensated[0]}"
        raise DescriptionError(f"body {name!r} has gravcomp, which is not supported; remove it")
    for name in ("density", "viscosity"):
        if getattr(model.opt, name):
            raise DescriptionError(f"option {name!r} lets a medium act, which is not supported; set it to 0")
    for t in range(model.ntendon):
        acting = [kind for kind in TENDON_FORCES if np.any(getattr(model, f"tendon_{kind}", np.zeros(t + 1))[t])]
        if acting:
            name = model.tendon(t).name or f"number {t + 1}"
            raise DescriptionError(f"tendon {name!r} has {acting[0]}, which is not supported; set it to 0")
    _refuse_motors_on_tendons(mujoco, model)
    for flag, (bit, *held) in SWITCHES.items():
        if _disabled(mujoco, model, bit) and any(np.any(getattr(model, field, 0.0)) for field in held):
            raise DescriptionError(f"flag {flag!r} disables what the model holds; remove either of them")


def _refuse_motors_on_tendons(mujoco: Any, model: Any) -> None:
    """Rotors that turn with several joints at once; those of single joints are read."""
    direct = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    for a, kind in enumerate(model.actuator_trntype):
        if int(kind) not in direct:
            acting = [what for what in MOTOR_FORCES if np.any(getattr(model, f"actuator_{what}", np.zeros(a + 1))[a])]
            if acting:
                name = model.actuator(a).name or f"number {a + 1}"
                raise DescriptionError(f"actuator {name!r} has {acting[0]} and drives no single joint; set it to 0")


def _disabled(mujoco: Any, model: Any, name: str) -> bool:
    # Older versions lack some flags: what does not exist is not set.
    bit = getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", None)
    return bit is not None and bool(model.opt.disableflags & int(bit))
