"""C++ headers: no compiler warns of them, and number types of others are taken."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from traced_programs import every_kind, inverse_dynamics

COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
WARNINGS = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Wshadow", "-Werror"]
# Dual numbers: a value and its derivative, with no more than what the functions need.
DUAL = """#include "arm.hpp"
#include <cstdio>
struct Dual {
    double value, slope;
    explicit Dual(double v = 0.0, double s = 0.0) : value(v), slope(s) {}
};
Dual operator+(const Dual &a, const Dual &b) { return Dual(a.value + b.value, a.slope + b.slope); }
Dual operator-(const Dual &a, const Dual &b) { return Dual(a.value - b.value, a.slope - b.slope); }
Dual operator-(const Dual &a) { return Dual(-a.value, -a.slope); }
Dual operator*(const Dual &a, const Dual &b) { return Dual(a.value*b.value, a.slope*b.value + a.value*b.slope); }
Dual sin(const Dual &a) { return Dual(std::sin(a.value), a.slope*std::cos(a.value)); }
Dual cos(const Dual &a) { return Dual(std::cos(a.value), -a.slope*std::sin(a.value)); }
int main()
{
    const std::array<Dual, 2> q = {Dual(0.3, 1.0), Dual(-0.8)}, qd = {Dual(0.5), Dual(0.7)};
    const std::array<Dual, 2> qdd = {Dual(1.0), Dual(-2.0)};
    std::array<Dual, 2> tau;
    arm_dynamics::inverse_dynamics(q, qd, qdd, tau);
    std::printf("%.17g %.17g %.17g %.17g", tau[0].value, tau[1].value, tau[0].slope, tau[1].slope);
}
"""

pytestmark = pytest.mark.skipif(not COMPILERS, reason="no C++ compiler is installed")


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("real", ["double", "float"])
def test_no_compiler_warns(tmp_path: Path, compiler: str, real: str) -> None:
    tf.write(every_kind(), tmp_path / "out", target="cpp", name="arm", real=real)
    subprocess.run([compiler, *WARNINGS, "-O1", "test_arm.cpp", "-o", "test_arm"], cwd=tmp_path / "out", check=True)
    done = subprocess.run([tmp_path / "out" / "test_arm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_number_types_of_others_are_taken(tmp_path: Path) -> None:
    robot = tf.load("two_link")
    tf.write(inverse_dynamics(robot), tmp_path / "out", target="cpp", name="arm")
    (tmp_path / "out" / "dual.cpp").write_text(DUAL)
    subprocess.run([COMPILERS[0], *WARNINGS, "dual.cpp", "-o", "dual"], cwd=tmp_path / "out", check=True)
    printed = subprocess.run([tmp_path / "out" / "dual"], capture_output=True, text=True, check=True).stdout
    found = np.array(printed.split(), dtype=float)
    state = np.array([0.3, -0.8]), np.array([0.5, 0.7]), np.array([1.0, -2.0])
    np.testing.assert_allclose(found[:2], tf.textbook.inverse_dynamics(robot, *state), rtol=1e-13)
    # d tau / d q by central differences
    step = np.array([1e-6, 0.0])
    up, down = (tf.textbook.inverse_dynamics(robot, state[0] + s, *state[1:]) for s in (step, -step))
    np.testing.assert_allclose(found[2:], (up - down) / 2e-6, rtol=1e-7, atol=1e-8)


@pytest.mark.nightly
def test_installed_header_is_found(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    tf.write(inverse_dynamics(tf.load("two_link")), tmp_path / "arm", target="cpp", name="arm")
    user = tmp_path / "user"
    user.mkdir()
    (user / "main.cpp").write_text(DUAL)
    (user / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.10)\nproject(user CXX)\nfind_package(arm REQUIRED CONFIG)\n"
        "add_executable(user main.cpp)\ntarget_link_libraries(user PRIVATE arm::arm)\n"
    )
    prefix = f"-DCMAKE_INSTALL_PREFIX={tmp_path / 'prefix'}"
    for command in (
        ["cmake", "-S", "arm", "-B", "build", prefix],
        ["cmake", "--build", "build"],
        ["ctest", "--test-dir", "build", "--no-tests=error"],
        ["cmake", "--install", "build"],
        ["cmake", "-S", "user", "-B", "user/build", f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}"],
        ["cmake", "--build", "user/build"],
        ["user/build/user"],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
