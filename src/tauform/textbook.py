"""The textbook algorithms in NumPy, under the names of the public functions: `tf.textbook.inverse_dynamics(...)`.

Public functions of the same name run compiled code where that pays and agree with these to rounding; these are what all
generated code is compared with. They take any scalar (complex steps), and give the same bits in every call.
"""

from __future__ import annotations

from tauform.arguments import checked
from tauform.closedform.base.regressor import base_regressor
from tauform.rigidbody.coriolis import coriolis_matrix
from tauform.rigidbody.energy import energy_regressor, kinetic_energy, potential_energy
from tauform.rigidbody.forward_dynamics import forward_dynamics
from tauform.rigidbody.friction import friction
from tauform.rigidbody.gravity import bias_torque, gravity_torque
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.kinematics import forward_kinematics, jacobian, link_placements
from tauform.rigidbody.linearize.forward import (
    linearize_forward,
    linearize_forward_transposed,
    linearize_forward_vector,
)
from tauform.rigidbody.linearize.inverse import (
    linearize_inverse,
    linearize_inverse_transposed,
    linearize_inverse_vector,
)
from tauform.rigidbody.linearize.parameters import linearize_forward_parameters, trajectory_sensitivity
from tauform.rigidbody.linearize.state_space import state_space
from tauform.rigidbody.momentum import generalized_momentum, momentum_observer
from tauform.rigidbody.regressor import regressor, slotine_li_regressor

__all__ = [
    "base_regressor",
    "bias_torque",
    "coriolis_matrix",
    "energy_regressor",
    "forward_dynamics",
    "forward_kinematics",
    "friction",
    "generalized_momentum",
    "gravity_torque",
    "inverse_dynamics",
    "jacobian",
    "kinetic_energy",
    "linearize_forward",
    "linearize_forward_parameters",
    "linearize_forward_transposed",
    "linearize_forward_vector",
    "linearize_inverse",
    "linearize_inverse_transposed",
    "linearize_inverse_vector",
    "link_placements",
    "mass_matrix",
    "momentum_observer",
    "potential_energy",
    "regressor",
    "slotine_li_regressor",
    "state_space",
    "trajectory_sensitivity",
]

# Checked as public functions are, without changing the functions that the package calls itself.
for _name in __all__:
    globals()[_name] = checked(globals()[_name])
    globals()[_name].__module__ = __name__  # where pickle and help find it
