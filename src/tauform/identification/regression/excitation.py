"""Whether the motion shows every parameter, and in words which motion is missing."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.linalg

from tauform.description.changes.edit import snapped
from tauform.description.finding import Finding
from tauform.description.parameter_groups import PARAMETER_GROUPS, Include
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.regression.design import Design
from tauform.identification.regression.estimate import MIN_EXCITED_SINGULAR_VALUE
from tauform.identification.regression.evidence import Evidence
from tauform.identification.regression.rows import Rows
from tauform.rigidbody.check import ALMOST_ALIGNED, alignment_findings
from tauform.wording import argument, call

# Share of an unexcited direction above which a parameter counts as part of it.
MIN_DIRECTION_SHARE = 0.1
# Names in a sentence; a motion that shows nothing would list them all.
MOST_NAMES = 8


def check_include(robot: Robot, include: Include | None) -> None:
    """Raise IdentificationError where no parameter takes part."""
    if not robot.columns(include):
        raise IdentificationError(f"include: names no parameters; choose from {', '.join(PARAMETER_GROUPS)}")


def check_excitation(design: Design, evidence: Evidence, rows: Iterable[Rows], has_prior: bool = False) -> None:
    """Raise IdentificationError naming what the motion leaves open, first what it lacks; a prior makes up for it."""
    open_columns = unexcited(evidence)
    if open_columns and not has_prior:
        names, missing = [design.names[k] for k in open_columns], missing_motion(design, open_columns)
        shown = ", ".join(names[:MOST_NAMES]) + (
            f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        )
        # First the likelier cause: no motion tells parameters apart that differ by a rounded pi only.
        crooked = misalignment(design)
        if crooked is not None:
            raise IdentificationError(
                f"the motion does not show {shown}, most likely because of {crooked.place}: {crooked.what}; "
                f"{crooked.remedy}; if that does not help, {missing}"
            )
        _refuse_one_way(design, rows, shown)
        raise IdentificationError(
            f"the motion does not show {shown}",
            remedy=f"{missing} ({call('excite')} plans such a motion), or {_prior()}",
        )


def _prior() -> str:
    return f"give a prior with {argument('method', 'ridge')}"


def _refuse_one_way(design: Design, rows: Iterable[Rows], shown: str) -> None:
    """Raise IdentificationError where joints never turn back, which most often is the fault of a short recording."""
    both = np.zeros((2, design.robot.n_joints), dtype=bool)
    seconds = 0.0
    for part in rows:
        # Over all parts: a joint may turn one way in one recording and back in another.
        both |= np.array([(part.qd > 0).any(axis=0), (part.qd < 0).any(axis=0)])
        seconds += float(part.t[-1] - part.t[0])
    one_way = [name for name, ways in zip(design.robot.joint_names, both.T, strict=True) if not ways.all()]
    if one_way:
        raise IdentificationError(
            f"in {seconds:.2g} s of motion {', '.join(one_way)} never turn{'s' * (len(one_way) == 1)} back, which does "
            f"not show {shown}",
            remedy=f"record for longer, every joint both ways many times ({call('excite')} plans such a motion), or "
            + _prior(),
        )


def straightened(robot: Robot) -> tuple[Robot, list[str]]:
    """The robot with frames that are aligned but for rounding made so, where that changes which values can be told.

    A rounded pi in a URDF makes base parameters that no motion shows; torques of both differ by about that rounding.
    """
    almost = next(iter(alignment_findings(robot)), None) if robot.closure is None else None
    if almost is None:
        return robot, []
    straight = snapped(robot, ALMOST_ALIGNED)
    # As many parameters either way: nothing is gained, and the file's own angles stay.
    if Design.of(straight).base.n >= Design.of(robot).base.n:
        return robot, []
    return straight, [f"{almost.place}: {almost.what}; a copy with these angles made exact takes its place"]


def misalignment(design: Design) -> Finding | None:
    """Frames that are almost aligned, where that makes base parameters which hardly any motion tells apart."""
    straight = Design.of(snapped(design.robot, ALMOST_ALIGNED), order=design.order)
    if straight.base.n >= Design.of(design.robot, order=design.order).base.n:
        return None
    return next(iter(alignment_findings(design.robot)), None)


def unexcited(evidence: Evidence) -> list[int]:
    """Columns that take part in directions which the rows do not determine."""
    p = evidence.n_columns
    # Each joint in units of its torque, else a strong first joint would hide the wrist.
    R = evidence.stacked(1.0 / np.maximum(np.sqrt(evidence.torque_squares), 1e-300))[:p, :p]
    scale = np.linalg.norm(R, axis=0)
    # A column that is nearly zero would become noise when it is scaled to one.
    dead = scale <= MIN_EXCITED_SINGULAR_VALUE * scale.max(initial=0.0)
    unit = R / np.where(dead, 1.0, scale)
    unit[:, dead] = 0.0
    _, sizes, Vt = scipy.linalg.svd(unit)
    # Rows of V to small singular values: combinations of parameters that no row shows.
    weak = Vt[sizes <= MIN_EXCITED_SINGULAR_VALUE * sizes[0]]
    share = np.abs(weak).max(axis=0, initial=0.0)
    return [int(k) for k in np.flatnonzero(share > MIN_DIRECTION_SHARE)]


def missing_motion(design: Design, columns: Iterable[int]) -> str:
    """Advice on what to record so that these columns show."""
    meant = [design.kinds[k] for k in columns]
    kinds, joints = {kind for kind, _ in meant}, sorted({j for _, own in meant for j in own})
    # By their names: robots may count their joints from zero.
    names = ", ".join(design.robot.joints[j].name for j in joints)
    which = f"joint{'s' if len(joints) > 1 else ''} {names}"
    advice = []
    if kinds & {"Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "Ia", "Iam"}:
        advice.append(f"accelerate {which} and the joints before, in different postures")
    if kinds & {"mx", "my", "mz", "m"}:
        advice.append(f"turn {which} through different angles to gravity")
    if kinds & {"Fv", "Fc", "Fo", "Fs", "Fa", "Fq", "Fb", "Fvm", "Fcm"}:
        advice.append(f"run {which} in both directions at several speeds")
    if kinds & {"K", "Ks", "Kc"}:
        advice.append(f"cover the range of {which}")
    return "; ".join(advice) or f"move {which} more"
