"""Bounds of rounding errors: no state exceeds them, Gappa agrees on small programs, and they are not far too large."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Op, Program
from tauform.codegen.rounding.magnitudes import EXPONENTIAL_ERROR, SINE_ERROR
from tauform.errors import GenerationError, ShapeError, UnknownNameError
from traced_programs import elementwise, sines

RANGES = {"q": np.pi, "qd": 2.0, "qdd": 5.0}
UNIT = 2.0**-24
# Largest ratio of bound to error seen; six angles have a coarse grid.
ROBOTS = {"two_link": 10, "sr6ia": 10, "kr6_r700": 30, "lbr7": 100}

# Without and, where the processor has it, with fused multiply-add.
HAS_FMA = " fma " in Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else False
CONTRACTED = [("-DTAUFORM_NO_DISPATCH", "-ffp-contract=off"), *([("-mfma", "-ffp-contract=fast")] * HAS_FMA)]


@cache
def bound_of(name: str) -> np.ndarray:
    """Bound of a robot's torques; limits are a little wider, since the corners are rounded to float."""
    program = tf.generate(tf.load(name), "inverse_dynamics")
    return tf.rounding_bound(program, {k: v * (1 + 1e-7) for k, v in RANGES.items()}).errors["tau"]


def compiled(program: Program, folder: Path, *flags: str) -> ctypes.CDLL:
    """The program's C in single precision, with a batch function."""
    tf.write_c(program, folder, name="arm", real="float", batch=True)
    command = ["gcc", "-std=c99", "-O2", *flags, "-shared", "-fPIC", "arm.c", "-lm", "-o", "arm.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "arm.so"))


def called(library: ctypes.CDLL, program: Program, inputs: list[np.ndarray]) -> np.ndarray:
    """(N, size) results of the batch function for inputs (N, size) in float."""
    columns = [np.ascontiguousarray(array.T, dtype=np.float32) for array in inputs]
    out = np.empty((program.outputs[0].size, len(inputs[0])), dtype=np.float32)
    places = (ctypes.c_void_p(array.ctypes.data) for array in (*columns, out))
    getattr(library, f"arm_{program.name}_batch")(ctypes.c_size_t(len(inputs[0])), *places)
    return out.T.astype(np.float64)


def states(n_joints: int, count: int, seed: int) -> list[np.ndarray]:
    """Random states and corners of the box, in float."""
    rng = np.random.default_rng(seed)
    arrays = []
    for limit in RANGES.values():
        inside = rng.uniform(-limit, limit, (count, n_joints))
        corners = limit * rng.choice([-1.0, 1.0], (count // 4, n_joints))
        arrays.append(np.vstack([inside, corners]).astype(np.float32))
    # positions at corners of velocities and accelerations are anything
    arrays[0][count:] = rng.uniform(-np.pi, np.pi, arrays[0][count:].shape)
    return [np.clip(a, -np.float32(m), np.float32(m)) for a, m in zip(arrays, RANGES.values(), strict=True)]


def near(inputs: list[np.ndarray], errors: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """States around those with the largest errors of each result: random ones hardly meet the worst postures."""
    worst = np.concatenate([np.argsort(-error, kind="stable")[:60] for error in errors.T])
    found = []
    for array, limit in zip(inputs, map(np.float32, RANGES.values()), strict=True):
        moved = np.repeat(array[worst], 50, axis=0)
        some, ends, turned = rng.random((3, *moved.shape)) < np.array([0.3, 0.1, 0.05])[:, None, None]
        moved[some] += (0.2 * limit * rng.normal(size=moved.shape)).astype(np.float32)[some]
        moved[ends] = np.copysign(limit, moved[ends])
        moved[turned] *= -1
        found.append(np.clip(np.vstack([array[worst], moved]), -limit, limit))
    return found


@pytest.mark.parametrize("flags", CONTRACTED)
@pytest.mark.parametrize("name", representatives(ROBOTS, "two_link", "sr6ia"))
def test_no_state_exceeds_the_bound(tmp_path: Path, name: str, flags: tuple[str, ...]) -> None:
    robot = tf.load(name)
    program = tf.generate(robot, "inverse_dynamics")
    bound = bound_of(name)
    library = compiled(program, tmp_path / "c", *flags)

    def errors_of(inputs: list[np.ndarray]) -> np.ndarray:
        exact = program(*(array.astype(np.float64) for array in inputs))
        return np.abs(called(library, program, inputs) - exact)

    rounds, seen = 2 if name in ("two_link", "sr6ia") else 10, np.zeros(robot.n_joints)
    for seed in range(rounds):
        inputs = states(robot.n_joints, 100_000, seed)
        seen = np.maximum(seen, errors_of(inputs).max(axis=0))
    # Whoever looks for the worst finds nearly twice as much.
    rng = np.random.default_rng(rounds)
    for _ in range(2 * rounds):
        inputs = near(inputs, errors_of(inputs), rng)
        seen = np.maximum(seen, errors_of(inputs).max(axis=0))
    assert (seen <= bound).all()
    assert (bound <= ROBOTS[name] * seen).all(), bound / seen


def test_double_against_more_digits() -> None:
    """Extended precision shows errors of double precision."""
    robot = tf.load("sr6ia")
    program = tf.generate(robot, "inverse_dynamics")
    bound = tf.rounding_bound(program, RANGES, real="double").errors["tau"]
    inputs = [array.astype(np.float64) for array in states(robot.n_joints, 20_000, 0)]
    if np.finfo(np.longdouble).eps >= np.finfo(np.float64).eps:
        pytest.skip("no extended precision here")
    seen = np.abs(program(*inputs) - program(*(array.astype(np.longdouble) for array in inputs))).max(axis=0)
    assert (seen <= bound).all()
    assert (bound <= 50 * seen).all()


def test_friction_and_springs_are_covered(tmp_path: Path) -> None:
    robot = tf.random_robot("RRP", seed=4)
    terms = [tf.Drive.of("coulomb", 0, 2.0, width=0.05), *(t for t in robot.drives if t.shape != "coulomb")]
    program = tf.generate(robot.with_drives(terms), "inverse_dynamics")
    assert program.count(Op.TANH)
    bound = tf.rounding_bound(program, {k: v * (1 + 1e-7) for k, v in RANGES.items()}).errors["tau"]
    inputs = states(3, 40_000, 1)
    exact = program(*(array.astype(np.float64) for array in inputs))
    seen = np.abs(called(compiled(program, tmp_path / "c"), program, inputs) - exact).max(axis=0)
    assert (seen <= bound).all()


@pytest.mark.parametrize("flags", CONTRACTED)
def test_functions_are_as_accurate_as_stated(tmp_path: Path, flags: tuple[str, ...]) -> None:
    x = np.random.default_rng(0).uniform(-100, 100, (1_000_000, 1)).astype(np.float32)
    x[:500_000] /= 32
    wide = x.astype(np.float64)
    cases = [
        (sines(), np.sin(wide), SINE_ERROR, None),
        (elementwise(lambda v: np.array([v[0].tanh()])), np.tanh(wide), EXPONENTIAL_ERROR, None),
        (elementwise(lambda v: np.array([v[0].exp()])), np.exp(wide / 2), EXPONENTIAL_ERROR, np.exp(wide / 2)),
    ]
    for k, (program, exact, units, scale) in enumerate(cases):
        given = x if scale is None else x / 2
        library = compiled(program, tmp_path / str(k), *flags)
        if program.name == "sines":
            found = _sines(library, given)
            assert np.abs(found - np.hstack([np.sin(wide), np.cos(wide)])).max() <= units * UNIT
            continue
        error = np.abs(called(library, program, [given]) - exact)
        assert (error / (1.0 if scale is None else scale)).max() <= units * UNIT


def _sines(library: ctypes.CDLL, x: np.ndarray) -> np.ndarray:
    out = np.empty((2, len(x)), dtype=np.float32)
    places = [np.ascontiguousarray(x.T), out[0], out[1]]
    library.arm_sines_batch(ctypes.c_size_t(len(x)), *(ctypes.c_void_p(a.ctypes.data) for a in places))
    return out.T.astype(np.float64)


GAPPA = """@r = float<ieee_32, ne>;
{inputs}
{rounded}
{exact}
{{ {given} -> |y - Y| in ? }}
"""


@pytest.mark.skipif(shutil.which("gappa") is None, reason="gappa is not installed")
@pytest.mark.parametrize("limits", [(1.0, 1.0, 1.0), (3.0, 0.25, 7.0)])
def test_gappa_agrees(limits: tuple[float, float, float]) -> None:
    """Two proofs of the same: neither is below the largest error that exists, and they are near each other."""
    graph = Graph()
    x = graph.input("x", 3)
    a = x[0] * x[1] + 0.3 * x[2]
    program = lower(graph, "small", {"y": np.array([a * a - 0.7 * x[0] + x[1]])})
    ours = float(tf.rounding_bound(program, {"x": limits}).errors["y"][0])
    rounded = "a r= x0*x1 + r(0.3)*x2;\ny r= a*a - r(0.7)*x0 + x1;"
    exact = "A = x0*x1 + 0.3*x2;\nY = A*A - 0.7*x0 + x1;"
    inputs = "\n".join(f"x{k} = r(X{k});" for k in range(3))
    given = " /\\ ".join(f"|x{k}| <= {limit}" for k, limit in enumerate(limits))
    script = GAPPA.format(inputs=inputs, rounded=rounded, exact=exact, given=given)
    done = subprocess.run(["gappa"], input=script, capture_output=True, text=True, check=True)
    found = re.search(r"in \[.*?, [^{]*\{([^,}]+)", done.stderr + done.stdout)
    assert found, done.stderr
    theirs = float(found[1])
    corners = np.array(list(product(*([-m, m] for m in limits))), dtype=np.float32)
    inside = np.random.default_rng(0).uniform(-1, 1, (200_000, 3)) * np.array(limits)
    points = np.vstack([corners, inside.astype(np.float32)])
    seen = np.abs(program(points).astype(np.float64) - program(points.astype(np.float64))).max()
    assert seen <= min(ours, theirs)
    assert 0.3 * theirs <= ours <= 2.0 * theirs


@pytest.mark.parametrize(
    ("ranges", "error", "words"),
    [
        ({}, GenerationError, "q of inverse_dynamics has no finite range; name its largest magnitude"),
        ({**RANGES, "qdd": np.inf}, GenerationError, "qdd of inverse_dynamics has no finite range"),
        ({**RANGES, "tau": 1.0}, UnknownNameError, "input"),
        ({**RANGES, "qd": [1.0, 2.0, 3.0]}, ShapeError, "qd takes one number or"),
    ],
)
def test_what_has_no_bound_is_refused(ranges: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=re.escape(words)):
        tf.rounding_bound(tf.generate(tf.load("two_link")), ranges)


def test_divisions_are_refused() -> None:
    program = tf.generate(tf.load("two_link"), "forward_dynamics")
    with pytest.raises(GenerationError, match="forward_dynamics divides"):
        tf.rounding_bound(program, {"q": 3.0, "qd": 1.0, "tau": 5.0})


def test_the_readme_states_it(tmp_path: Path) -> None:
    program = tf.generate(tf.load("two_link"))
    bound = tf.rounding_bound(program, RANGES)
    tf.write_c(program, tmp_path / "c", real="float", bounds=[bound])
    assert bound.sentence in (tmp_path / "c" / "README.md").read_text(encoding="utf-8")
    with pytest.raises(GenerationError, match="for another type than double"):
        tf.write_c(program, tmp_path / "d", bounds=[bound])
