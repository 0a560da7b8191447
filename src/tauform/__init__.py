"""tauform: tau in closed form.

A robot's description goes in; out come its dynamics in minimal closed form, its base inertial parameters, their
values identified from measured data, and verified real-time C. Names load on first use, so importing is quick.
"""

from importlib import import_module
from inspect import isfunction
from typing import TYPE_CHECKING, Any

from tauform.arguments import checked
from tauform.hints import no_public_name
from tauform.moved import find_moved_modules
from tauform.version import __version__

if TYPE_CHECKING:
    from tauform.closedform.base.baseset import BaseParameters as BaseParameters
    from tauform.closedform.base.explain import explain as explain
    from tauform.closedform.base.feasible import feasible_parameters as feasible_parameters
    from tauform.closedform.base.parameters import base_parameters as base_parameters
    from tauform.closedform.model.bound import BoundModel as BoundModel
    from tauform.closedform.model.derive import derive as derive
    from tauform.closedform.model.model import ClosedFormModel as ClosedFormModel
    from tauform.closedform.model.storage import load_model as load_model
    from tauform.closedform.profile import Profile as Profile
    from tauform.codegen.compile import compile as compile
    from tauform.codegen.generate import generate as generate
    from tauform.codegen.program.program import Program as Program
    from tauform.codegen.write import write_c as write_c
    from tauform.description.formats.load import load as load
    from tauform.description.formats.load import robots as robots
    from tauform.description.inertia import Inertia as Inertia
    from tauform.description.parametric import planar_chain as planar_chain
    from tauform.description.parametric import random_robot as random_robot
    from tauform.description.robot import Robot as Robot
    from tauform.identification.fitted.fit import Fit as Fit
    from tauform.identification.fitted.save import load_fit as load_fit
    from tauform.identification.gains import identify_gains as identify_gains
    from tauform.identification.identify import identify as identify
    from tauform.identification.logs.read import read_recording as read_recording
    from tauform.identification.motion.excite import excite as excite
    from tauform.identification.motion.trajectory import Trajectory as Trajectory
    from tauform.identification.payload import identify_payload as identify_payload
    from tauform.identification.recording.recording import Recording as Recording
    from tauform.identification.recording.simulate import simulated_recording as simulated_recording
    from tauform.identification.verdict.resimulate import validate_by_simulation as validate_by_simulation
    from tauform.pipeline.model_robot import RobotModel as RobotModel
    from tauform.pipeline.model_robot import model_robot as model_robot
    from tauform.realtime.multirate.multirate import MultiRate as MultiRate
    from tauform.realtime.multirate.multirate import multirate as multirate
    from tauform.realtime.multirate.staleness import Rates as Rates
    from tauform.realtime.reduction.recorded import recorded_profile as recorded_profile
    from tauform.realtime.reduction.reduce import Reduction as Reduction
    from tauform.realtime.reduction.reduce import reduce as reduce
    from tauform.rigidbody.check import check as check
    from tauform.rigidbody.coriolis import coriolis_matrix as coriolis_matrix
    from tauform.rigidbody.energy import energy_regressor as energy_regressor
    from tauform.rigidbody.energy import kinetic_energy as kinetic_energy
    from tauform.rigidbody.energy import potential_energy as potential_energy
    from tauform.rigidbody.forward_dynamics import forward_dynamics as forward_dynamics
    from tauform.rigidbody.friction import friction as friction
    from tauform.rigidbody.gravity import bias_torque as bias_torque
    from tauform.rigidbody.gravity import gravity_torque as gravity_torque
    from tauform.rigidbody.inverse_dynamics import inverse_dynamics as inverse_dynamics
    from tauform.rigidbody.kinematics import forward_kinematics as forward_kinematics
    from tauform.rigidbody.kinematics import jacobian as jacobian
    from tauform.rigidbody.kinematics import link_placements as link_placements
    from tauform.rigidbody.linearize.forward import ForwardLinearization as ForwardLinearization
    from tauform.rigidbody.linearize.forward import linearize_forward as linearize_forward
    from tauform.rigidbody.linearize.forward import linearize_forward_transposed as linearize_forward_transposed
    from tauform.rigidbody.linearize.forward import linearize_forward_vector as linearize_forward_vector
    from tauform.rigidbody.linearize.inverse import InverseLinearization as InverseLinearization
    from tauform.rigidbody.linearize.inverse import linearize_inverse as linearize_inverse
    from tauform.rigidbody.linearize.inverse import linearize_inverse_transposed as linearize_inverse_transposed
    from tauform.rigidbody.linearize.inverse import linearize_inverse_vector as linearize_inverse_vector
    from tauform.rigidbody.linearize.parameters import linearize_forward_parameters as linearize_forward_parameters
    from tauform.rigidbody.linearize.parameters import trajectory_sensitivity as trajectory_sensitivity
    from tauform.rigidbody.linearize.state_space import StateSpace as StateSpace
    from tauform.rigidbody.linearize.state_space import state_space as state_space
    from tauform.rigidbody.mass_matrix import mass_matrix as mass_matrix
    from tauform.rigidbody.momentum import generalized_momentum as generalized_momentum
    from tauform.rigidbody.momentum import momentum_observer as momentum_observer
    from tauform.rigidbody.regressor import regressor as regressor
    from tauform.rigidbody.regressor import slotine_li_regressor as slotine_li_regressor

find_moved_modules()

# Public name -> module that defines it.
_HOME = {
    "BoundModel": "closedform.model.bound",
    "ClosedFormModel": "closedform.model.model",
    "derive": "closedform.model.derive",
    "load_model": "closedform.model.storage",
    "BaseParameters": "closedform.base.baseset",
    "base_parameters": "closedform.base.parameters",
    "explain": "closedform.base.explain",
    "feasible_parameters": "closedform.base.feasible",
    "Program": "codegen.program.program",
    "generate": "codegen.generate",
    "compile": "codegen.compile",
    "write_c": "codegen.write",
    "Inertia": "description.inertia",
    "Robot": "description.robot",
    "load": "description.formats.load",
    "robots": "description.formats.load",
    "planar_chain": "description.parametric",
    "random_robot": "description.parametric",
    "RobotModel": "pipeline.model_robot",
    "model_robot": "pipeline.model_robot",
    "Recording": "identification.recording.recording",
    "read_recording": "identification.logs.read",
    "identify": "identification.identify",
    "Fit": "identification.fitted.fit",
    "load_fit": "identification.fitted.save",
    "identify_payload": "identification.payload",
    "identify_gains": "identification.gains",
    "validate_by_simulation": "identification.verdict.resimulate",
    "simulated_recording": "identification.recording.simulate",
    "excite": "identification.motion.excite",
    "Trajectory": "identification.motion.trajectory",
    "check": "rigidbody.check",
    "friction": "rigidbody.friction",
    "inverse_dynamics": "rigidbody.inverse_dynamics",
    "regressor": "rigidbody.regressor",
    "slotine_li_regressor": "rigidbody.regressor",
    "mass_matrix": "rigidbody.mass_matrix",
    "forward_kinematics": "rigidbody.kinematics",
    "jacobian": "rigidbody.kinematics",
    "link_placements": "rigidbody.kinematics",
    "kinetic_energy": "rigidbody.energy",
    "potential_energy": "rigidbody.energy",
    "energy_regressor": "rigidbody.energy",
    "gravity_torque": "rigidbody.gravity",
    "bias_torque": "rigidbody.gravity",
    "coriolis_matrix": "rigidbody.coriolis",
    "forward_dynamics": "rigidbody.forward_dynamics",
    "generalized_momentum": "rigidbody.momentum",
    "momentum_observer": "rigidbody.momentum",
    "linearize_inverse": "rigidbody.linearize.inverse",
    "linearize_inverse_vector": "rigidbody.linearize.inverse",
    "linearize_inverse_transposed": "rigidbody.linearize.inverse",
    "linearize_forward": "rigidbody.linearize.forward",
    "linearize_forward_vector": "rigidbody.linearize.forward",
    "linearize_forward_transposed": "rigidbody.linearize.forward",
    "linearize_forward_parameters": "rigidbody.linearize.parameters",
    "trajectory_sensitivity": "rigidbody.linearize.parameters",
    "state_space": "rigidbody.linearize.state_space",
    "StateSpace": "rigidbody.linearize.state_space",
    "InverseLinearization": "rigidbody.linearize.inverse",
    "ForwardLinearization": "rigidbody.linearize.forward",
    "Profile": "closedform.profile",
    "Rates": "realtime.multirate.staleness",
    "Reduction": "realtime.reduction.reduce",
    "reduce": "realtime.reduction.reduce",
    "MultiRate": "realtime.multirate.multirate",
    "multirate": "realtime.multirate.multirate",
    "recorded_profile": "realtime.reduction.recorded",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise no_public_name(name, __all__)
    value = getattr(import_module(f"tauform.{_HOME[name]}"), name)
    if isfunction(value):
        value = checked(value)
        value.__module__ = "tauform"  # where pickle and help find it
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
