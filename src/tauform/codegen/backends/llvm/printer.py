"""A program as LLVM text: a function for a block of states, one state a lane, and one for a single state.

The latter computes with numbers, or with the vectors of a wide program; there all lanes of a number are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tauform.codegen.backends.llvm.elementary import emit_close, emit_exp, emit_sincos, emit_tanh
from tauform.codegen.backends.llvm.fusion import fusion
from tauform.codegen.backends.llvm.planned.block import PlannedBlock
from tauform.codegen.backends.llvm.text import Block, Vector
from tauform.codegen.backends.llvm.transpose import RowAddresses, chunk, load_columns, store_columns
from tauform.codegen.program.angles import AngleStage
from tauform.codegen.program.parts import Part, parts
from tauform.codegen.program.program import FREE, LANES, Instruction, Op, Program

# Printed as text: llvmlite's builder ends in the same text, and took 46 ms where this took 1.4 (5,000 products).
# Operations of one function: LLVM's time grows faster than linearly beyond. What passes between parts goes through
# memory: Jacobians of a seven-joint arm (4,200 and 6,400 operations) run 1.8 times as fast in one part.
LONGEST_FUNCTION = 8000
PART_SIZE = 1500

_BINARY = {Op.ADD: "fadd", Op.SUBTRACT: "fsub", Op.MULTIPLY: "fmul", Op.DIVIDE: "fdiv"}


def print_block(program: Program, vector: Vector, name: str = "block") -> str:
    """`@block(ptr, i64, ...)`: base and row step of each port; shared ports have no step."""
    pieces, n_slots = parts(program, LONGEST_FUNCTION, PART_SIZE)
    if len(pieces) == 1:
        return _Function(program, vector, pieces[0], last=True).text(name)
    names = [f"part_{k}" if name == "block" else f"part_{k}_of_{name}" for k in range(len(pieces))]
    functions = [
        # The last part alone stores results: all inputs are read by then.
        _Function(program, vector, piece, last=piece is pieces[-1]).text(own)
        for own, piece in zip(names, pieces, strict=True)
    ]
    arguments = _arguments(program)
    calls = [f"  call void @{own}({arguments}, ptr %scratch)" for own in names]
    # Aligned to a cache line, which is the widest vector.
    scratch = f"  %scratch = alloca [{n_slots} x {vector.real}], align 64"
    whole = [f"define internal void @{name}({arguments}) noinline #0 {{", scratch, *calls, "  ret void", "}"]
    return "\n\n".join([*functions, "\n".join(whole)])


def print_planned_block(program: Program, vector: Vector) -> str:
    """The same of a long program, whose outputs have their rows next to each other; see `planned/block.py`."""
    planned, arguments = PlannedBlock(program, vector), _arguments(program)
    # The first part leaves in scratch what the planned part reads.
    ready = Part(tuple(planned.first), writes=planned.given)
    whole = [
        f"define internal void @block({arguments}) noinline #0 {{",
        f"  %scratch = alloca [{planned.n_slots} x {vector.real}], align 64",
        *(f"  call void @{name}({arguments}, ptr %scratch)" for name in ("part_0", "part_1")),
        "  ret void",
        "}",
    ]
    first = _Function(program, vector, ready, last=False).text("part_0")
    return "\n\n".join([first, planned.text(arguments), "\n".join(whole)])


def print_alone(program: Program, vector: Vector) -> str:
    """`@alone` with the arguments of `@block`, for one state; "" where it would be too long for one function."""
    # A wide program needs all its lanes in one register; else the plain one.
    form, lanes = (program, 1) if program.wide is None or vector.lanes < LANES else (program.wide, LANES)
    pieces, _ = parts(form, LONGEST_FUNCTION, PART_SIZE)
    # In parts it would need scratch memory; the caller uses @block with step 0 instead.
    if len(pieces) > 1:
        return ""
    return _Function(form, Vector(lanes, vector.fuses, vector.scalar), pieces[0], last=True, is_alone=True).text(
        "alone"
    )


def _arguments(program: Program) -> str:
    names = []
    for kind, ports in (("in", program.inputs), ("out", program.outputs)):
        for k, port in enumerate(ports):
            names.append(f"ptr %{kind}{k}" + ("" if port.shared else f", i64 %{kind}{k}_step"))
    return ", ".join(names)


@dataclass
class _Function:
    """Printer of one part; `is_alone` where all lanes belong to one state."""

    program: Program
    vector: Vector
    part: Part
    last: bool
    is_alone: bool = False
    name: dict[int, str] = field(default_factory=dict)
    inputs: dict[tuple[int, int], str] = field(default_factory=dict)
    rows: dict[str, RowAddresses] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.block = Block(self.vector.scalar.name)
        # Fusion looks at one part only: products do not vanish across a call.
        values = [k for stage in self.part.stages for k in stage.instructions]
        # Values that are read elsewhere must exist on their own: a product among them cannot vanish into a sum.
        kept = {*self.part.writes, *(k for stage in self.part.stages for k in stage.angles)}
        if self.last:
            kept.update(k for result in self.program.results for k in result)
        self.fused = fusion(self.program, values, kept) if self.vector.fuses else {}
        self.absorbed = set(self.fused.values())

    def text(self, name: str) -> str:
        arguments = _arguments(self.program) + (", ptr %scratch" if name.startswith("part_") else "")
        most = max((len(stage.angles) for stage in self.part.stages), default=0)
        body = self.block
        body.label("entry")
        # Angles go through memory only where some are far; the room is taken once.
        if most:
            body.emit(f"%angles = alloca [{most} x {self.vector.real}], align 64")
        for value, slot in self.part.reads.items():
            self.name[value] = body.let(f"load {self.vector.real}, ptr {self._slot(slot)}")
        before = "entry"
        for number, stage in enumerate(self.part.stages):
            self._stage(stage, str(number), before)
            # phi nodes name the block they come from, which is the last one that ended.
            before = f"close_{number}" if stage.angles else before
        for value, slot in self.part.writes.items():
            body.emit(f"store {self.vector.real} {self._operand(value)}, ptr {self._slot(slot)}")
        if self.last:
            # every input is loaded before the first store: an output may be the same array
            results = [[self._operand(value) for value in values] for values in self.program.results]
            for k, names in enumerate(results):
                self._store(k, names)
        body.emit("ret void")
        return "\n".join([f"define internal void @{name}({arguments}) noinline #0 {{", *body.lines, "}"])

    def _slot(self, slot: int) -> str:
        return self.block.let(f"getelementptr {self.vector.real}, ptr %scratch, i64 {slot}")

    def _stage(self, stage: AngleStage, tag: str, before: str) -> None:
        for value in stage.instructions:
            instruction = self.program.instructions[value]
            if value in self.fused:
                self.name[value] = self._multiply_add(instruction, self.fused[value])
            elif instruction.op is Op.LANE:
                self.name[value] = self._lane(*instruction.args)
            elif instruction.op not in FREE and value not in self.absorbed:
                self.name[value] = self._operation(instruction.op, [self._operand(k) for k in instruction.args])
        if not stage.angles:
            return
        close = emit_close(self.block, self.vector, [self._operand(k) for k in stage.angles], tag, before)
        trigonometric = {
            angle: emit_sincos(self.block, self.vector, x) for angle, x in zip(stage.angles, close, strict=True)
        }
        # By their angles, since sine and cosine may stand anywhere in the program.
        for value, instruction in enumerate(self.program.instructions):
            if instruction.op in (Op.SIN, Op.COS) and instruction.args[0] in trigonometric:
                self.name[value] = trigonometric[instruction.args[0]][instruction.op is Op.COS]

    def _operand(self, value: int) -> str:
        instruction = self.program.instructions[value]
        if instruction.op is Op.CONSTANT:
            return self.vector.number(instruction.number)
        if instruction.op is Op.UNIT:
            return self.vector.unit(instruction.place[1])
        if instruction.op is Op.INPUT:
            # Loaded where first read: what no instruction reads costs no load.
            if instruction.place not in self.inputs:
                self._load(*instruction.place)
            return self.inputs[instruction.place]
        return self.name[value]

    def _lane(self, vector: int, unit: int) -> str:
        """One lane of a vector, as all lanes."""
        lane = self.program.instructions[unit].place[1]
        return self.block.shuffle(self._operand(vector), "poison", self.vector.lanes, [lane] * self.vector.lanes)

    def _operation(self, op: Op, args: list[str]) -> str:
        real = self.vector.real
        let = self.block.let
        if op in _BINARY:
            # `contract` lets LLVM fuse what is left; nothing else of fast-math, which would reorder sums.
            return let(f"{_BINARY[op]} contract {real} {args[0]}, {args[1]}")
        if op is Op.NEGATE:
            return let(f"fneg {real} {args[0]}")
        if op is Op.SQRT:
            return let(f"call {real} @llvm.sqrt.{self.vector.suffix}({real} {args[0]})")
        if op is Op.ATAN2:
            return self._by_lane("tauform_atan2", args)
        if op is Op.ABS:
            return let(f"call {real} @llvm.fabs.{self.vector.suffix}({real} {args[0]})")
        if op is Op.EXP:
            return emit_exp(self.block, self.vector, args[0])
        if op is Op.TANH:
            return emit_tanh(self.block, self.vector, args[0])
        if op is not Op.SIGN:
            raise AssertionError(f"{op} has no LLVM form")
        # zero and NaN are their own sign
        one = self.vector.number(1.0)
        unit = let(f"call {real} @llvm.copysign.{self.vector.suffix}({real} {one}, {real} {args[0]})")
        other = let(f"fcmp one {real} {args[0]}, zeroinitializer")
        return let(f"select {self.vector.mask} {other}, {real} {unit}, {real} {args[0]}")

    def _by_lane(self, function: str, args: list[str]) -> str:
        """A function of the C library on doubles, lane by lane: for rare operations."""
        result, name, let = "poison", self.vector.scalar.name, self.block.let
        for lane in range(self.vector.lanes):
            numbers = [let(f"extractelement {self.vector.real} {a}, i64 {lane}") for a in args]
            if name != "double":
                numbers = [let(f"fpext {name} {x} to double") for x in numbers]
            value = let(f"call double @{function}({', '.join(f'double {x}' for x in numbers)})")
            if name != "double":
                value = let(f"fptrunc double {value} to {name}")
            result = let(f"insertelement {self.vector.real} {result}, {name} {value}, i64 {lane}")
        return result

    def _multiply_add(self, instruction: Instruction, product: int) -> str:
        """a b + c, a b - c or c - a b."""
        real, let = self.vector.real, self.block.let
        a, b = (self._operand(k) for k in self.program.instructions[product].args)
        left, right = instruction.args
        c = self._operand(right if left == product else left)
        # a b - c = fma(a, b, -c) and c - a b = fma(-a, b, c): a change of sign is exact.
        if instruction.op is Op.SUBTRACT and left == product:
            c = let(f"fneg {real} {c}")
        elif instruction.op is Op.SUBTRACT:
            a = let(f"fneg {real} {a}")
        return let(f"call {real} @llvm.fma.{self.vector.suffix}({real} {a}, {real} {b}, {real} {c})")

    def _load(self, port: int, index: int) -> None:
        """Load an entry of a port, and with it its neighbours."""
        # One number for all lanes.
        if self.is_alone or self.program.inputs[port].shared:
            self.inputs[port, index] = self._splat(f"%in{port}", index)
            return
        rows = self.rows.setdefault(f"%in{port}", RowAddresses(self.block, f"%in{port}"))
        columns = chunk(self.program.inputs[port].size, index, self.vector)
        for column, name in zip(columns, load_columns(self.block, self.vector, rows, columns), strict=True):
            # Chunks may overlap: the first load of a column stays.
            self.inputs.setdefault((port, column), name)

    def _splat(self, base: str, index: int) -> str:
        real = self.vector.scalar
        pointer = self.block.let(f"getelementptr {real.name}, ptr {base}, i64 {index}")
        number = self.block.let(f"load {real.name}, ptr {pointer}, align {real.size}")
        single = self.block.let(f"insertelement {self.vector.real} poison, {real.name} {number}, i64 0")
        return self.block.shuffle(single, "poison", self.vector.lanes, [0] * self.vector.lanes)

    def _store(self, port: int, names: list[str]) -> None:
        real = self.vector.scalar
        if self.is_alone:
            for k, name in enumerate(names):
                # All lanes are the same number: lane 0 stands for them.
                number = self.block.let(f"extractelement {self.vector.real} {name}, i64 0")
                pointer = self.block.let(f"getelementptr {real.name}, ptr %out{port}, i64 {k}")
                self.block.emit(f"store {real.name} {number}, ptr {pointer}, align {real.size}")
            return
        store_columns(self.block, self.vector, RowAddresses(self.block, f"%out{port}"), names)
