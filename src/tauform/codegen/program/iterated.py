"""A step that iterates: a first program, rounds of a second until all states are done, and a last one.

Ports of the same name are the same array.
"""

from __future__ import annotations

from dataclasses import dataclass

from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program

# The port that says whether a state needs another round: above zero it does, zero and NaN do not.
OPEN = "open"


@dataclass(frozen=True, eq=False)
class IteratedStep:
    """Programs of one step: `first`, then `again` while `open` is above zero, at most so many rounds, then `last`."""

    first: Program
    again: Program
    last: Program
    most_rounds: int

    @property
    def programs(self) -> dict[str, Program]:
        return {"first": self.first, "again": self.again, "last": self.last}

    @property
    def handed_on(self) -> dict[str, Port]:
        """Ports between the programs."""
        made = {port.name: port for program in (self.first, self.again) for port in program.outputs}
        read = {port.name for program in (self.again, self.last) for port in program.inputs}
        return {name: port for name, port in made.items() if name in read}

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Ports of the whole that are read."""
        own = {port.name: port for program in self.programs.values() for port in program.inputs}
        return tuple(port for name, port in own.items() if name not in self.handed_on)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Ports of the whole that are written."""
        own = {port.name: port for program in self.programs.values() for port in program.outputs}
        return tuple(port for name, port in own.items() if name not in self.handed_on)
