"""Files that a xacro file may read: of its own package, of packages on the ROS path, and where the user says."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tauform.description.formats.strict_xml import parse_xml
from tauform.description.formats.xacro.budget import Budget, ExpansionRefusedError
from tauform.errors import DescriptionError
from tauform.wording import argument

MAX_BYTES = 10_000_000
MAX_YAML_BYTES = 500_000
MAX_WILDCARDS = 2
# Folders that are looked through below one of the ROS path, and how deep.
MAX_FOLDERS = 5000
MAX_DEPTH = 4
WORK_PER_FILE = 1000
WORK_PER_ELEMENT = 10
PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
WILDCARD = re.compile(r"[*?\[]")


class Files:
    """Reads what the file at `path` includes.

    Attributes:
        own: the package that the file belongs to, or else its folder.
        package_dirs: folders that the user names.
        installed: folders of the ROS path. Links in these may lead anywhere, as workspaces are built of links; links in
            the others may not lead out.
    """

    def __init__(self, path: Path, package_dirs: Sequence[Path], budget: Budget, *, confined: bool) -> None:
        self.budget, self.confined = budget, confined
        # A workspace built with links holds the file in two places.
        starts = (path.absolute().parent, path.resolve().parent)
        self.own = [(package_above(start) or start).resolve() for start in starts]
        self.package_dirs = [folder.resolve() for folder in package_dirs]
        # Not resolved: installed packages are often links into a build folder.
        self.installed = [Path(os.path.abspath(folder)) for folder in ros_path()]

    def find(self, name: str) -> str:
        """The folder of a package: among `package_dirs`, above the file, or on the ROS path.

        Raises:
            DescriptionError: there is none.
        """
        if PACKAGE.fullmatch(name):
            for folder in self._packages(name):
                return str(folder)
        raise DescriptionError(
            f"package {name!r:.80} is not found",
            remedy=f"name the folder that holds it, {argument('package_dirs', ...)}, or source ROS",
        )

    def _packages(self, name: str) -> Iterator[Path]:
        yield from (found for folder in self.package_dirs if (found := package_below(folder, name)))
        yield from (folder for folder in self.own if package_name(folder) == name)
        yield from (found for folder in ros_path() if (found := package_below(folder, name)))

    def read(self, path: str, most: int = MAX_BYTES) -> bytes:
        """The contents of a file that may be read.

        Raises:
            OSError: there is none.
            ExpansionRefusedError: it lies elsewhere, is large or is no ordinary file.
        """
        self.check(path)
        place = Path(path)
        if place.exists() and not place.is_file():  # opening a pipe would wait for ever
            raise ExpansionRefusedError(f"{path} is no ordinary file")
        with place.open("rb") as file:
            # One byte more than allowed tells a file that is too long, whatever its size on disk says.
            data = file.read(most + 1)
        if len(data) > most:
            raise ExpansionRefusedError(f"{path} has more than {most / 1e6:g} MB, which no robot needs")
        self.budget.spend(WORK_PER_FILE + len(data) // 10 + WORK_PER_ELEMENT * data.count(b"<"))
        return data

    def check(self, path: str) -> None:
        """Refuse a path outside the folders that the file may read."""
        if not self.confined:
            return
        plain = Path(os.path.abspath(path))
        # Links are followed before the comparison: one in the robot's folder may point anywhere.
        real = plain.resolve()
        if not (_inside(real, [*self.own, *self.package_dirs]) or _inside(plain, self.installed)):
            raise ExpansionRefusedError(
                f"it reads {path!r:.200}, which lies outside of the robot's folder and of the ROS path",
                remedy=f"name its folder with {argument('package_dirs', ...)}, or load it with "
                f"{argument('allow_code', True)} if you trust it",
            )

    def matching(self, pattern: str) -> list[str]:
        """Files whose names match a pattern; those outside are refused when they are read."""
        start = WILDCARD.split(pattern, maxsplit=1)[0]
        # The part before the first wildcard: names of files outside must not be listed either.
        self.check(os.path.dirname(start) or ".")
        if len([part for part in Path(pattern).parts if WILDCARD.search(part)]) > MAX_WILDCARDS:
            raise ExpansionRefusedError(f"the pattern {pattern!r:.80} looks through too many folders")
        found = []
        for name in glob.iglob(pattern):
            self.budget.spend(WORK_PER_FILE)
            found.append(name)
        return found


def _inside(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def ros_path() -> list[Path]:
    """Folders that hold the packages of a sourced ROS: 1 (ROS_PACKAGE_PATH) and 2 (AMENT_PREFIX_PATH)."""
    ros1 = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
    ros2 = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return [Path(folder) for folder in ros1 if folder] + [Path(folder) / "share" for folder in ros2 if folder]


def package_name(folder: Path) -> str | None:
    """The name in a folder's package.xml; None where it is no package."""
    manifest = folder / "package.xml"
    if not manifest.is_file():
        return None
    try:
        name: str | None = parse_xml(manifest.read_bytes()).findtext("name")
    except (DescriptionError, OSError):
        return None
    return None if name is None else name.strip()


def package_above(folder: Path) -> Path | None:
    """The nearest folder, from this one upwards, that is a package."""
    return next((parent for parent in (folder, *folder.parents) if (parent / "package.xml").is_file()), None)


def package_below(folder: Path, name: str) -> Path | None:
    """The package of that name: a folder, one in it, or one further below."""
    if folder.name == name or package_name(folder) == name:
        return folder
    if (folder / name).is_dir():
        return folder / name
    waiting, seen = [(folder, 0)], 0
    while waiting and seen < MAX_FOLDERS:
        parent, depth = waiting.pop(0)
        seen += 1
        if (parent / "package.xml").is_file():
            if package_name(parent) == name:
                return parent
        elif depth < MAX_DEPTH:  # packages do not hold packages
            waiting += [(child, depth + 1) for child in _folders(parent)]
    return None


def _folders(parent: Path) -> list[Path]:
    try:
        return sorted(child for child in parent.iterdir() if child.is_dir() and not child.name.startswith("."))
    except OSError:
        return []
