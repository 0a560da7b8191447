"""Columns of the torque along a motion, and the exact slopes of a weighted sum of them by every state.

Compiled where that is possible: the columns by one kernel, the slopes by the kernel of its adjoint, which costs about
as much.  Else by the textbook regressor and complex steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.closedform.base.parameters import base_parameters
from tauform.closedform.model.beside import columns_beside
from tauform.codegen.differentiation.adjoint import adjoint_program
from tauform.codegen.generate import generate
from tauform.codegen.runtime.kernel import compile_program
from tauform.description.parameter_groups import Include
from tauform.description.robot import Robot
from tauform.errors import GenerationError
from tauform.rigidbody.regressor import regressor

# Step of the complex step, where there is no kernel.
TINY = 1e-30


class Columns(ABC):
    """Torque of each parameter for a value of one: tau = columns(q, qd, qdd) @ values.

    Attributes:
        chosen: indices of the columns of the base parameters that are asked for.
        values: (P,) of all columns, for this robot.
    """

    chosen: slice | list[int]
    values: Array

    @classmethod
    def of(cls, robot: Robot, include: Include | None) -> Columns:
        """Compiled columns, or textbook ones where no program covers what is asked for."""
        try:
            return CompiledColumns(robot, include)
        # Compilers and closed forms have limits that the recursion has not; the plan then is slower, not another.
        except GenerationError:
            return TextbookColumns(robot, include)

    @abstractmethod
    def __call__(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(N, n, P) at states (N, n)."""

    @abstractmethod
    def slopes(self, q: Array, qd: Array, qdd: Array, weights: Array) -> Array:
        """(3, N, n) of sum(weights * columns) by q, qd and qdd, with weights (N, n, P)."""


class CompiledColumns(Columns):
    """Columns of links and rotors from kernels; those of friction are written down."""

    def __init__(self, robot: Robot, include: Include | None) -> None:
        if columns_beside(robot):
            raise GenerationError(f"{robot.name}: its drive terms are more than plain friction")
        layout = robot.layout
        wanted = base_parameters(robot, include=include).pivots
        # A rotor that is asked for counts as declared, though the description has none.
        rotors = [
            joint.rotor_inertia or 0.0 if layout.rotor(i) in robot.columns(include) else joint.rotor_inertia
            for i, joint in enumerate(robot.joints)
        ]
        # Friction is not smooth: it stays out of the program, and its columns are added by hand.
        smooth = replace(
            robot,
            joints=tuple(
                replace(joint, rotor_inertia=rotor, viscous=0.0, coulomb=0.0, offset=0.0)
                for joint, rotor in zip(robot.joints, rotors, strict=True)
            ),
        )
        inertial = base_parameters(smooth)
        # Also columns that are not wanted but have values: efforts need the whole torque.
        losses = [k for k in layout.friction if k in wanted or robot.parameters[k]]
        places = [*inertial.pivots, *losses]
        if not set(wanted) <= set(places):
            raise GenerationError(f"{robot.name}: its friction takes over columns of its links")
        chosen = [places.index(k) for k in wanted]
        # A slice is a view; an index list would copy (N, n, P) at every evaluation.
        self.chosen = slice(len(chosen)) if chosen == list(range(len(chosen))) else chosen
        self.values = np.concatenate([inertial.values(robot), robot.parameters[losses]])
        # (n_bodies, n) rates of the tree's joints for unit rates of q.
        self.loops = robot.tree_rates
        self.losses = [layout.parameters[k] for k in losses]
        program = generate(smooth, "base_regressor")
        self.kernel = compile_program(program)
        self.adjoint = compile_program(adjoint_program(program))

    def __call__(self, q: Array, qd: Array, qdd: Array) -> Array:
        inertial = self.kernel(q, qd, qdd)
        if not self.losses:
            return inertial
        out = np.empty((*q.shape, len(self.values)))
        p = inertial.shape[-1]
        out[:, :, :p] = inertial
        for k, loss in enumerate(self.losses, start=p):
            # (n,) rates of this tree joint by q: torque on it is felt by the same shares.
            shares = self.loops[loss.joints[0]]
            v = qd @ shares
            value = {"viscous": v, "coulomb": np.sign(v), "offset": np.ones_like(v)}[loss.group]
            # Work is the same on both sides: a loss at a tree joint is shared as its rate is.
            out[:, :, k] = value[:, None] * shares
        return out

    def slopes(self, q: Array, qd: Array, qdd: Array, weights: Array) -> Array:
        """Slopes by the adjoint kernel; of friction only the viscous part has any."""
        p = len(self.values) - len(self.losses)
        found = np.stack(self.adjoint(q, qd, qdd, weights[:, :, :p]))
        for k, loss in enumerate(self.losses, start=p):
            # Coulomb's sign is flat almost everywhere, and the offset is constant.
            if loss.group == "viscous":
                shares = self.loops[loss.joints[0]]
                found[1] += (weights[:, :, k] @ shares)[:, None] * shares
        return found


class TextbookColumns(Columns):
    """All columns of the regressor, for any robot."""

    def __init__(self, robot: Robot, include: Include | None) -> None:
        self.robot = robot
        self.chosen = list(base_parameters(robot, include=include).pivots)
        self.values = np.array(robot.parameters)

    def __call__(self, q: Any, qd: Any, qdd: Any) -> Any:
        return regressor(self.robot, q, qd, qdd)

    def slopes(self, q: Array, qd: Array, qdd: Array, weights: Array) -> Array:
        """Slopes by complex steps."""
        n = q.shape[1]
        # All 3 n directions of all states in one batch of complex steps.
        # (3 n, 3, N, n)
        moved = np.tile(np.stack([q, qd, qdd]).astype(complex), (3 * n, 1, 1, 1))
        for k in range(3 * n):
            moved[k, k // n, :, k % n] += 1j * TINY
        # (f(x + i h))'s imaginary part over h has no cancellation: h may be as small as numbers go.
        rates = self(moved[:, 0], moved[:, 1], moved[:, 2]).imag / TINY
        return np.einsum("tjp,ktjp->kt", weights, rates).reshape(3, n, -1).swapaxes(1, 2)
