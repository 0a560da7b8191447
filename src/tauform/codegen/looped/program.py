"""LoopedProgram: sweeps over the bodies of a tree, for robots whose straight-line program would be too long.

Each sweep runs one short program per body, base to tip or tip to base, on rows of arrays: the body's own row and its
parent's. Row 0 belongs to the base, row i + 1 to body i. What tells two bodies apart is a row of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import About, Candidate, Certificate, Op, Program, ScalarFunction
from tauform.escaping.shown import visible
from tauform.portable.elementwise import sin_cos

# Rows that are made before the first sweep.
SINE, COSINE = "sine", "cosine"
# The input of a step that holds its body's numbers.
TABLE = "table"


@dataclass(frozen=True)
class Rows:
    """Rows of numbers, one per body and one for the base.

    Attributes:
        base: the base's row; zeros where it is empty.
    """

    name: str
    width: int
    base: tuple[float, ...] = ()


@dataclass(frozen=True)
class Place:
    """A row that a step reads or writes: of its body, or of the body's parent."""

    rows: str
    of_parent: bool = False


@dataclass(frozen=True, eq=False)
class Sweep:
    """One pass over all bodies.

    Attributes:
        inward: tip to base; else base to tip.
        steps: the program of a body, by the kind of its joint.
        places: of every port of the steps but the table.
    """

    inward: bool
    steps: tuple[Program, ...]
    places: Mapping[str, Place]


@dataclass(frozen=True)
class Pairs:
    """Inner products of a row of each body with a row of each body that carries it: both entries of a matrix.

    Attributes:
        own, carrier: names of the rows.
        diagonal: name of the rows with the entries of the bodies themselves.
        output: name of the matrix.
    """

    own: str
    carrier: str
    diagonal: str
    output: str


@dataclass(frozen=True, eq=False)
class LoopedProgram(ScalarFunction):
    """A function of one state as sweeps over bodies.

    Attributes:
        name: the API's name of the function, also the C function's name.
        inputs, outputs: the ports, in the order of the arguments.
        parents: row of each body's parent; 0 is the base.
        kinds: of the joints, places in `Sweep.steps`.
        table: (n, k) numbers of the bodies.
        rows: scratch arrays; ports of one number per joint have one each, of the same name.
        sweeps: in their order.
        pairs: what is done after the sweeps, if anything.
        opening: makes rows from inputs before the sweeps (torques less friction); None where nothing is to be made.
        closing: makes outputs from rows and inputs after the sweeps (torques with friction); None likewise.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    parents: tuple[int, ...]
    kinds: tuple[int, ...]
    table: Array
    rows: tuple[Rows, ...]
    sweeps: tuple[Sweep, ...]
    pairs: Pairs | None = None
    opening: Program | None = None
    closing: Program | None = None
    robot: str = ""
    algorithm: str = ""
    certificate: Certificate | None = None
    candidates: tuple[Candidate, ...] = ()
    about: About = field(default_factory=About)
    # What straight-line programs may have, and loops have not: run-time parameters and vectors among the values.
    setup: None = None
    wide: None = None

    @property
    def n(self) -> int:
        """Number of bodies."""
        return len(self.parents)

    @cached_property
    def n_pairs(self) -> int:
        """Pairs of a body and another one that carries it."""
        depths = [0]
        # Rows come after their parents': each is one deeper than its parent.
        for parent in self.parents:
            depths.append(depths[parent] + 1)
        # A body at depth d has d - 1 bodies before it.
        return sum(depths[1:]) - self.n

    @cached_property
    def turns(self) -> bool:
        """Whether a step reads the sine or cosine of its joint's coordinate."""
        return any(place.rows in (SINE, COSINE) for sweep in self.sweeps for place in sweep.places.values())

    def _programs(self) -> Iterator[tuple[Program, int]]:
        """The programs that are run, each with how often."""
        for sweep in self.sweeps:
            yield from ((step, self.kinds.count(kind)) for kind, step in enumerate(sweep.steps))
        yield from ((program, 1) for program in (self.opening, self.closing) if program is not None)

    def count(self, *ops: Op) -> int:
        """Number of operations of these kinds that one call executes."""
        total = sum(program.count(*ops) * times for program, times in self._programs())
        if self.pairs is not None:
            width = self.width(self.pairs.own)
            total += self.n_pairs * (width * (Op.MULTIPLY in ops) + (width - 1) * (Op.ADD in ops))
        return total + self.n * self.turns * ((Op.SIN in ops) + (Op.COS in ops))

    def width(self, name: str) -> int:
        """Numbers in each of the rows of a name."""
        return next(rows.width for rows in self.rows if rows.name == name)

    @property
    def n_angles(self) -> int:
        """Pairs of sine and cosine."""
        return self.n * self.turns

    def interpreted(self, arrays: Sequence[AnyArray], batch: tuple[int, ...]) -> list[AnyArray]:
        """The outputs (*batch, *port.shape) for arrays that fit the ports."""
        dtype = np.result_type(np.float32, *arrays)
        rows = {own.name: self._empty(own, batch, dtype) for own in self.rows}
        for port, array in zip(self.inputs, arrays, strict=True):
            _fill(rows[port.name], array)
        if self.turns:
            for name, values in zip((SINE, COSINE), sin_cos(np.asarray(arrays[0], dtype)), strict=True):
                _fill(rows[name], values)
        if self.opening is not None:
            self._straight(self.opening, rows)
        for sweep in self.sweeps:
            self._swept(sweep, rows)
        matrices = {} if self.pairs is None else {self.pairs.output: self._matrix(self.pairs, rows)}
        if self.closing is not None:
            self._straight(self.closing, rows)
        return [matrices[p.name] if p.name in matrices else _joints(rows[p.name]) for p in self.outputs]

    def _empty(self, rows: Rows, batch: tuple[int, ...], dtype: Any) -> AnyArray:
        array = np.zeros((self.n + 1, *batch, rows.width), dtype)
        array[0] = rows.base or 0.0
        return array

    def _straight(self, program: Program, rows: dict[str, AnyArray]) -> None:
        """Run a program of whole joint vectors on the rows of its ports."""
        results = program(*(_joints(rows[port.name]) for port in program.inputs))
        for port, values in zip(program.outputs, [results] if len(program.outputs) == 1 else results, strict=True):
            _fill(rows[port.name], values)

    def _swept(self, sweep: Sweep, rows: dict[str, AnyArray]) -> None:
        # Parents have smaller rows than their children, so that counting up or down is enough.
        order = range(1, self.n + 1)
        for i in reversed(order) if sweep.inward else order:
            step, parent = sweep.steps[self.kinds[i - 1]], self.parents[i - 1]
            row = {name: parent if place.of_parent else i for name, place in sweep.places.items()}
            flat = [
                self.table[i - 1] if port.name == TABLE else rows[sweep.places[port.name].rows][row[port.name]]
                for port in step.inputs
            ]
            # All is read before anything is written: a parent's row may be both.
            values = step.values(flat)
            for port, result in zip(step.outputs, step.results, strict=True):
                target = rows[sweep.places[port.name].rows][row[port.name]]
                for k, value in enumerate(result):
                    target[..., k] = values[value]

    def _matrix(self, pairs: Pairs, rows: dict[str, AnyArray]) -> AnyArray:
        own, carriers, diagonal = rows[pairs.own], rows[pairs.carrier], rows[pairs.diagonal]
        M = np.zeros((*own.shape[1:-1], self.n, self.n), own.dtype)
        for i in range(1, self.n + 1):
            M[..., i - 1, i - 1] = diagonal[i, ..., 0]
            j = self.parents[i - 1]
            while j > 0:
                # Added in a fixed order, as C does: a sum of NumPy's depends on the processor.
                M[..., i - 1, j - 1] = M[..., j - 1, i - 1] = sum(np.moveaxis(own[i] * carriers[j], -1, 0))
                j = self.parents[j - 1]
        return M

    def __repr__(self) -> str:
        extra = f", certified to {self.certificate.error:.1e}" if self.certificate else ""
        return (
            f"LoopedProgram({self.name!r} of {visible(self.robot)}: {self.n_multiplications} mult + "
            f"{self.n_additions} add in {len(self.sweeps)} sweeps over {self.n} bodies{extra})"
        )


# What C is written of.
AnyProgram = Program | LoopedProgram


def _fill(rows: AnyArray, values: AnyArray) -> None:
    """Write a joint vector (..., n) into the bodies' rows."""
    rows[1:, ..., 0] = np.moveaxis(np.broadcast_to(values, (*rows.shape[1:-1], len(rows) - 1)), -1, 0)


def _joints(rows: AnyArray) -> AnyArray:
    """(..., n) joint vector of the bodies' rows."""
    return np.moveaxis(rows[1:, ..., 0], 0, -1)
