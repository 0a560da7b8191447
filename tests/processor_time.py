"""Processor time of tests, which a busy machine does not change: a short report at the end of a run.

It decides nothing; it shows what the next run can do without. `--processor-times FILE` writes all of them as CSV.
"""

from __future__ import annotations

import resource
from collections import defaultdict
from typing import Any

import pytest

SHOWN = 10


def used() -> float:
    """Seconds of the processor that this process and its ended children have taken."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


class ProcessorTime:
    """A plugin of pytest: workers measure, the process that started them adds up."""

    def __init__(self, file: str | None) -> None:
        self.file = file
        self.mark = 0.0
        self.tests: dict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Any:
        self.mark = used()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Any:
        report = yield
        now = used()
        report.processor_time, self.mark = now - self.mark, now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.tests[report.nodeid] += getattr(report, "processor_time", 0.0)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.tests:
            return
        slowest = sorted(self.tests.items(), key=lambda pair: -pair[1])
        total, inside = used(), sum(self.tests.values())  # workers are children, and have ended
        terminalreporter.section("processor time")
        terminalreporter.line(
            f"{total:.0f} s, of which {total - inside:.0f} s to start and to collect; the slowest tests:"
        )
        for name, seconds in slowest[:SHOWN]:
            terminalreporter.line(f"{seconds:6.2f} s  {name}")
        if self.file:
            lines = [f'{seconds:.3f},"{name}"' for name, seconds in slowest]
            with open(self.file, "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
