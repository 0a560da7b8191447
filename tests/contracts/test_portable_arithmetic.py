"""Rooms whose results decide or enter a text compute in `tauform.portable`, not with BLAS and the C library.

BLAS, LAPACK, sines and normal random numbers have other last bits on other processors (docs/architecture.md).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

from source_trees import parsed

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "tauform"
ROOMS = ("description", "rigidbody", "closedform", "codegen", "realtime")
# Attributes of np and math that BLAS or a table of polynomials stands behind.
FORBIDDEN = {
    *("dot", "vdot", "inner", "matmul", "einsum", "tensordot", "convolve", "correlate", "polyfit", "cov", "linalg"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arctan2", "hypot", "sinc"),
    *("asin", "acos", "atan", "atan2", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "power", "pow", "cbrt"),
}
# Of a generator: polynomials are behind the first, a sum that may be fused behind the second.
DISTRIBUTIONS = {"normal", "standard_normal", "uniform", "exponential", "multivariate_normal"}
EVALUATION = "numbers for the caller, compared with nothing"
SPARSE = "scipy.sparse sums one entry after the other"
INTEGERS = "integers"
SOLVER = "numbers of a convex program, which its solver rounds"
ALLOWED = {
    "description/formats/mjcf/reader.py": "torques of two engines at any states, with a tolerance",
    "description/findings.py": "eigenvalues in the words of a warning, with a tolerance",
    "rigidbody/check.py": "a share in the words of a warning",
    "rigidbody/inertia/factorize.py": EVALUATION,
    "rigidbody/linearize/parameters.py": EVALUATION,
    "rigidbody/linearize/state_space.py": EVALUATION,
    "closedform/base/feasible.py": SOLVER,
    "closedform/base/physical.py": SOLVER,
    "closedform/expansion/expanded.py": SPARSE,
    "closedform/expansion/expanded_followers.py": SPARSE,
    "closedform/expansion/followers.py": SPARSE,
    "closedform/expansion/terms.py": SPARSE,
    "closedform/model/derive.py": SPARSE,
    "closedform/model/model.py": SPARSE,
    "closedform/terms/monomials.py": f"{SPARSE}; {INTEGERS}",
    "closedform/model/storage.py": "a check of a file, with a tolerance",
    "closedform/reduction/reduction.py": SPARSE,
    "closedform/reduction/streaming.py": "bins of a histogram",
    "codegen/factored/factoring.py": INTEGERS,
    "codegen/frameworks/jax_function.py": EVALUATION,
    "codegen/runtime/fastest.py": "what is timed is of this machine",
    "realtime/multirate/bandwidth.py": EVALUATION,
    "realtime/multirate/prediction.py": EVALUATION,
    "realtime/reduction/figures.py": EVALUATION,
}


def uses(source: str) -> Iterator[str]:
    """Line and name of everything that depends on the processor."""
    tree = parsed(source)
    portable = {id(part) for node in ast.walk(tree) if _sums_squares(node) for part in ast.walk(node.func)}
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            yield f"{node.lineno} @"
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scipy.linalg"):
            yield f"{node.lineno} {node.module}"
        if isinstance(node, ast.Attribute) and id(node) not in portable and _is_forbidden(node):
            yield f"{node.lineno} {ast.unparse(node)}"


def _is_forbidden(node: ast.Attribute) -> bool:
    if isinstance(node.value, ast.Name) and node.value.id in ("np", "math"):
        return node.attr in FORBIDDEN
    return node.attr in DISTRIBUTIONS and "rng" in ast.unparse(node.value)


def _sums_squares(node: ast.AST) -> TypeGuard[ast.Call]:
    """np.linalg.norm with an axis sums squares, as NumPy's other sums do."""
    has_axis = isinstance(node, ast.Call) and any(keyword.arg == "axis" for keyword in node.keywords)
    return has_axis and ast.unparse(node.func) == "np.linalg.norm"


MODULES = sorted(path for room in ROOMS for path in (PACKAGE / room).rglob("*.py"))


def test_rooms_that_decide_compute_portably() -> None:
    for module in MODULES:
        found = list(uses(module.read_text(encoding="utf-8")))
        place = str(module.relative_to(PACKAGE))
        if place in ALLOWED:
            assert found, f"{place} is portable; take it off the list"
        else:
            assert found == [], f"{place}: use tauform.portable, or say here why its last bits decide nothing"
    assert set(ALLOWED) <= {str(module.relative_to(PACKAGE)) for module in MODULES}


@pytest.mark.parametrize(
    "line", ["a @ b", "a @= b", "np.dot(a, b)", "np.linalg.norm(a)", "math.sin(a)", "rng.normal(size=3)"]
)
def test_each_kind_is_found(line: str) -> None:
    assert list(uses(line))


@pytest.mark.parametrize(
    "line", ["a * b", "np.linalg.norm(a, axis=1)", "np.sqrt(a)", "rng.random(3)", "self.exponential"]
)
def test_what_is_portable_passes(line: str) -> None:
    assert not list(uses(line))
