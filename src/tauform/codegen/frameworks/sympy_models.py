"""Closed forms as SymPy expressions: the sums of terms themselves, in symbols of q, qd, qdd and theta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.equations import written_drives
from tauform.closedform.model.model import ClosedFormModel
from tauform.closedform.notation import LONGEST_SUM, PLAIN

VECTORS = ("q", "qd", "qdd")


class SymbolicTerms:
    """Symbols of a closed form, and its terms in them."""

    def __init__(self, sympy: Any, model: ClosedFormModel) -> None:
        self.sympy, self.model = sympy, model
        self.replacements: list[tuple[Any, Any]] = []
        n = model.n_joints
        self.inputs = {
            name: sympy.Matrix([sympy.Symbol(f"{name}{i + 1}", real=True) for i in range(n)]) for name in VECTORS
        }
        self.theta = [sympy.Symbol(name, real=True) for name in model.base.names]
        q, qd, qdd = (list(self.inputs[name]) for name in VECTORS)
        # Functions of E are those of x = scale q + offset.
        x = [self._coordinate(i, symbol) for i, symbol in enumerate(q)]
        generators = [*x, *map(sympy.sin, x), *map(sympy.cos, x), *qd, *qdd]
        self.terms = [
            sympy.Mul(*(generators[k] ** int(column[k]) for k in np.flatnonzero(column)))
            for column in model.exponents.T
        ]
        # Functions of viscous and Coulomb friction and of offsets, beside E.
        velocities = model.geometry.tree_velocities(np.array(qd, dtype=object), model.moving)
        self.friction = [(v, sympy.sign(v), sympy.Integer(1)) for v in velocities]

    def _coordinate(self, i: int, symbol: Any) -> Any:
        scale, offset = (float(v[i]) for v in (self.model.coordinates.scale, self.model.coordinates.offset))
        x = symbol if scale == 1 else self.sympy.Float(scale) * symbol
        return x if offset == 0 else x + self.sympy.Float(offset)

    def torques(self, bound: BoundModel) -> Any:
        """(n, 1) in numbers, all drive terms included."""
        joints = zip(bound.joint_coefficients, self.friction, strict=True)
        friction = [self.sympy.Add(*self._products(own, functions)) for own, functions in joints]
        felt = self.model.geometry.felt(np.array(friction, dtype=object))
        rows = zip(bound.coefficients, felt, self._beside(bound), strict=True)
        return self.sympy.Matrix(
            [self._sum([*self._products(terms, self.terms), own, *more]) for terms, own, more in rows]
        )

    def torques_of_theta(self) -> Any:
        """(n, 1) in base parameters."""
        joints = zip(self.model.joint_terms, self.friction, strict=True)
        friction = [self.sympy.Add(*self._linear(own, functions)) for own, functions in joints]
        felt = self.model.geometry.felt(np.array(friction, dtype=object))
        rows = zip(self.model.reduction, felt, strict=True)
        return self.sympy.Matrix([self._sum([*self._linear(terms, self.terms), own]) for terms, own in rows])

    def _linear(self, rows: Any, functions: Sequence[Any]) -> list[Any]:
        # Each term times its combination of theta, as the equations write it.
        factors = zip(rows, functions, strict=True)
        return [self.sympy.Add(*self._products(row, self.theta)) * term for row, term in factors if row.any()]

    def _sum(self, parts: list[Any]) -> Any:
        """One sum of all; parts of a long one get names, since Python compiles a sum only to some depth."""
        # Sums of sums, until one is short enough.
        while len(parts) > LONGEST_SUM:
            sums = [self.sympy.Add(*parts[k : k + LONGEST_SUM]) for k in range(0, len(parts), LONGEST_SUM)]
            first = len(self.replacements)
            names = [self.sympy.Symbol(f"x{first + k}", real=True) for k in range(len(sums))]
            self.replacements += zip(names, sums, strict=True)
            parts = names
        return self.sympy.Add(*parts)

    def _products(self, numbers: Any, factors: Sequence[Any]) -> list[Any]:
        # One sum of all products: adding them one by one would take the square of their number.
        return [self.sympy.Float(float(numbers[k])) * factors[k] for k in np.flatnonzero(numbers).tolist()]

    def _beside(self, bound: BoundModel) -> list[list[Any]]:
        """Drive terms beside theta: the text of their shapes, read by Python with symbols for names."""
        names = {str(symbol): symbol for vector in self.inputs.values() for symbol in vector}
        names |= {str(own): own for own in self.temperatures(bound)}
        names |= {f"s{i + 1}": self.sympy.sin(q) for i, q in enumerate(self.inputs["q"])}
        names |= {f"c{i + 1}": self.sympy.cos(q) for i, q in enumerate(self.inputs["q"])}
        functions = {name: getattr(self.sympy, name) for name in ("sin", "cos", "sign", "tanh", "exp", "sqrt")}
        names |= {**functions, "abs": self.sympy.Abs}
        # The text is our own: numbers, names and functions of the lists above.
        return [
            [eval(text, {"__builtins__": {}}, names) for text in texts] for texts in written_drives(bound, None, PLAIN)
        ]

    def temperatures(self, bound: BoundModel) -> list[Any]:
        """Symbols of the joints' temperatures, where friction reads them."""
        n = bound.n_joints * bound.beside.needs_temperature
        return [self.sympy.Symbol(f"T{i + 1}", real=True) for i in range(n)]
