"""Faults while an artefact is written: processes that are killed, disks that are full, two writers at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from faults.artefacts import Artefact
from full_disk import full_disk
from kills import killed_after, run_apart
from tauform.errors import TauformError
from tauform.files import checks

# Attempts of each of two writers at once.
WRITES_AT_ONCE = 8
REFUSED = 3  # exit code
MEMORY = Path("/dev/shm")


@dataclass
class Tally:
    """What faults did to an artefact."""

    name: str
    runs: int = 0
    damaged: int = 0
    missing: int = 0
    strays: int = 0
    refused: int = 0
    findings: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nothing was lost or left."""
        return not (self.damaged or self.missing or self.strays or self.findings)

    def count(self, fault: str, strays: list[str] | tuple[str, ...] = ()) -> None:
        """One more run."""
        self.runs += 1
        self.damaged += fault == "damaged"
        self.missing += fault == "missing"
        self.strays += len(strays)
        if fault or strays:
            self.findings.append(f"{self.name}: {fault} {list(strays)}")


@contextmanager
def place_for(artefact: Artefact) -> Iterator[tuple[Path, list[bytes]]]:
    """A folder with the first version, in memory where there is such, and both versions of a file."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        place, versions = Path(folder) / "place", []
        for version in (1, 0):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(mode=0o700)
            artefact.write(place, version)
            if not artefact.is_folder:
                versions.append((place / artefact.path).read_bytes())
        if artefact.appears:
            shutil.rmtree(place)
            place.mkdir(mode=0o700)
        artefact.prepare(place)
        yield place, versions


def kills(artefact: Artefact, count: int, rng: np.random.Generator) -> Tally:
    """kill -9 at random moments; what the next run finds, and what it leaves."""
    tally = Tally(artefact.name)
    with place_for(artefact) as (place, versions):
        seconds = _seconds(artefact, place)

        def both() -> None:
            for version in (1, 0):
                artefact.write(place, version)

        for _ in range(count):
            if artefact.appears:
                shutil.rmtree(place / artefact.path, ignore_errors=True)
                (place / artefact.path).unlink(missing_ok=True)
            if not killed_after(rng.uniform(0, 2.2 * seconds), both):
                tally.findings.append(f"{artefact.name}: the writer failed by itself")
            fault = artefact.fault(place, versions)
            artefact.write(place, 0)
            tally.count(fault or artefact.fault(place, versions), artefact.strays(place.parent))
    return tally


def full_disks(artefact: Artefact, count: int, rng: np.random.Generator) -> Tally:
    """Disks that are full after some bytes: a small file system where we may mount one, else a limit of file sizes."""
    tally = Tally(artefact.name)
    with place_for(artefact) as (place, versions):
        for k in range(count):
            # Every other time the lack of room shows only when files are written, not when it is checked.
            least = checks.LEAST_SPACE if k % 2 else 1
            with _little_room(artefact, place, rng) as there:
                (code,) = run_apart(lambda there=there, least=least: _refused_or_written(artefact, there, least))
                tally.refused += code == REFUSED
                if code not in (0, REFUSED):
                    tally.findings.append(f"{artefact.name}: ended with {code} on a full disk")
                tally.count(artefact.fault(there, versions), artefact.strays(there.parent))
    return tally


def at_once(artefact: Artefact, count: int, rng: np.random.Generator) -> Tally:
    """Two processes that write to one place while a third reads: it finds one version or the other, always whole."""
    tally = Tally(artefact.name)
    with place_for(artefact) as (place, versions):
        for _ in range(count):

            def often(version: int) -> None:
                for _ in range(WRITES_AT_ONCE):
                    artefact.write(place, version)

            def read() -> None:
                late = time.monotonic() + 0.5
                while time.monotonic() < late and not artefact.is_folder and not artefact.appears:
                    assert (place / artefact.path).read_bytes() in versions

            codes = run_apart(lambda: often(0), lambda: often(1), read)
            if any(codes):
                tally.findings.append(f"{artefact.name}: processes at once ended with {codes}")
            tally.count(artefact.fault(place, versions), artefact.strays(place.parent))
    return tally


def _seconds(artefact: Artefact, place: Path) -> float:
    start = time.perf_counter()
    artefact.write(place, 0)
    return time.perf_counter() - start


def _refused_or_written(artefact: Artefact, place: Path, least: int) -> None:
    checks.LEAST_SPACE = least
    try:
        artefact.write(place, 1)
    except TauformError:
        os._exit(REFUSED)


@contextmanager
def _little_room(artefact: Artefact, place: Path, rng: np.random.Generator) -> Iterator[Path]:
    """A place with the first version, in which little more can be written."""
    sizes = [path.stat().st_size for path in place.rglob("*") if path.is_file()] or [100_000]
    mount = place.parent / "small"
    mount.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(mount)], capture_output=True).returncode:
        with full_disk(int(rng.integers(1, max(sizes)))):
            yield place
        return
    try:
        there = shutil.copytree(place, mount / "place")
        os.chmod(there, 0o700)
        room = sum(sizes) + 4096 * 3 * len(sizes) + int(rng.integers(0, max(2, 2 * sum(sizes))))
        subprocess.run(["mount", "-o", f"remount,size={room}", str(mount)], check=True)
        yield there
    finally:
        subprocess.run(["umount", str(mount)], check=True)
