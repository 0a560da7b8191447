"""Programs to print and compile: textbook algorithms traced on a graph, without any search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tauform.arrays import AnyArray
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import About, Program
from tauform.description.robot import Robot
from tauform.rigidbody.inverse_dynamics import newton_euler


def inverse_dynamics(robot: Robot) -> Program:
    """Newton-Euler of a robot."""
    graph = Graph()
    q, qd, qdd = (graph.input(name, robot.n_joints) for name in ("q", "qd", "qdd"))
    tau = newton_euler(robot.tree, q[:, None], qd[:, None], qdd[:, None])[:, 0]
    return lower(graph, "inverse_dynamics", {"tau": tau}, robot=robot.name, algorithm="Newton-Euler")


def sines(n: int = 1) -> Program:
    """Sines and cosines of n angles."""
    graph = Graph()
    x = graph.input("x", n)
    return lower(graph, "sines", {"s": [a.sin() for a in x], "c": [a.cos() for a in x]})


def elementwise(function: Callable[[AnyArray], AnyArray], n: int = 1) -> Program:
    """Any function of one array."""
    graph = Graph()
    return lower(graph, "elementwise", {"y": function(graph.input("x", n))})


def every_kind() -> Program:
    """A program with every operation, ports of several shapes, a shared one with names, and a nested sine."""
    graph = Graph()
    x, y, z = graph.input("x", 3), graph.input("y", 2, 2), graph.input("z")
    p = graph.input("p", 3, shared=True)
    a = x[0] * p[0] + y[0, 1] / (2.0 + x[1] * x[1])
    b = ((a + z).sin() * p[1] + x[2].cos()).sin()
    matrix = np.array([[a, b, -a], [b, (x[0] * x[0] + 1.0).sqrt() * p[2], x[1].sign() * y[1, 1]]], dtype=object)
    total = matrix.ravel().sum() - y[1, 0] * y[0, 0] * (x[1] * 3.0).tanh() + (-abs(y[0, 0])).exp()
    return lower(
        graph,
        "every_kind",
        {"M": matrix, "y": np.array(-total)},
        robot="example",
        about=About(entries={"p": ("a", "b", "c")}),
    )


def long_sum(n_operations: int) -> Program:
    """A program of about that many operations whose values live long."""
    graph = Graph()
    x = graph.input("x", 5)
    values = [*x, *(v.sin() for v in x)]
    rng = np.random.default_rng(1)
    while 3 * len(values) < n_operations:
        i, j = rng.integers(len(values) // 2, len(values), 2)
        values.append(values[i] * float(rng.uniform(0.3, 0.5)) + values[j] * values[rng.integers(10)])
    total = sum(values[1:], start=values[0]) * (1.0 / len(values))
    return lower(graph, "long_sum", {"y": values[-3:], "z": [total, values[len(values) // 2], values[7], x[0] - x[0]]})
