"""python -m benchmarks [--list] [name ...]"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console

from benchmarks import machine, results
from tauform.report.tables import table

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """All benchmarks, by the names of their files."""
    return sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))


def run(name: str, console: Console) -> str:
    """Run one benchmark, print its table and return its section."""
    benchmark = import_module(f"benchmarks.bench_{name}")
    with console.status(f"measuring {name}"):
        rows = list(benchmark.rows())
    console.print(table(f"{name}: {benchmark.TITLE}", results.HEADINGS, map(results.cells, rows)))
    return results.section(name, benchmark.TITLE, machine.stamp(), rows)


def main() -> int:
    """Run the chosen benchmarks, or all; each section is written as soon as it is measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of: {', '.join(names())}; default all")
    parser.add_argument("--dry", action="store_true", help="print only, leave RESULTS.md as it is")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(names()))
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; choose from {', '.join(names())}")
    console = Console()
    console.print(machine.stamp())
    for name in arguments.names or names():
        written = run(name, console)
        if not arguments.dry:
            results.rewrite(FOLDER / "RESULTS.md", {name: written})
    return 0


if __name__ == "__main__":
    sys.exit(main())
