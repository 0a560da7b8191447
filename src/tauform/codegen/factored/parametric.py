"""Programs of a closed form whose base parameters come at run time: its regressor, and its functions of theta.

theta is one more variable of the nested sums, tau_i = sum_jk P_ijk y_j theta_k; what depends on it alone is set up
once.  [Lloyd2021, Eq. 45]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tauform.arrays import AnyArray, Array
from tauform.closedform.generators import Generators
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.model import ClosedFormModel
from tauform.closedform.terms.matrices import forward_dynamics
from tauform.codegen.certificate import checked
from tauform.codegen.factored.factored import functions_of, kinds_of, sums_of
from tauform.codegen.factored.factoring import Integers
from tauform.codegen.factored.model_program import about_model, reference_of
from tauform.codegen.factored.nesting import Nesting
from tauform.codegen.functions import FUNCTIONS
from tauform.codegen.minimal.split import lowered
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.program import Program
from tauform.description.drives.friction import plain_functions
from tauform.errors import GenerationError

REGRESSORS = ("regressor", "base_regressor")
# Kinds of terms as `kinds_of` numbers them: by what they are multiplied with.
GRAVITY, ACCELERATIONS, VELOCITIES = range(3)
_INPUTS = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "gravity_torque": ("q",),
    "velocity_torque": ("q", "qd"),
    "mass_matrix": ("q",),
    "forward_dynamics": ("q", "qd", "tau"),
}
_OUTPUTS = {"mass_matrix": "M", "forward_dynamics": "qdd"}


def regressor_program(model: ClosedFormModel) -> Program:
    """Y with tau = Y theta of a closed form, exact or reduced, from its terms.

    Raises:
        VerificationError: the program deviates from the model.
    """
    graph, n = Graph(), model.n_joints
    q, qd, qdd = (graph.input(name, n) for name in ("q", "qd", "qdd"))
    entries = _Entries.of(model)
    # An output for each entry of Y, (joint, column) counted row by row.
    sums, powers = sums_of(model, entries.joint * model.n_base + entries.column, entries.term, entries.value)
    functions = functions_of(powers, model.coordinates.all_of(q), [*qd, *qdd])
    Y = np.array(Nesting.of(sums).scalars(functions, n * model.n_base), dtype=object).reshape(n, model.n_base)
    # The functions of Fv, Fc and Fo, which stand beside E.
    velocities = model.geometry.tree_velocities(qd, model.moving)
    acting = [(joint, *own) for joint in range(n) for own in model.geometry.acting_on(joint)]
    for joint, i, weight in acting:
        for kind, column in zip(*np.nonzero(model.joint_terms[i]), strict=True):
            factor = weight * float(model.joint_terms[i, kind, column])
            Y[joint, column] = Y[joint, column] + factor * plain_functions(velocities[i])[kind]
    wanted = FUNCTIONS["base_regressor"]
    columns = {"theta": tuple(model.base.names)}
    about = about_model(model.bind(_values(model)), wanted.name, entries=columns, grouping=model.base.grouping)
    program = lowered(graph, wanted.name, {"Y": Y}, robot=model.robot_name, algorithm="factored", about=about)
    return checked(
        program, [(n,)] * 3, model.regressor, wanted.tolerance, f"regressor of the closed form of {model.robot_name}"
    )


def theta_program(source: ClosedFormModel | BoundModel, function: str) -> Program:
    """A function of a closed form with its base parameters as a run-time input; friction beside theta is a number.

    Raises:
        GenerationError: not a function of a closed form, drive terms that have no place, or a failed verification.
    """
    if function not in _INPUTS:
        known = ", ".join((*_INPUTS, *REGRESSORS[:1]))
        raise GenerationError(f"{function} of a closed form with run-time theta: choose from {known}, or give a robot")
    # Numbers are needed for the check alone: the program takes theta.
    bound = source if isinstance(source, BoundModel) else source.bind(_values(source))
    # They have shapes of their own, which a sum of terms times theta cannot hold.
    if bound.beside:
        raise GenerationError(
            f"parameters: {bound.name} carries drive terms beside theta; bake its numbers, or give the robot"
        )
    graph, n, names = Graph(), bound.n_joints, _INPUTS[function]
    inputs = {name: graph.input(name, n) for name in names}
    theta = graph.input("theta", bound.base.n, shared=True)
    traced = _Traced(bound, theta, inputs)
    outputs = {_OUTPUTS.get(function, "tau"): traced.function(function)}
    entries, defaults = {"theta": tuple(bound.base.names)}, {"theta": bound.theta}
    wanted = FUNCTIONS[function]
    about = about_model(bound, function, entries=entries, defaults=defaults, grouping=bound.base.grouping)
    program = lowered(graph, function, outputs, robot=bound.name, algorithm="factored", about=about)
    # Where all results may be zero, errors are relative to the whole torque.
    whole = bound.textbook.inverse_dynamics if wanted.may_vanish else None
    described = f"closed form of {bound.name}"
    reference = reference_of(bound, function)
    return checked(program, [(n,)] * len(names), reference, wanted.tolerance, described, (bound.theta,), whole=whole)


def _values(model: ClosedFormModel) -> Array:
    """theta to compare at: the robot's own where it is known."""
    robot = model.base.robot
    return np.ones(model.n_base) if robot is None else model.theta(robot)


@dataclass(frozen=True, eq=False)
class _Entries:
    """(m,) each: torque, term, base parameter and value of the coefficients that are not zero."""

    joint: Integers
    term: Integers
    column: Integers
    value: Array

    @classmethod
    def of(cls, model: ClosedFormModel) -> _Entries:
        triplets = model.sparse_reduction.tocoo()
        # Row i p + j of the reduction is torque i, term j.
        joint, term = np.divmod(triplets.row.astype(np.int64), max(model.n_terms, 1))
        return cls(joint, term, triplets.col.astype(np.int64), triplets.data)

    def where(self, chosen: NDArray[np.bool_]) -> _Entries:
        return _Entries(self.joint[chosen], self.term[chosen], self.column[chosen], self.value[chosen])


@dataclass(frozen=True, eq=False)
class _Traced:
    """A closed form on scalars, linear in theta."""

    bound: BoundModel
    theta: AnyArray
    inputs: dict[str, AnyArray]

    def function(self, name: str) -> AnyArray:
        made: dict[str, Callable[[], AnyArray]] = {
            "inverse_dynamics": lambda: self._torques(GRAVITY, ACCELERATIONS, VELOCITIES) + self._friction,
            "gravity_torque": lambda: self._torques(GRAVITY),
            "velocity_torque": lambda: self._torques(VELOCITIES),
            "mass_matrix": lambda: self._mass_matrix,
            "forward_dynamics": self._accelerations,
        }
        return made[name]()

    @cached_property
    def _entries(self) -> _Entries:
        return _Entries.of(self.bound.model)

    def _sums(self, outputs: Integers, entries: _Entries, n_outputs: int, rates: list[Any]) -> AnyArray:
        sums, powers = sums_of(self.bound, outputs, entries.term, entries.value, with_rates=bool(rates))
        # One more variable, whose functions are the entries of theta.
        sums = replace(sums, digits=np.vstack([sums.digits, entries.column + 1]))
        x = self.bound.coordinates.all_of(self.inputs["q"])
        functions = [*functions_of(powers, x, rates), [1.0, *self.theta]]
        return np.array(Nesting.of(sums).scalars(functions, n_outputs), dtype=object)

    def _torques(self, *kinds: int) -> AnyArray:
        entries = self._entries.where(np.isin(kinds_of(self.bound)[self._entries.term], kinds))
        q = self.inputs["q"]
        # Terms without rates never read them; q stands in where a function has none.
        rates = [*self.inputs.get("qd", q), *self.inputs.get("qdd", q)]
        return self._sums(entries.joint, entries, self.bound.n_joints, rates)

    @cached_property
    def _friction(self) -> AnyArray:
        """(n,) of theta, and what is carried beside it."""
        torques, geometry = [], self.bound.geometry
        for i, velocity in enumerate(geometry.tree_velocities(self.inputs["qd"], self.bound.moving)):
            total: Any = 0.0
            for kind, function in enumerate(plain_functions(velocity)):
                # Summed first: it depends on theta alone and is set up once.
                number: Any = float(self.bound.carried[i, kind])
                row = self.bound.model.joint_terms[i, kind]
                for k in np.flatnonzero(row):
                    number = number + float(row[k]) * self.theta[k]
                total = total + number * function
            torques.append(total)
        return geometry.felt(np.array(torques, dtype=object))

    @cached_property
    def _mass_matrix(self) -> AnyArray:
        bound, n = self.bound, self.bound.n_joints
        entries = self._entries.where(kinds_of(bound)[self._entries.term] == ACCELERATIONS)
        # A term of the mass matrix has the acceleration of exactly one joint: its column.
        column = np.argmax(bound.exponents[Generators(n).accelerations, entries.term], axis=0)
        # one of each symmetric pair; of a fixed joint the terms hold the row alone
        chosen = (entries.joint <= column) | ~np.isin(entries.joint, bound.moving)
        entries, column = entries.where(chosen), column[chosen]
        places = np.minimum(entries.joint, column) * n + np.maximum(entries.joint, column)
        M = self._sums(places, entries, n * n, []).reshape(n, n)
        return np.array([[M[min(i, j), max(i, j)] for j in range(n)] for i in range(n)], dtype=object)

    def _accelerations(self) -> AnyArray:
        rest = self.inputs["tau"] - self._torques(GRAVITY, VELOCITIES) - self._friction
        return forward_dynamics(self._mass_matrix, rest, self.bound.moving)
