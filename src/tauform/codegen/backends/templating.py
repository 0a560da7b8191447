"""Templates: texts of written files that stand in the folder templates/ of their backend, or here for several."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from string import Template


def template(package: str | None, name: str) -> Template:
    """A file of the folder templates/ beside a module, which gives its `__package__`."""
    return Template(resources.files(package or "").joinpath("templates", name).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class CMakeProject:
    """CMakeLists.txt of a library with its header, its self-test, and a package that find_package finds.

    Attributes:
        language: as project() spells it.
        library: lines that declare the target.
        test_sources: of the self-test.
        package_folder: variable of CMake: where packages of such libraries are installed.
        archive: where the compiled library is installed, if there is one.
        directory: where the self-test runs.
    """

    name: str
    release: str
    language: str
    library: str
    header: str
    test_sources: str
    package_folder: str
    archive: str = ""
    directory: str = ""

    @property
    def text(self) -> str:
        """The file; fields have the names of the template."""
        return template(__package__, "CMakeLists.txt").substitute(vars(self))
