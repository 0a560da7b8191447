"""Path: from the link where both sides of a loop part to the frame at one end, evaluated on any scalar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.description.drives import scalars
from tauform.description.joint import Joint
from tauform.description.loops.algebra import moved, plus, times
from tauform.description.loops.dyad import Turn
from tauform.description.values import Value


@dataclass(frozen=True, eq=False)
class Step(Value):
    """A joint on a path: its placement on the link before it, and its turn and shift per unit of the coordinate."""

    joint: str
    screw: tuple[float, float]
    placement: Array


@dataclass(frozen=True, eq=False)
class Path(Value):
    """Chain from the link where both sides of a loop part to the frame at one end."""

    steps: tuple[Step, ...]
    end: Array

    def axes(self, values: Mapping[str, float]) -> list[tuple[Array, bool]]:
        """Axis of each joint where the path begins, and whether the joint turns."""
        found = []
        for k, step in enumerate(self.steps):
            # Path up to this joint, ended by its placement: R is the joint's frame.
            R, _ = Path(self.steps[:k], step.placement).placed(values)
            found.append((np.array([row[2] for row in R], dtype=float), bool(step.screw[0])))
        return found

    def placed(self, values: Mapping[str, Any]) -> tuple[list[list[Any]], list[Any]]:
        """Rotation and origin of the frame."""
        R: list[list[Any]] = np.eye(3).tolist()
        p: list[Any] = [0.0, 0.0, 0.0]
        for step in self.steps:
            R, p = moved(R, p, step.placement)
            turn, shift = step.screw
            q = values[step.joint]
            if shift:
                # Along z of the joint's frame, which a turn about z does not change.
                p = [plus(a, times(row[2], q * shift)) for a, row in zip(p, R, strict=True)]
            if turn:
                # A dyad asks with sine and cosine in place of an angle.
                s, c = q if isinstance(q, Turn) else (scalars.sin(q * turn), scalars.cos(q * turn))
                # R Rz(q): the columns x and y turn, z stays.
                R = [[plus(times(x, c), times(y, s)), plus(times(y, c), times(-x, s)), z] for x, y, z in R]
        return moved(R, p, self.end)


def path_names(paths: tuple[Path, Path]) -> tuple[str, ...]:
    """Joints on both paths."""
    return tuple(dict.fromkeys(step.joint for path in paths for step in path.steps))


def paths_between(joints: Sequence[Joint], ends: Sequence[tuple[int, Array]]) -> tuple[Path, Path]:
    """Paths from the link where both part to the two frames (link, link_from_frame) of a tree."""
    lines = []
    for link, _ in ends:
        line = [link]
        while line[-1] >= 0:
            line.append(joints[line[-1]].parent)
        # From the base (-1) outwards, so that common links come first.
        lines.append(line[::-1])
    # Links that both lines begin with; the last of them is where they part.
    shared = sum(1 for a, b in zip(*lines, strict=False) if a == b)
    paths = []
    for line, (_, placement) in zip(lines, ends, strict=True):
        steps = [
            Step(joints[i].name, joints[i].type.screw, joints[i].parent_from_joint)
            for _, i in pairwise(line[shared - 1 :])
        ]
        paths.append(Path(tuple(steps), placement))
    return paths[0], paths[1]
