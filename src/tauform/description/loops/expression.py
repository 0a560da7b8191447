"""Expression: a function of joint coordinates as text, evaluated on any scalar.

    2 * atan2(sqrt(1 - 0.09 * sin(crank)**2), 0.3 * sin(crank)) - crank

Sums, products, quotients, whole powers, pi, and the functions below. A joint whose name is no identifier is written
q["joint 1"].
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tauform.description.drives import scalars
from tauform.description.values import Value
from tauform.errors import DescriptionError

MAX_LENGTH = 20_000
MAX_POWER = 16
_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "sin": (1, scalars.sin),
    "cos": (1, scalars.cos),
    "tan": (1, lambda x: scalars.sin(x) / scalars.cos(x)),
    "sqrt": (1, scalars.sqrt),
    "atan": (1, lambda x: scalars.arctan2(x, 1.0)),
    "atan2": (2, scalars.arctan2),
    # By atan2 and roots: every scalar has these two, with their slopes.
    "asin": (1, lambda x: scalars.arctan2(x, scalars.sqrt(1.0 - x * x))),
    "acos": (1, lambda x: scalars.arctan2(scalars.sqrt(1.0 - x * x), x)),
}
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


@dataclass(frozen=True, eq=False)
class Expression(Value):
    """A function of joint coordinates.

    Raises:
        DescriptionError: the text is no such function; the message quotes the part.
    """

    text: str

    def __post_init__(self) -> None:
        _check(self.tree, self.text)

    @cached_property
    def tree(self) -> ast.expr:
        """The parsed text."""
        if len(self.text) > MAX_LENGTH:
            raise DescriptionError(f"expression of {len(self.text)} characters; {MAX_LENGTH} is the limit")
        try:
            return ast.parse(self.text.strip(), mode="eval").body
        # Python's parser gives up in several ways; all of them mean the same here.
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise DescriptionError(f"{self.text[:60]!r} is no expression; write it as in 2*atan2(y, x) - q1") from None

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """Names of the joints that it depends on, in order of appearance."""
        return tuple(dict.fromkeys(_names(self.tree)))

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Its value at these coordinates, of any scalar."""
        return _value(self.tree, values)

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text}


def _names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Name):
        return [] if node.id == "pi" else [node.id]
    if isinstance(node, ast.Subscript):
        return [node.slice.value]  # type: ignore[attr-defined]  # checked: a constant
    parts = node.args if isinstance(node, ast.Call) else list(ast.iter_child_nodes(node))
    return [name for part in parts if isinstance(part, ast.expr) for name in _names(part)]


def _check(node: ast.expr, text: str) -> None:
    """Refuse everything but arithmetic of numbers, joints and known functions, before anything is evaluated."""
    try:
        _check_part(node)
    except RecursionError:
        raise DescriptionError(f"{text[:60]!r} is nested too deeply; split it") from None


def _check_part(node: ast.expr) -> None:
    for part in _parts(node):
        _check_part(part)


def _parts(node: ast.expr) -> list[ast.expr]:
    """What is left to check under a node."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and math.isfinite(node.value):
        return []
    if isinstance(node, ast.Name):
        return []
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is str:
        if isinstance(node.value, ast.Name) and node.value.id == "q":
            return []
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return [node.operand]
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return [node.left, node.right]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        power = node.right.value if isinstance(node.right, ast.Constant) else None
        # Whole powers are products: they work on every scalar.
        if type(power) is int and 1 <= power <= MAX_POWER:
            return [node.left]
        raise DescriptionError(
            f"{ast.unparse(node)[:60]!r}: powers must be whole, from 1 to {MAX_POWER}; sqrt(x) takes roots"
        )
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        # -1 is the number of arguments that no call has.
        arity, _ = _FUNCTIONS.get(node.func.id, (-1, None))
        if arity == len(node.args):
            return node.args
    raise DescriptionError(
        f"{ast.unparse(node)[:60]!r} cannot stand in a relation; use numbers, joints, + - * / **, pi and "
        f"{', '.join(_FUNCTIONS)}"
    )


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        return math.pi if node.id == "pi" else values[node.id]
    if isinstance(node, ast.Subscript):
        return values[node.slice.value]  # type: ignore[attr-defined]
    if isinstance(node, ast.UnaryOp):
        inner = _value(node.operand, values)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.Call):
        _, function = _FUNCTIONS[node.func.id]  # type: ignore[attr-defined]
        return function(*(_value(argument, values) for argument in node.args))
    assert isinstance(node, ast.BinOp)
    left = _value(node.left, values)
    if isinstance(node.op, ast.Pow):
        result = left
        for _ in range(node.right.value - 1):  # type: ignore[attr-defined]
            # Repeated products: jets and symbols have no power of their own.
            result = result * left
        return result
    return _OPERATORS[type(node.op)](left, _value(node.right, values))
