"""Steps: what happens at one body, traced on symbols of its rows and of its numbers in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.looped.program import COSINE, SINE, TABLE, Place, Rows, Sweep
from tauform.codegen.program.graph import Graph, Scalar
from tauform.codegen.program.lower import lower
from tauform.description.joint_types import JointType


class Coordinate(Scalar):
    """A joint's coordinate whose sine and cosine are known: those of all joints are made before the sweeps."""

    __slots__ = ("_cosine", "_sine")

    def __init__(self, own: Scalar, sine: Scalar, cosine: Scalar) -> None:
        super().__init__(own.graph, own.reference)
        self._sine, self._cosine = sine, cosine

    def sin(self) -> Scalar:
        return self._sine

    def cos(self) -> Scalar:
        return self._cosine


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of the bodies by name; entries that are the same for all bodies stay numbers in every step.

    Attributes:
        arrays: (n, ...) by name.
    """

    arrays: Mapping[str, Array]

    def _flat(self) -> Array:
        return np.concatenate([array.reshape(len(array), -1) for array in self.arrays.values()], axis=1)

    @property
    def varying(self) -> AnyArray:
        """Places of the flat entries that differ between bodies."""
        flat = self._flat()
        # Exactly different: of numbers that are merely close, one would be wrong for most bodies.
        return np.flatnonzero((flat != flat[0]).any(axis=0))

    @property
    def table(self) -> Array:
        """(n, k) the entries that differ."""
        return self._flat()[:, self.varying]

    def symbols(self, graph: Graph) -> dict[str, AnyArray]:
        """The numbers of one body: symbols of its row in the table, or numbers."""
        varying = self.varying
        # Python's own floats: the graph folds products with 0.0 and 1.0 of that type.
        flat: AnyArray = np.array(self._flat()[0].tolist(), dtype=object)
        if len(varying):
            flat[varying] = graph.input(TABLE, len(varying))
        # Split again where the arrays were joined, in the order of the dictionary.
        ends = np.cumsum([array[0].size for array in self.arrays.values()])[:-1]
        parts = zip(self.arrays.items(), np.split(flat, ends), strict=True)
        return {name: part.reshape(array.shape[1:]) for (name, array), part in parts}


@dataclass
class Step:
    """One body in a sweep: reads and writes rows by name.

    Attributes:
        type: of the body's joint.
        widths: of the rows, by name.
    """

    type: JointType
    numbers: Numbers
    widths: Mapping[str, int]
    graph: Graph = field(default_factory=Graph)
    places: dict[str, Place] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    _read: dict[Place, AnyArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.own = self.numbers.symbols(self.graph)

    def read(self, rows: str, of_parent: bool = False) -> AnyArray:
        """(width,) the body's row, or its parent's."""
        place = Place(rows, of_parent)
        # One port per row, however often it is read.
        if place not in self._read:
            self._read[place] = self.graph.input(self._port(place), self.widths[rows])
        return self._read[place]

    def write(self, rows: str, values: Any, of_parent: bool = False) -> None:
        """The row is this after the step."""
        self.outputs[self._port(Place(rows, of_parent))] = np.asarray(values, dtype=object).ravel()

    def add_to_parent(self, rows: str, values: Any) -> None:
        """Add to the parent's row."""
        self.write(rows, self.read(rows, of_parent=True) + np.asarray(values, dtype=object).ravel(), of_parent=True)

    def _port(self, place: Place) -> str:
        name = f"parent_{place.rows}" if place.of_parent else place.rows
        self.places[name] = place
        return name

    @property
    def q(self) -> Any:
        """The joint's coordinate, with the sine and cosine that were made before."""
        (own,) = self.read("q")
        # A joint that does not turn needs no sine, and reads none.
        return own if self.type.screw[0] == 0 else Coordinate(own, self.read(SINE)[0], self.read(COSINE)[0])


def sweep(
    body: Callable[[Step], None], kinds: tuple[JointType, ...], numbers: Numbers, rows: tuple[Rows, ...], inward: bool
) -> Sweep:
    """The sweep that does this at every body, traced once for each kind of joint."""
    steps, places = [], {}
    for kind in kinds:
        step = Step(kind, numbers, {own.name: own.width for own in rows})
        body(step)
        # The function's name becomes the comment above its loop in C.
        steps.append(lower(step.graph, body.__name__, step.outputs))
        # Kinds read different rows; the sweep knows the places of all.
        places.update(step.places)
    return Sweep(inward, tuple(steps), places)
