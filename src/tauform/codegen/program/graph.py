"""Graph: where programs are built. Each subexpression exists once, and cheap algebra happens on the way in.

Signs live on the references, not in nodes: the reference +k or -k (k >= 1) means plus or minus node k - 1. Products
and sums move the sign outwards, so a negation is never an operation until a result itself needs one.
`Scalar` wraps a reference with Python's operators; arrays of them (dtype=object) run through any algorithm that is
written for arrays of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tauform.arrays import AnyArray
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import FREE, Op
from tauform.description.drives.dual import Dual
from tauform.errors import GenerationError
from tauform.portable.correct import arctan2, exp, sin_cos, tanh

Key = tuple[Any, ...]
# Beside these a scalar leaves the arithmetic to the other side.
_STEPS_BACK = (np.ndarray, Dual)

# looking a member of an enumeration up takes as long as the sum of two references
_ADD, _SUBTRACT, _MULTIPLY, _CONSTANT = Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.CONSTANT


class GraphTooLargeError(GenerationError):
    """A graph has grown beyond what any program of it could be used for."""


class Graph:
    """Nodes with hash-consing; `nodes[k]` is (op, operands...) with unsigned references for all but sums.

    Args:
        most_nodes: nodes from which on it is refused to grow; None for any number.
    """

    def __init__(self, most_nodes: int | None = None) -> None:
        self.most_nodes = math.inf if most_nodes is None else most_nodes
        self.nodes: list[Key] = []
        self._index: dict[Key, int] = {}
        # Values of constants, by both signs of their references, for every operation asks; and back.
        self._numbers: dict[int, float] = {}
        self._constants: dict[float, int] = {}
        self.inputs: list[Port] = []

    def node(self, key: Key) -> int:
        """Reference to the node of this key, made if it is new; sums and products are made by `add` and `multiply`."""
        # Hash-consing: a node with the same operation and operands exists already, or never.
        following = len(self.nodes) + 1
        found = self._index.setdefault(key, following)
        if found == following:
            if found > self.most_nodes:
                raise GraphTooLargeError(f"more than {self.most_nodes} values")
            self.nodes.append(key)
        return found

    def shrink(self, n_nodes: int, n_inputs: int) -> None:
        """Forget all but the first nodes and inputs; no reference to the others may be used any more."""
        del self.nodes[n_nodes:], self.inputs[n_inputs:]
        # Entries are in the order of their making, the latest last.
        for _ in range(len(self._index) - n_nodes):
            self._index.popitem()
        while self._constants and self._constants[next(reversed(self._constants))] > n_nodes:
            _, gone = self._constants.popitem()
            del self._numbers[gone], self._numbers[-gone]

    def input(
        self, name: str, *shape: int, shared: bool = False, ranges: tuple[tuple[float, float], ...] = ()
    ) -> AnyArray:
        """A new input port as an object array of that shape."""
        port = len(self.inputs)
        self.inputs.append(Port(name, shape, shared, ranges))
        # Never shared with another port: the key holds the port's number.
        scalars = [Scalar(self, self.node((Op.INPUT, port, k))) for k in range(self.inputs[-1].size)]
        return np.array(scalars, dtype=object).reshape(shape)

    def constant(self, number: float) -> int:
        """Reference to a constant; its sign goes to the reference."""
        # 2 and -2 are one node: a minus costs nothing in a reference.
        found = self._constants.get(abs(number)) or self._new_constant(float(abs(number)))
        return -found if number < 0 else found

    def _new_constant(self, size: float) -> int:
        found = self._constants[size] = self.node((_CONSTANT, size))
        self._numbers[found], self._numbers[-found] = size, -size
        return found

    def number(self, reference: int) -> float | None:
        """The value if the reference is a constant, else None."""
        return self._numbers.get(reference)

    def add(self, a: int, b: int) -> int:
        """a + b."""
        # First the case of nearly every call, for searches make millions of sums.
        numbers = self._numbers
        if a not in numbers and b not in numbers:
            return self._sum(a, b) if a != -b else self.constant(0.0)
        x, y = numbers.get(a), numbers.get(b)
        if x is not None and y is not None:
            return self.constant(x + y)
        # Exact in floating point too: x - x and x + 0 leave nothing to round.
        if x == 0 or y == 0:
            return b if x == 0 else a
        return self._sum(a, b)

    def _sum(self, a: int, b: int) -> int:
        # One order for both: a + b and b + a are one node, and -(a + b) is its negative.
        if abs(a) > abs(b):
            a, b = b, a
        if a > 0:
            return self.node((_ADD, a, b) if b > 0 else (_SUBTRACT, a, -b))
        return -self.node((_ADD, -a, -b) if b < 0 else (_SUBTRACT, -a, b))

    def multiply(self, a: int, b: int) -> int:
        """a b."""
        numbers = self._numbers
        if b in numbers:
            return self.scaled(a, numbers[b])
        if a in numbers:
            return self.scaled(b, numbers[a])
        # Signs of factors go to the product's reference.
        positive = (a > 0) == (b > 0)
        a, b = abs(a), abs(b)
        product = self.node((_MULTIPLY, a, b) if a < b else (_MULTIPLY, b, a))
        return product if positive else -product

    def scaled(self, a: int, factor: float) -> int:
        """a times a number."""
        numbers, size = self._numbers, abs(factor)
        constant = self._constants.get(size) or self._new_constant(float(size))
        # As if no value were infinite: programs of robots have none.
        if size == 0:
            return constant
        if factor < 0:
            a = -a
        if a in numbers:
            return self.constant(numbers[a] * size)
        if size == 1:
            return a
        inner = self.nodes[abs(a) - 1]
        # Two constants in a row become one product: y (x a) = (y x) a.
        if inner[0] is _MULTIPLY and inner[1] in numbers:
            product = self.scaled(inner[2], size * numbers[inner[1]])
        else:
            product = self.node((_MULTIPLY, constant, abs(a)))  # constant first
        return product if a > 0 else -product

    def divide(self, a: int, b: int) -> int:
        """a / b."""
        x, y = self.number(a), self.number(b)
        # 0 / b is 0 wherever b is not.
        if x == 0:
            return a
        # A constant divisor becomes a factor: products are several times cheaper than divisions.
        if y is not None:
            return self.scaled(a, 1 / y)
        # one reciprocal serves every division by b
        reciprocal = self.node((Op.DIVIDE, self.constant(1.0), abs(b)))
        return self.multiply(a, reciprocal if b > 0 else -reciprocal)

    def function(self, op: Op, a: int) -> int:
        """sin, cos, sqrt, sign, abs, exp or tanh of a."""
        x = self.number(a)
        if x is not None:
            return self.constant(_FUNCTIONS[op](x))
        # Neither odd nor even: the sign stays inside.
        if op in (Op.SQRT, Op.EXP):
            return self.node((op, a))
        # sin, sign and tanh are odd, cos and abs are even
        reference = self.node((op, abs(a)))
        return -reference if a < 0 and op not in (Op.COS, Op.ABS) else reference

    def angle(self, y: int, x: int) -> int:
        """atan2(y, x)."""
        a, b = self.number(y), self.number(x)
        if a is not None and b is not None:
            return self.constant(arctan2(a, b))
        return self.node((Op.ATAN2, y, x))

    def hidden(self, a: int) -> int:
        """The value a as a node of its own: no algebra looks through it, so it can count as independent."""
        return self.node((Op.SAME, a))

    def unit(self, lane: int) -> int:
        """A vector with a one in that lane and zeros in the others."""
        return self.node((Op.UNIT, lane))

    def lane(self, vector: int, lane: int) -> int:
        """The number in one lane of a vector; a constant stands for the vector that has it in all lanes."""
        # A constant is the same in every lane.
        if self.number(vector) is not None:
            return vector
        number = self.node((Op.LANE, abs(vector), self.unit(lane)))
        return number if vector > 0 else -number

    def apply(self, op: Op, *operands: int) -> int:
        """Any operation on references of this graph."""
        if op is Op.ADD:
            return self.add(*operands)
        if op is Op.SUBTRACT:
            return self.add(operands[0], -operands[1])
        if op is Op.MULTIPLY:
            return self.multiply(*operands)
        if op is Op.DIVIDE:
            return self.divide(*operands)
        if op is Op.NEGATE:
            return -operands[0]
        if op is Op.ATAN2:
            return self.angle(*operands)
        return self.function(op, operands[0])

    def operands(self, reference: int) -> tuple[int, ...]:
        """References that a node reads."""
        key = self.nodes[abs(reference) - 1]
        return () if key[0] in FREE else key[1:]


_FUNCTIONS: dict[Op, Callable[[float], float]] = {
    Op.SIN: lambda x: sin_cos(x)[0],
    Op.COS: lambda x: sin_cos(x)[1],
    Op.SQRT: math.sqrt,
    Op.SIGN: lambda x: float((x > 0) - (x < 0)),
    Op.ABS: abs,
    Op.EXP: exp,
    Op.TANH: tanh,
}


class Scalar:
    """A reference into a graph that behaves like a number."""

    __slots__ = ("graph", "reference")

    def __init__(self, graph: Graph, reference: int) -> None:
        self.graph = graph
        self.reference = reference

    def _other(self, value: Any) -> int:
        return value.reference if isinstance(value, Scalar) else self.graph.constant(float(value))

    def _wrap(self, reference: int) -> Scalar:
        return Scalar(self.graph, reference)

    # Beside an array each operator steps back: NumPy then applies it entry by entry.

    def __add__(self, other: Any) -> Any:
        graph, kind = self.graph, type(other)
        if kind is Scalar:
            return Scalar(graph, graph.add(self.reference, other.reference))
        if kind is float or kind is int:
            return Scalar(graph, graph.add(self.reference, graph.constant(other))) if other else self
        if isinstance(other, _STEPS_BACK):
            return NotImplemented
        return Scalar(graph, graph.add(self.reference, graph.constant(float(other))))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        graph, kind = self.graph, type(other)
        if kind is Scalar:
            return Scalar(graph, graph.add(self.reference, -other.reference))
        return self + -other if not isinstance(other, _STEPS_BACK) else NotImplemented

    def __rsub__(self, other: Any) -> Scalar:
        return self._wrap(self.graph.add(self._other(other), -self.reference))

    def __mul__(self, other: Any) -> Any:
        graph, kind = self.graph, type(other)
        if kind is Scalar:
            return Scalar(graph, graph.multiply(self.reference, other.reference))
        if kind is float or kind is int:
            return Scalar(graph, graph.scaled(self.reference, other)) if other != 1 else self
        if isinstance(other, _STEPS_BACK):
            return NotImplemented
        return Scalar(graph, graph.scaled(self.reference, float(other)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, _STEPS_BACK):
            return NotImplemented
        return self._wrap(self.graph.divide(self.reference, self._other(other)))

    def __rtruediv__(self, other: Any) -> Scalar:
        return self._wrap(self.graph.divide(self._other(other), self.reference))

    def __neg__(self) -> Scalar:
        return self._wrap(-self.reference)

    def __pow__(self, exponent: int) -> Scalar:
        result: Scalar = self
        # Exponents are small; products that other powers need are shared by the graph.
        for _ in range(exponent - 1):
            result = result * self
        return result

    def sin(self) -> Scalar:
        return self._wrap(self.graph.function(Op.SIN, self.reference))

    def cos(self) -> Scalar:
        return self._wrap(self.graph.function(Op.COS, self.reference))

    def sqrt(self) -> Scalar:
        return self._wrap(self.graph.function(Op.SQRT, self.reference))

    def sign(self) -> Scalar:
        return self._wrap(self.graph.function(Op.SIGN, self.reference))

    def abs(self) -> Scalar:
        return self._wrap(self.graph.function(Op.ABS, self.reference))

    __abs__ = abs

    def exp(self) -> Scalar:
        return self._wrap(self.graph.function(Op.EXP, self.reference))

    def tanh(self) -> Scalar:
        return self._wrap(self.graph.function(Op.TANH, self.reference))

    def arctan2(self, x: Any) -> Scalar:
        return self._wrap(self.graph.angle(self.reference, self._other(x)))

    @property
    def is_zero(self) -> bool:
        return self.graph.number(self.reference) == 0

    def __repr__(self) -> str:
        number = self.graph.number(self.reference)
        return f"Scalar({number if number is not None else self.reference})"


def references(graph: Graph, values: Sequence[Any]) -> list[int]:
    """References of a flat sequence of scalars and plain numbers."""
    return [v.reference if isinstance(v, Scalar) else graph.constant(float(v)) for v in values]
