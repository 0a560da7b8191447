"""python -m benchmarks [--dry] [name ...]"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from rich.console import Console

from benchmarks.prepare import build_peers
from tools.measuring import counted, drawing, machine, quoted, results
from tools.measuring.sections import SectionError, measure, names
from tools.measuring.timing import Row

FOLDER = Path(__file__).parent
BUDGET = 1800.0  # seconds; a guard against what hangs, far above what a section takes on a busy machine


def run(name: str, budget: float, console: Console) -> str:
    """Run one benchmark, a line for every row, and return its section.

    Raises:
        SectionError: it failed or took longer than its budget.
    """
    console.print(f"\n[bold]{name}[/]")
    rows: list[Row] = []
    title, measured = measure(name, budget)
    for row in measured:
        rows.append(row)
        console.print("  " + results.line(row), highlight=False, markup=False, soft_wrap=True)
    return results.section(name, title, machine.stamp(), rows, plot=name in drawing.DRAWN)


def main() -> int:
    """Run the chosen benchmarks, or all; each section is written as soon as it is measured.

    What fails is said at the end, with exit code 1; the other sections run all the same.
    """
    arguments = _arguments()
    console = Console()
    console.print(machine.stamp(), soft_wrap=True)
    failed = []
    chosen = arguments.names or names()
    console.print("building peers in C++ where they are not kept from before, which takes minutes")
    failed += [f"building peers: {text}" for text in build_peers(chosen)]
    for name in chosen:
        start = time.monotonic()
        try:
            written = run(name, arguments.budget, console)
        except SectionError as error:
            failed.append(f"{name}: {error}")
            console.print(f"  [red]failed[/]: {error}", soft_wrap=True)
            continue
        console.print(f"  took {time.monotonic() - start:.0f} s")
        if not arguments.dry:
            results.rewrite(FOLDER / "RESULTS.md", {name: written})
    if not arguments.dry:
        console.print("\nplots: " + ", ".join(path.name for path in drawing.draw_all(FOLDER / "RESULTS.md")))
        try:
            quoted.refresh()
            counted.refresh()
        except LookupError as error:
            failed.append(f"figures that pages quote: {error}")
    for text in failed:
        console.print(f"[red]failed[/] {text}", soft_wrap=True)
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of: {', '.join(names())}; default all")
    parser.add_argument("--dry", action="store_true", help="print only, leave RESULTS.md, plots and README as they are")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds that a section may take [%(default)s]")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(names()))
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; choose from {', '.join(names())}")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
