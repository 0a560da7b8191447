"""Peers built once from the headers in their wheels, and kept in the cache `tauform-peers` by a hash of their sources.

The first build takes minutes: Pinocchio is a library of templates.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import casadi
import numpy as np
import pinocchio
import platformdirs

from tauform import Robot
from tauform.closedform.base.regressor import base_columns
from tools.measuring.machine import compiler, processor

SOURCES = Path(__file__).parent
KEPT = platformdirs.user_cache_path("tauform-peers", appauthor=False)
NATIVE = ("-O3", "-march=native")
# Boost's limits as Pinocchio's own CMake files set them.
DEFINITIONS = (
    "-DNDEBUG",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
)
CASADI = Path(casadi.__file__).parent


def pinocchio_library(flags: Sequence[str] = NATIVE) -> Path:
    """Shared library with the functions of pinocchio_functions.cpp."""
    return _built("pinocchio_functions.cpp", "libpinocchio_peer.so", [*flags, "-fPIC", "-shared"], [])


def casadi_writer() -> Path:
    """Program that writes CasADi's C of Pinocchio's algorithms."""
    libraries = [f"-L{CASADI}", "-lcasadi", f"-Wl,-rpath,{CASADI}"]
    return _built("casadi_writer.cpp", "casadi_writer", ["-O1"], libraries)


def _built(source: str, product: str, flags: Sequence[str], libraries: Sequence[str]) -> Path:
    prefix = next(parent for parent in Path(pinocchio.__file__).parents if parent.name == "cmeel.prefix")
    includes = [prefix / "include", CASADI / "include" / "eigen3", CASADI / "include"]
    texts = [(SOURCES / name).read_text() for name in (source, "description.hpp")]
    about = [*texts, *flags, *DEFINITIONS, pinocchio.__version__, casadi.__version__, compiler("gcc"), processor()]
    key = hashlib.sha256("\n".join(about).encode()).hexdigest()[:12]
    target = KEPT / key / product
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        folders = [word for folder in includes for word in ("-isystem", str(folder))]
        command = ["g++", "-std=c++17", *flags, *DEFINITIONS, *folders, str(SOURCES / source), *libraries]
        with tempfile.TemporaryDirectory(dir=KEPT) as fresh:
            subprocess.run([*command, "-o", f"{fresh}/{product}"], check=True)
            Path(fresh, product).rename(target)
    return target


def numbers(robot: Robot) -> list[float]:
    """The robot in the layout of description.hpp."""
    values: list[float] = [robot.n_bodies, *robot.gravity]
    for joint, inertia in zip(robot.joints, robot.inertias, strict=True):
        T, tensor = joint.parent_from_joint, inertia.tensor_about_com
        values += [float(joint.is_revolute), joint.parent, *T[:3, :3].ravel(), *T[:3, 3], inertia.mass, *inertia.com]
        values += [*tensor[np.triu_indices(3)], joint.rotor_inertia or 0.0]
    columns = base_columns(robot)
    return [float(value) for value in (*values, len(columns), *columns)]


@dataclass(frozen=True)
class CasadiCode:
    """C files that CasADi wrote, and what it counts: multiplications and divisions, additions, other operations."""

    sources: dict[str, Path]
    counts: dict[str, tuple[int, int, int]]


def casadi_code(robot: Robot, folder: Path) -> CasadiCode:
    """CasADi's C of all functions of a robot."""
    given = folder / "numbers"
    given.write_bytes(np.array(numbers(robot)).tobytes())
    command = [str(casadi_writer()), str(given), str(folder)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    counts = {name: (int(a), int(b), int(c)) for name, a, b, c in map(str.split, text.splitlines())}
    return CasadiCode({name: folder / f"{name}.c" for name in counts}, counts)
