"""Cases of a reader in processes of their own, so that a crash, a hang or a flood of memory is a finding like others.

    python -m fuzz.campaign READER FIRST COUNT [READER FIRST COUNT ...]

prints a line of JSON for each finding and, for each reader, one with the counts. A case is its reader's name and its
number: the same on every machine. A child that dies takes the case that it was at along, and another child goes on
after it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from fuzz import reader as kinds
from fuzz import readers
from tauform.errors import TauformError

# Seconds of a case on the wall, and bytes of memory beyond what a child starts with.
SECONDS, MEMORY = 60, 1 << 30
CASES_PER_CHILD = 100
SHARE_OF_CUTS = 0.2


def outcome(reader: Any, number: int, folder: Path) -> tuple[str, str]:
    """("refused" | "read" | "finding", what)."""
    rng = Random(f"{reader.name}:{number}")
    original = rng.randrange(len(reader.originals))
    data = reader.originals[original]
    is_cut = rng.random() < SHARE_OF_CUTS
    damaged = data[: rng.randrange(len(data))] if is_cut else reader.damage(rng, data)
    path = reader.write(folder, damaged)
    with warnings.catch_warnings(), contextlib.redirect_stdout(sys.stderr):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            read = reader.read(path)
            if is_cut and not reader.may_be_cut(read, whole(reader, original, folder)):
                return "finding", f"a file cut to {len(damaged)} of {len(data)} bytes is read"
        except TauformError as error:
            one_line = 0 < len(str(error).splitlines()) <= 1
            return ("refused", "") if one_line else ("finding", f"not one line: {str(error)!r:.200}")
        except BaseException as error:
            return "finding", f"{type(error).__name__}: {error!s:.200} at {_place(error)}"
    return "read", ""


WHOLE: dict[tuple[str, int], Any] = {}


def whole(reader: Any, original: int, folder: Path) -> Any:
    """What the undamaged file holds."""
    if (reader.name, original) not in WHOLE:
        path = reader.write(folder, reader.originals[original])
        WHOLE[reader.name, original] = reader.read(path)
    return WHOLE[reader.name, original]


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    places = []
    while trace is not None:
        places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " > ".join(places[-4:])


def outcomes(reader: Any, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """(case, outcome, what) of all cases, in order."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        kinds.ALL = True
        for original in range(len(reader.originals)):
            whole(reader, original, folder)
        kinds.ALL = False
        gc.freeze()  # children that collect garbage would copy all that was read here
        done = 0
        while done < count:
            start = first + done
            for found in _in_child(reader, start, min(first + count, start + CASES_PER_CHILD), folder):
                yield found
                done += 1


def _in_child(reader: Any, first: int, end: int, folder: Path) -> Iterator[tuple[int, str, str]]:
    """The cases up to `end`, or up to and with the one that ends the child."""
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        os.close(receive)
        _work(reader, first, end, folder, send)
    os.close(send)
    number = first
    with os.fdopen(receive, encoding="utf-8") as lines:
        for line in lines:
            kind, what = json.loads(line)
            yield number, kind, what
            number += 1
    _, status = os.waitpid(child, 0)
    if number < end:
        killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        how = f"takes more than {SECONDS} s" if killed == signal.SIGALRM else f"ends the process (signal {killed})"
        yield number, "finding", how


def _work(reader: Any, first: int, end: int, folder: Path, send: int) -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in range(first, end):
        signal.alarm(SECONDS)
        line = json.dumps(outcome(reader, number, folder)) + "\n"
        os.write(send, line.encode())
    os._exit(0)


def main(name: str, first: int, count: int) -> None:
    """Print findings, then counts."""
    import tauform.cli.progress

    tauform.cli.progress.SILENT_SECONDS = 1e6  # a busy machine adds no lines to what a command says
    counts: Counter[str] = Counter()
    for number, kind, what in outcomes(readers.READERS[name](), first, count):
        counts[kind] += 1
        if kind == "finding":
            print(json.dumps({"case": f"{name}:{number}", "what": what}), flush=True)
    print(json.dumps({"reader": name, **counts}))


if __name__ == "__main__":
    for place in range(1, len(sys.argv), 3):
        main(sys.argv[place], *map(int, sys.argv[place + 1 : place + 3]))
