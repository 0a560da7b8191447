"""CasADi's C of Pinocchio's torques and their derivatives as one external, as our target `casadi` writes ours."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import casadi

import tauform as tf
from tauform.codegen.backends.casadi.wrapper import Wrapped, wrapper_text
from tauform.codegen.differentiation.jacobian import jacobian_program
from tools.measuring.c_timing import FLAGS
from tools.peers.build import casadi_code


def our_externals(robot: tf.Robot, folder: Path, knots: int) -> tuple[Any, Any]:
    """What `tf.write(..., target="casadi", knots=...)` writes: a function of one state, and of all knots."""
    programs = [tf.generate(robot, name) for name in ("inverse_dynamics", "linearize_inverse")]
    tf.write(programs, folder, target="casadi", name="ours", knots=knots)
    single = _built(folder, "ours", ["ours.c", "ours_plain.c"])
    return single, casadi.external(f"{single.name()}_knots", str(folder / "ours.so"))


def pinocchio_external(robot: tf.Robot, folder: Path) -> Any:
    """Pinocchio's rnea and computeRNEADerivatives, traced and printed by CasADi, behind the same interface."""
    code = casadi_code(robot, folder)
    n = robot.n_joints
    plain = [code.sources["inverse_dynamics"].read_text(), _in_blocks(code.sources["linearize_inverse"].read_text(), n)]
    (folder / "theirs_plain.h").write_text(_HEADER)
    (folder / "theirs_plain.c").write_text("\n#undef CASADI_PREFIX\n".join([*plain, _CALLS]))
    program = tf.generate(robot, "inverse_dynamics")
    wrapped = [Wrapped(program, jacobian_program(program))]
    (folder / "theirs.c").write_text(wrapper_text(wrapped, "theirs", "theirs_plain"))
    return _built(folder, "theirs", ["theirs.c", "theirs_plain.c"])


def _built(folder: Path, name: str, sources: list[str]) -> Any:
    command = ["gcc", *FLAGS, "-shared", "-fPIC", *sources, "-lm", "-o", f"{name}.so"]
    subprocess.run(command, cwd=folder, check=True)
    return casadi.external(f"{name}_inverse_dynamics", str(folder / f"{name}.so"))


def _in_blocks(text: str, n: int) -> str:
    """Results stored as three matrices column by column: what a solver reads, without a copy."""

    def moved(found: re.Match[str]) -> str:
        block, entry = divmod(int(found[1]), n * n)
        row, column = divmod(entry, n)
        return f"if (res[{block}]!=0) res[{block}][{column * n + row}]="

    return re.sub(r"if \(res\[0\]!=0\) res\[0\]\[(\d+)\]=", moved, text)


_ARGUMENTS = "const double *q, const double *qd, const double *qdd"
_HEADER = f"""
void theirs_plain_inverse_dynamics({_ARGUMENTS}, double *tau);
void theirs_plain_jac_inverse_dynamics({_ARGUMENTS}, double *dq, double *dqd, double *dqdd);
"""
_CALLS = f"""
void theirs_plain_inverse_dynamics({_ARGUMENTS}, double *tau) {{
    const double *arg[] = {{q, qd, qdd}};
    double *res[] = {{tau}};
    casadi_inverse_dynamics(arg, res, 0, 0, 0);
}}
void theirs_plain_jac_inverse_dynamics({_ARGUMENTS}, double *dq, double *dqd, double *dqdd) {{
    const double *arg[] = {{q, qd, qdd}};
    double *res[] = {{dq, dqd, dqdd}};
    casadi_linearize_inverse(arg, res, 0, 0, 0);
}}
"""
