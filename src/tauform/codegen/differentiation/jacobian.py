"""Derivatives of programs as programs: all Jacobians, or the change of the outputs in one direction."""

from __future__ import annotations

from itertools import chain

import numpy as np

from tauform.codegen.differentiation.tangent import tangents
from tauform.codegen.program.embed import embedded, own_inputs
from tauform.codegen.program.graph import Graph, Scalar, references
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Program


def jacobian_program(program: Program) -> Program:
    """A program whose outputs d_<output>_<input> have the shape of the output followed by that of the input.

    They come output by output, and within each input by input. Signs have no derivative, so that sharp friction takes
    no part, as in `tf.linearize_inverse`.
    """
    graph = Graph()
    inputs = own_inputs(graph, program)
    results = embedded(graph, program, inputs)
    flat = [Scalar(graph, reference) for result in results for reference in result]
    one = graph.constant(1.0)
    edges = np.cumsum([0, *map(len, results)])
    # One tangent per entry of an input, each a column of all Jacobians by this input.
    columns = [np.array([tangents(flat, {entry: one}) for entry in entries], dtype=object) for entries in inputs]
    outputs = {
        f"d_{output.name}_{port.name}": by[:, edges[k] : edges[k + 1]].T.reshape((*output.shape, *port.shape))
        for k, output in enumerate(program.outputs)
        for port, by in zip(program.inputs, columns, strict=True)
    }
    return lower(graph, f"jac_{program.name}", outputs, robot=program.robot, algorithm=program.algorithm)


def tangent_program(program: Program) -> Program:
    """A program of the inputs and their rates `d_<input>`; its outputs `d_<output>` are the rates of the outputs."""
    graph = Graph()
    inputs = own_inputs(graph, program)
    rates = [references(graph, graph.input(f"d_{port.name}", *port.shape).ravel().tolist()) for port in program.inputs]
    results = embedded(graph, program, inputs)
    directions = dict(zip(chain(*inputs), chain(*rates), strict=True))
    changes = iter(tangents([Scalar(graph, r) for r in chain(*results)], directions))
    outputs = {
        f"d_{port.name}": np.array([next(changes) for _ in range(port.size)], dtype=object).reshape(port.shape)
        for port in program.outputs
    }
    return lower(graph, f"{program.name}_tangent", outputs, robot=program.robot, algorithm=program.algorithm)
