"""Notation of closed forms and relations: plain text that Python can evaluate, or LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tauform.closedform.coordinates import Coordinates
from tauform.closedform.generators import Generators
from tauform.description.layout import Parameter
from tauform.escaping.markup import latex_symbol

# A number is written with the fewest digits that give it back to this many units of rounding.
ROUNDING_UNITS = 8


# Functions of a coordinate among the generators: itself, sine, cosine.
FUNCTIONS = ("", "sin", "cos")
# Summands that stand in one row.
# Far below the depth at which Python's compiler gives up.
LONGEST_SUM = 500


@dataclass(frozen=True)
class Notation:
    """One way to write equations.

    Attributes:
        generators: of q, sin q, cos q, qd, qdd; {} stands for the number of the joint.
        times, power: between factors, and before an exponent.
        left: the left side with its equals sign.
        sign: of what stands for {}.
        name: writes the name of a length, `D3`.
        parameter: writes a parameter, `Izz_2`.
        number: writes a number, given with its digits.
    """

    generators: tuple[str, ...]
    times: str
    power: str
    left: str
    sign: str
    name: Callable[[str], str]
    parameter: Callable[[Parameter], str]
    number: Callable[[str], str]

    def terms(
        self, exponents: NDArray[np.int8], coordinates: Coordinates | None = None, digits: int | None = None
    ) -> tuple[str, ...]:
        """The product of each column of E, empty where all exponents are zero."""
        n = Generators.of(exponents).n
        own = coordinates or Coordinates.plain(n)
        names = [self._generator(k, i, own, digits) for k in range(len(self.generators)) for i in range(n)]
        powers = [[self.raised(names[i], int(column[i])) for i in np.flatnonzero(column)] for column in exponents.T]
        return tuple(self.times.join(factors) for factors in powers)

    def _generator(self, kind: int, i: int, coordinates: Coordinates, digits: int | None) -> str:
        """`s1`; `sin(q1 + 0.3)` where the sine is not that of q itself."""
        scale, offset = float(coordinates.scale[i]), float(coordinates.offset[i])
        # Velocities have no zero to count from.
        if kind >= len(FUNCTIONS) or (scale, offset) == (1.0, 0.0):
            return self.generators[kind].format(i + 1)
        x = self.product(self.number(digits_of(scale, digits)), self.generators[0].format(i + 1))
        shifted = summed([x, *([self.number(digits_of(offset, digits))] if offset else [])])
        backslash = "\\" if self is LATEX and FUNCTIONS[kind] else ""
        return f"{backslash}{FUNCTIONS[kind]}({shifted})"

    def raised(self, name: str, exponent: int) -> str:
        """A power; LaTeX needs braces about more than one digit."""
        braced = f"{{{exponent}}}" if self is LATEX and not 0 <= exponent <= 9 else str(exponent)
        return name if exponent == 1 else f"{name}{self.power}{braced}"

    def product(self, coefficient: str, term: str) -> str:
        """`2.4*c2*qdd1`; a coefficient of one is not written before a term."""
        # The sign stays: "-1" leaves "-".
        if coefficient in ("1", "-1") and term:
            return coefficient.rstrip("1") + term
        return self.times.join(part for part in (coefficient, term) if part)

    def equation(self, joint: int, products: Sequence[str]) -> str:
        """tau of a joint."""
        return self.left.format(joint + 1) + summed(products if self is LATEX else in_brackets(products))


def in_brackets(products: Sequence[str]) -> Sequence[str]:
    """The summands, in brackets where they are many: Python compiles a long sum only to some depth."""
    # Brackets of brackets where even those are many.
    while len(products) > LONGEST_SUM:
        parts = [products[k : k + LONGEST_SUM] for k in range(0, len(products), LONGEST_SUM)]
        products = [f"({summed(part)})" for part in parts]
    return products


def summed(products: Sequence[str]) -> str:
    """`a - b + c`, or 0."""
    # Negative products bring their own sign.
    return " + ".join(products).replace("+ -", "- ") or "0"


def digits_of(value: float, digits: int | None = None) -> str:
    """A number rounded to so many digits; by default the fewest that are the same number but for rounding."""
    if digits is not None:
        return f"{value:.{digits}g}"
    allowed = ROUNDING_UNITS * np.finfo(float).eps * abs(value)
    texts = (f"{value:.{count}g}" for count in range(1, 17))
    # Seventeen digits always give a double back.
    return next((text for text in texts if abs(float(text) - value) <= allowed), f"{value:.17g}")


def latex_parameter(parameter: Parameter) -> str:
    """`I_{zzR,1}` for `IzzR_1`."""
    letters = parameter.kind + "R" * parameter.is_sum
    # Two joints of a shaft, and a label that a user chose.
    number = parameter.number.replace("_", ",") + parameter.suffix.replace("_", r"\_")
    index = ",".join(part for part in (letters[1:], number) if part)
    return rf"{letters[0]}_{{{index}}}"


def latex_name(name: str) -> str:
    """`x_{3}` for `x_3`, `D_{3}` for `D3`."""
    # Other names are written as they are, with LaTeX's own characters escaped.
    found = re.fullmatch(r"([A-Za-z]+)_?([A-Za-z0-9]*)", name)
    if found is None:
        return latex_symbol(name)
    letters, number = found.groups()
    index = ",".join(part for part in (letters[1:], number) if part)
    return rf"{letters[:1]}_{{{index}}}" if index else letters


def latex_number(text: str) -> str:
    r"""`1.2 \times 10^{-5}` for `1.2e-05`."""
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa


def plain_parameter(parameter: Parameter) -> str:
    """`IzzR_1`, as everywhere in Python."""
    return parameter.name


PLAIN = Notation(("q{}", "s{}", "c{}", "qd{}", "qdd{}"), "*", "**", "tau{} = ", "sign({})", str, plain_parameter, str)
LATEX = Notation(
    ("q_{{{}}}", "s_{{{}}}", "c_{{{}}}", r"\dot q_{{{}}}", r"\ddot q_{{{}}}"),
    " ",
    "^",
    r"\tau_{{{}}} &= ",
    r"\operatorname{{sign}}({})",
    latex_name,
    latex_parameter,
    latex_number,
)
