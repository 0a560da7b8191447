"""What notebooks show of each type: the figures that matter, and one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.model.equations import KIND_NAMES, term_kinds
from tauform.closedform.model.model import ClosedFormModel
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import Kernel
from tauform.description.robot import Robot
from tauform.escaping.markup import html_text
from tauform.identification.fit import Fit
from tauform.identification.inspect_recording import RecordingSummary
from tauform.identification.recording.recording import Recording
from tauform.realtime.multirate.multirate import MultiRate
from tauform.realtime.reduction.reduce import Reduction
from tauform.report.html.elements import Marked, bullets, shown
from tauform.report.sections.verdict import TONES
from tauform.simulation.motion import Motion

# Rows of a table that a notebook shows; the rest is counted.
MOST_ROWS = 24
ROUNDING_DIGITS = 12  # behind the point, in SI units
Facts = dict[str, Any]  # what -> value
# Of joints that turn and of joints that slide.
_Q, _TAU = "[rad, m]", "[N m, N]"
NO_YES = ("no", "yes")
COLOURS = {"good": "#1b7a43", "warn": "#9a5b00", "bad": "#b3261e"}


def summary(value: Any) -> str:
    """HTML of a value, for `_repr_html_`; styles stand on the elements, since notebooks drop style sheets."""
    # The first kind that fits: the order of SUMMARIES decides for subclasses.
    found = next(describe for kind, describe in SUMMARIES.items() if isinstance(value, kind))
    return f"<div>{found(value)}</div>"


def _title(text: str, facts: Mapping[str, Any]) -> str:
    told = " · ".join(f"{html_text(name)} <b>{_cell(value)}</b>" for name, value in facts.items() if value is not None)
    return f'<p style="margin: .3em 0"><b>{html_text(text)}</b><br>{told}</p>'


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    listed = [tuple(row) for row in rows]
    # Text stands left and numbers right, headings with their column.
    sides = ["right" if all(map(_is_number, cells)) else "left" for cells in zip(*listed, strict=True)]
    head = "".join(
        f'<th style="text-align: {side}">{html_text(column)}</th>' for side, column in zip(sides, columns, strict=True)
    )
    # Rows beyond the limit are counted, not dropped in silence.
    body = "".join(f"<tr>{''.join(map(_table_cell, sides, row))}</tr>" for row in listed[:MOST_ROWS])
    more = f"<p>and {len(listed) - MOST_ROWS} more</p>" if len(listed) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _table_cell(side: str, value: Any) -> str:
    return f'<td style="text-align: {side}">{_cell(value)}</td>'


def _is_number(value: Any) -> bool:
    # None is a dash among numbers; texts such as "1.3 %" begin with a digit.
    return value is None or isinstance(value, Real) or (isinstance(value, str) and value[:1].isdigit())


def _cell(value: Any) -> str:
    text = html_text(shown(value))
    # White on its own ground: readable in light notebooks and in dark ones, whose style nothing here knows.
    badge = "color: #fff; padding: 0 .5em; border-radius: .7em; background"
    return f'<span style="{badge}: {COLOURS[value.tone]}">{text}</span>' if isinstance(value, Marked) else text


def _robot(robot: Robot) -> str:
    # With the payload, which the links alone leave out.
    mass = sum(inertia.mass for inertia in robot.inertias)
    known: Facts = {"coordinates": robot.n_joints, "bodies": robot.n_bodies, "moving mass [kg]": mass}
    known |= {"gravity [m/s²]": robot.gravity, "tip": robot.tip}
    rows = [
        (joint.name, joint.kind, link.name, inertia.mass, joint.limits.lower, joint.limits.upper, joint.limits.effort)
        for joint, link, inertia in zip(robot.joints, robot.links, robot.inertias, strict=True)
    ]
    columns = ("joint", "kind", "link", "mass [kg]", "lower [rad, m]", "upper [rad, m]", "effort [N m, N]")
    return _title(robot.name, known) + _table(columns, rows)


def _recording(recording: Recording) -> str:
    seconds = float(recording.t[-1] - recording.t[0])
    known: Facts = {
        "samples": len(recording.t),
        "length [s]": seconds,
        # n samples have n - 1 steps; a single sample has no length.
        "rate [Hz]": (len(recording.t) - 1) / max(seconds, 1e-9),
    }
    # Extremes of 20 000 samples are enough for a glance, and quick on hours of logs.
    few = slice(None, None, max(1, len(recording.t) // 20_000))
    q, tau = np.asarray(recording.q[few]), np.asarray(recording.tau[few])
    rows = [
        (j + 1, q[:, j].min(), q[:, j].max(), tau[:, j].min(), tau[:, j].max(), float(np.sqrt((tau[:, j] ** 2).mean())))
        for j in range(recording.n_joints)
    ]
    columns = ("joint", f"lowest q {_Q}", f"highest q {_Q}", f"lowest torque {_TAU}", f"highest {_TAU}", f"RMS {_TAU}")
    return _title(recording.name, known) + _table(columns, rows) + bullets(recording.findings)


def _recording_summary(seen: RecordingSummary) -> str:
    known: Facts = {"motion up to [Hz]": seen.spectrum.bandwidth, "one sample [ms]": 1e3 * seen.sample}
    late, sure = 1e3 * seen.delays.seconds, 1e3 * seen.delays.deviations
    rows = zip(seen.joint_names, 100 * seen.rest, late, sure, strict=True)
    columns = ("joint", "at rest [%]", "torques late [ms]", "deviation [ms]")
    return _title(seen.name, known) + _table(columns, rows) + bullets(seen.findings)


def _fit(fit: Fit) -> str:
    # Unseen data: the error of the fit itself flatters.
    errors, verdict = fit.unseen, fit.verdict
    known: Facts = {"verdict": Marked(verdict.grade, TONES[verdict.grade])}
    known |= {f"torque error on {errors.source}": f"{100 * errors.total:.2g} %", "values": len(fit.values)}
    found = zip(fit.robot.joint_names, 100 * errors.joints, errors.rms, strict=True)
    body = _title(f"Fit of {fit.robot.name}, {fit.method}", known) + bullets(verdict.sentences)
    return body + _table(("joint", "torque error [%]", f"torque error {_TAU}"), found) + bullets(verdict.next)


def _program(program: Program) -> str:
    known: Facts = {"multiplications": program.n_multiplications, "additions": program.n_additions}
    known["by"] = program.algorithm
    if program.certificate is not None:
        known["error"] = f"{program.certificate.error:.1e} against {program.certificate.reference}"
    ports = [("input", port.name, str(port.shape)) for port in program.inputs]
    ports += [("output", port.name, str(port.shape)) for port in program.outputs]
    return _title(f"{program.name} of {program.robot}", known) + _table(("", "name", "shape"), ports)


def _kernel(kernel: Kernel) -> str:
    known: Facts = {"precision": kernel.real, "states at once": kernel.lanes}
    return _title("Compiled kernel", known) + _program(kernel.program)


def _closed_form(model: ClosedFormModel) -> str:
    known: Facts = {"terms": model.n_terms, "base parameters": model.n_base, "joints": model.n_joints}
    # All kinds, also those without a term: their absence says something.
    kinds = np.bincount(term_kinds(model.exponents), minlength=len(KIND_NAMES)).tolist()
    return _title("Closed form", known) + _table(("terms that multiply", "count"), zip(KIND_NAMES, kinds, strict=True))


def _base(base: BaseParameters) -> str:
    known: Facts = {"standard": len(base.columns), "without effect": len(base.no_effect)}
    known |= {"regrouped": len(base.regrouped), "base parameters": base.n, "condition number": f"{base.condition:.3g}"}
    rows = [(name, relation.text()) for name, relation in zip(base.names, base.relations, strict=True)]
    return _title("Base parameters", known) + _table(("name", "relation"), rows)


def _reduction(found: Reduction) -> str:
    known: Facts = {"operations": f"{found.program.n_operations} of {found.exact.n_operations}", "route": found.route}
    known |= {f"error at {100 * found.confidence:g} % of the states": f"{100 * found.error:.2g} %"}
    known |= {"tolerance": f"{100 * found.tolerance:.3g} %", "profile": found.profile.name}
    rows = [
        (c.name, c.remark, c.program.n_operations, f"{100 * c.verification.error:.2g} %", NO_YES[c.verification.holds])
        for c in found.candidates
    ]
    columns = ("route", "what was left out", "operations", "error", "within the tolerance")
    return _title(f"Reduction of {found.robot.name}", known) + _table(columns, rows)


def _multirate(split: MultiRate) -> str:
    tasks = ("background", "synchronous", "coefficients", "velocity")
    made = zip(tasks, split.programs, strict=True)
    rows = [(task, p.n_multiplications, p.n_additions, p.n_operations) for task, p in made]
    title = _title(f"{split.robot.name} split into two rates", {"friction in": split.task})
    return title + _table(("task", "multiplications", "additions", "operations"), rows)


def _motion(motion: Motion) -> str:
    known: Facts = {"length [s]": float(motion.t[-1] - motion.t[0]), "step [s]": motion.step}
    known |= {"integrator": motion.integrator, "batch": str(motion.batch) if motion.batch else None}
    # A batch of motions is one long list of postures here.
    last = motion.q.reshape(-1, *motion.q.shape[-2:])
    rows = [
        (
            name,
            _told(last[..., j].min()),
            _told(last[..., j].max()),
            _peak(motion.qd[..., j]),
            _peak(motion.tau[..., j]),
        )
        for j, name in enumerate(motion.robot.joint_names)
    ]
    columns = ("joint", f"lowest q {_Q}", f"highest q {_Q}", "largest speed [rad/s, m/s]", f"largest torque {_TAU}")
    return _title(f"Motion of {motion.robot.name}", known) + _table(columns, rows)


def _peak(values: Array) -> float:
    return _told(np.abs(values).max())


def _told(value: float) -> float:
    """What a simulation leaves of a joint that stands still is rounding, and told as zero."""
    return float(np.round(value, ROUNDING_DIGITS))


SUMMARIES: dict[type, Callable[[Any], str]] = {
    Robot: _robot,
    Recording: _recording,
    RecordingSummary: _recording_summary,
    Fit: _fit,
    Program: _program,
    Kernel: _kernel,
    ClosedFormModel: _closed_form,
    BaseParameters: _base,
    Reduction: _reduction,
    MultiRate: _multirate,
    Motion: _motion,
}
