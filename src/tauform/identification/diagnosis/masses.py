"""Whether a description has masses to compare with."""

from __future__ import annotations

import numpy as np

from tauform.description.findings import inertia_findings
from tauform.description.robot import Robot


def has_masses(robot: Robot) -> bool:
    """Whether somebody chose masses for the links; they need not be those of physical bodies."""
    masses = [inertia.mass for inertia in robot.inertias]
    alike = len(masses) > 2 and np.ptp(masses) == 0.0  # a converter's placeholder
    return max(masses) > 0 and not alike


def has_plausible_masses(robot: Robot) -> bool:
    """Physically consistent links, with masses that somebody chose for each."""
    return has_masses(robot) and all(x.severity != "unphysical" for x in inertia_findings(robot))
