"""Hints where a name does not exist: the names of ours that it resembles, or that other tools call so."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from difflib import get_close_matches

# Names in Pinocchio, in MATLAB's toolbox and in Corke's -> ours.
ELSEWHERE = {
    "rnea": "inverse_dynamics",
    "idyn": "inverse_dynamics",
    "crba": "mass_matrix",
    "inertia": "mass_matrix",
    "aba": "forward_dynamics",
    "accel": "forward_dynamics",
    "computecoriolismatrix": "coriolis_matrix",
    "coriolis": "coriolis_matrix",
    "computegeneralizedgravity": "gravity_torque",
    "gravload": "gravity_torque",
    "nonlineareffects": "bias_torque",
    "velocityproduct": "bias_torque",
    "computejointtorqueregressor": "regressor",
    "computekineticenergyregressor": "energy_regressor",
    "computekineticenergy": "kinetic_energy",
    "computepotentialenergy": "potential_energy",
    "computerneaderivatives": "linearize_inverse",
    "computeabaderivatives": "linearize_forward",
    "computeminverse": "factorize",
    "framesforwardkinematics": "forward_kinematics",
    "gettransform": "forward_kinematics",
    "fkine": "forward_kinematics",
    "computejointjacobians": "jacobian",
    "computeframejacobian": "jacobian",
    "geometricjacobian": "jacobian",
    "jacob0": "jacobian",
    "computepotentialenergyregressor": "energy_regressor",
    "buildmodelfromurdf": "load",
    "buildmodelfrommjcf": "load",
    "importrobot": "load",
    "seriallink": "Robot",
    "rigidbodytree": "Robot",
    **dict.fromkeys(("dof", "ndof", "nq", "nv", "njoints", "numjoints"), "n_joints"),
}


def our_name(name: str, known: Iterable[str]) -> str | None:
    """The name of ours that is meant: in another spelling, in other words, or misspelt."""
    names = {plain(ours): ours for ours in known}
    # Spelling first, then words of other tools; only then a guess.
    same = names.get(plain(name)) or names.get(plain(ELSEWHERE.get(plain(name), "")))
    # Stricter than the default 0.6, at which short names resemble too many others.
    near = get_close_matches(plain(name), names, n=1, cutoff=0.75)
    return same or (names[near[0]] if near else None)


def plain(name: str) -> str:
    """Strip case and underscores: inverseDynamics is inverse_dynamics."""
    return name.replace("_", "").lower()


def no_public_name(name: str, known: Iterable[str]) -> AttributeError:
    """Hint for a name that the package does not have."""
    # Private names are asked for by tools, not by people.
    ours = None if name.startswith("_") else our_name(name, known)
    return AttributeError(f"module 'tauform' has no attribute {name!r}" + (f"; did you mean {ours}?" if ours else ""))


def no_attribute(kind: type, name: str) -> AttributeError:
    """Hint for an attribute that a type does not have; functions of the package that take it first are named."""
    sentence = f"{kind.__name__} has no attribute {name!r}"
    if name.startswith("_"):
        return AttributeError(sentence)
    package = sys.modules["tauform"]
    own = [known for known in (*dir(kind), *getattr(kind, "__dataclass_fields__", ())) if not known.startswith("_")]
    ours = our_name(name, (*package.__all__, *own))
    if ours in own:
        return AttributeError(f"{sentence}; did you mean {ours}?")
    function = getattr(package, ours) if ours else None
    # Types and modules are no functions that could be called with it.
    if not inspect.isfunction(function):
        return AttributeError(sentence)
    # Only what must be given: a call that can be typed.
    needed = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    return AttributeError(f"{sentence}; call tf.{ours}({', '.join(needed)})")
