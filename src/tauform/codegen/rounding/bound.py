"""rounding_bound: an error that no state within given ranges exceeds (docs/mathematics/rounding.md).

The error E of a computed value obeys a recursion that is linear but for known sources:

    c = a b:   E_c = a E_b + b E_a + s_c,   s_c = E_a E_b + rounding of the computed product

so that E_y = sum_k A_k s_k with A_k = dy/dv_k at exact values: no term is neglected. A_k v_k and A_k are trigonometric
polynomials in the angles, whose maxima are bounded by samples (Ehlich and Zeller 1964), and polynomials in all else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tauform.arrays import Array, read_only
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program
from tauform.codegen.rounding.analysis import Analysis
from tauform.codegen.rounding.magnitudes import Magnitudes, Type
from tauform.description.robot import Robot
from tauform.errors import GenerationError, ShapeError
from tauform.messages import no_such
from tauform.wording import place

TYPES = {"float": Type(np.float32), "double": Type(np.float64)}


@dataclass(frozen=True, eq=False)
class RoundingBound:
    """Errors that the results of a program cannot exceed.

    Attributes:
        program: its name.
        real: "float" or "double".
        ranges: largest magnitudes of the inputs, by port.
        errors: by output port, of each entry, in the output's unit.
    """

    program: str
    real: str
    ranges: Mapping[str, Array]
    errors: Mapping[str, Array]

    @property
    def largest(self) -> float:
        """The largest of all errors."""
        return max(float(error.max()) for error in self.errors.values())

    @property
    def sentence(self) -> str:
        """The guarantee in words, its figures rounded upwards."""
        ranges = ", ".join(f"|{port}| <= {_listed(limit, 1.0)}" for port, limit in self.ranges.items())
        errors = "; ".join(f"{port} {_listed(error, 1.005)}" for port, error in self.errors.items())
        return (
            f"Guaranteed for {self.program} with {ranges}: no result is off from exact arithmetic by more than "
            f"{errors} in {self.real}, whether or not the compiler fuses multiply-add."
        )


def _listed(values: Array, margin: float) -> str:
    """One number where all are the same, else all of them."""
    # Three digits round by at most half a percent, which the margin covers: the printed figure stays a bound.
    texts = [f"{margin * v:.3g}" for v in values.ravel().tolist()]
    return texts[0] if len(set(texts)) == 1 else f"({', '.join(texts)})"


def rounding_bound(
    program: Program,
    ranges: Mapping[str, Any] | None = None,
    *,
    robot: Robot | None = None,
    real: Literal["float", "double"] = "float",
) -> RoundingBound:
    """A bound on the rounding errors of a generated program that no state within the ranges exceeds.

    Inputs are numbers of the type; the error is the distance from the program's results in exact arithmetic. It holds
    with and without fused multiply-add, for the inline sines, and for numbers flushed to zero; not with -ffast-math.

    Args:
        program: without divisions: inverse dynamics, gravity, mass matrix, regressors and the like.
        ranges: largest magnitude of each input, one number or one per entry: {"q": 3.14, "qd": 2.0, "qdd": 10.0}.
        robot: its limits of position and velocity stand in for what `ranges` does not name.
        real: "float" or "double".

    Raises:
        GenerationError: an input has no finite range, or the program divides, or has a form with vectors.
        ShapeError: a range does not fit its input.
    """
    # Which of the two a compiler takes is not known here; a bound for one would not guard the other.
    if program.wide is not None:
        raise GenerationError(
            f"rounding_bound: {program.name} is also written with vectors, whose operations have another order; there "
            "is no bound for both"
        )
    limits = box(program, ranges or {}, robot)
    analysis = Analysis(program, Magnitudes(program, limits, TYPES[real]))
    totals = analysis.totals()
    errors = {}
    for port, result in zip(program.outputs, program.results, strict=True):
        errors[port.name] = read_only(np.array([totals[k] for k in result]).reshape(port.shape))
    named = {
        port.name: read_only(limit.reshape(port.shape)) for port, limit in zip(program.inputs, limits, strict=True)
    }
    return RoundingBound(program.name, real, named, errors)


# The box of states: the largest magnitude of each input of a program.


def box(program: Program, ranges: Mapping[str, Any], robot: Robot | None) -> list[Array]:
    """(size,) largest magnitudes of each input port.

    Raises:
        UnknownNameError: a range of no input.
        GenerationError: an input has no finite range.
    """
    names = [port.name for port in program.inputs]
    for name in ranges:
        if name not in names:
            raise no_such("input", name, names)
    return [_limit(program, port, ranges, robot) for port in program.inputs]


def _limit(program: Program, port: Port, ranges: Mapping[str, Any], robot: Robot | None) -> Array:
    given = ranges.get(port.name)
    # The user's range, then the robot's limits, then the parameters' own values.
    if given is None and robot is not None:
        given = _of_robot(robot, port)
    if given is None:
        given = program.about.defaults.get(port.name, np.inf)
    try:
        limit: Array = np.abs(np.broadcast_to(np.asarray(given, dtype=np.float64), port.shape).reshape(port.size))
    except ValueError:
        raise ShapeError(f"ranges: {port.name} takes one number or {port.shape}, got {np.shape(given)}") from None
    # A bound over an infinite range is infinite, and says nothing.
    if not np.isfinite(limit).all():
        raise GenerationError(
            f"{place('rounding_bound', 'ranges')}: {port.name} of {program.name} has no finite range; name its largest "
            "magnitude",
            argument="ranges",
        )
    return limit


def _of_robot(robot: Robot, port: Port) -> Any:
    """Limits of the robot's joints, in the place of q and qd."""
    if port.size != robot.n_joints or port.name not in ("q", "qd"):
        return None
    by_name = {joint.name: joint for joint in robot.joints}
    limits = [by_name[name].limits for name in robot.joint_names]
    if port.name == "q":
        # The box is symmetric: the analysis knows magnitudes only.
        return [max(abs(limit.lower), abs(limit.upper)) for limit in limits]
    return [limit.velocity for limit in limits]
