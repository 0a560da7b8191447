"""Expressions of xacro files, computed without Python's eval: arithmetic, comparisons, own data, known functions.

A file from a stranger is data. What reaches beyond (attributes of objects, lambdas, imports, formats that look into
objects) is refused by name, whatever the text was put together from, since it is judged when it is computed.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from tauform.description.formats.xacro.budget import (
    CONTAINERS,
    MAX_BITS,
    MAX_WEIGHT,
    NUMBERS,
    Budget,
    ExpansionRefusedError,
)
from tauform.description.formats.xacro.budget import weight as weight_of
from tauform.description.formats.xacro.functions import Functions

MAX_LENGTH = 4000
DATA = (*NUMBERS, *CONTAINERS, str, range)
BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
# Methods that read their own object and bound what they return.
SEARCHES = ("startswith", "endswith", "find", "rfind", "index", "count", "isdigit", "isalpha", "isalnum", "isnumeric")
SHAPES = ("split", "rsplit", "splitlines", "strip", "lstrip", "rstrip", "upper", "lower", "title", "capitalize")
METHODS: dict[type, tuple[str, ...]] = {
    str: (*SEARCHES, *SHAPES, "partition", "rpartition", "removeprefix", "removesuffix", "replace", "join"),
    dict: ("get", "keys", "values", "items", "copy"),
    list: ("index", "count", "copy"),
    tuple: ("index", "count"),
}
MAX_FORMAT = 1000
# Flags, width and precision of a printf format; a star takes them from the data.
FORMAT = re.compile(r"[-+ #0]*(\*|\d*)(?:\.(\*|\d*))?")


@dataclass(frozen=True)
class Rules:
    """What the expressions of one file may reach.

    Attributes:
        functions: what may be called, by identity.
        namespaces: types whose entries are read with a dot, and which are no data.
        records: dictionaries of YAML files, whose entries are read with a dot too.
        budget: what the file may still compute.
    """

    functions: Mapping[int, Any]
    namespaces: tuple[Any, ...]
    records: tuple[Any, ...]
    budget: Budget


class Evaluator(ast.NodeVisitor):
    """Computes one expression over the names of a scope."""

    def __init__(self, text: str, scope: Any, rules: Rules) -> None:
        self.text, self.scope, self.rules = text, scope, rules
        self.dotted, self.budget = (*rules.namespaces, *rules.records), rules.budget

    def value(self) -> Any:
        """Compute it.

        Raises:
            ExpansionRefusedError: it holds more than expressions of robots need.
            SyntaxError, NameError, TypeError, ...: as Python would.
        """
        if len(self.text) > MAX_LENGTH:
            raise ExpansionRefusedError(f"an expression of {len(self.text)} characters cannot be meant")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about escapes in its texts
                tree = ast.parse(self.text.strip(), mode="eval")
        except (MemoryError, RecursionError):
            self.refuse("an expression nested that deeply")
        return self.visit(tree.body)

    def refuse(self, what: str) -> NoReturn:
        """Raise the error that names the expression."""
        raise ExpansionRefusedError(
            f"its expression {self.text.strip():.200} uses {what}, and robot files are not run as code; "
            "load it with allow_code=True if you trust it"
        )

    def visit(self, node: ast.AST) -> Any:
        """The value of a node, of a type and size that can be meant."""
        self.budget.spend(1)
        # As the base class does it, with one call less on a stack that recursive macros need too.
        return getattr(self, f"visit_{type(node).__name__}", self.generic_visit)(node)

    def generic_visit(self, node: ast.AST) -> NoReturn:
        self.refuse({"Lambda": "a lambda", "JoinedStr": "a formatted string"}.get(type(node).__name__, "a statement"))

    def kept(self, value: Any) -> Any:
        """A result, if it is data of a size that can be meant, or one of the functions."""
        if isinstance(value, DATA):
            self.budget.spend(weight_of(value))
        elif not isinstance(value, self.dotted) and id(value) not in self.rules.functions:
            self.refuse(f"an object of type {type(value).__name__}")
        return value

    def visit_Constant(self, node: ast.Constant) -> Any:
        return self.kept(node.value)

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id.startswith("__"):
            self.refuse(f"the name {node.id}")
        try:
            return self.kept(self.scope[node.id])
        except KeyError:
            raise NameError(f"name {node.id!r} is not defined") from None

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        owner: Any = self.visit(node.value)
        if node.attr.startswith("_") or not isinstance(owner, self.dotted):
            self.refuse(f"the attribute .{node.attr}")
        return self.kept(self._entry(owner, node.attr))

    def _entry(self, owner: Any, name: str) -> Any:
        try:
            return owner[name]
        except (AttributeError, KeyError):
            if isinstance(owner, Functions):
                self.refuse(f"{name}, which is none of the functions that it may call")
            raise NameError(f"name {name!r} is not defined") from None

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        return self.kept(self.visit(node.value)[self.visit(node.slice)])

    def visit_Slice(self, node: ast.Slice) -> slice:
        return slice(*(None if part is None else self.visit(part) for part in (node.lower, node.upper, node.step)))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        return self.kept(UNARY[type(node.op)](self.visit(node.operand)))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.visit(node.left), self.visit(node.right)
        self.budget.spend(weight_of(left) + weight_of(right))
        check_size(type(node.op), left, right)
        return self.kept(BINARY[type(node.op)](left, right))

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        wanted = isinstance(node.op, ast.Or)
        for part in node.values:
            value = self.visit(part)
            if bool(value) is wanted:
                break
        return value

    def visit_Compare(self, node: ast.Compare) -> Any:
        left, result = self.visit(node.left), True
        for kind, part in zip(node.ops, node.comparators, strict=True):
            right = self.visit(part)
            self.budget.spend(weight_of(left) + weight_of(right))
            result = COMPARE[type(kind)](left, right)
            if not result:
                break
            left = right
        return result

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        return self.visit(node.body if self.visit(node.test) else node.orelse)

    def visit_List(self, node: ast.List) -> Any:
        return self.kept(list(self._entries(node.elts)))

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        return self.kept(tuple(self._entries(node.elts)))

    def visit_Set(self, node: ast.Set) -> Any:
        return self.kept(set(self._entries(node.elts)))

    def visit_Dict(self, node: ast.Dict) -> Any:
        pairs = zip(node.keys, node.values, strict=True)
        return self.kept(dict(self._pair(key, value) for key, value in pairs))

    def _pair(self, key: ast.expr | None, value: ast.expr) -> tuple[Any, Any]:
        if key is None:
            self.refuse("a dictionary in a dictionary")
        return self.visit(key), self.visit(value)

    def _entries(self, nodes: list[ast.expr]) -> Iterator[Any]:
        for node in nodes:
            if isinstance(node, ast.Starred):
                yield from self.visit(node.value)
            else:
                yield self.visit(node)

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Any:
        return self.kept([inner.visit(node.elt) for inner in self._loops(node.generators)])

    visit_GeneratorExp = visit_ListComp

    def visit_SetComp(self, node: ast.SetComp) -> Any:
        return self.kept(set(self.visit_ListComp(node)))

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        return self.kept({inner.visit(node.key): inner.visit(node.value) for inner in self._loops(node.generators)})

    def _loops(self, generators: list[ast.comprehension]) -> Iterator[Evaluator]:
        """For each round of nested loops an evaluator that knows their variables."""
        first, rest = generators[0], generators[1:]
        targets = first.target.elts if isinstance(first.target, ast.Tuple) else [first.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if len(names) != len(targets) or first.is_async:
            self.refuse("a loop over something else than names")
        for item in self.visit(first.iter):
            self.budget.spend(weight_of(item))
            values = tuple(item) if isinstance(first.target, ast.Tuple) else (item,)
            scope = ChainMap(dict(zip(names, values, strict=True)), self.scope)
            inner = Evaluator(self.text, scope, self.rules)
            if all(inner.visit(condition) for condition in first.ifs):
                yield from inner._loops(rest) if rest else [inner]

    def visit_Call(self, node: ast.Call) -> Any:
        function = self._called(node.func)
        arguments = list(self._entries(node.args))
        options: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.visit(keyword.value)
            options.update(value if keyword.arg is None else {keyword.arg: value})
        self.budget.spend(sum(map(weight_of, [*arguments, *options.values()])))
        return self.kept(function(*arguments, **options))

    def _called(self, node: ast.expr) -> Callable[..., Any]:
        if isinstance(node, ast.Attribute):
            owner: Any = self.visit(node.value)
            data = not isinstance(owner, self.rules.namespaces)
            kind = next((kind for kind in METHODS if data and isinstance(owner, kind)), None)
            if kind is not None and node.attr in METHODS[kind]:
                return _method(owner, node.attr)
            if not isinstance(owner, self.dotted) or node.attr.startswith("_"):
                self.refuse(f"the method .{node.attr}()")
            function = self._entry(owner, node.attr)
        else:
            function = self.visit(node)
        if id(function) not in self.rules.functions:
            self.refuse(f"a call of {ast.unparse(node)}")
        return function


def _method(owner: Any, name: str) -> Callable[..., Any]:
    if name == "replace":
        return lambda old, new, count=-1: _replaced(owner, old, new, count)
    if name == "join":
        return lambda parts: _joined(owner, list(parts))
    method = getattr(owner, name)
    # Views of a dictionary are no data of their own.
    return (lambda: list(method())) if name in ("keys", "values", "items") else method


def _replaced(text: str, old: str, new: str, count: int) -> str:
    _check_weight(len(text) + (text.count(old) + 1) * len(new))
    return text.replace(old, new, count)


def _joined(separator: str, parts: list[Any]) -> str:
    _check_weight(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


def _check_weight(total: int) -> None:
    if total > MAX_WEIGHT:
        raise ExpansionRefusedError(f"a text of {total} characters cannot be meant")


def check_size(kind: type[ast.operator], left: Any, right: Any) -> None:
    """Refuse an operation whose result would be large before it is computed."""
    numbers = isinstance(left, int) and isinstance(right, int)
    bits = left.bit_length() if isinstance(left, int) else 0
    if kind is ast.Mult and not numbers:
        for sequence, count in ((left, right), (right, left)):
            if isinstance(count, int) and not isinstance(sequence, float):
                _check_weight(weight_of(sequence) * max(count, 0))
    elif kind is ast.Pow and numbers and right > 0:
        _check_bits(bits * right)
    elif kind is ast.LShift and numbers:
        _check_bits(bits + right)
    elif kind is ast.Mod and isinstance(left, str):
        _check_format(left)
        _check_weight(len(left) + left.count("%") * (weight_of(right) + 1000))


def _check_format(text: str) -> None:
    """Refuse widths of more than three digits: '%999999999d' % 1 is a gigabyte."""
    for start in [found.end() for found in re.finditer("%", text[:MAX_FORMAT])]:
        if text[start : start + 1] == "(":  # a key, in which brackets may nest
            depth = 0
            for place in range(start, len(text)):
                depth += {"(": 1, ")": -1}.get(text[place], 0)
                if depth == 0:
                    start = place + 1
                    break
        widths = FORMAT.match(text, start)
        if len(text) > MAX_FORMAT or any(part and (part == "*" or len(part) > 3) for part in widths.groups()):  # type: ignore[union-attr]
            raise ExpansionRefusedError(f"the format {text[:60]!r} is wider than any text of a robot")


def _check_bits(bits: int) -> None:
    if bits > MAX_BITS:
        raise ExpansionRefusedError(f"a number of {bits} bits cannot be meant; write it as a decimal")
