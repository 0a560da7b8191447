"""A sample of the bench of faults (`make faults`): nothing is damaged, missing or left behind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from faults.artefacts import Artefact, artefacts
from faults.bench import at_once, full_disks, kills
from sampling import representatives

# Kills, full disks and pairs of writers of each.
SAMPLE = (3, 1, 1)
QUICK = {artefact.name: artefact for artefact in artefacts() if not artefact.takes_long}
# Each way of writing: texts, libraries, over a source, into the cache; folders exchanged, by journal, added to.
WAYS = (
    *("robot.toml", "URDF of a fit, over its source", "fit .npz", "kernel"),
    *("folder of C", "folder of C with notes", "folder of figures"),
)


@pytest.mark.parametrize("name", representatives(QUICK, *WAYS))
def test_no_fault_damages_an_artefact(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    artefact = QUICK[name]
    monkeypatch.setenv("CC", "no-such-compiler")  # the self-test of a model would take most of the time
    monkeypatch.setenv("TAUFORM_CACHE", "")
    rng = np.random.default_rng(0)
    for bench, count in zip((kills, full_disks, at_once), SAMPLE, strict=True):
        tally = bench(artefact, count, rng)
        assert tally.runs == count
        assert tally.is_clean, tally.findings


FOLDERS = [name for name in QUICK if name.startswith("folder of") and " C" not in name]


@pytest.mark.parametrize("name", representatives(FOLDERS, "folder of cpp", "folder of figures"))
def test_folders_of_the_bench_can_be_written(name: str, tmp_path: Path) -> None:
    """Those of all targets, so that `make faults` meets none that it cannot write."""
    for version in (0, 1):
        QUICK[name].write(tmp_path, version)
    assert QUICK[name].fault(tmp_path, []) == ""


def test_a_writer_that_is_not_atomic_is_found() -> None:
    """The bench itself: a file that is written in place is damaged by some of the kills."""

    def write(place, version: int) -> None:  # type: ignore[no-untyped-def]
        with (place / "a.txt").open("w") as file:
            for k in range(2000):
                file.write(f"{version} {k}\n")
                file.flush()

    tally = kills(Artefact("in place", "a.txt", write), 10, np.random.default_rng(0))
    assert tally.damaged > 0
