"""Generated texts, searches, selections and saved files are the same bytes on every machine.

Other machines are stood for by processes: OpenBLAS takes the kernels of another processor, NumPy and the C library
leave out what newer processors can do, hashes have another seed, BLAS another number of threads.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
X86 = platform.machine() in ("x86_64", "AMD64")
CORE_TYPES = ("Haswell", "Sandybridge", "Nehalem", "Prescott")
# One set of each kind; the others print more of the same kinds, or take minutes.
QUICK = (
    *("arithmetic", "xarm7_as_written", "descriptions", "base_parameters", "closed_forms"),
    *("programs", "reduced", "fits"),
)
LONG = ("targets", "multirate", "arms", "reduced_arms")
# Both spellings: glibc before 2.33 calls what can be used by another name; what it does not know it ignores.
OLD_C_LIBRARY = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX2,-FMA,-FMA4"}


def plain_numpy() -> dict[str, str]:
    """NumPy without the loops for newer processors."""
    module = getattr(np, "_core", None) or np.core
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(module._multiarray_umath.__cpu_dispatch__)}


def threads(number: int) -> dict[str, str]:
    """BLAS, and our own verification, on so many threads."""
    return {"OMP_NUM_THREADS": str(number), "OPENBLAS_NUM_THREADS": str(number)}


# Nothing is fused, and vectors hold two numbers.
PLAIN_KERNELS = {"KERNELS_FOR": "x86-64" if X86 else "generic"}
OLDEST = {
    "OPENBLAS_CORETYPE": "Prescott",
    "PYTHONHASHSEED": "17",
    **OLD_C_LIBRARY,
    **plain_numpy(),
    **PLAIN_KERNELS,
    **threads(3),
}
MACHINES = {
    **{core.lower(): {"OPENBLAS_CORETYPE": core} for core in CORE_TYPES},
    "plain NumPy": plain_numpy(),
    "old C library": OLD_C_LIBRARY,
    "plain kernels": PLAIN_KERNELS,
    "another hash seed": {"PYTHONHASHSEED": "2"},
    "four threads": threads(4),
    "oldest": OLDEST,
}


@cache
def digests(machine: str, names: tuple[str, ...]) -> dict[str, str]:
    """What a process made; "here" is this machine as it is."""
    path = os.pathsep.join(str(ROOT / part) for part in ("src", "tests", "."))
    variables = {"PYTHONPATH": path, "PYTHONHASHSEED": "0", **threads(1), **MACHINES.get(machine, {})}
    with tempfile.TemporaryDirectory() as cache:  # kernels of one machine are no other's
        ended = subprocess.run(
            [sys.executable, "-W", "ignore", str(ROOT / "tests" / "machines" / "artefacts.py"), *names],
            env={**os.environ, **variables, "TAUFORM_CACHE": cache},
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=False,
        )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, str] = json.loads(ended.stdout)
    return found


def compare(machine: str, names: tuple[str, ...]) -> None:
    """Every artefact but the arithmetic itself is the same bytes as here."""
    here, there = (
        {name: digest for name, digest in digests(place, names).items() if not name.startswith("arithmetic")}
        for place in ("here", machine)
    )
    assert here.keys() == there.keys()
    assert [name for name in here if here[name] != there[name]] == []


def test_an_old_machine_makes_the_same() -> None:
    compare("oldest", QUICK)


@pytest.mark.skipif(not X86, reason="the core types are those of x86")
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="tunables belong to glibc")
def test_the_old_machine_computes_differently() -> None:
    """Else the comparison would show nothing."""
    here, there = digests("here", QUICK), digests("oldest", QUICK)
    differing = {name for name in here if here[name] != there[name]}
    if "OPENBLAS_CORETYPE" in os.environ:  # this run stands for another machine itself, which may round as the oldest
        differing.add("arithmetic: BLAS")
    assert differing == {"arithmetic: BLAS", "arithmetic: C library", "arithmetic: hash"}


@pytest.mark.nightly
@pytest.mark.parametrize("machine", MACHINES)
def test_every_machine_makes_the_same_of_everything(machine: str) -> None:
    compare(machine, (*QUICK, *LONG))
