"""The fuzz itself: readers that crash, hang, flood memory, lie or let errors of others through are found out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fuzz.reader import Reader, file_named

TESTS = Path(__file__).resolve().parents[1]


def crash(path: Path) -> Any:
    os.kill(os.getpid(), 11)


def hang(path: Path) -> Any:
    time.sleep(60)


def flood(path: Path) -> Any:
    return bytes(2 << 30)


def leak(path: Path) -> Any:
    raise KeyError("no clean error")


def lie(path: Path) -> Any:
    return "the same whatever was cut" + str(len(path.read_bytes()))


def scold(path: Path) -> Any:
    from tauform.errors import RecordingError

    raise RecordingError("one line\nand another")


BROKEN = {
    "crash": (crash, r"ends the process \(signal 11\)"),
    "hang": (hang, "takes more than 1 s"),
    "flood": (flood, "MemoryError"),
    "leak": (leak, "KeyError: 'no clean error' at .*test_campaign.py"),
    "lie": (lie, "a file cut to .* bytes is read"),
    "scold": (scold, "not one line"),
}


class Careful:
    """Reads the whole file well, so that the campaign can begin, and only then as badly as it can."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.whole = b"t,q\n" + b"".join(b"%d,%d\n" % (k, 1000 + k) for k in range(40))

    def __call__(self, path: Path) -> Any:
        return "whole" if path.read_bytes() == self.whole else BROKEN[self.name][0](path)


PROGRAM = """
import json, fuzz.campaign as campaign
from fuzz.reader import Reader, file_named
from fuzz.test_campaign import Careful
campaign.SECONDS = 1
careful = Careful({name!r})
reader = Reader({name!r}, [careful.whole], careful, file_named("a.csv"))
print(json.dumps(list(campaign.outcomes(reader, 0, {count}))))
"""


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_reader_is_found_out(name: str) -> None:
    count = 2 if name == "hang" else 12
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(name=name, count=count)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    found = json.loads(done.stdout)
    assert [number for number, _, _ in found] == list(range(count))

    told = [what for _, kind, what in found if kind == "finding"]
    assert told
    assert all(re.search(BROKEN[name][1], what) for what in told)
    # Some damage changes nothing, and a lie shows in cut files alone.
    assert len(told) >= (1 if name == "lie" else count // 2)


def test_a_case_is_the_same_on_every_run() -> None:
    from random import Random

    from fuzz.mutations import damaged_binary, damaged_text

    data = b"<a b='1.5'/>\n" * 30
    for damage in (damaged_text, damaged_binary):
        first, again, other = (damage(Random(f"case:{k}"), data) for k in (1, 1, 2))
        assert first == again != other
    assert Reader("a", [data], len, file_named("a")).may_be_cut(1, 1)
