"""Newton-Euler as two sweeps: motion and wrench of each body outward, torques inward.

The steps are those of `tauform.codegen.minimal.newton_euler`, on symbols in place of a body's numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.codegen.looped.program import Rows
from tauform.codegen.looped.step import Numbers, Step
from tauform.codegen.minimal.bodies import IA, Bodies
from tauform.codegen.minimal.newton_euler import BodyMotion, moved, own_wrench
from tauform.codegen.minimal.vectors import cross, forth, plus, turned

# Names of rows; the torques of links and rotors, before friction is added, have one of their own.
MOTION, FORCE, MOMENT, RIGID = "motion", "force", "moment", "rigid"
# Motion of a body: w, wd, U by rows, V.
W, WD, U, V = slice(0, 3), slice(3, 6), slice(6, 15), slice(15, 18)


def torque_numbers(bodies: Bodies) -> Numbers:
    """What the steps read of each body."""
    return Numbers({"X": bodies.X, "P": bodies.P, "parameters": bodies.parameters[..., 0]})


def torque_rows(gravity: Array) -> tuple[Rows, ...]:
    """Rows of the sweeps; the base accelerates upwards, so that weight needs no term of its own."""
    return (Rows(MOTION, 18, (0.0,) * 15 + tuple(-g for g in gravity.tolist())), Rows(FORCE, 3), Rows(MOMENT, 3))


def _body(step: Step) -> Bodies:
    """The body of a step alone, in the form that the traced recursion takes; offsets that are Python's zeros fold."""
    X, P, parameters = step.own["X"][None], step.own["P"][None], step.own["parameters"][None]
    offsets = np.array([0.0], dtype=object)
    return Bodies((-1,), (step.type,), X, P, offsets, parameters, np.zeros(3))


def _rate(step: Step, name: str) -> Any:
    """A velocity or acceleration of the joint; zero where the function has none."""
    return step.read(name)[0] if name in step.widths else 0.0


def motion_and_wrench(step: Step) -> None:
    """Motion of the body by its parent's, and the force and moment that this motion needs."""
    bodies, before = _body(step), step.read(MOTION, of_parent=True).tolist()
    parent = BodyMotion(before[W], before[WD], [before[U][k : k + 3] for k in (0, 3, 6)], before[V])
    state = moved(bodies, 0, parent, step.q, _rate(step, "qd"), _rate(step, "qdd"), summed=False)
    # Entries that no child asks for are dead code in the step of a straight line; here every body writes all.
    step.write(MOTION, [*state.w, *state.wd, *(entry for row in state.U for entry in row), *state.V])
    force, moment = own_wrench(bodies.parameters[0].tolist(), state)
    step.write(FORCE, force)
    step.write(MOMENT, moment)


def torque(step: Step) -> None:
    """Torque of the joint; the wrench that it passes on is added to the parent's."""
    bodies, q = _body(step), step.q
    f, m, X = step.read(FORCE).tolist(), step.read(MOMENT).tolist(), bodies.X[0].tolist()
    # A rotor resists its own joint's acceleration alone.
    step.write(RIGID, [bodies.felt(0, m, f) + bodies.parameters[0, IA] * _rate(step, "qdd")])
    P, along = bodies.P[0].tolist(), bodies.shift(0)
    if bodies.turns(0):
        f, m = turned(q.sin(), q.cos(), f), turned(q.sin(), q.cos(), m)
    if along:
        P = [P[k] + X[k][2] * (q * along) for k in range(3)]
    # Moments about the parent's origin: those of the body, and the lever of its force.
    f = forth(X, f)
    step.add_to_parent(FORCE, f)
    step.add_to_parent(MOMENT, plus(forth(X, m), cross(P, f)))
