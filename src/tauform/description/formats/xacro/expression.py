"""Expressions of xacro files, computed without Python's eval: arithmetic, comparisons, own data, known functions.

A file from a stranger is data. What reaches beyond (attributes of objects, lambdas, imports, formats that look into
objects) is refused by name, whatever the text was put together from, since it is judged when it is computed.
"""

from __future__ import annotations

import ast
import warnings
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from tauform.description.formats.xacro.budget import (
    CONTAINERS,
    HASHED,
    NUMBERS,
    Budget,
    ExpansionRefusedError,
    hashing,
)
from tauform.description.formats.xacro.budget import weight as weight_of
from tauform.description.formats.xacro.functions import Functions
from tauform.description.formats.xacro.operations import (
    BINARY,
    COMPARE,
    METHODS,
    UNARY,
    bounded_method,
    check_size,
)
from tauform.wording import argument

# Characters; expressions of robots compute a length or an angle.
MAX_LENGTH = 4000
DATA = (*NUMBERS, *CONTAINERS, str, range)


@dataclass(frozen=True)
class Rules:
    """Names that the expressions of one file may reach.

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


class Evaluator:
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
        # Before it is parsed: the parser itself takes memory without bound.
        if len(self.text) > MAX_LENGTH:
            raise ExpansionRefusedError(f"an expression of {len(self.text)} characters cannot be meant")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about escapes in its texts
                tree = ast.parse(self.text.strip(), mode="eval")
        except (MemoryError, RecursionError):
            self.refuse("an expression nested that deeply")
        return self.compute(tree.body)

    def refuse(self, what: str) -> NoReturn:
        """Raise the error that names the expression."""
        raise ExpansionRefusedError(
            f"its expression {self.text.strip():.200} uses {what}, and robot files are not run as code",
            remedy=f"load it with {argument('allow_code', True)} if you trust it",
        )

    def compute(self, node: ast.AST) -> Any:
        """The value of a node, of a type and size that can be meant."""
        self.budget.spend(1)
        # By the node's name: what has no method here is refused, also syntax of later Pythons.
        compute = getattr(self, f"_compute_{type(node).__name__}", None)
        if compute is None:
            words = {"Lambda": "a lambda", "JoinedStr": "a formatted string"}
            self.refuse(words.get(type(node).__name__, "more than an expression"))
        return compute(node)

    def kept(self, value: Any) -> Any:
        """A result, if it is data of a size that can be meant, or one of the functions."""
        if isinstance(value, DATA):
            self.budget.spend(weight_of(value))
        # By identity, since equality is a method, and a file's own object may define it.
        elif not isinstance(value, self.dotted) and id(value) not in self.rules.functions:
            self.refuse(f"an object of type {type(value).__name__}")
        return value

    def spend_on(self, *values: Any) -> None:
        """Pay for what goes through all entries of some values, and may build sets or dictionaries of them."""
        # Paid before the work is done: afterwards it would be too late.
        total = sum(map(weight_of, values))
        builds = any(isinstance(value, type) and issubclass(value, HASHED) for value in values)
        held = [len(value) for value in values if isinstance(value, HASHED) and not isinstance(value, Functions)]
        self.budget.spend(total + (hashing(total) if builds else sum(map(hashing, held))))

    def _compute_Constant(self, node: ast.Constant) -> Any:
        return self.kept(node.value)

    def _compute_Name(self, node: ast.Name) -> Any:
        # __import__ and its like lead to everything else.
        if node.id.startswith("__"):
            self.refuse(f"the name {node.id}")
        try:
            return self.kept(self.scope[node.id])
        except KeyError:
            raise NameError(f"name {node.id!r} is not defined") from None

    def _compute_Attribute(self, node: ast.Attribute) -> Any:
        owner: Any = self.compute(node.value)
        # Attributes of data reach classes, and through these any object in memory.
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

    def _compute_Subscript(self, node: ast.Subscript) -> Any:
        return self.kept(self.compute(node.value)[self.compute(node.slice)])

    def _compute_Slice(self, node: ast.Slice) -> slice:
        return slice(*(None if part is None else self.compute(part) for part in (node.lower, node.upper, node.step)))

    def _compute_UnaryOp(self, node: ast.UnaryOp) -> Any:
        return self.kept(UNARY[type(node.op)](self.compute(node.operand)))

    def _compute_BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.compute(node.left), self.compute(node.right)
        self.spend_on(left, right)
        # Before the operation: 9**9**9 and "a" * 10**9 are short to write.
        check_size(type(node.op), left, right)
        return self.kept(BINARY[type(node.op)](left, right))

    def _compute_BoolOp(self, node: ast.BoolOp) -> Any:
        # As in Python, the rest is not computed once the answer is known: it may be what fails.
        wanted = isinstance(node.op, ast.Or)
        for part in node.values:
            value = self.compute(part)
            if bool(value) is wanted:
                break
        return value

    def _compute_Compare(self, node: ast.Compare) -> Any:
        left, result = self.compute(node.left), True
        for kind, part in zip(node.ops, node.comparators, strict=True):
            right = self.compute(part)
            self.spend_on(left, right)
            result = COMPARE[type(kind)](left, right)
            # a < b < c ends at the first that fails, as in Python.
            if not result:
                break
            left = right
        return result

    def _compute_IfExp(self, node: ast.IfExp) -> Any:
        return self.compute(node.body if self.compute(node.test) else node.orelse)

    def _compute_List(self, node: ast.List) -> Any:
        return self.kept(list(self._entries(node.elts)))

    def _compute_Tuple(self, node: ast.Tuple) -> Any:
        return self.kept(tuple(self._entries(node.elts)))

    def _compute_Set(self, node: ast.Set) -> Any:
        return self.kept(set(self._entries(node.elts)))

    def _compute_Dict(self, node: ast.Dict) -> Any:
        pairs = zip(node.keys, node.values, strict=True)
        return self.kept(dict(self._pair(key, value) for key, value in pairs))

    def _pair(self, key: ast.expr | None, value: ast.expr) -> tuple[Any, Any]:
        # {**other}: its size would be known only after it was merged.
        if key is None:
            self.refuse("a dictionary in a dictionary")
        return self.compute(key), self.compute(value)

    def _entries(self, nodes: list[ast.expr]) -> Iterator[Any]:
        for node in nodes:
            if isinstance(node, ast.Starred):
                yield from self.compute(node.value)
            else:
                yield self.compute(node)

    def _compute_ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Any:
        return self.kept([inner.compute(node.elt) for inner in self._loops(node.generators)])

    _compute_GeneratorExp = _compute_ListComp

    def _compute_SetComp(self, node: ast.SetComp) -> Any:
        entries = self._compute_ListComp(node)
        # Texts that hash alike make a set quadratic.
        self.budget.spend(hashing(len(entries)))
        return self.kept(set(entries))

    def _compute_DictComp(self, node: ast.DictComp) -> Any:
        pairs = [(inner.compute(node.key), inner.compute(node.value)) for inner in self._loops(node.generators)]
        self.budget.spend(hashing(len(pairs)))
        return self.kept(dict(pairs))

    def _loops(self, generators: list[ast.comprehension]) -> Iterator[Evaluator]:
        """Evaluators for each round of nested loops, which know their variables."""
        first, rest = generators[0], generators[1:]
        targets = first.target.elts if isinstance(first.target, ast.Tuple) else [first.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if len(names) != len(targets) or first.is_async:
            self.refuse("a loop over something else than names")
        for item in self.compute(first.iter):
            # Each round pays, so that a loop over a range ends long before the range does.
            self.budget.spend(weight_of(item))
            values = tuple(item) if isinstance(first.target, ast.Tuple) else (item,)
            scope = ChainMap(dict(zip(names, values, strict=True)), self.scope)
            inner = Evaluator(self.text, scope, self.rules)
            if all(inner.compute(condition) for condition in first.ifs):
                yield from inner._loops(rest) if rest else [inner]

    def _compute_Call(self, node: ast.Call) -> Any:
        # Looked up before the arguments are computed: a refused call costs nothing.
        function = self._called(node.func)
        arguments = list(self._entries(node.args))
        options: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.compute(keyword.value)
            self.spend_on(value)
            # **options: a dictionary of the file's own.
            options.update(value if keyword.arg is None else {keyword.arg: value})
        self.spend_on(function, *arguments, *options.values())
        return self.kept(function(*arguments, **options))

    def _called(self, node: ast.expr) -> Callable[..., Any]:
        if isinstance(node, ast.Attribute):
            owner: Any = self.compute(node.value)
            # A namespace is asked for its own entry, even where that has the name of a method of data.
            data = not isinstance(owner, self.rules.namespaces)
            kind = next((kind for kind in METHODS if data and isinstance(owner, kind)), None)
            if kind is not None and node.attr in METHODS[kind]:
                return bounded_method(owner, node.attr)
            if not isinstance(owner, self.dotted) or node.attr.startswith("_"):
                self.refuse(f"the method .{node.attr}()")
            function = self._entry(owner, node.attr)
        else:
            function = self.compute(node)
        # Whatever way it was reached, only listed functions are called.
        if id(function) not in self.rules.functions:
            self.refuse(f"a call of {ast.unparse(node)}")
        return function
