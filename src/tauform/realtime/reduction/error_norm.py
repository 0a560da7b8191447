"""ErrorNorm: torque errors at sampled states as relative errors of the function that is reduced.

Inverse dynamics err by |dtau| / |tau|. Forward dynamics with a torque that is off by dtau err, to first order, by
|M^-1 dtau| / |qdd|, so light joints count as much as heavy ones there; of dtau what load friction leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tauform.arrays import Array
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.profile import States
from tauform.closedform.reduction.streaming import sizes
from tauform.codegen.program.program import Program
from tauform.description.robot import Robot
from tauform.portable.factorization import definite_solved
from tauform.portable.products import product
from tauform.realtime.reduction.subject import Subject


@dataclass(frozen=True, eq=False)
class ErrorNorm:
    """States, the exact torques there, and what an error of them is worth.

    Attributes:
        subject: what is reduced.
        function: "inverse_dynamics" or "forward_dynamics".
        torque: (N, n) exact torques.
        confidence: share of the states that counts.
        definite: whether mass matrices must stay positive definite.
        is_definite: whether the exact one is; else it cannot be kept as it is.
        joints: (n,) weights of the joints, where each has a tolerance of its own.
        tell: called with a few words before what takes long.
        made: programs so far with their models, by what they are made of; lower aims often lead to the same again.
    """

    subject: Subject
    function: str
    states: States
    torque: Array
    confidence: float
    definite: bool
    joints: Array | None = None
    is_definite: bool = True
    tell: Callable[[str], None] = lambda words: None
    made: dict[Hashable, tuple[BoundModel | None, Program]] = field(default_factory=dict)

    @classmethod
    def at(
        cls,
        subject: Subject,
        function: str,
        states: States,
        confidence: float,
        definite: bool,
        joints: Array | None = None,
    ) -> ErrorNorm:
        """The norm for a function at some states."""
        return cls(subject, function, states, subject.torque(*states), confidence, definite, joints)

    @property
    def may_keep_inertia(self) -> bool:
        """Whether a program with the exact mass matrix can be a result."""
        return self.is_definite or not self.definite

    @property
    def robot(self) -> Robot:
        """The robot that is reduced."""
        return self.subject.robot

    @cached_property
    def weight(self) -> Array:
        """(N, n, n) matrices that turn a torque error into a relative one."""
        forward, n = self.function == "forward_dynamics", self.robot.n_joints
        if self.joints is not None:
            # Weights of joints replace relative sizes: they hold the tolerances already.
            return np.broadcast_to(np.diag(self.joints), (len(self.torque), n, n))
        # Forward dynamics are judged by accelerations: a heavy joint's torque error may move nothing.
        size = sizes(self.states[2] if forward else self.torque)[:, None, None]
        unit = np.broadcast_to(np.eye(n), (len(self.torque), n, n))
        if not forward:
            return unit / size
        # of a torque that is off, load friction takes its part: links and rotors feel dtau / gain
        felt = unit / self.subject.gains(*self.states)[:, None, :]
        return definite_solved(self.subject.mass_matrix(self.states[0]), felt) / size

    def weighted(self, torques: Array) -> Array:
        """(N, n, ...) torques, or columns of them, in units of the relative error."""
        listed = torques.reshape(*torques.shape[:2], -1)
        result: Array = product(self.weight, listed).reshape(torques.shape)
        return result

    def error(self, torque: Array) -> float:
        """Relative error that the share of the states stays below with these torques in place of the exact ones."""
        errors = np.linalg.norm(self.weighted(torque - self.torque), axis=1)
        # Lloyd2021 (67): the error that a share of the states stays below, not the mean.
        return float(np.quantile(errors, self.confidence))
