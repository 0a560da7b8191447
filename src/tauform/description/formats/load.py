"""load: a robot from the catalogue or from a file, whatever its format."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from importlib import import_module, resources
from pathlib import Path

from numpy.typing import ArrayLike

from tauform.description.formats.strict_xml import parse_xml
from tauform.description.formats.toml.reader import read_toml
from tauform.description.robot import Robot
from tauform.errors import DescriptionError, UnknownNameError
from tauform.messages import no_such

# Of a robot file, without its meshes: reading more would only fill the memory.
MAX_BYTES = 50_000_000
SUFFIXES = (".urdf", ".xacro", ".xml", ".toml")


def load(
    source: str | Path,
    *,
    tip: str | None = None,
    lock: Mapping[str, float | str] | None = None,
    snap: float | None = None,
    gravity: ArrayLike | None = None,
    package_dirs: Sequence[str | Path] = (),
    allow_code: bool = False,
) -> Robot:
    """A robot from the catalogue (`robots()` lists it) or from a file: .urdf, .xacro, .xml (MJCF or URDF), .toml.

    Args:
        source: name in the catalogue, or path.
        tip: keep only the joints between the base and this link or frame. What is rigidly fixed to a kept link stays
            part of it; a joint off that path goes with everything it carries, unless it is locked.
        lock: joint name -> position, a number or text such as "pi/2"; the joint becomes rigid and what
            it carries part of the link before it.
        snap: straighten frames that are within this angle [rad] of a right angle; see `Robot.snapped`.
        gravity: (3,) acceleration in the base frame [m/s^2], in place of the file's.
        package_dirs: folders that hold ROS packages, for $(find ...) of xacro files and package:// of meshes.
        allow_code: let a xacro file run Python, read any file and environment variable, and grow without bound; for
            files that you trust.

    Raises:
        UnknownNameError: no such robot, joint or tip; the message lists near names.
        DescriptionError: the file does not describe a robot that we support; the message says where.
        MissingExtraError: the format's reader is not installed.
    """
    robot = _read(source, [Path(folder) for folder in package_dirs], allow_code)
    # Locked before the tip is cut: what a locked joint carries stays with its link.
    if lock:
        robot = robot.locked(lock)
    if tip is not None:
        robot = robot.up_to(tip)
    if snap is not None:
        robot = robot.snapped(snap)
    return robot if gravity is None else robot.with_gravity(gravity)


def robots() -> dict[str, str]:
    """The catalogue: name -> what it is and which publication its numbers come from."""
    entries = {}
    for name, path in _catalogue().items():
        header = tomllib.loads(path.read_text(encoding="utf-8"))
        entries[name] = f"{header['description']} ({header['source']})"
    return entries


def _catalogue() -> dict[str, Path]:
    folder = Path(str(resources.files("tauform.description"))) / "catalogue"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def _read(source: str | Path, package_dirs: Sequence[Path], allow_code: bool) -> Robot:
    path = Path(source)
    catalogue = _catalogue()
    # The catalogue first: its names have no suffix that a file needs.
    if str(source) in catalogue:
        return read_toml(catalogue[str(source)])
    suffix = path.suffix.lower()
    if os.path.isdir(path):  # a name that is too long for a file is none
        raise DescriptionError(f"{path} is a folder; name the file in it that describes the robot")
    if suffix not in SUFFIXES:
        missing = no_such("robot", str(source), catalogue)
        raise UnknownNameError(f"{missing} (a file's name ends in {', '.join(SUFFIXES)})")
    if not os.path.isfile(path):
        raise DescriptionError(f"{path}: no such file; check the path")
    if os.path.getsize(path) > MAX_BYTES:
        raise DescriptionError(f"{path} has more than {MAX_BYTES / 1e6:g} MB, which no robot needs; name another file")
    if suffix == ".toml":
        return read_toml(path)
    # Readers of other formats are imported when first needed; some come with an extra.
    # .xml may be either format: the root element tells.
    if suffix == ".xml" and _root_tag(path) == "mujoco":
        return import_module("tauform.description.formats.mjcf.reader").read_mjcf(path)
    urdf = import_module("tauform.description.formats.urdf.reader")
    if suffix == ".xacro":
        return urdf.read_xacro(path, package_dirs, allow_code=allow_code)
    return urdf.read_urdf(path, package_dirs)


def _root_tag(path: Path) -> str:
    try:
        return str(parse_xml(path.read_bytes()).tag)
    except DescriptionError as error:
        raise DescriptionError(f"{path.name}: {error}") from None
