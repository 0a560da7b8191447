"""Diagnosis before blame: faults of the log and of the description, each tried as a hypothesis on the data."""

from __future__ import annotations

import numpy as np

from tauform.identification.diagnosis.described import compare_with_description
from tauform.identification.diagnosis.explained import Explained
from tauform.identification.diagnosis.masses import has_masses
from tauform.identification.diagnosis.samples import sampled
from tauform.identification.diagnosis.signs import MAX_LOG_RATIO_OF_EQUALS, find_signs
from tauform.identification.diagnosis.suspicion import Suspicion
from tauform.identification.diagnosis.swaps import Swap, find_swap
from tauform.identification.regression.rows import RowSource


def diagnose(source: RowSource) -> tuple[Swap | None, tuple[Suspicion, ...]]:
    """Exchanged columns, and suspicions about signs, mount and load, where they explain the torques far better."""
    robot = source.design.robot
    samples = sampled(source)
    if len(samples.tau) < robot.n_joints:
        return None, ()
    suspicions = compare_with_description(robot, samples) if has_masses(robot) else []
    if any(s.is_cause for s in suspicions):
        return None, tuple(suspicions)
    explained = Explained(source.design, samples)
    swap = find_swap(explained)
    of_signs, signs = find_signs(explained, robot.joint_names)
    of_swap = np.inf if swap is None else 2 * float(np.log(swap.after).sum())
    if of_signs > of_swap + MAX_LOG_RATIO_OF_EQUALS:
        signs = []
    if of_swap > of_signs + MAX_LOG_RATIO_OF_EQUALS:
        swap = None
    return swap, (*signs, *suspicions)
