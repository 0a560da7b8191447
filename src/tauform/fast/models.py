"""Methods of closed forms and fits on compiled code.

A closed form with all its terms has the dynamics of a robot of virtual links, a fit those of the robot it identified:
the kernel is that robot's. It answers once it has repeated what the terms, or the columns, give in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.term_by_term import TermByTerm
from tauform.description.drives.friction import REFERENCE_TEMPERATURE
from tauform.description.robot import Robot
from tauform.errors import GenerationError, VerificationError
from tauform.fast.dispatch import Entry, OptionKey, Tiered
from tauform.fast.shaping import NOTHING
from tauform.fast.tier import Tier

# Of each output's peak; accelerations also by the condition of the mass matrix.
MAX_DIFFERENCE = 1e-12
N_STATES = 50


class ModelSource(NamedTuple):
    """What a kernel is made of: a robot with the same dynamics, and its function of the same result.

    Attributes:
        zeros: inputs of the function that the method holds at zero.
    """

    robot: Robot
    function: str
    zeros: tuple[str, ...] = ()


class TieredMethod(Tiered):
    """A method whose owner is no robot; entries live as long as their owner, and are not pickled with it.

    Args:
        textbook: the method in NumPy, with its owner first.
        source: what the kernel of an owner is made of; it may raise a TauformError where there is none.
        divides: by inertias.
    """

    def __init__(
        self, textbook: Callable[..., Any], source: Callable[[Any, str], ModelSource], divides: bool = False
    ) -> None:
        super().__init__(textbook, divides=divides, adopts=False)
        self.source = source
        # Weak: a fit that nobody holds takes its kernels with it.
        self._entries: WeakKeyDictionary[Any, dict[OptionKey, Entry]] = WeakKeyDictionary()

    def _title(self, robot: Any) -> str:
        name: str = robot.name if hasattr(robot, "name") else robot.robot.name
        return name

    def _entry(self, robot: Any, key: OptionKey) -> Entry:
        return self._entries.setdefault(robot, {}).setdefault(key, Entry())

    def _by_kernel(self, kernel: Any, robot: Any, states: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
        names = {port.name for port in kernel.program.inputs}
        if options.get("temperature") is not None and "temperature" not in names:
            return NOTHING  # whether it is refused or left out, the method in NumPy says
        # Inputs that the method does not have, such as qdd of an induced torque, are zero.
        still = {name: np.zeros(kernel.program.inputs[0].shape) for name in names - {*states, *options}}
        return super()._by_kernel(kernel, robot, {**states, **still}, options)

    def _kernel(self, robot: Any, key: OptionKey, tier: Tier, in_background: bool) -> Any:
        from tauform.fast.aside import stages  # its imports take longer than a thousand calls

        source = self.source(robot, self.name)
        yield
        kernel = yield from stages(source.robot, source.function, {}, tier, self.divides, in_background)
        yield
        self._compare(kernel, robot, source)
        return kernel

    def _install(self, robot: Any, entry: Entry, kernel: Any, tier: Tier, fast: bool) -> None:
        # Never the short call: its owner is no robot.
        super()._install(robot, entry, kernel, tier, fast=False)

    def _compare(self, kernel: Any, owner: Any, source: ModelSource) -> None:
        """Refuse a kernel that differs from the method in NumPy.

        Raises:
            VerificationError: by more than rounding.
        """
        n, names = source.robot.n_joints, [port.name for port in kernel.program.inputs]
        moving = [name for name in names if name not in ("temperature", *source.zeros)]
        drawn = np.random.default_rng(0).uniform(-np.pi, np.pi, (len(moving), N_STATES, n))
        states = dict(zip(moving, drawn, strict=True))
        # Where Fv holds: a temperature at which both are defined.
        warm = {"temperature": np.full(n, REFERENCE_TEMPERATURE)} if "temperature" in names else {}
        expected = self.textbook(owner, **states, **warm)
        found = self._by_kernel(kernel, owner, states, warm)
        # Errors of a solution grow with the condition of the matrix.
        allowed = MAX_DIFFERENCE * (_condition(source.robot, states["q"]) if self.divides else 1.0)
        if found is NOTHING or not np.abs(found - expected).max() <= allowed * np.abs(expected).max():
            raise VerificationError(
                f"{self.name} of {self._title(owner)} differs from that of the robot with these links"
            )


def _condition(robot: Robot, q: np.ndarray) -> float:
    from tauform.rigidbody.inertia.mass_matrix import mass_matrix

    return float(np.linalg.cond(mass_matrix(robot, q)).max())


def _of_model(bound: BoundModel, name: str) -> ModelSource:
    """The robot of virtual links.

    Raises:
        GenerationError: terms were dropped, joints are fixed, or friction by load decides what may be solved.
    """
    from tauform.codegen.factored.model_program import whole_robot

    robot = None if bound.model.fixed else whole_robot(bound)
    if robot is None:
        raise GenerationError(f"{bound.name}: with dropped terms or fixed joints its terms are no robot's")
    if name == "forward_dynamics" and bound.beside.is_loaded:
        raise GenerationError(f"{bound.name}: friction by load is judged term by term")
    return ModelSource(robot, "inverse_dynamics", ("qdd",)) if name == "induced_torque" else ModelSource(robot, name)


def _method(name: str, divides: bool = False) -> TieredMethod:
    method = getattr(TermByTerm, name)

    @wraps(method)
    def textbook(bound: BoundModel, **arguments: Any) -> Any:
        return method(bound.textbook, **arguments)

    return TieredMethod(textbook, _of_model, divides)


_METHODS = {
    "inverse_dynamics": _method("inverse_dynamics"),
    "mass_matrix": _method("mass_matrix"),
    "coriolis_matrix": _method("coriolis_matrix"),
    "gravity_torque": _method("gravity_torque"),
    "induced_torque": _method("induced_torque"),
    "forward_dynamics": _method("forward_dynamics", divides=True),
}


def answered(
    bound: BoundModel, name: str, states: Mapping[str, Any], options: Mapping[str, Any], tier: Tier | None
) -> Any:
    """Result of a method of a closed form, by the best tier there is."""
    return _METHODS[name](bound, states, options, tier)  # type: ignore[arg-type]  # an owner in place of a robot
