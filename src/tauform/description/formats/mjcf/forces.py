"""Forces on the bodies of a MuJoCo model: gravity as its flag says, what we have no term for is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauform.arrays import Array, read_only
from tauform.errors import DescriptionError

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


def gravity_of(mujoco: Any, model: Any) -> Array:
    """Gravity of the model, none where its flag disables it."""
    return read_only(np.zeros(3) if _disabled(mujoco, model, "GRAVITY") else model.opt.gravity)


def refuse_other_forces(mujoco: Any, model: Any) -> None:
    """Refuse what would silently change the torque.

    Raises:
        DescriptionError: compensated gravity, a medium around the bodies, tendons that pull, switches that are off.
    """
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
    bit = getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", None)
    return bit is not None and bool(model.opt.disableflags & int(bit))
