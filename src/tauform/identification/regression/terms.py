"""Terms beside the base parameters: friction that is not a straight line, springs, ripple, couplings between drives.

Each is one column: the torque on every joint for a coefficient of one. Widths are velocities [rad/s or m/s].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.errors import UnknownNameError

# Temperature at which friction is what Fv says [degrees Celsius].
REFERENCE_TEMPERATURE = 20.0
Torque = Callable[[Array, Array, Array], Array]


@dataclass(frozen=True)
class Shape:
    """A torque that depends on one joint's own motion.

    Attributes:
        prefix: of its name, `K` in `K_3`.
        function: (q, qd, width) of one joint -> torque for a coefficient of one.
        c: the same in C, with {q}, {qd} and {width} to be filled in.
        meaning: for people.
        is_sharp: whether it jumps or bends where the velocity changes its sign.
        is_thermal: whether its coefficient is for one kelvin above REFERENCE_TEMPERATURE.
    """

    prefix: str
    function: Callable[[Array, Array, float], Array]
    c: str
    meaning: str
    is_sharp: bool = False
    is_thermal: bool = False


SHAPES = {
    "smooth": Shape(
        "Fs",
        lambda q, qd, w: step(qd, w),
        "tanh({qd} / {width})",
        "friction that builds up over a velocity",
        True,
    ),
    "stribeck": Shape(
        "Fb",
        lambda q, qd, w: np.sign(qd) * np.exp(-np.abs(qd) / w),
        "copysign(exp(-fabs({qd}) / {width}), {qd}) * ({qd} != 0)",
        "break-away friction that fades with velocity (Stribeck)",
        True,
    ),
    "asymmetric": Shape(
        "Fa", lambda q, qd, w: np.abs(qd), "fabs({qd})", "viscous friction that differs by direction", True
    ),
    "quadratic": Shape(
        "Fq",
        lambda q, qd, w: qd * np.abs(qd),
        "{qd} * fabs({qd})",
        "friction that bends with speed",
        True,
    ),
    "thermal": Shape(
        "Ft",
        lambda q, qd, w: qd,
        "{qd}",
        "viscous friction that changes with temperature",
        is_thermal=True,
    ),
    "stiffness": Shape("K", lambda q, qd, w: q, "{q}", "a spring or a cable that pulls"),
    "sine": Shape("Ks", lambda q, qd, w: np.sin(q), "sin({q})", "torque that repeats with a turn"),
    "cosine": Shape("Kc", lambda q, qd, w: np.cos(q), "cos({q})", "torque that repeats with a turn"),
}
COUPLINGS = {
    "coupled_inertia": ("Iam", "rotor that two joints turn together"),
    "coupled_viscous": ("Fvm", "viscous friction of a shaft that two joints turn together"),
    "coupled_coulomb": ("Fcm", "Coulomb friction of a shaft that two joints turn together"),
}


@dataclass(frozen=True)
class Term:
    """One column of a known kind; `kind` is a key of SHAPES or COUPLINGS.

    Attributes:
        joints: indices into q: one, or the two that are coupled.
        width: velocity over which a sign is smoothed, or at which an effect has faded.
        sense: +1 if the coupled shaft turns with the sum of the two velocities, -1 with their difference.
    """

    kind: str
    joints: tuple[int, ...]
    width: float = 0.0
    sense: int = 1

    def __post_init__(self) -> None:
        if self.kind not in SHAPES and self.kind not in COUPLINGS:
            raise UnknownNameError(f"term {self.kind!r} does not exist; choose from {', '.join([*SHAPES, *COUPLINGS])}")

    @property
    def name(self) -> str:
        """`K_3`, or `Iam_5_6` for a coupling; smooth steps carry their width."""
        numbers = "_".join(str(j + 1) for j in self.joints)
        return f"{self.symbol}_{numbers}" + (f"@{self.width:.3g}" if self.width and not self.is_coupling else "")

    @property
    def symbol(self) -> str:
        """`K` in `K_3`."""
        return COUPLINGS[self.kind][0] if self.kind in COUPLINGS else SHAPES[self.kind].prefix

    @property
    def meaning(self) -> str:
        """What it stands for, in words."""
        return COUPLINGS[self.kind][1] if self.kind in COUPLINGS else SHAPES[self.kind].meaning

    @property
    def is_coupling(self) -> bool:
        """Whether it acts between two joints."""
        return self.kind in COUPLINGS

    @property
    def is_sharp(self) -> bool:
        """Whether it jumps or bends where a velocity changes its sign."""
        return self.kind == "coupled_coulomb" if self.is_coupling else SHAPES[self.kind].is_sharp

    @property
    def is_thermal(self) -> bool:
        """Whether its coefficient is for one kelvin above REFERENCE_TEMPERATURE."""
        return self.kind in SHAPES and SHAPES[self.kind].is_thermal

    def torque(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(N, n) torque for a coefficient of one."""
        out = np.zeros_like(q)
        if self.kind in SHAPES:
            (j,) = self.joints
            out[:, j] = SHAPES[self.kind].function(q[:, j], qd[:, j], self.width)
            return out
        i, j = self.joints
        if self.kind == "coupled_coulomb":
            out[:, i] = step(qd[:, i] + self.sense * qd[:, j], self.width)
            out[:, j] = self.sense * out[:, i]
        else:
            # The shaft turns with qd_i + s qd_j; what each joint's own motion does is in Ia and Fv already.
            motion = qdd if self.kind == "coupled_inertia" else qd
            out[:, i], out[:, j] = self.sense * motion[:, j], self.sense * motion[:, i]
        return out


@dataclass(frozen=True, eq=False)
class Column:
    """A column of the user's own: function(q, qd, qdd) -> (N, n) torque for a coefficient of one.

    Attributes:
        is_sharp: False says that it neither jumps nor bends, so that fewer samples of it do.
    """

    name: str
    function: Torque
    meaning: str = "given by the user"
    is_sharp: bool = True

    @property
    def symbol(self) -> str:
        """None that is known."""
        return ""

    @property
    def joints(self) -> tuple[int, ...]:
        """Unknown: the function may act on any."""
        return ()

    @property
    def is_coupling(self) -> bool:
        """Counted with the joint's own terms."""
        return False

    @property
    def is_thermal(self) -> bool:
        """A function of the motion alone."""
        return False

    def torque(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(N, n) torque for a coefficient of one."""
        return np.asarray(self.function(q, qd, qdd), dtype=np.float64)


def coupling(i: int, j: int, width: float = 0.0, sense: int = 1) -> tuple[Term, Term, Term]:
    """The three columns of a shaft that joints i and j (counted from 0) turn together, as in many wrists.

    tau_i += Iam s qdd_j + Fvm s qd_j + Fcm sign(qd_i + s qd_j), and the same for joint j, with sense s.
    """
    return tuple(Term(kind, (i, j), width, sense) for kind in COUPLINGS)  # type: ignore[return-value]


def step(v: Array, width: float) -> Array:
    """sign(v), smoothed over a width: tanh(v / width)."""
    return np.tanh(v / width) if width > 0 else np.sign(v)
