"""Tracing: run an algorithm on scalars of a graph, and count what it costs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np

from tauform.arrays import AnyArray
from tauform.codegen.minimal.bodies import HX, HY, Bodies, affine, turned_by_load
from tauform.codegen.minimal.newton_euler import outside_wrenches
from tauform.codegen.minimal.problem import (
    Problem,
    at_leading_joints,
    tree_coordinates,
    user_efforts,
    user_matrix,
    wrench_port,
)
from tauform.codegen.minimal.search import Choice
from tauform.codegen.minimal.steps import Steps, content
from tauform.codegen.minimal.vectors import Triple
from tauform.codegen.program.graph import Graph, Scalar, references
from tauform.codegen.program.program import Op
from tauform.codegen.program.schedule import needed, reachable
from tauform.description.drives.groups import JointState
from tauform.description.loops.closure import GeneralClosure, LoopState
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.rigidbody.load import has_load
from tauform.rigidbody.sweeps.evaluation import RATE_OF

# Values of a graph: so many times the longest program that no algebra brings it back.
MAX_NODES = 100_000
# Graphs that a search holds: about a megabyte each.
MOST_GRAPHS = 30


@dataclass(frozen=True, eq=False)
class Tracing:
    """Symbols of a tracer: inputs as scalars, bodies with their parameters as numbers or scalars.

    Attributes:
        inputs: arrays in the user's coordinates, by name.
        drives: (n_drives,) coefficients of the drive terms.
        steps: what the trace of a candidate before may share with this one.
    """

    graph: Graph
    problem: Problem
    choice: Choice
    bodies: Bodies
    drives: AnyArray
    inputs: Mapping[str, AnyArray]
    steps: Steps

    @cached_property
    def _loops(self) -> LoopState | None:
        """Where general loops put the tree's joints; None where relations are linear."""
        closure = self.problem.robot.closure
        if not isinstance(closure, GeneralClosure):
            return None
        # Velocities only where the function has them: G needs q, Gdot needs qd.
        return closure.at(self.inputs["q"], self.inputs.get("qd"))

    def joints(self, name: str) -> AnyArray:
        """A joint vector in the coordinates of the tree."""
        before = RATE_OF.get(name, "")
        if self._loops is not None and name == "q":
            return self._loops.q
        if self._loops is not None and before in self.inputs:
            # General loops: tree rates need the rate below too, G qdd + Gdot qd.
            return self.tree_accelerations(self.inputs[name], self.inputs[before])
        return self.tree_accelerations(self.inputs[name]) if name != "q" else self._positions

    @property
    def _positions(self) -> AnyArray:
        return tree_coordinates(self.problem.robot, self.inputs["q"], is_position=True)

    def tree_accelerations(self, qdd: AnyArray, qd: AnyArray | None = None) -> AnyArray:
        """G qdd + Gdot qd; without qd also the tree's velocities of those of q."""
        if self._loops is None:
            return tree_coordinates(self.problem.robot, qdd, is_position=False)
        moved = _product(self._loops.G, qdd)
        return moved if qd is None else moved + _product(self._loops.Gdot, qd)

    def bending(self) -> AnyArray | None:
        """Gdot qd, accelerations of the tree's joints where q has none; None where loops are linear."""
        return None if self._loops is None or "qd" not in self.inputs else _product(self._loops.Gdot, self.inputs["qd"])

    def efforts(self, values: Sequence[Any]) -> AnyArray:
        """G^T tau of the tree's torques."""
        if self._loops is None:
            return user_efforts(self.problem.robot, values)
        return _product(self._loops.G.T, np.array(values, dtype=object))

    def bent_efforts(self, values: Sequence[Any]) -> AnyArray:
        """Gdot^T of values of the tree's joints; zero where loops are linear."""
        if self._loops is None:
            return np.zeros(self.problem.robot.n_joints)
        assert self._loops.Gdot is not None
        return _product(self._loops.Gdot.T, np.array(values, dtype=object))

    def matrix(self, matrix: AnyArray) -> AnyArray:
        """G^T M G of a matrix over the tree's joints."""
        if self._loops is None:
            return user_matrix(self.problem.robot, matrix)
        half = [self.efforts(row) for row in np.asarray(matrix, dtype=object)]
        # Row by row, then column by column: G^T (M G).
        return np.array([self.efforts(column) for column in np.array(half).T], dtype=object).T

    def bent_matrix(self, matrix: AnyArray) -> AnyArray:
        """G^T M Gdot, what loops add to the Coriolis matrix; zero where they are linear."""
        if self._loops is None:
            return np.zeros((self.problem.robot.n_joints,) * 2)
        half = [self.bent_efforts(row) for row in np.asarray(matrix, dtype=object)]
        return np.array([self.efforts(column) for column in np.array(half).T], dtype=object).T

    @property
    def drive_tree(self) -> Tree:
        """The robot in its own frames with these coefficients, for its drive terms."""
        return replace(self.problem.robot.tree, coefficients=self.drives[:, None])

    def drive_state(self, carried: Sequence[Any] | None = None) -> JointState:
        """State that drive terms see: (n, 1) arrays of the inputs that the function has.

        Args:
            carried: torques of links and rotors on the tree.
        """
        robot = self.problem.robot
        rows = {name: self.joints(name)[:, None] for name in ("q", "qd", "qdd") if name in self.inputs}
        if "temperature" in self.inputs:
            # Joints that follow others have no temperature of their own.
            rows["temperature"] = at_leading_joints(robot, self.inputs["temperature"])[:, None]
        if carried is not None and has_load(robot.tree):
            rows["carried"] = at_leading_joints(robot, self.efforts(carried))[:, None]
        return JointState(**{"q": None, "qd": None, **rows})

    @property
    def wrenches(self) -> list[Triple]:
        """Force and moment from outside at each of `bodies.frames`, in the axes of that frame."""
        return [self.inputs[wrench_port(frame)].tolist() for frame in self.problem.frames]

    def body_wrenches(self) -> dict[int, AnyArray]:
        """Moment and force on each body, (6, 1), for algorithms on `bodies.to_tree()`."""
        sums: dict[int, AnyArray] = {}
        for carrier, force, moment in outside_wrenches(self.bodies, self.wrenches):
            # Inside, twists and wrenches have their angular part first.
            own = np.array([*moment, *force], dtype=object)[:, None]
            sums[carrier] = sums[carrier] + own if carrier in sums else own
        return sums

    def angles(self) -> AnyArray:
        """(n, 1) positions for algorithms on `bodies.to_tree()`: the frames' offsets added."""
        return (self.joints("q") + self.bodies.offsets)[:, None]


def _product(matrix: AnyArray | None, vector: AnyArray) -> AnyArray:
    """Matrix times vector on scalars, without the zeros."""
    assert matrix is not None
    rows = []
    for row in matrix:
        total: Any = 0.0
        for weight, value in zip(row, vector, strict=True):
            # Whole numbers of a relation become floats, which the graph folds.
            total = total + (float(weight) if isinstance(weight, int) else weight) * value
        rows.append(total)
    return np.array(rows, dtype=object)


Outputs = dict[str, Any]
Tracer = Callable[[Tracing], Outputs]


def ranges_of(robot: Robot, port: str) -> tuple[tuple[float, float], ...]:
    """`Port.ranges` of an input: positions at which loops close; none where all are possible."""
    if port != "q" or not isinstance(robot.closure, GeneralClosure):
        return ()
    return tuple((low, high) for low, high in robot.closure.ranges.tolist())


def traced(
    problem: Problem,
    choice: Choice,
    bodies: Bodies,
    shapes: Mapping[str, tuple[int, ...]],
    tracer: Tracer,
    opaque: bool,
    steps: Steps | None = None,
) -> tuple[Graph, Outputs]:
    """The graph of a tracer's outputs.

    Args:
        shapes: input ports of the function.
        opaque: give each run-time parameter an input of its own: enough for counting, and quicker.
        steps: of other candidates of the same function; their results must not be used any more.
    """
    steps = steps or Steps(Graph(MAX_NODES))
    steps.begin()
    graph = steps.graph
    inputs = steps.take(
        "inputs",
        lambda: {
            name: graph.input(name, *shape, ranges=ranges_of(problem.robot, name)) for name, shape in shapes.items()
        },
    )
    if opaque:
        bodies, drives = _opaque(steps, bodies, problem)
    else:
        # Parameters that come at run time are linear combinations of the ports' entries.
        runtime = [graph.input(port.name, len(port.entries), shared=True) for port in problem.ports]
        flat = np.concatenate(runtime) if runtime else np.empty(0, dtype=object)
        bodies = bodies.with_scalars(flat)
        drives = np.array([affine(row, flat) for row in problem.drives.tolist()], dtype=object)
    bodies = _turned_by_load(steps, bodies, choice.turned)
    return graph, tracer(Tracing(graph, problem, choice, bodies, drives, inputs, steps))


class Graphs:
    """Graphs of a search, one per choice of frames: with the same frames, bodies move the same."""

    def __init__(self) -> None:
        self._steps: dict[Hashable, Steps] = {}

    def of(self, choice: Choice) -> Steps:
        """Steps of the candidates with these frames so far; the oldest of many are forgotten."""
        frames = choice.shifts, choice.summed, choice.unit
        # pop and insert again: the order of the dictionary is that of use.
        steps = self._steps.pop(frames, None) or Steps(Graph(MAX_NODES), only_counted=True)
        self._steps[frames] = steps  # the latest stand last
        if len(self._steps) > MOST_GRAPHS:
            del self._steps[next(iter(self._steps))]
        return steps


def _turned_by_load(steps: Steps, bodies: Bodies, turned: frozenset[int]) -> Bodies:
    """The bodies to be turned whose angles come at run time; one step, whichever they are."""
    parameters, offsets = bodies.parameters.copy(), bodies.offsets.astype(object)
    places = [
        # a turn by an angle that comes at run time would make the places of wrenches depend on it
        i
        for i in sorted(turned)
        if i not in bodies.carriers and all(isinstance(parameters[i, k], Scalar) for k in (HX, HY))
    ]
    found = [(parameters[i].tolist(), offsets[i]) for i in places]
    reads = tuple((i, content([*row, offset])) for i, (row, offset) in zip(places, found, strict=True))
    made = steps.take(reads, lambda: [turned_by_load(row, offset) for row, offset in found])
    for i, (row, offset) in zip(places, made, strict=True):
        parameters[i], offsets[i] = row, offset
    return replace(bodies, parameters=parameters, offsets=offsets) if places else bodies


def _opaque(steps: Steps, bodies: Bodies, problem: Problem) -> tuple[Bodies, AnyArray]:
    """Every parameter that is not a number becomes an input of its own."""
    own = bodies.parameters.reshape(-1, bodies.parameters.shape[-1])
    numbers = np.concatenate([own, problem.drives])
    # A parameter that a choice made zero stays a number, and drops out with its products.
    symbolic = (numbers[:, 1:] != 0).any(axis=-1)
    values = numbers[:, 0].astype(object)
    count = int(symbolic.sum())
    # By number only: which parameters are symbolic does not change the nodes of the inputs.
    values[symbolic] = steps.take(count, lambda: steps.graph.input("parameters", count, shared=True))
    parameters = values[: len(own)].reshape(bodies.parameters.shape[:2])
    return replace(bodies, parameters=parameters), values[len(own) :]


def operations(graph: Graph, outputs: Outputs) -> tuple[int, int]:
    """(multiplications, additions) that depend on the state; work on parameters alone is done once."""
    flat = [value for array in outputs.values() for value in np.asarray(array, dtype=object).ravel().tolist()]
    # Only what the results need is counted: everything else is dead code.
    results = references(graph, flat)
    if _has_shared(graph):
        live = state_dependent(graph, results)
        ops = [graph.nodes[node - 1][0] for node in live]
    else:
        live = None
        ops = [key[0] for key in compress(graph.nodes, needed(graph, results))]
    # A result that is the negative of a node costs one operation more.
    negated = len({r for r in results if r < 0 and (live is None or -r in live)})
    n_products, n_sums = ops.count(Op.MULTIPLY) + ops.count(Op.DIVIDE), ops.count(Op.ADD) + ops.count(Op.SUBTRACT)
    return n_products, n_sums + negated


def _has_shared(graph: Graph) -> bool:
    return any(port.shared and port.size for port in graph.inputs)


def state_dependent(graph: Graph, results: Sequence[int]) -> set[int]:
    """Nodes behind the results that read an input which is not shared."""
    if not _has_shared(graph):
        return set(reachable(graph, results))
    dependent: set[int] = set()
    for node in reachable(graph, results):
        key = graph.nodes[node - 1]
        # An input of the state; shared ones are parameters.
        own = key[0] is Op.INPUT and not graph.inputs[key[1]].shared
        if own or any(abs(operand) in dependent for operand in graph.operands(node)):
            dependent.add(node)
    return dependent
