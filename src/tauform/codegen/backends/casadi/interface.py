"""What CasADi asks of a function in a library: n_in, name_in, sparsity_in, the same of outputs, work, and a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

CALL = "(const casadi_real **arg, casadi_real **res, casadi_int *iw, casadi_real *w, int mem)"
WIDTH = 118


@dataclass(frozen=True)
class Pattern:
    """Nonzeros of a matrix: equal dense blocks along its diagonal; one block is a dense matrix.

    Attributes:
        rows, columns: of one block.
    """

    rows: int
    columns: int
    blocks: int = 1

    @property
    def name(self) -> str:
        """Name of its table in C."""
        return f"diagonal_{self.blocks}_of_{self.rows}x{self.columns}"

    @property
    def text(self) -> str:
        """The table: sizes, and a one for "dense" or where columns begin and the rows of their entries."""
        sizes = [self.rows * self.blocks, self.columns * self.blocks]
        starts = [self.rows * column for column in range(sizes[1] + 1)]
        # Column by column: all columns of a block have its rows.
        rows = [
            block * self.rows + row
            for block in range(self.blocks)
            for _ in range(self.columns)
            for row in range(self.rows)
        ]
        numbers = [*sizes, 1] if self.blocks == 1 else [*sizes, *starts, *rows]
        table = fill(", ".join(map(str, numbers)), WIDTH, initial_indent="    ", subsequent_indent="    ")
        return f"static const casadi_int {self.name}[] = {{\n{table}\n}};\n"


@dataclass(frozen=True)
class External:
    """A function as CasADi sees it.

    Attributes:
        inputs, outputs: matrices by their names.
        statements: of the call.
        work: numbers of memory that the call wants at w.
    """

    name: str
    inputs: Sequence[tuple[str, Pattern]]
    outputs: Sequence[tuple[str, Pattern]]
    statements: Sequence[str]
    work: int = 0

    @property
    def text(self) -> str:
        """All that CasADi looks up; the tables of the patterns stand before it."""
        unused = ["iw", "mem", *([] if self.work else ["w"])]
        lines = [
            f"CASADI_SYMBOL_EXPORT int {self.name}{CALL} {{",
            *(f"    {line}" for line in self.statements),
            *(f"    (void){argument};" for argument in unused),
            "    return 0;",
            "}",
        ]
        for side, ports in (("in", self.inputs), ("out", self.outputs)):
            names, patterns = ", ".join(f'"{key}"' for key, _ in ports), ", ".join(p.name for _, p in ports)
            chosen = f"    return i >= 0 && i < {len(ports)} ? of[i] : 0;\n}}"
            lines += [
                f"CASADI_SYMBOL_EXPORT casadi_int {self.name}_n_{side}(void) {{ return {len(ports)}; }}",
                f"CASADI_SYMBOL_EXPORT const char *{self.name}_name_{side}(casadi_int i) {{",
                f"    static const char *const of[] = {{{names}}};\n{chosen}",
                f"CASADI_SYMBOL_EXPORT const casadi_int *{self.name}_sparsity_{side}(casadi_int i) {{",
                f"    static const casadi_int *const of[] = {{{patterns}}};\n{chosen}",
            ]
        sizes = {"arg": len(self.inputs), "res": len(self.outputs), "iw": 0, "w": self.work}
        parameters = ", ".join(f"casadi_int *sz_{key}" for key in sizes)
        lines += [
            f"CASADI_SYMBOL_EXPORT int {self.name}_work({parameters}) {{",
            *(f"    if (sz_{key}) *sz_{key} = {size};" for key, size in sizes.items()),
            "    return 0;",
            "}",
            "",
        ]
        return "\n".join(lines)
