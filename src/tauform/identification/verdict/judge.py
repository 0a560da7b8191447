"""A verdict in words: good, usable or not trustworthy, why, and what to record next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.description.drives import Drive, Smooth
from tauform.escaping.shown import visible
from tauform.identification.diagnosis.masses import has_plausible_masses
from tauform.identification.fitted.model import FittedModel
from tauform.identification.regression.excitation import misalignment, missing_motion
from tauform.identification.regression.residuals import HELD_OUT, VALIDATION, Errors
from tauform.identification.verdict.mass_matrices import N_POSTURES, indefinite_postures, negative_inertias
from tauform.identification.verdict.preloads import preloaded
from tauform.identification.verdict.scale import gravity_ratios, joints_off, scales_off
from tauform.identification.verdict.slides import WORDS, mass_ratios, unit_of_ratio
from tauform.identification.verdict.systematic import (
    MAX_SLOW_CORRELATION,
    carries_torque,
    slow_correlation,
    white_share,
)
from tauform.wording import argument

Grade = Literal["good", "usable", "not trustworthy"]
GRADES: tuple[Grade, ...] = ("good", "usable", "not trustworthy")
# Error on unseen data of all joints, of one joint, and condition number, up to which a fit is good, and usable.
GOOD_ERROR, USABLE_ERROR = 0.10, 0.25
GOOD_JOINT, USABLE_JOINT = 0.25, 0.9
GOOD_CONDITION, USABLE_CONDITION = 1e3, 1e5
# Growth of the error from fitted to unseen data, and error from which on it is worth a word.
MAX_ERROR_GROWTH, MIN_ERROR_TO_MENTION = 2.0, 0.02
# Growth from held-out blocks to other postures from which on the figure says so.
MIN_ELSEWHERE = 1.1
# Motion [s] that seldom shows every value, and what to do about it.
MIN_MOTION_TIME, RECORD_LONGER = 5.0, "record for longer, every joint both ways many times, in postures that differ"
# Relative deviation beyond which a value is not known.
MAX_KNOWN_DEVIATION = 0.5
# Share of the torque's peak at its joint that makes an unknown value matter.
MIN_PEAK_SHARE = 0.02
# Growth of the error on held-out blocks, relative and in absolute terms, that physically consistent links may cost.
MAX_PHYSICAL_GROWTH, MAX_PHYSICAL_COST = 1.25, 0.005
# Share of the joints with errors above GOOD_JOINT that no value of the described links explains.
MAX_SHARE_OF_BAD_JOINTS = 0.4
# Novelty of held-out blocks up to which they repeat the others; see `Evidence.novelty`.
MAX_NOVELTY_OF_REPEATS = 1.15
# Parameters of links that no body has below zero, and weights in a sum that are rounding.
POSITIVE, NEGLIGIBLE_WEIGHT = ("m", "Ixx", "Iyy", "Izz"), 1e-9


@dataclass(frozen=True, eq=False)
class Verdict:
    """The grade and its reasons.

    Attributes:
        reasons: sentences, worst first.
        next: what to do next, mostly what to record.
        whiteness: (n,) share of residual correlations within the band that white residuals would keep.
        figure: the error on unseen data, and what that is.
        praise: what speaks for a good fit.
        gravity_ratios: (n,) identified gravity torque over that of the described masses; NaN where a joint does not
            tell.
    """

    grade: Grade
    reasons: tuple[str, ...]
    next: tuple[str, ...]
    whiteness: Array
    gravity_ratios: Array
    figure: str
    praise: str = "errors are small"

    @property
    def sentences(self) -> tuple[str, ...]:
        """What decides first: figures of a good fit and then its flaws, or reasons against it and what judged it."""
        if self.grade == GRADES[0]:
            return (self.praise, *self.reasons)
        return (*self.reasons, f"judged by {self.figure}")

    def __str__(self) -> str:
        return f"{self.grade}: " + "; ".join(map(visible, self.sentences))


def judge(fit: FittedModel) -> Verdict:
    """Grade a fit by its errors on unseen data, the spread of its values, and what it leaves in the residuals.

    A good fit predicts data that it has not seen within 10 % over all joints and 25 % at each that carries torque,
    knows every value that matters, has no friction or inertia of the wrong sign and a positive definite mass matrix,
    and leaves nothing systematic of that size.
    """
    errors = fit.unseen
    level = 0
    reasons: list[str] = []
    following: list[str] = []
    # What is the fault of the log or of the description first: it makes the rest of what is said.
    level = max(level, _judge_swap(fit, reasons, following))
    level = max(level, _judge_suspicions(fit, reasons, following))
    # Gravity is the one torque whose size a description knows without any friction: it tells gains.
    ratios = gravity_ratios(fit)
    has_cause = fit.swap is not None or any(suspicion.is_cause for suspicion in fit.suspicions)
    if not has_cause:
        level = max(level, _judge_scale(fit, ratios, reasons, following))
        level = max(level, _judge_slides(fit, reasons, following))
        _name_misalignment(fit, reasons, following)
        level = max(level, _judge_generality(fit, reasons, following))
        level = max(level, _judge_inertias(fit, reasons, following))
    if errors.total > GOOD_ERROR:
        level = max(level, 1 if errors.total <= USABLE_ERROR else 2)
        reasons.append(f"the error of all joints on {errors.source} is {100 * errors.total:.1f} %")
    # The worst of all grades counts: one bad joint makes a bad robot.
    level = max(level, _judge_joints(fit, errors, reasons))
    if not has_cause:
        _name_missing_joint(fit, errors, reasons, following)
        level = max(level, _judge_novelty(fit, errors, reasons, following))
        level = max(level, _judge_postures(errors, reasons, following))
    level = max(level, _judge_physical(fit, reasons, following))
    if has_cause:  # what follows from it is no news
        return Verdict(GRADES[level], tuple(reasons), tuple(following), white_share(fit), ratios, _figure(errors))
    level = max(level, _judge_values(fit, reasons, following))
    if fit.condition > GOOD_CONDITION:
        level = max(level, 1 if fit.condition <= USABLE_CONDITION else 2)
        reasons.append(f"the condition number is {fit.condition:.1e}, so that parameters trade off against each other")
    level = max(level, _judge_colour(fit, errors, reasons, following))
    if not has_plausible_masses(fit.robot):
        reasons.append("the description has no masses to compare with, so that a wrong torque gain would not show")
    unique = tuple(dict.fromkeys(following))
    return Verdict(GRADES[level], tuple(reasons), unique, white_share(fit), ratios, _figure(errors), _praise(fit))


def _figure(errors: Errors) -> str:
    """The error that counts; no choice flatters it."""
    apart = {VALIDATION: ", which no choice has seen", HELD_OUT: ", the cost of choices included"}
    figure = f"{100 * errors.total:.2g} % error on {errors.source}{apart.get(errors.source, '')}"
    if errors.expected <= MIN_ELSEWHERE * errors.total:
        return figure
    return f"{figure}, {100 * errors.expected:.2g} % expected in postures between the recorded ones"


def _praise(fit: FittedModel) -> str:
    """Figures that the verdict rests on."""
    known, count = int((fit.relative_deviations <= MAX_KNOWN_DEVIATION).sum()), len(fit.values)
    which = "every value is" if known == count else f"{known} of {count} values are"
    rest = "" if known == count else "; the others do not matter here"
    return f"{_figure(fit.unseen)}; {which} known within {100 * MAX_KNOWN_DEVIATION:.0f} %{rest}"


def _judge_colour(fit: FittedModel, errors: Errors, reasons: list[str], following: list[str]) -> int:
    """Sensors forget within a few rows; what is left and changes as slowly as the motion is a law that is missing."""
    correlation, after = slow_correlation(fit)
    slow = np.flatnonzero(carries_torque(fit) & (correlation > MAX_SLOW_CORRELATION))
    if not len(slow):
        return 0
    names = ", ".join(fit.robot.joint_names[j] for j in slow)
    told = f"correlation up to {correlation[slow].max():.2g} after {after:.2g} s"
    if fit.unreduced is not None:
        # Values that were left out pull as slowly as a cable; only the whole fit tells them apart.
        reasons.append(
            f"what is left at {names} changes as slowly as the motion ({told}), as values that were left out do; the "
            "fit before the reduction tells whether something else is missing"
        )
        return int((errors.joints > GOOD_ERROR)[slow].any())
    pulled = [j for j in slow.tolist() if _position_terms(fit, j)]
    if pulled:
        # Terms that leave this stand in for another law: they hold where they were fitted, and nowhere else.
        which = ", ".join(name for j in pulled for name in _position_terms(fit, j))
        at = ", ".join(fit.robot.joint_names[j] for j in pulled)
        reasons.append(
            f"something pulls at {at} that {which} only come{'s' * (',' not in which)} near to: what is left there "
            f"still changes as slowly as the motion ({told}); beyond the recorded positions errors may be larger"
        )
        following.append(
            f"describe what pulls at {at} (a spring, a counterbalance, a cable), or record the whole range that you use"
        )
        slow = np.setdiff1d(slow, pulled)
    if len(slow):
        names = ", ".join(fit.robot.joint_names[j] for j in slow)
        # A fault that is named leaves such residuals too, and need not be the only one.
        unless = "unless that is why, " if fit.suspicions else ""
        reasons.append(
            f"{unless}something moves or pulls at {names} that is not described (a joint that the description holds "
            "still, a cable, a spring, a flexible gear), or friction follows another law: what is left there changes "
            f"as slowly as the motion ({told}), as no noise does"
        )
    return int(bool(pulled) or bool((errors.joints > GOOD_ERROR)[slow].any()))


def _position_terms(fit: FittedModel, joint: int) -> list[str]:
    """Names of the terms that were found at a joint and follow its position, or of a constant that stands for one."""
    found = [t.name for t in fit.terms if isinstance(t, Drive) and t.joints == (joint,) and "q" in t.reads]
    constant = preloaded(fit).get(joint)
    return found if constant is None else [*found, fit.names[constant[0]]]


def _judge_physical(fit: FittedModel, reasons: list[str], following: list[str]) -> int:
    if fit.free_error is None:
        return 0
    held_out = fit.held_out.total
    if held_out <= max(MAX_PHYSICAL_GROWTH * fit.free_error, fit.free_error + MAX_PHYSICAL_COST):
        return 0
    reasons.append(
        f"physically consistent links leave {100 * held_out:.2g} % of the torque on held-out blocks, "
        f"{100 * fit.free_error:.2g} % without that condition: geometry, gears or units of the torques may be wrong"
    )
    following.append("check the robot's geometry and the torques' units, then identify again")
    return 1


def _judge_joints(fit: FittedModel, errors: Errors, reasons: list[str]) -> int:
    level, relative = 0, errors.joints
    carries = carries_torque(fit)
    for j, name in enumerate(fit.robot.joint_names):
        if carries[j] and relative[j] > GOOD_JOINT:
            level = max(level, 2 if relative[j] > USABLE_JOINT else 1)
            reasons.append(f"joint {name} is off by {100 * relative[j]:.0f} % of its torque on {errors.source}")
    return level


def _name_missing_joint(fit: FittedModel, errors: Errors, reasons: list[str], following: list[str]) -> None:
    """Errors at many joints that no hypothesis explains: the geometry is not the recorded one."""
    wrong = carries_torque(fit) & (errors.joints > GOOD_JOINT)
    if not wrong.any() or wrong.sum() < MAX_SHARE_OF_BAD_JOINTS * len(wrong) or fit.suspicions:
        return
    reasons.append(
        f"{int(wrong.sum())} of {len(wrong)} joints are off by more than {100 * GOOD_JOINT:.0f} %, and no links, "
        "signs, order of columns or mount explain it: something moves that the description holds still (a locked "
        "joint, a gripper), or its geometry is another one"
    )
    following.append(
        f"check joints that were locked ({argument('lock')}) or left out ({argument('tip')}), and the file"
    )


def _judge_novelty(fit: FittedModel, errors: Errors, reasons: list[str], following: list[str]) -> int:
    """Held-out blocks that repeat the motion of the others judge nothing."""
    if errors.source != HELD_OUT or fit.evidence.novelty() > MAX_NOVELTY_OF_REPEATS:
        return 0
    reasons.append("held-out blocks repeat the motion of the others, so that nothing unseen has judged the fit")
    following.append(f"record another motion, with other postures and speeds, and give it with {argument('validate')}")
    return 1


def _judge_postures(errors: Errors, reasons: list[str], following: list[str]) -> int:
    """Values that the motion does not tell apart leave no error on its own blocks."""
    expected = errors.expected
    is_larger = expected > max(MAX_ERROR_GROWTH * errors.total, MIN_ERROR_TO_MENTION)
    if not is_larger and not (expected > GOOD_ERROR >= errors.total):
        return 0
    reasons.append(
        f"values that the recorded motion does not tell apart make the error {100 * expected:.2g} % where joints move "
        f"as far and as fast, but not together as they did; it is {100 * errors.total:.2g} % on {errors.source}"
    )
    validate = argument("validate")
    following.append(f"record joints that move independently of each other, or give such a motion with {validate}")
    return 1


def _judge_values(fit: FittedModel, reasons: list[str], following: list[str]) -> int:
    # A value matters where its uncertainty alone makes a visible part of a joint's torque.
    reach = (fit.evidence.peaks * fit.deviations) / np.maximum(fit.evidence.torque_peaks, 1e-300)[:, None]
    vague = [
        k
        for k in range(len(fit.values))
        if fit.relative_deviations[k] > MAX_KNOWN_DEVIATION and reach[:, k].max() > MIN_PEAK_SHARE
    ]
    if vague:
        names = [fit.names[k] for k in vague]
        shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        short = _seconds(fit) < MIN_MOTION_TIME
        span = f", after no more than {_seconds(fit):.2g} s of motion" if short else ""
        known, matter = ("is", "matters") if len(vague) == 1 else ("are", "matter")
        reasons.append(f"{shown} {known} known to no better than {100 * MAX_KNOWN_DEVIATION:.0f} % and {matter}{span}")
        following += [RECORD_LONGER] * short + [missing_motion(fit.design, vague)]
    negative = _negative(fit)
    if negative and fit.physical is None:
        reasons.append(f"{', '.join(negative[:6])} came out negative; {argument('physical', True)} forbids that")
    return 1 if vague or negative else 0


def _negative(fit: FittedModel) -> list[str]:
    """Friction, rotors, masses and moments of inertia that came out below zero; of steps at a joint the sum counts."""
    first, found = fit.design.base.n, []
    # Fc may be negative beside a larger smooth step: only their sum rubs.
    smooth = {k: t.joints for k, t in enumerate(fit.terms, first) if isinstance(t, Smooth)}
    possible = _never_negative(fit)
    for k, own in enumerate(fit.base.parameters):
        if not possible[k]:
            continue
        steps = [c for c, joints in smooth.items() if own.group == "coulomb" and joints == own.joints]
        together = [k, *steps]
        deviation = np.sqrt(max(float(fit.covariance[np.ix_(together, together)].sum()), 0.0))
        # Beyond what chance explains: a zero that came out as -1e-5 is no fault.
        if float(fit.values[together].sum()) < -3 * deviation:
            found.append(fit.names[k])
    return found


def _never_negative(fit: FittedModel) -> AnyArray:
    """(l,) whether a base parameter is a sum of standard ones that are never negative, with positive weights."""
    base = fit.design.base
    signed = [not (own.is_nonnegative or own.kind in POSITIVE) for own in base.layout.parameters]
    weights = np.where(np.abs(base.grouping) > NEGLIGIBLE_WEIGHT, base.grouping, 0.0)
    return np.asarray((weights >= 0).all(axis=1) & (weights[:, signed] == 0).all(axis=1))


def _seconds(fit: FittedModel) -> float:
    """Duration of the fitted motion."""
    return fit.evidence.n_rows / fit.residuals.rate


def _judge_generality(fit: FittedModel, reasons: list[str], following: list[str]) -> int:
    """Whether unseen data is predicted much worse than what was fitted, and why."""
    errors = fit.unseen
    worse = errors.total / max(fit.residuals.total, 1e-300)
    if worse <= MAX_ERROR_GROWTH or errors.total <= MIN_ERROR_TO_MENTION:
        return 0
    told = f"errors on {errors.source} are {worse:.1f} times those on the fitted rows: "
    if errors.source == HELD_OUT:
        reasons.append(f"{told}{_seconds(fit):.2g} s of motion are too short, or too plain, to tell the values apart")
        following.append(RECORD_LONGER)
    for what, remedy in errors.unlike:
        reasons.append(what)
        following.append(remedy)
    if errors.source == VALIDATION and not errors.unlike:
        reasons.append(f"{told}the validation recordings move otherwise than the fitted ones")
        following.append("fit recordings of both kinds of motion together")
    return 1


def _judge_swap(fit: FittedModel, reasons: list[str], following: list[str]) -> int:
    if fit.swap is None:
        return 0
    reasons.append(fit.swap.described(fit.robot.joint_names))
    following.append(f"map to each joint its own columns with {argument('columns')}, then identify again")
    return 2


def _judge_suspicions(fit: FittedModel, reasons: list[str], following: list[str]) -> int:
    reasons += [suspicion.what for suspicion in fit.suspicions]
    following += [suspicion.remedy for suspicion in fit.suspicions]
    return max((suspicion.level for suspicion in fit.suspicions), default=0)


def _name_misalignment(fit: FittedModel, reasons: list[str], following: list[str]) -> None:
    """Faults of the description, and not of the motion."""
    # A good condition says that the frames did no harm.
    crooked = misalignment(fit.design) if fit.condition > GOOD_CONDITION else None
    if crooked is not None:
        reasons.append(f"{crooked.place}: {crooked.what}, so that parameters can hardly be told apart")
        following.append(f"straighten the robot before more is recorded: {crooked.remedy}")


def _judge_inertias(fit: FittedModel, reasons: list[str], following: list[str]) -> int:
    impossible = [fit.robot.joint_names[j] for j in np.flatnonzero(negative_inertias(fit))]
    if not impossible:
        return _judge_mass_matrix(fit, reasons, following)
    names = ", ".join(impossible)
    most = len(impossible) > fit.robot.n_joints / 2
    reasons.append(
        ("torques have the wrong sign? " if most else "")
        + f"the inertia of {names} came out negative, which no links have; {argument('physical', True)} forbids that, "
        "but not torques of the opposite sign"
    )
    following.append(f"make sure of the sign of the torques of {names}; {argument('gains')} turns them")
    return 2 if most else 1


def _judge_mass_matrix(fit: FittedModel, reasons: list[str], following: list[str]) -> int:
    count = indefinite_postures(fit)
    if not count:
        return 0
    reasons.append(
        f"the mass matrix is not positive definite in {count} of {N_POSTURES} postures: torques are as good as their "
        "errors say, accelerations and simulations are not"
    )
    physical = argument("physical", True)
    following.append(f"for mass matrices, forward dynamics and simulation take the fit with {physical}")
    return 1


def _judge_scale(fit: FittedModel, ratios: Array, reasons: list[str], following: list[str]) -> int:
    scales = scales_off(fit)
    if not scales:
        return _judge_gravity(fit, ratios, reasons, following)
    mean = float(np.exp(np.log(list(scales.values())).mean()))
    reasons.append(
        f"torques are {mean:.2g} times those of the described masses: another unit (mN m, a share of the rated "
        "torque), or motor currents?"
    )
    gains = ", ".join(f"{1 / scale:.2g} for {fit.robot.joint_names[j]}" for j, scale in scales.items())
    following.append(
        f"check the unit of the torques: {argument('gains')} converts them (about {gains}); else correct the masses"
    )
    return 1


def _judge_slides(fit: FittedModel, reasons: list[str], following: list[str]) -> int:
    """Positions of slides in another unit scale masses, and leave no error."""
    ratios = mass_ratios(fit)
    off = np.flatnonzero(np.isfinite(ratios))
    if not len(off):
        return 0
    each = ", ".join(f"{ratios[j]:.2g} times at {fit.robot.joint_names[j]}" for j in off)
    unit = unit_of_ratio(float(ratios[off[0]]))
    cause = "another unit of positions or forces, or other masses" if unit is None else f"positions in {WORDS[unit]}"
    reasons.append(f"moving masses come out as {each} of those described: {cause}?")
    remedy = "check the unit of positions and forces, and the masses"
    # Forces in kilonewtons look the same where nothing weighs on a slide.
    told = unit and f"read positions with {argument('units', {'q': unit})}, unless the forces are in another unit"
    following.append(told or remedy)
    return 2


def _judge_gravity(fit: FittedModel, ratios: Array, reasons: list[str], following: list[str]) -> int:
    """A gain that is wrong by a factor scales gravity too, and leaves no error of its own."""
    # A hypothesis that was tried says more.
    if not joints_off(ratios) or any(suspicion.about for suspicion in fit.suspicions):
        return 0
    told = np.flatnonzero(np.isfinite(ratios))
    each = ", ".join(f"{ratios[j]:.2g} times at {fit.robot.joint_names[j]}" for j in told)
    reasons.append(
        f"identified gravity is {each} that of the described masses: a torque gain or gear ratio is wrong, the robot "
        "carries a load, a spring acts, or the description has other masses, and none explains the torques by itself"
    )
    following.append(
        f"hold a known mass at the tool, or weigh a link, and compare; then correct {argument('gains')}, describe the "
        "load, or correct the masses"
    )
    return 1
