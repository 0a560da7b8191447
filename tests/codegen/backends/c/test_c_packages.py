"""Written C in other people's builds: installed and found, fetched, cross-compiled, in PlatformIO and Zephyr."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import tauform as tf
from tauform.version import __version__
from traced_programs import inverse_dynamics

MAIN = """#include <arm.h>
#include <stdio.h>
int main(void)
{
    const double q[2] = {0.1, -0.4}, qd[2] = {0.5, 0.7}, qdd[2] = {1.0, -2.0};
    double tau[2];
    arm_inverse_dynamics(q, qd, qdd, tau);
    printf("%.17g %.17g", tau[0], tau[1]);
    return 0;
}
"""
HEAD = "cmake_minimum_required(VERSION 3.14)\nproject(user C)\n"
USE = "add_executable(user main.c)\ntarget_link_libraries(user PRIVATE arm::arm)\n"

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("cmake", "cc"))), reason="cmake or a C compiler is not installed"
)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packages") / "arm"
    tf.write_c(inverse_dynamics(tf.load("two_link")), folder, name="arm")
    return folder


def run(*command: str | Path) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def torques_of(folder: Path, finding: str, *options: str) -> list[float]:
    """What a program prints whose project finds the library in this way."""
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(f"{HEAD}{finding}\n{USE}")
    (folder / "main.c").write_text(MAIN)
    run("cmake", "-S", folder, "-B", folder / "build", *options)
    run("cmake", "--build", folder / "build")
    assert not list((folder / "build").rglob("test_arm*"))
    return [float(word) for word in run(folder / "build" / "user").split()]


def expected() -> list[float]:
    return [float(v) for v in tf.textbook.inverse_dynamics(tf.load("two_link"), [0.1, -0.4], [0.5, 0.7], [1.0, -2.0])]


def test_installed_and_found(source: Path, tmp_path: Path) -> None:
    """The folder alone is tested where it is built; another version is refused."""
    prefix, build = tmp_path / "prefix", tmp_path / "build"
    run("cmake", "-S", source, "-B", build, f"-DCMAKE_INSTALL_PREFIX={prefix}")
    run("cmake", "--build", build)
    assert "100% tests passed, 0 tests failed out of 1" in run("ctest", "--test-dir", build)
    run("cmake", "--install", build)
    major = __version__.split(".")[0]
    found = torques_of(tmp_path / "user", f"find_package(arm {major} REQUIRED CONFIG)", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert found == pytest.approx(expected(), rel=1e-13)
    (tmp_path / "user" / "CMakeLists.txt").write_text(f"{HEAD}find_package(arm {int(major) + 1} REQUIRED CONFIG)\n")
    command = ["cmake", "-S", tmp_path / "user", "-B", tmp_path / "user" / "build"]
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


@pytest.mark.nightly
def test_fetched(source: Path, tmp_path: Path) -> None:
    fetch = f'include(FetchContent)\nFetchContent_Declare(arm SOURCE_DIR "{source}")\nFetchContent_MakeAvailable(arm)'
    assert torques_of(tmp_path / "user", fetch) == pytest.approx(expected(), rel=1e-13)


def test_cross_compiled_without_the_test(source: Path, tmp_path: Path) -> None:
    """Nothing is linked for a machine without an operating system, and the code stays where it is put."""
    options = ["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"]
    if shutil.which("arm-none-eabi-gcc"):
        options += ["-DCMAKE_C_COMPILER=arm-none-eabi-gcc", "-DCMAKE_C_FLAGS=-mcpu=cortex-m4 -mthumb -Wall -Werror"]
    run("cmake", "-S", source, "-B", tmp_path, *options, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    run("cmake", "--build", tmp_path)
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    assert [Path(entry["file"]).name for entry in commands] == ["arm.c"]
    assert "PIC" not in commands[0]["command"]


@pytest.mark.nightly
def test_zephyr_compiles_one_library(source: Path, tmp_path: Path) -> None:
    """Stand-ins take the place of what Zephyr's build defines; its board's flags come from there."""
    yaml = pytest.importorskip("yaml")
    module = yaml.safe_load((source / "zephyr" / "module.yml").read_text())
    assert module == {"name": "arm", "build": {"cmake": "zephyr"}}
    stand_ins = """
macro(zephyr_library_named name)
  set(library ${name})
  add_library(${name} STATIC)
endmacro()
macro(zephyr_library_sources)
  target_sources(${library} PRIVATE ${ARGN})
endmacro()
macro(zephyr_library_compile_options)
  target_compile_options(${library} PRIVATE ${ARGN})
endmacro()
macro(zephyr_include_directories)
  target_include_directories(${library} PUBLIC ${ARGN})
endmacro()
"""
    place = source / module["build"]["cmake"]
    linked = "target_link_libraries(arm PUBLIC m)\nadd_library(arm::arm ALIAS arm)"
    finding = f'{stand_ins}add_subdirectory("{place}" arm)\n{linked}'
    assert torques_of(tmp_path / "user", finding) == pytest.approx(expected(), rel=1e-13)


def test_platformio_compiles_the_functions_alone(source: Path) -> None:
    library = json.loads((source / "library.json").read_text())
    assert library["name"] == "arm"
    assert __version__.startswith(library["version"])
    assert library["build"]["srcFilter"] == ["-<*>", "+<arm.c>"]  # not the test, which has a main of its own
    assert (source / library["headers"]).is_file()
