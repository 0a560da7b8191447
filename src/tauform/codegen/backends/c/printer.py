"""Statements of C for the parts of a program.

A value that is used once is written into the expression that uses it, as long as the line stays readable: fewer names,
and compilers that fuse multiply-add within an expression only find more of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tauform.codegen.backends.c.config import RealType
from tauform.codegen.looped.program import AnyProgram
from tauform.codegen.program.angles import AngleStage
from tauform.codegen.program.parts import Part
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import FREE, Op, Program
from tauform.escaping.c import identifier

LINE_LENGTH = 110
# The type of vectors, and its unit vectors.
VECTOR = "four"
UNIT = "UNIT_"

# Precedence of an expression: what may stand beside it without parentheses.
_SIGNED, _SUM, _PRODUCT, _ATOM = range(4)
_SYMBOL = {Op.ADD: " + ", Op.SUBTRACT: " - ", Op.MULTIPLY: "*", Op.DIVIDE: "/"}


@dataclass(frozen=True)
class CExpression:
    """C text, its precedence, and whether it reads an input where it stands."""

    text: str
    precedence: int = _ATOM
    reads_input: bool = False

    def at_least(self, precedence: int) -> str:
        return self.text if self.precedence >= precedence else f"({self.text})"


@dataclass
class PartPrinter:
    """Prints one part.

    Attributes:
        index: what follows an array entry, "" or "[l]" in a loop over the states of a block.
        indent: spaces before each statement.
        lines: the statements so far.
    """

    program: Program
    part: Part
    real: RealType
    index: str = ""
    indent: str = "    "
    lines: list[str] = field(default_factory=list)
    expressions: dict[int, CExpression] = field(default_factory=dict)
    used_ports: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        # How often a value is read decides whether it gets a name.
        self.uses = Counter(self._uses())
        self.section = _sections(self.program)
        self.current_section = ""
        self.n_temporaries = 0
        # What earlier parts made comes from the slots of the scratch array.
        for value, slot in self.part.reads.items():
            self.expressions[value] = CExpression(f"w[{slot}]{self.index}")

    def _uses(self) -> Iterable[int]:
        """Each use of a value in this part; what needs a name, to leave it or to be indexed, counts twice."""
        for stage in self.part.stages:
            for value in stage.instructions:
                instruction = self.program.instructions[value]
                # Counted twice, a vector that is indexed gets a name: an index binds tighter than any operator.
                yield from instruction.args * (2 if instruction.op is Op.LANE else 1)
            yield from stage.angles
        for value in self.part.writes:
            yield from (value, value)
        for result in self.program.results:
            yield from result

    def emit(self, statement: str) -> None:
        self.lines.append(self.indent + statement)

    def statements(self, stage: AngleStage) -> None:
        """Statements of a stage, without its sines and cosines."""
        for value in stage.instructions:
            instruction = self.program.instructions[value]
            if instruction.op in FREE:
                continue
            expression = self._operation(instruction.op, instruction.args)
            # 45 letters are left for the declaration and what the line is written into.
            # What is read once stands where it is read.
            if self.uses[value] > 1 or len(expression.text) > LINE_LENGTH - 45:
                # Work for angles serves many results: no section comment there.
                if not stage.angles:
                    self._announce(value)
                expression = self._named(value, expression)
            self.expressions[value] = expression

    def _named(self, value: int, expression: CExpression) -> CExpression:
        """The expression as a local variable."""
        name = f"t{self.n_temporaries}"
        self.n_temporaries += 1
        # A program with vectors among its values has two types of names.
        kind = VECTOR if value in self.program.vectors else self.real.name
        self.emit(f"const {kind} {name} = {expression.text};")
        return CExpression(name)

    def angles(self, stage: AngleStage, entries: Sequence[int]) -> list[str]:
        """C text of the stage's angles; their sines and cosines are those entries of `sine` and `cosine`."""
        # Sines and cosines are entries of arrays from here on, whatever the order of their instructions.
        number = dict(zip(stage.angles, entries, strict=True))
        for value, instruction in enumerate(self.program.instructions):
            if instruction.op in (Op.SIN, Op.COS) and instruction.args[0] in number:
                array = "sine" if instruction.op is Op.SIN else "cosine"
                self.expressions[value] = CExpression(f"{array}[{number[instruction.args[0]]}]{self.index}")
        return [self.operand(angle).text for angle in stage.angles]

    def hand_over(self, trigonometric: bool) -> None:
        """Store what later parts read: sines and cosines, or all other values."""
        for value, slot in self.part.writes.items():
            # Sines exist only after their call, other values must leave before it; hence two rounds.
            if (self.program.instructions[value].op in (Op.SIN, Op.COS)) is not trigonometric:
                continue
            self.emit(f"w[{slot}]{self.index} = {self.operand(value).text};")

    def results(self) -> None:
        """Store the outputs, after the last input was read: a caller may pass one array as both."""
        stores = [
            (f"{port.name}[{k}]{self.index}", value)
            for port, values in zip(self.program.outputs, self.program.results, strict=True)
            for k, value in enumerate(values)
        ]
        self.used_ports.update(port.name for port in self.program.outputs)
        stored = {value: self.operand(value) for _, value in stores}
        # the first store reads before it writes; whatever else still reads an input gets a name before that
        late = [value for value in dict.fromkeys(value for _, value in stores[1:]) if stored[value].reads_input]
        if late and self.current_section:
            self.lines += ["", f"{self.indent}/* read before the first result is written: arrays may be the same */"]
        stored |= {value: self._named(value, stored[value]) for value in late}
        if self.current_section:
            self.lines += ["", f"{self.indent}/* results */"]
        for place, value in stores:
            self.emit(f"{place} = {stored[value].text};")

    def _announce(self, value: int) -> None:
        """A comment where the work for another result begins."""
        section = self.section.get(value, "")
        if section != self.current_section:
            self.lines += ["", f"{self.indent}/* {section} */"]
            self.current_section = section

    def operand(self, value: int) -> CExpression:
        """The value in C: an entry of an input, a number, or what was computed."""
        instruction = self.program.instructions[value]
        if instruction.op is Op.CONSTANT:
            return CExpression(self.real.number(instruction.number), _SIGNED if instruction.number < 0 else _ATOM)
        if instruction.op is Op.UNIT:
            return CExpression(f"{UNIT}{instruction.place[1]}")
        if instruction.op is not Op.INPUT:
            return self.expressions[value]
        port, k = self.program.inputs[instruction.place[0]], instruction.place[1]
        self.used_ports.add(port.name)
        members = member_names(self.program, port)
        if members:
            # A member of a struct that all states share has no index of a state.
            return CExpression(f"{port.name}->{members[k]}", reads_input=True)
        return CExpression(f"{port.name}[{k}]{'' if port.shared else self.index}", reads_input=True)

    def _operation(self, op: Op, args: tuple[int, ...]) -> CExpression:
        operands = [self.operand(k) for k in args]
        text, precedence = self._text(op, args, operands)
        return CExpression(text, precedence, any(operand.reads_input for operand in operands))

    def _text(self, op: Op, args: tuple[int, ...], operands: Sequence[CExpression]) -> tuple[str, int]:
        a, b = operands[0], operands[-1]
        # a - (b + c) keeps its brackets: sums are written in the order in which they were planned.
        if op in (Op.ADD, Op.SUBTRACT):
            return a.at_least(_SUM) + _SYMBOL[op] + b.at_least(_PRODUCT), _SUM
        # Right operands bind tighter: a*(b/c) keeps its brackets, so products round as they were planned.
        if op in (Op.MULTIPLY, Op.DIVIDE):
            return a.at_least(_PRODUCT) + _SYMBOL[op] + b.at_least(_ATOM), _PRODUCT
        if op is Op.LANE:
            return f"{a.text}[{self.program.instructions[args[1]].place[1]}]", _ATOM
        # A sign beside an operator would read as --; _SIGNED asks for brackets there.
        if op is Op.NEGATE:
            return f"-{a.at_least(_ATOM)}", _SIGNED
        arguments = ", ".join(operand.text for operand in operands)
        return f"{self._function_name(op)}({arguments})", _ATOM

    def _function_name(self, op: Op) -> str:
        # Functions of our own give the same bits with every C library; those of math.h round correctly or stay rare.
        own = {Op.SIGN: "sign_of", Op.EXP: "exp_of", Op.TANH: "tanh_of"}
        library = {Op.SQRT: "sqrt", Op.ATAN2: "atan2", Op.ABS: "fabs"}
        return own[op] if op in own else library[op] + self.real.suffix


def member_names(program: AnyProgram, port: Port) -> list[str]:
    """Names of a shared port's entries as members of a struct; none where the program does not name them."""
    names = program.about.entries.get(port.name, ()) if port.shared else ()
    # Names that become one identifier would be one member: then the port stays an array.
    members = [identifier(name) for name in names]
    return members if len(set(members)) == port.size else []


def _sections(program: Program) -> dict[int, str]:
    """Name the first result that needs each value."""
    found: dict[int, str] = {}
    for port, values in zip(program.outputs, program.results, strict=True):
        for k, result in enumerate(values):
            # Depth first without recursion: programs may be deeper than Python's stack.
            stack = [result]
            while stack:
                value = stack.pop()
                # The first result to need a value is where its comment stands.
                if value not in found:
                    found[value] = f"{port.name}[{k}]"
                    stack.extend(program.instructions[value].args)
    return found
