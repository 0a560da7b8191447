"""modelDescription.xml: the variables of an FMU and how they depend on each other.

q, qd and qdd are arrays of the joints; further inputs of forward dynamics (tau, temperatures, wrenches, run-time
parameters) are inputs of the model.
"""

from __future__ import annotations

import numpy as np

from tauform.codegen.backends.templating import template
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program
from tauform.version import __version__

# Value references: those of inputs follow.
TIME, Q, QD, QDD, STEP, FIRST_INPUT = range(6)


def inputs_of(forward: Program) -> tuple[Port, ...]:
    """Inputs of forward dynamics that are inputs of the model, too."""
    return tuple(port for port in forward.inputs if port.name not in ("q", "qd"))


def start_of(forward: Program, port: Port) -> list[float]:
    """Values that a model starts with: the robot's own, where the program knows them."""
    given = forward.about.defaults.get(port.name)
    return [0.0] * port.size if given is None else [float(value) for value in np.ravel(given)]


def model_description(forward: Program, name: str, token: str) -> str:
    """The text of the file."""
    n = forward.outputs[0].size
    inputs = inputs_of(forward)
    variables = [
        _variable("q", Q, n, 'causality="output" initial="exact"', [0.0] * n),
        _variable("qd", QD, n, f'causality="output" initial="exact" derivative="{Q}"', [0.0] * n),
        _variable("qdd", QDD, n, f'causality="output" initial="calculated" derivative="{QD}"'),
    ]
    for reference, port in enumerate(inputs, FIRST_INPUT):
        # Parameters may change while the model runs, but not continuously.
        kind = 'causality="parameter" variability="tunable" initial="exact"' if port.shared else 'causality="input"'
        variables.append(_variable(port.name, reference, port.size, kind, start_of(forward, port)))
    known = " ".join(map(str, (Q, QD, *range(FIRST_INPUT, FIRST_INPUT + len(inputs)))))
    # Initial values depend on parameters and inputs, too; those of the start are what they are.
    return template(__package__, "modelDescription.xml").substitute(
        name=name,
        token=token,
        version=__version__,
        step=STEP,
        variables="".join(variables),
        q=Q,
        qd=QD,
        qdd=QDD,
        known=known,
    )


def _variable(name: str, reference: int, size: int, facts: str, start: list[float] | None = None) -> str:
    begin = "" if start is None else f' start="{" ".join(map(repr, start))}"'
    head = f'    <Float64 name="{name}" valueReference="{reference}" {facts}{begin}>'
    return f'{head}\n      <Dimension start="{size}"/>\n    </Float64>\n'
