"""The package as users get it: sdist and wheel build, hold what they must, and run without the working tree."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import tauform

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LONGEST_IMPORT = 0.3  # s
HEAVY = ("numpy", "scipy", "llvmlite", "rich", "typer", "xacro", "mujoco", "clarabel", "matplotlib", "threadpoolctl")
# What a user does first, without this repository in sight; templates of the C backend are data files of the wheel.
FIRST_STEPS = """
import sys, tempfile, pathlib
import tauform as tf
assert pathlib.Path(tf.__file__).is_relative_to(sys.argv[1]), tf.__file__
assert "kr6_r700" in tf.robots()
robot = tf.load("two_link")
with tempfile.TemporaryDirectory() as folder:
    files = tf.write_c(tf.generate(robot, "gravity_torque"), pathlib.Path(folder) / "c")
    assert all(file.is_file() for file in files)
print(tf.__version__)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


def test_sdist_and_wheel_carry_the_version(built: Path) -> None:
    names = sorted(path.name for path in built.iterdir())
    assert names == [f"tauform-{tauform.__version__}-py3-none-any.whl", f"tauform-{tauform.__version__}.tar.gz"]


def test_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    source = ROOT / "src" / "tauform"
    tracked = subprocess.run(["git", "ls-files", "src/tauform"], cwd=ROOT, capture_output=True, text=True, check=False)
    expected = {name.removeprefix("src/") for name in tracked.stdout.split()} or {
        str(path.relative_to(source.parent)) for path in source.rglob("*.py")
    }
    assert expected - held == set()
    assert "tauform/py.typed" in held
    assert {name.split("/")[0] for name in held} == {"tauform", f"tauform-{tauform.__version__}.dist-info"}


def test_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"tauform-{tauform.__version__}.dist-info/METADATA").decode()
        scripts = archive.read(f"tauform-{tauform.__version__}.dist-info/entry_points.txt").decode()
    metadata = Parser().parsestr(text)
    assert metadata["Version"] == tauform.__version__
    assert metadata["License-Expression"] == "MIT"
    assert "tauform = tauform.__main__:main" in scripts
    assert set(metadata.get_all("Provides-Extra")) == set(PYPROJECT["project"]["optional-dependencies"])


def test_wheel_runs_without_the_working_tree(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    # -P and an explicit path: neither the current folder nor the editable installation comes first.
    code = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})\n{FIRST_STEPS}"
    command = [sys.executable, "-P", "-c", code, str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == tauform.__version__


def test_import_is_quick_and_loads_nothing_heavy() -> None:
    code = (
        "import sys, time; start = time.process_time(); import tauform; print(time.process_time() - start, "
        f"[name for name in {HEAVY} if name in sys.modules])"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)]
    seconds, loaded = zip(*(run.stdout.strip().split(" ", 1) for run in runs), strict=True)
    assert set(loaded) == {"[]"}
    assert min(map(float, seconds)) < LONGEST_IMPORT


def test_version_stands_in_one_place() -> None:
    assert "version" in PYPROJECT["project"]["dynamic"]
    holders = [
        path
        for path in (ROOT / "src" / "tauform").rglob("*.py")
        if re.search(r"^__version__\s*=", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert [path.name for path in holders] == ["version.py"]
    (held,) = re.findall(r'^__version__ = "(.+)"$', holders[0].read_text(encoding="utf-8"), re.MULTILINE)
    assert held == tauform.__version__


def test_classifiers_name_only_the_python_that_runs_the_tests() -> None:
    named = [c.rsplit(" ", 1)[1] for c in PYPROJECT["project"]["classifiers"] if "Python :: 3." in c]
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in named


def test_every_extra_is_explained() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    for extra, requirements in PYPROJECT["project"]["optional-dependencies"].items():
        for requirement in requirements:
            package = re.split(r"[\[<>=; ]", requirement)[0]
            assert package == "tauform" or package in text, f"{package} of extra {extra!r}"
