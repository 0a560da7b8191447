"""Bench of verdicts, `make verdicts`: seeded faults of simulated robots, what is detected, missed, falsely alarmed.

python -m verdicts [--cases 28] [--clean 100] [--coverage 24] [--only FAULT] [--show]
"""

from __future__ import annotations

import argparse
import os
import sys
from multiprocessing import Pool

from verdicts.bench import Outcome, outcome, table
from verdicts.coverage import COLOURS, Coverage, coverage, coverage_table
from verdicts.seeded import FAULTS, case

# Shares that the verdict is held to: faulty cases called good, clean ones called good.
MOST_MISSED, FEWEST_GOOD = 0.01, 0.9


def one(which: tuple[str, int]) -> Outcome:
    """Outcome of a fault and a seed, in a process of its own."""
    return outcome(case(*which))


def covered(which: tuple[float, int]) -> Coverage:
    """The same of a colour of noise."""
    return coverage(which[1], which[0])


def main() -> int:
    """Print the table; the exit code says whether both shares hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=28, help="of each fault")
    parser.add_argument("--clean", type=int, default=100)
    parser.add_argument("--coverage", type=int, default=24, help="stands for the table of 95 %% intervals")
    parser.add_argument("--only", action="append", choices=list(FAULTS))
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--show", action="store_true", help="print what is missed or falsely alarmed")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    chosen = asked.only or list(FAULTS)
    counts = {fault: asked.clean if fault == "none" else asked.cases for fault in chosen}
    work = [(fault, asked.first + seed) for fault, count in counts.items() for seed in range(count)]
    with Pool(asked.processes) as pool:
        outcomes = []
        for own in pool.imap(one, work):
            outcomes.append(own)
            wrong = own.grade != "good" if own.fault == "none" else own.is_missed or not own.is_named
            if asked.show and (wrong or own.is_optimistic):
                print(
                    f"{own.fault} {own.seed}: {own.grade}, {100 * own.quoted:.2f} % quoted, {100 * own.unseen:.2f} %",
                    flush=True,
                )
                print("".join(f"    {sentence}\n" for sentence in own.said))
        stands = [(colour, asked.first + seed) for colour in COLOURS for seed in range(asked.coverage)]
        print("\n".join(coverage_table(pool.imap(covered, stands))), flush=True)
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
