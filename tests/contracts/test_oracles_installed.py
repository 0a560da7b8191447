"""Everything that tests skip without is installed where every test must run (CI=true): skips cannot hide."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from cli.test_outputs import NEED
from fuzz.test_readers import EXTRAS

# Where a module is not called by the name of what is installed.
MODULES = {"pin": "pinocchio", "pytest-xdist": "xdist", "pyyaml": "yaml", "pycollada": "collada"}
# What is run as a command, or holds files alone.
WITHOUT_MODULE = ("ruff", "build", "hatchling", "example-robot-data")
# Pages, benchmarks and what runs at night have extras of their own; rosbags brings its library of Zstandard.
OF_OTHER_EXTRAS = {"backports", "fmpy", "jupyterlab", "material", "mkdocstrings", "pyopencl", "real_robots"}


def wanted(extra: str, listed: dict[str, list[str]], project: str) -> set[str]:
    """Names of what an extra installs here, extras within it resolved."""
    names: set[str] = set()
    for requirement in map(Requirement, listed[extra]):
        if requirement.name == project:
            names |= {name for inner in requirement.extras for name in wanted(inner, listed, project)}
        elif requirement.marker is None or requirement.marker.evaluate():
            names.add(requirement.name)
    return names


def extra_of_tests(repository: Path) -> set[str]:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return wanted("test", project["optional-dependencies"], project["name"])


def test_the_extra_of_tests_holds_what_tests_skip_without(repository: Path) -> None:
    """Any module that a test asks for with importorskip comes with the extra, so that one list is enough."""
    names = extra_of_tests(repository)
    modules = {MODULES.get(name, name).replace("-", "_") for name in names}
    texts = {path: path.read_text(encoding="utf-8") for path in (repository / "tests").rglob("*.py")}
    asked = {found.split(".")[0] for text in texts.values() for found in re.findall(r'importorskip\("([\w.]+)"', text)}
    assert "pinocchio" in asked
    # Modules that a table names count as well, and there are no other ways to ask.
    asked |= {*EXTRAS.values(), *NEED.values()}
    assert asked - OF_OTHER_EXTRAS <= modules
    by_table = {path.name for path, text in texts.items() if re.search(r"(importorskip|find_spec)\([A-Z]", text)}
    assert by_table == {"test_readers.py", "test_outputs.py"}


@pytest.mark.skipif(os.environ.get("CI") != "true", reason="only where every test must run")
def test_everything_that_tests_skip_without_is_here(repository: Path) -> None:
    absent = []
    for name in sorted(extra_of_tests(repository)):
        try:
            version(name)
            if name not in WITHOUT_MODULE:
                import_module(MODULES.get(name, name).replace("-", "_"))
        except (PackageNotFoundError, ImportError) as reason:
            absent.append(f"{name}: {reason}")
    absent += [f"{command}: no such command" for command in ("gcc", "make") if shutil.which(command) is None]
    assert not absent
    assert import_module("tools.real_robots").urdf("ur5_robot").is_file()
