"""C of a fit: the generated rigid-body program, and beside it the friction and further terms that were identified."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tauform.arrays import Array
from tauform.codegen.backends.c.config import Real, real_type
from tauform.codegen.backends.c.project import project_files
from tauform.codegen.backends.c.reference import Reference
from tauform.codegen.generate import generate
from tauform.codegen.names import c_prefix, fit_prefix
from tauform.codegen.program.program import Program
from tauform.description.drives import Drive
from tauform.description.robot import Robot
from tauform.errors import GenerationError
from tauform.escaping.c import comment
from tauform.files.checks import check_folder
from tauform.files.file import write_text
from tauform.files.folder import write_folder
from tauform.identification.fitted.model import FittedModel
from tauform.wording import argument

# Deviation that the self-test allows between the C and `fit.predict`, which adds up columns of the base parameters.
FIT_TOLERANCE = 1e-9


def write_code(
    fit: FittedModel, folder: str | os.PathLike[str], name: str | None = None, *, force: bool = False
) -> list[Path]:
    """Write <name>_rigid_torque (links and rotors) and <name>_drive_torque (friction, springs, couplings) as C99.

    The torque that the fit predicts is their sum; <name>_predicted_torque in the same header adds them. No name is one
    that `write_c` gives to the robot's own functions, so that both can be linked into one program.

    Args:
        name: prefix of all names, an identifier of C; the robot's name and _fit if not given.
        force: also write into a folder that holds other files.

    Raises:
        GenerationError: the fit holds columns of the user's own, or belongs to a robot with loop constraints.
    """
    robot = fit.rigid_robot
    check_code(robot, own_columns=fit.design.has_own_columns or fit.design.is_loaded, is_thermal=fit.design.is_thermal)
    prefix = fit_prefix(None, robot.name) if name is None else c_prefix(name, robot.name)
    check_folder(folder, force)
    program = generate(robot.rigid, "inverse_dynamics")  # friction stands beside the program
    summary = f"torque of links and rotors alone; {prefix}_predicted_torque in {prefix}_drive.h adds friction"
    about = [line for line in program.notes["conventions"] if not line.startswith("Friction")]
    conventions = (*about, f"Friction of the fit is in {prefix}_drive.h.")
    notes = {**program.notes, "summary": summary, "conventions": conventions}
    program = replace(program, name="rigid_torque", notes=notes)
    real = real_type("double")
    files = project_files(
        [program],
        prefix,
        real,
        batch=False,
        headers={f"{prefix}_drive.h": drive_header(fit, prefix)},
        beside=_references(fit, program, real),
    )
    files["README.md"] += _README.format(prefix=prefix)

    def fill(place: Path) -> list[str]:
        for file, text in files.items():
            write_text(place / file, text, GenerationError)
        return [f"test_{prefix}"]

    return write_folder(folder, fill, force)


def _references(fit: FittedModel, program: Program, real: Real) -> list[Reference]:
    """What drives and the whole fit give, for the self-test."""
    rigid = [k for k, own in enumerate(fit.design.base.parameters) if own.group in ("link", "rotor")]
    values = np.array(fit.values)
    values[rigid] = 0.0

    def drives(*states: Array) -> Array:
        q, qd, qdd = (np.asarray(state, dtype=float) for state in states)
        return fit.design.columns(q, qd, qdd) @ values

    functions: dict[str, Callable[..., Array]] = {"drive_torque": drives, "predicted_torque": fit.predict}
    return [
        Reference(replace(program, name=name), real, function, FIT_TOLERANCE) for name, function in functions.items()
    ]


def check_code(robot: Robot, own_columns: bool = False, is_thermal: bool = False) -> None:
    """Refuse what `write_code` cannot write; ask before long work.

    Args:
        own_columns: whether the fit will hold columns of the user's own, or friction that depends on load.
        is_thermal: whether its friction will depend on temperature.

    Raises:
        GenerationError: there is no C of such a fit.
    """
    if robot.closure is not None:
        raise GenerationError(f"write_code: {robot.name} has loop constraints, for which friction is not written yet")
    if own_columns:
        raise GenerationError(
            "write_code: the fit holds columns of your own or friction that depends on load; write these terms by hand"
        )
    if is_thermal:
        raise GenerationError(
            "write_code: friction of the fit depends on temperature, which the C functions do not take",
            remedy=f"identify with {argument('friction', 'auto')} at the temperature of use",
        )


def drive_header(fit: FittedModel, prefix: str) -> str:
    """A C99 header with the drives' torque as static inline functions."""
    n = fit.robot.n_joints
    sums: list[list[str]] = [[] for _ in range(n)]
    for body, four in enumerate(_joint_values(fit)):
        viscous, coulomb, offset = four
        sums[body] += [f"{viscous!r} * qd[{body}]"] if viscous else []
        sums[body] += [f"{coulomb!r} * {_step(f'qd[{body}]', fit.design.widths[body])}"] if coulomb else []
        sums[body] += [repr(offset)] if offset else []
    for term, value in zip(fit.terms, fit.values[fit.design.base.n :], strict=True):
        assert isinstance(term, Drive)
        for joint, expression in _expressions(term):
            sums[joint].append(f"{float(value)!r} * {expression}")
    # all inputs are read before the first output is written: they may be the same array
    lines = [f"    const double t{j} = {' + '.join(parts) or '0.0'};" for j, parts in enumerate(sums)]
    lines += [f"    tau[{j}] = t{j};" for j in range(n)]
    guard = f"TAUFORM_{prefix}_DRIVE_H"
    return _HEADER.format(guard=guard, prefix=prefix, n=n, lines="\n".join(lines), robot=comment(fit.robot.name))


def _joint_values(fit: FittedModel) -> list[tuple[float, float, float]]:
    layout = fit.design.robot.layout
    values = np.zeros(layout.n)
    values[list(fit.design.base.pivots)] = fit.theta
    return [(float(v), float(c), float(o)) for _, v, c, o in layout.by_joint(values)]


def _step(velocity: str, width: float) -> str:
    return f"tanh({velocity} / {width!r})" if width > 0 else f"(double)(({velocity} > 0) - ({velocity} < 0))"


def _expressions(term: Drive) -> list[tuple[int, str]]:
    its = term.constants
    if term.shape in _SHAPES:
        (j,) = term.joints
        if term.shape == "smooth":
            return [(j, _step(f"qd[{j}]", its["width"]))]
        return [(j, f"({_SHAPES[term.shape].format(q=f'q[{j}]', qd=f'qd[{j}]', **its)})")]
    if "sense" not in its:
        raise GenerationError(f"write_code: {term.name}, {term.meaning}, is not written yet")
    i, j = term.joints
    sign = "" if its["sense"] > 0 else "-"
    if term.shape == "coupled_coulomb":
        shaft = _step(f"(qd[{i}] {'+' if its['sense'] > 0 else '-'} qd[{j}])", its["width"])
        return [(i, shaft), (j, f"{sign}{shaft}")]
    motion = "qdd" if term.shape == "coupled_inertia" else "qd"
    return [(i, f"{sign}{motion}[{j}]"), (j, f"{sign}{motion}[{i}]")]


_SHAPES = {
    "smooth": "tanh({qd} / {width!r})",
    "stribeck": "copysign(exp(-fabs({qd}) / {width!r}), {qd}) * ({qd} != 0)",
    "asymmetric": "fabs({qd})",
    "quadratic": "{qd} * fabs({qd})",
    "stiffness": "{q} - {rest!r}",
    "sine": "sin({q})",
    "cosine": "cos({q})",
}

_HEADER = """/* Torque of the drives of {robot}: friction, springs and couplings, to add to the rigid-body torque. */
#ifndef {guard}
#define {guard}

#include <math.h>

#include "{prefix}.h"

static inline void {prefix}_drive_torque(const double q[{n}], const double qd[{n}], const double qdd[{n}],
    double tau[{n}])
{{
    (void)q;
    (void)qd;
    (void)qdd;
{lines}
}}

/* What the fit predicts: rigid bodies and drives together. */
static inline void {prefix}_predicted_torque(const double q[{n}], const double qd[{n}], const double qdd[{n}],
    double tau[{n}])
{{
    double drive[{n}];
    int j;
    {prefix}_drive_torque(q, qd, qdd, drive); /* first: tau may be one of the inputs */
    {prefix}_rigid_torque(q, qd, qdd, tau);
    for (j = 0; j < {n}; j++)
        tau[j] += drive[j];
}}

#endif
"""

_README = """
## Friction

`{prefix}_rigid_torque` is that of links and rotors alone. The friction, springs and couplings of the fit are in
`{prefix}_drive.h`; call `{prefix}_predicted_torque` of that header for the torque that the fit predicts. `make check`
tests all three.
"""
