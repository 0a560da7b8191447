"""Where vectors stand in memory: those that are read most where their addresses are short.

An address is a register and a distance; short distances take one byte in place of four. Processors keep decoded
instructions in a small cache, which holds fewer of those with long distances. So the places that are used most come
first, and as many registers as are left point into the middle of what short distances reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tauform.codegen.backends.llvm.planned.registers import Line, Place

SCRATCH, TABLE = "scratch", "table"


@dataclass(frozen=True)
class Area:
    """Memory of equal entries.

    Attributes:
        size: bytes of an entry.
        reach: bytes that short distances from one register reach.
    """

    size: int
    reach: int


@dataclass(frozen=True)
class Base:
    """A register that points so many bytes into an area."""

    area: str
    offset: int


class MemoryLayout:
    """Places in the scratch memory and in the table of constants.

    Attributes:
        bases: the registers that hold addresses.
        order: the places of each area, in the order in which they stand there.
    """

    def __init__(self, lines: Iterable[Line], places: Iterable[Place], areas: dict[str, Area], registers: int) -> None:
        """Lay out.

        Args:
            lines: the instructions that read and write them.
            places: all there are.
            registers: how many may hold addresses.
        """
        used = Counter(x for line in lines for x in (*line.sources, line.target) if isinstance(x, Place))
        # Stable order: equal counts stay as listed, so the text is the same every time.
        ranked = sorted(places, key=lambda place: -used[place])
        self._areas = areas
        self.order = {area: [place for place in ranked if area_of(place) == area] for area in areas}
        self._offsets = {
            place: index * areas[area].size for area, order in self.order.items() for index, place in enumerate(order)
        }
        self.bases = self._chosen(used, registers)
        self._registers = {base: number for number, base in enumerate(self.bases)}

    def address(self, place: Place) -> tuple[int, int]:
        """Number of the register and the distance from it."""
        return self.at(area_of(place), self._offsets[place])

    def at(self, area: str, offset: int) -> tuple[int, int]:
        """The same for bytes of an area."""
        base = _middle(area, self._areas[area], offset // self._areas[area].reach)
        # No register for that stretch: a long distance from the area's first.
        if base not in self._registers:
            base = _middle(area, self._areas[area], 0)
        return self._registers[base], offset - base.offset

    def _chosen(self, used: Counter[Place], registers: int) -> list[Base]:
        """One register for each area, then those whose reach is used most."""
        weight: Counter[Base] = Counter()
        for place, offset in self._offsets.items():
            area = area_of(place)
            weight[_middle(area, self._areas[area], offset // self._areas[area].reach)] += used[place]
        # Every area has its first register, so that each place has an address.
        first = [_middle(name, area, 0) for name, area in self._areas.items()]
        others = sorted((base for base in weight if base not in first), key=lambda base: -weight[base])
        return [*first, *others[: registers - len(first)]]


def area_of(place: Place) -> str:
    """The area that a place belongs to."""
    return TABLE if place.kind == "constant" else SCRATCH


def _middle(name: str, area: Area, number: int) -> Base:
    """The middle of a stretch that short distances reach."""
    return Base(name, number * area.reach + area.reach // 2)
