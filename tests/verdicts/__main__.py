"""Bench of verdicts, `make verdicts`: seeded faults of simulated robots, what is detected, missed, falsely alarmed.

python -m verdicts [--cases 28] [--clean 100] [--coverage 24] [--only FAULT] [--show] [--scheduler ADDRESS]
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tauform.scheduler import cluster_if_asked, completed
from verdicts.bench import Outcome, outcome, table
from verdicts.coverage import COLOURS, Coverage, coverage, coverage_table
from verdicts.seeded import FAULTS, case

# Shares that the verdict is held to: faulty cases called good, clean ones called good.
MOST_MISSED, FEWEST_GOOD = 0.01, 0.9


def one(_: None, fault: str, seed: int) -> Outcome:
    """Outcome of a fault and a seed: a task of a worker."""
    return outcome(case(fault, seed))


def covered(_: None, colour: float, seed: int) -> Coverage:
    """The same of a colour of noise."""
    return coverage(seed, colour)


def in_order(
    work: Callable[..., Any], tasks: Sequence[tuple[Any, int]], client: Any, say: Callable[[Any], None]
) -> list[Any]:
    """Results of all tasks in their order, whichever worker was first; `say` takes each as it comes."""
    found: dict[tuple[Any, int], Any] = {}

    def done(task: tuple[Any, int], result: Any) -> None:
        found[task] = result
        say(result)

    completed(work, None, {task: task for task in tasks}, client, done)
    return [found[task] for task in tasks]


def told(own: Outcome) -> None:
    """Print what is missed or falsely alarmed."""
    wrong = own.grade != "good" if own.fault == "none" else own.is_missed or not own.is_named
    if wrong or own.is_optimistic:
        print(f"{own.fault} {own.seed}: {own.grade}, {100 * own.quoted:.2f} % quoted, {100 * own.unseen:.2f} %")
        print("".join(f"    {sentence}\n" for sentence in own.said), flush=True)


def main() -> int:
    """Print the table; the exit code says whether both shares hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=28, help="of each fault")
    parser.add_argument("--clean", type=int, default=100)
    parser.add_argument("--coverage", type=int, default=24, help="stands for the table of 95 %% intervals")
    parser.add_argument("--only", action="append", choices=list(FAULTS))
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--show", action="store_true", help="print what is missed or falsely alarmed")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="of this machine; 0 works in one")
    parser.add_argument("--scheduler", help="address of one of Dask's, whose workers can import this folder")
    asked = parser.parse_args()
    chosen = asked.only or list(FAULTS)
    counts = {fault: asked.clean if fault == "none" else asked.cases for fault in chosen}
    work = [(fault, asked.first + seed) for fault, count in counts.items() for seed in range(count)]
    stands = [(colour, asked.first + seed) for colour in COLOURS for seed in range(asked.coverage)]
    with cluster_if_asked(asked.scheduler, asked.processes) as client:
        outcomes = in_order(one, work, client, told if asked.show else lambda own: None)
        print("\n".join(coverage_table(in_order(covered, stands, client, lambda own: None))), flush=True)
    print("\n".join(table(outcomes)))
    faulty, clean = ([x for x in outcomes if (x.fault == "none") == is_clean] for is_clean in (False, True))
    missed, good = sum(x.is_missed for x in faulty), sum(x.grade == "good" for x in clean)
    named = sum(x.is_named for x in faulty)
    print(
        f"all {len(outcomes)}: {missed} of {len(faulty)} faulty missed (called good, unnamed or optimistic), "
        f"{named} named, {good} of {len(clean)} clean called good"
    )
    return int(missed > MOST_MISSED * len(faulty) or good < FEWEST_GOOD * len(clean))


if __name__ == "__main__":
    sys.exit(main())
