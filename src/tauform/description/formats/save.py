"""save: a robot as a file that `load` reads back, and in words what the format has no place for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tauform.description.formats.toml.writer import to_toml
from tauform.description.formats.urdf.writer import to_urdf
from tauform.description.robot import Robot
from tauform.errors import DescriptionError
from tauform.escaping.shown import visible
from tauform.files.file import write_text

# By suffix: the text of the file, from the robot and the folder it will stand in, and the findings.
FORMATS: dict[str, Callable[[Robot, Path], tuple[str, tuple[str, ...]]]] = {".toml": to_toml, ".urdf": to_urdf}


@dataclass(frozen=True)
class Written:
    """A description of a robot that was written.

    Attributes:
        path: of the file.
        findings: what it does not say, or says otherwise than its source; a URDF holds them as a comment.
    """

    path: Path
    findings: tuple[str, ...]

    def __str__(self) -> str:
        return "; ".join(map(visible, [str(self.path), *self.findings]))


def check_format(target: Path) -> Path:
    """The place of a robot to be saved.

    Raises:
        DescriptionError: its name says no format.
    """
    if target.suffix.lower() not in FORMATS:
        raise DescriptionError(f"{target}: the name of a saved robot ends in {' or '.join(FORMATS)}; give it that end")
    return target


def save(robot: Robot, path: str | Path) -> Written:
    """Write the robot in the format that the file's name ends in; see `Robot.save`."""
    target = check_format(Path(path))
    if not target.parent.is_dir():
        raise DescriptionError(f"{target}: the folder {target.parent} does not exist; create it first")
    text, findings = FORMATS[target.suffix.lower()](robot, target.parent)
    return Written(write_text(target, text, DescriptionError), findings)
