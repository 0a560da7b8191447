"""Units that logs are written in: what they measure, and how much of the SI unit each is."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["angle", "length", "torque", "force", "current", "time", "temperature", "unknown"]
# Signs between the parts of a unit, which people write or leave out: "N mm", "N·mm", "oz-in".
BETWEEN = re.compile(r"[\s·*.⋅^-]+")
# N per lbf, m per inch, and standard gravity [m/s^2] for kgf: exact by definition.
POUND_FORCE, INCH, GRAVITY = 4.4482216152605, 0.0254, 9.80665


@dataclass(frozen=True)
class Unit:
    """A unit: what it measures, SI units in one of it, whether it is per second, and what its zero is.

    Temperatures are in degrees Celsius here.
    """

    kind: Kind
    si: float
    is_rate: bool = False
    zero: float = 0.0


_SIZES: dict[Kind, dict[str, float]] = {
    "angle": {
        "rad": 1.0, "mrad": 1e-3, "deg": math.pi / 180, "arcmin": math.pi / 10_800, "rev": 2 * math.pi,
    },
    "length": {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": INCH},
    "torque": {
        "nm": 1.0, "mnm": 1e-3, "ncm": 1e-2, "nmm": 1e-3, "knm": 1e3, "ozin": POUND_FORCE * INCH / 16,
        "lbft": POUND_FORCE * 12 * INCH, "lbin": POUND_FORCE * INCH, "kgcm": GRAVITY * 1e-2, "kgm": GRAVITY,
    },
    "force": {"n": 1.0, "mn": 1e-3, "kn": 1e3, "lbf": POUND_FORCE},
    "current": {"a": 1.0, "ma": 1e-3},
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "temperature": {"degc": 1.0, "k": 1.0, "degf": 5 / 9},
}  # fmt: skip
# Degrees Celsius where these units are zero.
_ZEROS = {"k": -273.15, "degf": -160 / 9}
# "ftlb" and "lbft" are both in use for the same torque.
_OTHER_WORDS = {
    "°": "deg", "degree": "deg", "degrees": "deg", "radian": "rad", "radians": "rad", "revs": "rev", "turn": "rev",
    "turns": "rev", "lbfft": "lbft", "ftlb": "lbft", "inlb": "lbin", "lbfin": "lbin", "kgfcm": "kgcm", "kgfm": "kgm",
    "amp": "a", "amps": "a", "sec": "s", "second": "s", "seconds": "s", "msec": "ms", "usec": "us",
    "°c": "degc", "celsius": "degc", "kelvin": "k", "°f": "degf", "fahrenheit": "degf",
}  # fmt: skip
# Units of which nobody but the device knows the size.
UNKNOWN = ("counts", "count", "ticks", "inc", "increments", "%", "raw", "lsb")
_PER_SECOND = re.compile(r"(.+?)(?:/s|/sec|persecond|s1)$")


def unit_of(text: str) -> Unit | None:
    """The unit that a text names, however its parts are joined; None where it is none of ours."""
    word = BETWEEN.sub("", text.strip().lower()).replace("µ", "u").replace("μ", "u")
    # The only rate that is one word.
    if word == "rpm":
        return Unit("angle", 2 * math.pi / 60, is_rate=True)
    if word in UNKNOWN:
        return Unit("unknown", math.nan)
    bare = _OTHER_WORDS.get(word, word)
    for kind, sizes in _SIZES.items():
        if bare in sizes:
            return Unit(kind, sizes[bare], zero=_ZEROS.get(bare, 0.0))
    # "deg/s" after the plain units: "ms" must stay milliseconds.
    rate = _PER_SECOND.match(word)
    if rate is None:
        return None
    of = unit_of(rate[1])
    return Unit(of.kind, of.si, is_rate=True) if of is not None and of.kind in ("angle", "length", "unknown") else None


def known_units() -> str:
    """Units to choose from, for a message."""
    return ", ".join(word for sizes in _SIZES.values() for word in sizes) + ", rpm and angles or lengths with /s"
