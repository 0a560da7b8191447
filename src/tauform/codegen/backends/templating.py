"""Templates: texts of written files that stand in the folder templates/ of their backend, or here for several."""

from __future__ import annotations

from importlib import resources
from string import Template


def template(package: str | None, name: str) -> Template:
    """A file of the folder templates/ beside a module, which gives its `__package__`."""
    return Template(resources.files(package or "").joinpath("templates", name).read_text(encoding="utf-8"))


def cmake_lists(
    name: str,
    release: str,
    language: str,
    library: str,
    header: str,
    tests: str,
    package_folder: str,
    archive: str = "",
    directory: str = "",
) -> str:
    """CMakeLists.txt of a library with its header, its self-test, and a package that find_package finds.

    Args:
        language: as project() spells it.
        library: lines that declare the target.
        tests: sources of the self-test.
        package_folder: variable of CMake: where packages of such libraries are installed.
        archive: where the compiled library is installed, if there is one.
        directory: where the self-test runs.
    """
    return template(__package__, "CMakeLists.txt").substitute(
        name=name,
        release=release,
        language=language,
        library=library,
        header=header,
        test_sources=tests,
        package_folder=package_folder,
        archive=archive,
        directory=directory,
    )
