"""load: a robot from the catalogue or from a file, whatever its format."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
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
    if suffix not in READERS:
        missing = no_such("robot", str(source), catalogue)
        raise UnknownNameError(f"{missing} (a file's name ends in {', '.join(READERS)})")
    if not os.path.isfile(path):
        raise DescriptionError(f"{path}: no such file; check the path")
    if os.path.getsize(path) > MAX_BYTES:
        raise DescriptionError(f"{path} has more than {MAX_BYTES / 1e6:g} MB, which no robot needs; name another file")
    return READERS[suffix](path, package_dirs, allow_code)


# Readers are imported when first needed: some come with an extra.


def _urdf(path: Path, package_dirs: Sequence[Path], allow_code: bool) -> Robot:
    return import_module("tauform.description.formats.urdf.reader").read_urdf(path, package_dirs)


def _xacro(path: Path, package_dirs: Sequence[Path], allow_code: bool) -> Robot:
    reader = import_module("tauform.description.formats.urdf.reader")
    return reader.read_xacro(path, package_dirs, allow_code=allow_code)


def _xml(path: Path, package_dirs: Sequence[Path], allow_code: bool) -> Robot:
    # Either format: the root element tells.
    if _root_tag(path) == "mujoco":
        return import_module("tauform.description.formats.mjcf.reader").read_mjcf(path)
    return _urdf(path, package_dirs, allow_code)


def _toml(path: Path, package_dirs: Sequence[Path], allow_code: bool) -> Robot:
    return read_toml(path)


# By the end of a file's name: (path, folders of ROS packages, whether code may run) -> robot.
READERS: dict[str, Callable[[Path, Sequence[Path], bool], Robot]] = {
    ".urdf": _urdf,
    ".xacro": _xacro,
    ".xml": _xml,
    ".toml": _toml,
}


def _root_tag(path: Path) -> str:
    try:
        return str(parse_xml(path.read_bytes()).tag)
    except DescriptionError as error:
        raise DescriptionError(f"{path.name}: {error}") from None
