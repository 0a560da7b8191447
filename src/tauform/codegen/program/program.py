"""Program: a straight line of scalar operations, the form that every backend prints and every kernel compiles.

Instructions are in single-assignment form: instruction k defines value k and reads earlier values only.
Programs are built with `tauform.codegen.program.graph` and ordered by `tauform.codegen.program.schedule`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array, fixed_array, read_only
from tauform.codegen.program.port import Port, misfit
from tauform.description.robot import Robot
from tauform.errors import GenerationError, ShapeError, VerificationError
from tauform.escaping.shown import visible
from tauform.notebook import Displayed
from tauform.portable.elementwise import arctan2, exp, sin_cos, tanh
from tauform.portable.products import product


class Op(Enum):
    """Operations of a program."""

    __hash__ = object.__hash__  # members are looked up millions of times; Enum would hash their names each time

    INPUT = "input"
    CONSTANT = "constant"
    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    NEGATE = "negate"
    SIN = "sin"
    COS = "cos"
    SQRT = "sqrt"
    SIGN = "sign"  # sign(0) = 0
    ABS = "abs"
    EXP = "exp"
    TANH = "tanh"
    ATAN2 = "atan2"  # in setup programs only
    SAME = "same"  # in graphs only: a value whose making is hidden
    UNIT = "unit"  # in wide programs only: a vector of zeros with a one in one lane
    LANE = "lane"  # in wide programs only: one lane of a vector, (vector, unit)


BINARY = frozenset({Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.DIVIDE, Op.ATAN2})
# What is known without an operation.
FREE = frozenset({Op.INPUT, Op.CONSTANT, Op.UNIT})
# What costs many operations.
FUNCTIONS = (Op.SIN, Op.COS, Op.SQRT, Op.EXP, Op.TANH)
# Numbers in a vector of a wide program.
LANES = 4


@dataclass(frozen=True)
class Instruction:
    """One operation.

    Attributes:
        args: values it reads.
        number: the constant, for CONSTANT.
        place: (input, flat index), for INPUT; (0, lane), for UNIT.
    """

    op: Op
    args: tuple[int, ...] = ()
    number: float = 0.0
    place: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Certificate:
    """Record of the check of a program before it was handed over; there is none of a check that failed.

    Attributes:
        states: number of random states tried.
        error: largest deviation, relative to the largest magnitude of that output entry.
        tolerance: what it had to stay below.
        reference: what it was compared with, in words.
    """

    states: int
    error: float
    tolerance: float
    reference: str

    def __post_init__(self) -> None:
        # Written this way round, an error that is no number is refused too.
        if not self.error <= self.tolerance < np.inf:  # nor one that anything would pass
            raise VerificationError(
                f"compared with {self.reference} at {self.states} states it is off by {self.error:.1e}, allowed is "
                f"{self.tolerance:.0e}"
            )


@dataclass(frozen=True)
class Candidate:
    """One way of computing the same function, with its cost; the report lists them all."""

    algorithm: str
    n_multiplications: int
    n_additions: int
    chosen: bool
    remark: str = ""


@dataclass(frozen=True)
class About:
    """Facts that people, headers and self-tests need of a program beside its instructions.

    Attributes:
        summary: what it computes, in one line.
        conventions: what a caller must know of the robot: joints, gravity, friction.
        entries: names of the entries of run-time ports, and of a regressor's columns (theta), by port.
        defaults: values of run-time ports that describe the robot.
        grouping: (l, n_parameters) theta = grouping parameters; None where the program knows no theta.
        joints: names behind the entries of q, where they are known.
        has_friction: whether the robot has drive terms other than rotors, which `friction` computes.
    """

    summary: str = ""
    conventions: tuple[str, ...] = ()
    entries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    grouping: Array | None = None
    joints: tuple[str, ...] = ()
    has_friction: bool = False


class ScalarFunction:
    """A function of one state in scalar operations, in a straight line or in loops over bodies."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    def count(self, *ops: Op) -> int:
        """Number of operations of these kinds that one call executes."""
        raise NotImplementedError

    def interpreted(self, arrays: Sequence[AnyArray], batch: tuple[int, ...]) -> list[AnyArray]:
        """The outputs (*batch, *port.shape) for arrays that fit the ports."""
        raise NotImplementedError

    @cached_property
    def n_multiplications(self) -> int:
        """Multiplications and divisions."""
        return self.count(Op.MULTIPLY, Op.DIVIDE)

    @cached_property
    def n_additions(self) -> int:
        """Additions, subtractions, and negations that no sign could absorb."""
        return self.count(Op.ADD, Op.SUBTRACT, Op.NEGATE)

    @cached_property
    def n_operations(self) -> int:
        """Multiplications and additions together."""
        return self.n_multiplications + self.n_additions

    @cached_property
    def n_functions(self) -> int:
        """sin, cos, square roots, exponentials and hyperbolic tangents."""
        return self.count(*FUNCTIONS)

    def __call__(self, *arrays: Any) -> Any:
        """Interpret the operations on NumPy arrays of shape (..., *port.shape): slow, for checks.

        Returns the output array, or a tuple when there are several outputs.

        Raises:
            ShapeError: the arrays do not fit the ports.
        """
        fault = misfit(self.name, self.inputs, arrays)
        if fault is not None:
            raise fault
        given = [np.asarray(array) for array in arrays]
        leading = [a.shape[: a.ndim - len(p.shape)] for a, p in zip(given, self.inputs, strict=True)]
        try:
            batch = np.broadcast_shapes(*leading)
        except ValueError as error:
            raise ShapeError(f"{self.name}: the leading dimensions do not fit ({error})") from None
        outputs = self.interpreted(given, batch)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


@dataclass(frozen=True, eq=False)
class Program(ScalarFunction, Displayed):
    """A straight-line function from input arrays to output arrays of one state.

    Attributes:
        name: the API's name of the function, also the C function's name.
        inputs, outputs: the ports, in the order of the arguments.
        instructions: in an order that can be executed as it stands.
        results: for each output, the values of its entries in C order.
        setup: where parameters are run-time inputs, the program that turns them into the shared input `block`;
            it runs once for each set of parameters.
        wide: the same function with vectors of four numbers among its values, for compilers that have them.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    instructions: tuple[Instruction, ...]
    results: tuple[tuple[int, ...], ...]
    robot: str = ""
    algorithm: str = ""
    certificate: Certificate | None = None
    candidates: tuple[Candidate, ...] = ()
    setup: Program | None = None
    wide: Program | None = None
    about: About = field(default_factory=About)

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Names of the base parameters: of the run-time input theta, or of a regressor's columns; else empty.

        As an input they are the base parameters of links and rotors with the friction that is declared beside them, for
        a regressor those of `tf.base_parameters(robot, include="declared")`, where the offset of a slide takes over
        its weight. `theta_of` gives their values.
        """
        return tuple(self.about.entries.get("theta", ()))

    def theta_of(self, robot: Robot) -> Array:
        """(l,) values of `theta_names` for a robot of the same geometry.

        Raises:
            ShapeError: the robot has another number of parameters.
            GenerationError: the program knows no theta.
        """
        grouping = self.about.grouping
        if grouping is None:
            raise GenerationError(f'{self.name}: its parameters are baked in; generate it with parameters="runtime"')
        # A payload that comes at run time is no part of theta.
        # Else a load would be counted twice, in theta and at run time.
        bare = robot.with_payload(None) if "payload" in self.about.entries else robot
        values = fixed_array(bare.parameters, (grouping.shape[1],), f"parameters of {robot.name}")
        return read_only(product(grouping, values))

    def count(self, *ops: Op) -> int:
        """Number of instructions with one of these operations."""
        return sum(instruction.op in ops for instruction in self.instructions)

    @cached_property
    def vectors(self) -> frozenset[int]:
        """Values of a wide program that are vectors."""
        found: set[int] = set()
        for value, instruction in enumerate(self.instructions):
            is_made_of_vectors = instruction.op is not Op.LANE and any(k in found for k in instruction.args)
            if instruction.op is Op.UNIT or is_made_of_vectors:
                found.add(value)
        return frozenset(found)

    @property
    def n_angles(self) -> int:
        """Pairs of sine and cosine: both of one angle share their cost."""
        return len({i.args[0] for i in self.instructions if i.op in (Op.SIN, Op.COS)})

    def interpreted(self, arrays: Sequence[AnyArray], batch: tuple[int, ...]) -> list[AnyArray]:
        """The outputs (*batch, *port.shape) for arrays that fit the ports."""
        # The lanes of a vector are an axis before those of the batch, which every input must have for that.
        # Leading ones: an input without batch dimensions is the same for all states.
        flat = []
        for array, port in zip(arrays, self.inputs, strict=True):
            own = array.shape[: array.ndim - len(port.shape)]
            flat.append(array.reshape((1,) * (len(batch) - len(own)) + own + (port.size,)))
        # Buffers of values that nobody reads any more are used again, and stay in the cache.
        values = self._values(flat, self._read_last)
        outputs = []
        for port, result in zip(self.outputs, self.results, strict=True):
            entries = [np.broadcast_to(values[k], batch) for k in result]
            outputs.append(np.stack(entries, axis=-1).reshape((*batch, *port.shape)))
        return outputs

    def values(self, flat: list[AnyArray]) -> list[Any]:
        """The value of each instruction, from flat inputs (..., size)."""
        return self._values(flat, repeat(()))

    def _values(self, flat: list[AnyArray], dropped: Iterable[Sequence[int]]) -> list[Any]:
        """The value of each instruction; `dropped` are those to forget after each."""
        values: list[Any] = []
        angles: dict[int, tuple[AnyArray, AnyArray]] = {}  # sine and cosine of an angle are made together
        for instruction, gone in zip(self.instructions, dropped):  # noqa: B905  # where all are kept, without end
            operation, args = ON_ARRAYS.get(instruction.op), instruction.args
            if operation is not None:
                values.append(operation(*[values[k] for k in args]))
            elif instruction.op in (Op.SIN, Op.COS):
                (angle,) = args
                if angle not in angles:
                    angles[angle] = sin_cos(values[angle])
                values.append(angles[angle][instruction.op is Op.COS])
            else:
                values.append(_known(instruction, flat))
            for k in gone:
                values[k] = None
        return values

    @cached_property
    def _read_last(self) -> list[list[int]]:
        """Values that each instruction is the last to read; results are kept."""
        known, last = {k for result in self.results for k in result}, list[list[int]]()
        for instruction in reversed(self.instructions):
            # From the end: the first reader that is met is the last.
            last.append([k for k in dict.fromkeys(instruction.args) if k not in known])
            known.update(instruction.args)
        return last[::-1]

    def __repr__(self) -> str:
        extra = f", certified to {self.certificate.error:.1e}" if self.certificate else ""
        return (
            f"Program({self.name!r} of {visible(self.robot)}: {self.n_multiplications} mult + {self.n_additions} add, "
            f"{self.n_functions} functions{extra})"
        )


def _known(instruction: Instruction, flat: list[AnyArray]) -> Any:
    """What needs no operation."""
    port, index = instruction.place
    if instruction.op is Op.INPUT:
        return flat[port][..., index]
    if instruction.op is Op.CONSTANT:
        return instruction.number
    return np.eye(LANES)[index].reshape(LANES, *[1] * (flat[0].ndim - 1))


def _dot(vector: AnyArray, unit: AnyArray) -> AnyArray:
    return np.asarray((vector * unit).sum(axis=0))


# What stands for each operation on arrays; sine and cosine of an angle are made together.
ON_ARRAYS: dict[Op, Callable[..., Any]] = {
    Op.ADD: np.add,
    Op.SUBTRACT: np.subtract,
    Op.MULTIPLY: np.multiply,
    Op.DIVIDE: np.divide,
    Op.NEGATE: np.negative,
    Op.SQRT: np.sqrt,
    Op.SIGN: np.sign,
    Op.ABS: np.abs,
    Op.EXP: exp,
    Op.TANH: tanh,
    Op.ATAN2: arctan2,
    Op.LANE: _dot,
}
