"""Parameters that come with each call: kernels, C and the textbook functions agree, and bad ones are named."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from codegen.tracing_cases import robot_named
from tauform.arrays import Array
from tauform.codegen.compile import ParametricKernel
from tauform.errors import GenerationError, ShapeError, SingularMassMatrixError, UnknownNameError

LOAD = tf.Inertia.of(0.8, [0.05, -0.02, 0.1], np.diag([2e-3, 3e-3, 4e-3]), inertia_about="com")


@pytest.fixture(scope="module")
def kernel() -> ParametricKernel:
    kernel = tf.compile(robot_named("puma260_izaguirre"), "inverse_dynamics", payload="runtime")
    assert isinstance(kernel, ParametricKernel)
    return kernel


def states(n: int = 40) -> Array:
    return np.random.default_rng(0).uniform(-3, 3, (3, n, 6))


def test_kernel_follows_the_payload(kernel: ParametricKernel) -> None:
    robot = robot_named("puma260_izaguirre")
    for load in (LOAD, None, LOAD):
        tau = tf.inverse_dynamics(robot.with_payload(load), *states())
        found = kernel(*states(), LOAD.parameters if load else np.zeros(10))
        assert np.abs(found - tau).max() < 1e-13 * np.abs(tau).max()


def test_one_state_and_threads(kernel: ParametricKernel) -> None:
    many = states(5000)
    whole = kernel(*many, LOAD.parameters, threads=2)
    np.testing.assert_array_equal(kernel(*many[:, 7], LOAD.parameters), whole[7])
    out = np.empty_like(whole)
    assert kernel(*many, LOAD.parameters, out=out) is out
    np.testing.assert_array_equal(out, whole)


def test_wrong_parameters_are_named(kernel: ParametricKernel) -> None:
    with pytest.raises(ShapeError, match="payload"):
        kernel(*states())
    with pytest.raises(ShapeError, match=r"payload: expected shape \(10,\)"):
        kernel(*states(), np.zeros((40, 10)))
    for wrong in ("heavy", ["1.0"] * 10, np.full(10, 1j), [[1.0], [2.0, 3.0]]):
        with pytest.raises(ShapeError, match="payload: expected real numbers"):
            kernel(*states(), wrong)


def test_parameters_of_another_thread_do_not_mix_in(kernel: ParametricKernel) -> None:
    class Contested(ParametricKernel):
        """Another thread puts its own parameters right after this one."""

        @property
        def _known(self) -> tuple[bytes, object] | None:
            return self.__dict__.get("known")

        @_known.setter
        def _known(self, value: tuple[bytes, object] | None) -> None:
            self.__dict__["known"] = value and (b"", self.setup(np.zeros(10)))

    contested = Contested(kernel.kernel, kernel.setup)
    np.testing.assert_array_equal(contested(*states(), LOAD.parameters), kernel(*states(), LOAD.parameters))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler here")
def test_c_equals_the_kernel(kernel: ParametricKernel, tmp_path: Path) -> None:
    tf.write_c(kernel.program, tmp_path / "c", name="arm")
    command = ["gcc", "-O2", "-std=c99", "-fPIC", "-shared", "arm.c", "-lm", "-o", "arm.so"]
    subprocess.run(command, cwd=tmp_path / "c", check=True)
    library = ctypes.CDLL(str(tmp_path / "c" / "arm.so"))
    block = np.empty(kernel.program.inputs[-1].size)
    library.arm_inverse_dynamics_setup(*map(_pointer, (LOAD.parameters.copy(), block)))
    expected = kernel(*states(), LOAD.parameters)
    for k in range(40):
        tau = np.empty(6)
        library.arm_inverse_dynamics(*map(_pointer, (*states()[:, k].copy(), block, tau)))
        assert np.abs(tau - expected[k]).max() < 1e-14 * np.abs(expected).max()


def _pointer(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def test_requests_that_make_no_sense() -> None:
    robot = robot_named("two_link")
    with pytest.raises(UnknownNameError, match="did you mean 'mass_matrix'"):
        tf.generate(robot, "mass_matrx")
    with pytest.raises(UnknownNameError, match="choose from auto, fastest, composite"):
        tf.generate(robot, "mass_matrix", algorithm="newton_euler")
    with pytest.raises(UnknownNameError, match="parameters: no 'both'; choose from 'baked', 'runtime'"):
        tf.generate(robot, parameters="both")  # type: ignore[arg-type]
    with pytest.raises(GenerationError, match="no joint has any"):
        tf.generate(robot, "friction")
    with pytest.raises(GenerationError, match="already is one function"):
        tf.compile(tf.generate(robot), "mass_matrix")
    with pytest.raises(UnknownNameError, match="articulated_body"):
        tf.generate(robot_named("parallelogram"), "forward_dynamics", algorithm="articulated_body")


def test_programs_that_would_be_too_long_are_refused_with_the_alternative(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tauform.codegen.candidates.MAX_OPERATIONS", 20)
    with pytest.raises(GenerationError, match=r"more than 20 .* call the textbook function \(tf.inverse_dynamics\)"):
        tf.generate(robot_named("sr6ia"), "inverse_dynamics")


def test_a_link_without_inertia_is_named() -> None:
    arm = tf.planar_chain(2)
    massless = arm.with_parameters(np.where(np.arange(28) // 10 == 1, 0.0, arm.parameters))
    with pytest.raises(SingularMassMatrixError, match=r"'link2' \(joint 'joint2'\) has no inertia"):
        tf.generate(massless, "forward_dynamics")


def test_a_load_stands_where_the_robot_describes_its_own() -> None:
    """At the frame of the described payload, which it replaces, and the conventions name that frame."""
    robot = tf.load("puma260_izaguirre").with_payload(LOAD, "link3")
    program = tf.generate(robot, "gravity_torque", payload="runtime")
    q, heavier = states()[0], tf.Inertia.of(2.0, [0.1, 0.0, 0.0])
    expected = tf.gravity_torque(robot.with_payload(heavier, "link3"), q)
    found = tf.compile(program)(q, heavier.parameters)
    assert np.abs(found - expected).max() < 1e-13 * np.abs(expected).max()
    assert any(line.startswith("payload: ") and "frame link3" in line for line in program.about.conventions)
