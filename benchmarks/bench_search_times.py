"""How long the search for the cheapest program takes, beside that of another state of the source in the same run.

git worktree add --detach ../before 3be2c25
TAUFORM_BEFORE=../before python -m benchmarks search_times
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.arms import ARMS
from tools.measuring.timing import Row

TITLE = (
    "Processor time of the search for the frames and the regrouping of a program, without lowering and comparison, "
    "least of several in processes that take turns; the peer is the search before candidates shared steps of traces."
)
FUNCTIONS = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
TURNS = 3
HERE = Path(__file__).resolve().parents[1]
SEARCH = """
import json, sys, time
from tauform.codegen.functions import FUNCTIONS
try:
    from tauform.codegen.candidates import _options, problem_of, searched_program, usable_algorithms
except ImportError:  # as it was called before
    from tauform.codegen.generate import _algorithms as usable_algorithms, _options, problem_of, searched_program
from tools.arms import arm
robot, function = arm(sys.argv[1]), FUNCTIONS[sys.argv[2]]
names, seconds = usable_algorithms(function, "auto", robot), []
for _ in range(3):
    problem, start = problem_of(robot), time.process_time()
    _options(problem, function, names)
    seconds.append(time.process_time() - start)
program = searched_program(robot, function)
print(json.dumps([min(seconds), program.n_operations, hash(repr(program.instructions))]))
"""


def rows() -> Iterator[Row]:
    """Every arm and function."""
    before = os.environ.get("TAUFORM_BEFORE")
    for function in FUNCTIONS:
        for name in ARMS:
            yield _compared(name, function, Path(before).resolve() if before else None)


def _compared(name: str, function: str, before: Path | None) -> Row:
    ours, peers = [], []
    for _ in range(TURNS):
        ours.append(_searched(HERE, name, function))
        if before:
            peers.append(_searched(before, name, function))
    seconds, operations, text = min(ours)
    if not peers:
        return Row(
            f"{name}, {function}", seconds, None, "TAUFORM_BEFORE names no source", note=f"{operations} operations"
        )
    same = "the same program" if text == peers[0][2] else f"{peers[0][1]} operations before"
    peer = f"commit {_commit(before)}" if before else ""
    return Row(f"{name}, {function}", seconds, min(peers)[0], peer, note=f"{operations} operations, {same}")


def _searched(root: Path, name: str, function: str) -> tuple[float, int, int]:
    """Seconds, operations and a hash of the program of the source in a folder."""
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}:{root}", "PYTHONHASHSEED": "0", "TAUFORM_CACHE": "off"}
    command = [sys.executable, "-c", SEARCH, name, function]
    result = subprocess.run(command, env=environment, cwd=root, check=True, capture_output=True, text=True)
    seconds, operations, text = json.loads(result.stdout)
    return seconds, operations, text


def _commit(root: Path | None) -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.strip()
