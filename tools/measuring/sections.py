"""Sections run in a process of their own: one that fails, hangs or changes its process disturbs no other."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tools.measuring.timing import Row

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


class SectionError(Exception):
    """A section failed, or took longer than its budget."""


def names() -> list[str]:
    """All benchmarks, by the names of their files."""
    return sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))


def measure(module: str, budget: float) -> tuple[str, Iterator[Row]]:
    """Title of a benchmark and its rows as they are measured; `module` is a name, or a dotted module.

    Args:
        module: which benchmark.
        budget: seconds that all its rows may take.

    Raises:
        SectionError: from this call or while the rows are read.
    """
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    dotted = module if "." in module else f"benchmarks.bench_{module}"
    process = context.Process(target=_work, args=(dotted, sender))
    process.start()
    sender.close()  # so that its end shows here
    messages = _messages(process, receiver, budget)
    return next(messages), messages


def _work(module: str, sender: Connection) -> None:
    try:
        benchmark = import_module(module)
        sender.send(benchmark.TITLE)
        for row in benchmark.rows():
            sender.send(row)
        sender.send(None)
    except Exception as error:
        traceback.print_exc()
        sender.send(SectionError(f"{type(error).__name__}: {error}"))


def _messages(process: Any, receiver: Connection, budget: float) -> Iterator[Any]:
    end = time.monotonic() + budget
    title_is_due = True
    try:
        # Starting a process and importing its modules is not what the budget is for.
        while title_is_due or receiver.poll(max(0.0, end - time.monotonic())):
            message = receiver.recv()
            if message is None:
                return
            if isinstance(message, SectionError):
                raise message
            title_is_due = False
            yield message
        raise SectionError(f"not finished within {budget:.0f} s")
    except EOFError:
        process.join()
        raise SectionError(f"its process ended with code {process.exitcode}") from None
    finally:
        process.terminate()
        process.join()
