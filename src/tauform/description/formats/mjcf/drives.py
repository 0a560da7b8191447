"""What drives a joint of a MuJoCo model: rotor, friction and limits, its own and those of its motors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauform.description.joint import Limits
from tauform.errors import DescriptionError


def drive_of(mujoco: Any, model: Any, k: int, name: str) -> dict[str, Any]:
    """Keyword arguments of Joint for joint k.

    Raises:
        DescriptionError: a spring, or damping that is not linear, of the joint or of a motor.
    """
    _refuse_spring(model, k, name)
    dof = int(model.jnt_dofadr[k])
    if np.any(_held(model, "dof_dampingpoly", dof)):
        raise DescriptionError(f"joint {name!r} has damping that is not linear in velocity; make it linear")
    armature, damping = float(model.dof_armature[dof]), float(model.dof_damping[dof])
    for a in _motors(mujoco, model, k):
        if np.any(_held(model, "actuator_dampingpoly", a)):
            raise DescriptionError(f"a motor of joint {name!r} has damping that is not linear; make it linear")
        # Behind a gear a rotor acts with the square of the ratio.
        ratio = float(model.actuator_gear[a, 0])
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
    kinds = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    driven = zip(model.actuator_trntype, model.actuator_trnid[:, 0], strict=True)
    return [a for a, (kind, joint) in enumerate(driven) if int(kind) in kinds and int(joint) == k]


def _refuse_spring(model: Any, k: int, name: str) -> None:
    if np.any(model.jnt_stiffness[k]) or np.any(_held(model, "jnt_stiffnesspoly", k)):
        raise DescriptionError(f"joint {name!r} has a spring (stiffness), which is not supported; set it to 0")


def _limits(model: Any, k: int) -> Limits:
    bounds = {}
    if model.jnt_limited[k]:
        bounds = {"lower": float(model.jnt_range[k, 0]), "upper": float(model.jnt_range[k, 1])}
    if model.jnt_actfrclimited[k]:
        bounds["effort"] = float(np.abs(model.jnt_actfrcrange[k]).max())
    return Limits(**bounds)
