"""Rust crates: functions that core lacks are right for every argument, and cargo builds them without a network."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Program
from tauform.errors import GenerationError
from traced_programs import inverse_dynamics
from written_checks import installed

rustc = pytest.mark.skipif(not installed("rustc"), reason="rustc is not installed")
TRICKY = [0.0, -0.0, 5e-324, 1e-310, -1e-300, 1e-8, 0.5, -1.0, 2.0, 88.5, -100.0, 709.5, -720.0, 99999.0, 100001.0]
HUGE = [-123456.789, 1e10, 2.0**60, -1e22, 5.319372648326541e255, 1.7976931348623157e308, math.inf, -math.inf, math.nan]


def arguments(dtype: type[np.floating]) -> np.ndarray:
    """Numbers of that type, near and far: multiples of pi/2 too, whose rest is small."""
    rng = np.random.default_rng(0)
    spread = rng.choice([-1.0, 1.0], 300) * 10.0 ** rng.uniform(-30.0, 30.0, 300)
    with np.errstate(over="ignore"):
        return np.concatenate([TRICKY, HUGE, spread, rng.integers(1, 10**9, 100) * (np.pi / 2)]).astype(dtype)


def exact(function: Callable[..., float], *values: np.ndarray) -> np.ndarray:
    """Python's own function of each number; NaN where it has none, infinite where it overflows."""

    def of(*x: float) -> float:
        try:
            return function(*x)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return np.array([of(*row) for row in zip(*(v.astype(float).tolist() for v in values), strict=True)])


def of_far(name: str, angle: float) -> float:
    """sin or cos by mpmath, since C libraries lose digits next to multiples of pi/2 of large angles."""
    mpmath = pytest.importorskip("mpmath")
    if not math.isfinite(angle):
        return math.nan
    with mpmath.workprec(1300):
        return float(getattr(mpmath, name)(mpmath.mpf(angle)))


def program() -> Program:
    """Each function that core lacks."""
    graph = Graph()
    a, b = graph.input("x").item(), graph.input("y").item()
    outputs = {
        "sin": a.sin(),
        "cos": a.cos(),
        "sqrt": abs(a).sqrt(),
        "exp": a.exp(),
        "tanh": a.tanh(),
        "sign": a.sign(),
    }
    outputs["atan2"] = b.arctan2(a)
    return lower(graph, "every", {f"{name}_of": np.array(value) for name, value in outputs.items()})


def caller(kind: str, first: np.ndarray, second: np.ndarray) -> str:
    """A program that prints the results for each pair of arguments, which are given by their bits."""
    bits = kind.replace("f", "u")
    rows = ", ".join(f"({p}, {q})" for p, q in zip(first.tolist(), second.tolist(), strict=True))
    names = [port.name for port in program().outputs]
    return "\n".join(
        [
            f"fn main() {{ let rows: &[({bits}, {bits})] = &[{rows}]; for (p, q) in rows {{",
            *(f"let mut {name} = [0.0; 1];" for name in names),
            f"let (x, y) = ([{kind}::from_bits(*p)], [{kind}::from_bits(*q)]);",
            f"arm::every(&x, &y, {', '.join(f'&mut {name}' for name in names)});",
            *(f'print!("{{:e}} ", {name}[0]);' for name in names),
            "println!(); } }",
        ]
    )


@rustc
@pytest.mark.parametrize("real", ["double", "float"])
def test_functions_of_every_argument(tmp_path: Path, real: str) -> None:
    dtype, kind, whole = (np.float64, "f64", np.uint64) if real == "double" else (np.float32, "f32", np.uint32)
    tf.write(program(), tmp_path, target="rust", name="arm", real=real)
    first = arguments(dtype)
    second = np.random.default_rng(1).permutation(first)
    (tmp_path / "main.rs").write_text(caller(kind, first.view(whole), second.view(whole)))
    subprocess.run(["make", "check"], cwd=tmp_path, check=True, capture_output=True)
    build = ["rustc", "--edition=2021", "-O", "--extern", "arm=libarm.rlib", "main.rs", "-o", "main"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    printed = subprocess.run([tmp_path / "main"], check=True, capture_output=True, text=True).stdout
    columns = np.array([line.split() for line in printed.splitlines()], dtype=float).T
    eps, tiny = float(np.finfo(dtype).eps), float(np.finfo(dtype).tiny)
    wanted = {
        "sin": exact(lambda v: of_far("sin", v), first),
        "cos": exact(lambda v: of_far("cos", v), first),
        "sqrt": exact(lambda v: math.sqrt(abs(v)), first),
        "exp": exact(math.exp, first),
        "tanh": exact(math.tanh, first),
        "sign": np.sign(first.astype(float)),
        "atan2": exact(math.atan2, second, first),
    }
    with np.errstate(over="ignore"):
        wanted = {name: values.astype(dtype).astype(float) for name, values in wanted.items()}
    for (name, values), column in zip(wanted.items(), columns, strict=True):
        # exponentials are zero or infinite a little before they would be subnormal or overflow
        near = (values < 2 * tiny) | (values > 0.2 * float(np.finfo(dtype).max))
        edge = near & (name == "exp") & np.isfinite(first)
        np.testing.assert_allclose(column[~edge], values[~edge], rtol=4 * eps, atol=tiny, err_msg=name)


@rustc
@pytest.mark.nightly
def test_cargo_builds_and_tests_without_a_network(tmp_path: Path) -> None:
    if not installed("cargo"):
        pytest.skip("cargo is not installed")
    tf.write(inverse_dynamics(tf.load("two_link")), tmp_path, target="rust", name="arm", real="float")
    done = subprocess.run(["cargo", "test", "--offline"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "test inverse_dynamics ... ok" in done.stdout
    assert "warning" not in done.stderr


def test_names_of_crates_that_are_taken(tmp_path: Path) -> None:
    program = inverse_dynamics(tf.load("two_link"))
    for name in ("core", "match", "std"):
        with pytest.raises(GenerationError, match="cannot name a crate of Rust"):
            tf.write(program, tmp_path / "out", target="rust", name=name)
    assert not (tmp_path / "out").exists()
