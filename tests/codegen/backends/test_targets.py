"""Every target: what was written is built and run, and repeats the stored results, on chains, trees and loops."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tauform.codegen.backends.reference import DOUBLE, Reference
from tauform.codegen.backends.registry import TARGETS, backend
from tauform.codegen.minimal.problem import has_friction
from tauform.codegen.program.program import Program
from tauform.errors import GenerationError, UnknownNameError
from traced_programs import every_kind, inverse_dynamics
from written_checks import check_commands, run_check


def urdf(name: str) -> Path:
    """A real robot; skips where neither robots nor Pinocchio are installed, as with the oldest dependencies."""
    pytest.importorskip("pinocchio")
    from real_robots import urdf as found

    return found(name)


FUNCTIONS = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
ROBOTS: dict[str, Callable[[], tf.Robot]] = {
    "chain": lambda: tf.load("sr6ia"),
    "loop": lambda: tf.load("parallelogram"),
    "tree": lambda: tf.random_robot(3, seed=3, branching=0.6),
    "kr6": lambda: tf.load("kr6_r700"),
    "panda": lambda: tf.load(urdf("panda"), tip="panda_link8"),
    "quadruped": lambda: tf.load(urdf("solo12")),
}
SMALL = tf.load("two_link")


@cache
def robot_of(name: str) -> tf.Robot:
    return ROBOTS[name]()


@cache
def programs(name: str) -> list[Program]:
    """Programs of a robot: without and with matrices, parameters of run time and wrenches."""
    robot = robot_of(name)
    return [
        *(tf.generate(robot, function) for function in FUNCTIONS),
        tf.generate(robot, "gravity_torque", parameters="runtime"),
        tf.generate(robot, "bias_torque", wrenches=[robot.tool.name]),
    ]


def for_target(target: str, wanted: list[Program], robot: tf.Robot) -> list[Program]:
    """The programs with those that the target's interface calls, which replace others of the same name."""
    names = [name for name in backend(target).functions if name != "friction" or has_friction(robot)]
    return [*(p for p in wanted if p.name not in names), *(tf.generate(robot, name) for name in names)]


@pytest.mark.usefixtures("flags_of_the_makefile")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", representatives(ROBOTS, "tree"))
def test_a_written_folder_passes_its_own_check(tmp_path: Path, target: str, name: str) -> None:
    wanted = for_target(target, programs(name), robot_of(name))
    tf.write(wanted, tmp_path / "out", target=target, name="arm")
    printed = run_check(tmp_path / "out", target, "arm")
    assert all(program.name in printed for program in wanted)


# Targets of builds, headers, words of languages, and beginnings of our own files' names.
NAMES = ("test", "test rig", "all", "install", "stdint", "class", "main", "kernel", "std", "model", "aux", "7 axes")


@pytest.mark.parametrize("case", representatives(product(TARGETS, NAMES), ("wasm", "test")), ids=" ".join)
def test_a_robot_of_any_name_passes_the_check_of_every_target(tmp_path: Path, case: tuple[str, str]) -> None:
    target, name = case
    wanted = [replace(p, robot=name) for p in for_target(target, [tf.generate(SMALL, "gravity_torque")], SMALL)]
    tf.write(wanted, tmp_path / "out", target=target)
    assert "gravity_torque" in run_check(tmp_path / "out", target, backend(target).prefix(None, name))


@pytest.mark.parametrize("name", representatives(ROBOTS, "tree", "loop"))
def test_what_every_target_is_checked_against_is_the_textbook(name: str) -> None:
    """Stored results and what a self-test allows beside them stay within 1e-12 of each output's peak together."""
    robot = robot_of(name)
    for program in programs(name)[: len(FUNCTIONS)]:
        stored = Reference(program, DOUBLE)
        expected = getattr(tf.textbook, program.name)(robot, *stored.inputs)
        peak = np.abs(expected).max()
        condition = np.linalg.cond(tf.mass_matrix(robot, stored.inputs[0])).max()
        deviation = np.abs(stored.results[0] - expected.reshape(stored.results[0].shape)).max()
        allowed = stored.tolerance * stored.scales[0].max()
        assert deviation + allowed <= 1e-12 * peak * (condition if program.name == "forward_dynamics" else 1.0)


@pytest.mark.parametrize("target", TARGETS)
def test_every_operation_is_printed(tmp_path: Path, target: str) -> None:
    tf.write(for_target(target, [every_kind()], SMALL), tmp_path / "out", target=target, name="arm")
    run_check(tmp_path / "out", target, "arm")


@pytest.mark.parametrize("target", TARGETS)
def test_a_wrong_number_is_noticed(tmp_path: Path, target: str) -> None:
    wanted = for_target(target, [inverse_dynamics(robot_of("chain"))], robot_of("chain"))
    tf.write(wanted, tmp_path / "out", target=target, name="arm")
    sources = [path for path in (tmp_path / "out").rglob("arm*") if path.is_file() and path.suffix != ".h"]
    number = re.compile(r"(?<![\w.])0\.\d{4,}")
    # Not what only calls it.
    source = max(sources, key=lambda path: len(number.findall(path.read_text(encoding="utf-8"))))
    text = source.read_text(encoding="utf-8")
    numbers = list(number.finditer(text))
    source.write_text(text[: numbers[-1].start()] + "0.5" + text[numbers[-1].end() :], encoding="utf-8")
    commands = check_commands(target, "arm")
    done = [subprocess.run(c, cwd=tmp_path / "out", capture_output=True, check=False).returncode for c in commands]
    assert any(done)


def test_what_a_target_lacks_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    program = tf.generate(robot_of("chain"), "inverse_dynamics")
    with pytest.raises(UnknownNameError, match="target"):
        tf.write(program, tmp_path / "out", target="fortran")  # type: ignore[arg-type]
    with pytest.raises(GenerationError, match="real: expected one of double in JavaScript, got 'float'"):
        tf.write(program, tmp_path / "out", target="javascript", real="float")
    with pytest.raises(GenerationError, match="batch: JavaScript functions take one state"):
        tf.write(program, tmp_path / "out", target="javascript", batch=True)
    with pytest.raises(GenerationError, match="word of JavaScript"):
        tf.write(program, tmp_path / "out", target="javascript", name="yield")
    assert backend("javascript").prefix(None, "yield") == "yield_robot"
    assert not list(tmp_path.iterdir())


def test_only_the_registry_names_a_backend() -> None:
    package = Path(tf.__file__).parent
    # The kernels' runtime is the other half of the LLVM backend.
    allowed = [package / "codegen" / folder for folder in ("backends", "runtime")]
    named = re.compile(rf"codegen\.backends\.({'|'.join([*TARGETS, 'llvm'])})\b")
    others = [path for path in package.rglob("*.py") if not any(path.is_relative_to(place) for place in allowed)]
    assert [str(p.relative_to(package)) for p in others if named.search(p.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("own", [*TARGETS, "llvm"])
def test_no_backend_needs_another(own: str) -> None:
    """What several share stands beside their folders, so that each can be read, and removed, alone."""
    named = re.compile(rf"codegen\.backends\.({'|'.join({*TARGETS, 'llvm'} - {own})})\b")
    folder = Path(tf.__file__).parent / "codegen" / "backends" / own
    assert [path.name for path in folder.rglob("*.py") if named.search(path.read_text(encoding="utf-8"))] == []
