"""Renderables that stay readable in any width: tables that split rather than break a name, and lists with an indent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.table import Table
from rich.text import Text

from tauform.escaping.shown import visible, visible_lines

# Blanks between two columns, and at both ends of a line.
COLUMN_GAP, LINE_MARGINS = 3, 2


@dataclass(frozen=True)
class FittedTable:
    """A table of texts. Cells wrap between words, never within one; what is still too wide goes into a further block.

    Every block begins with the first column, so that each row says what it belongs to.

    Attributes:
        title: printed above the first block.
        columns: headings.
        rows: cells, as printed.
        text_columns: how many leading columns are aligned left; their cells may wrap, numbers never do.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: int = 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Numbers never wrap: only columns of text may become narrower.
        # Width without any wrapping, by column.
        natural = [max(map(len, self._texts(k)), default=0) for k in range(len(self.columns))]
        least = [self._longest_word(k) if k < self.text_columns else natural[k] for k in range(len(self.columns))]
        for number, block in enumerate(blocks(least, options.max_width)):
            widths = fitted([natural[k] for k in block], [least[k] for k in block], options.max_width)
            table = self._table(block, widths, self.title if number == 0 else "")
            # A name that is wider than the terminal is left to the terminal.
            yield from console.render(table, options.update(width=max(options.max_width, total(widths))))

    def _texts(self, k: int) -> Iterator[str]:
        yield visible(self.columns[k])
        yield from (visible(row[k]) for row in self.rows)

    def _longest_word(self, k: int) -> int:
        return max((len(word) for text in self._texts(k) for word in text.split()), default=0)

    def _table(self, block: Sequence[int], widths: Sequence[int], title: str) -> Table:
        table = Table(
            title=Text(visible(title)) if title else None,
            box=box.SIMPLE_HEAD,
            title_justify="left",
            title_style="bold",
            pad_edge=False,
            show_header=any(self.columns),
        )
        for k, width in zip(block, widths, strict=True):
            justify: JustifyMethod = "left" if k < self.text_columns else "right"
            table.add_column(Text(visible(self.columns[k])), justify=justify, width=width)
        for row in self.rows:
            table.add_row(*(Text(visible(row[k])) for k in block))
        return table


def blocks(least: Sequence[int], width: int) -> list[list[int]]:
    """Columns by block: the first and next ones that fit at their least widths, spread evenly over the blocks."""
    result = filled_blocks(least, width)
    # As narrow as the number of blocks allows: one full and one nearly empty block read badly.
    # The width goes down one by one while the count of blocks stays: at most some hundred steps.
    while width > 0 and len(narrower := filled_blocks(least, width - 1)) == len(result):
        result, width = narrower, width - 1
    return result


def filled_blocks(least: Sequence[int], width: int) -> list[list[int]]:
    """Columns by block, each block filled before the next begins; at least two columns each."""
    # Column 0 opens every block, so that a row says what it is.
    result = [[0]]
    for k in range(1, len(least)):
        # At least two columns: a block of the first alone would say nothing.
        if len(result[-1]) > 1 and total([least[i] for i in (*result[-1], k)]) > width:
            result.append([0])
        result[-1].append(k)
    return result


def fitted(natural: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Widths of columns, taken from the widest that can give until all fit or none can give more."""
    widths = list(natural)
    while total(widths) > width:
        giving = [k for k in range(len(widths)) if widths[k] > least[k]]
        if not giving:
            break
        # One character at a time from the widest: columns shrink towards equal widths.
        widths[max(giving, key=widths.__getitem__)] -= 1
    return widths


def total(widths: Sequence[int]) -> int:
    """Width of a line with these columns."""
    # As rich's SIMPLE_HEAD box draws it.
    return sum(widths) + COLUMN_GAP * (len(widths) - 1) + LINE_MARGINS


@dataclass(frozen=True)
class Bullets:
    """A heading and sentences below it, each behind a dash and indented where it wraps.

    Attributes:
        heading: printed above, in bold.
        sentences: texts, with a style each.
    """

    heading: str
    sentences: tuple[tuple[str, str], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(visible(self.heading), style="bold")
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=3, justify="right")
        # Folded: a long path without blanks breaks rather than vanishes.
        grid.add_column(overflow="fold")
        for sentence, style in self.sentences:
            grid.add_row(Text("-", style=style), Text(visible_lines(sentence), style=style))
        yield grid
