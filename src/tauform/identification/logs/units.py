"""Units in the names of columns ("tau1 [mNm]"): what is not SI is refused, for the numbers alone rarely show it."""

from __future__ import annotations

import re

from tauform.errors import RecordingError
from tauform.identification.logs.columns import Layout
from tauform.identification.recording.recording import TIME_UNITS
from tauform.wording import argument

DEGREES = re.compile(r"[\[(_ ](deg|degrees?|°)(/s)?[\])]?$")
IN_BRACKETS = re.compile(r"[\[(]([^\[\]()]+)[\])]\s*$")
# Signs between the parts of a unit, which people write or leave out: "N mm", "N·mm", "oz-in".
BETWEEN = re.compile(r"[\s·*.⋅-]+")
POSITIONS = ("mm", "cm", "mrad", "rev", "revs", "turn", "turns", "counts", "ticks", "inc")
OTHERS = {
    "q": POSITIONS,
    "reference": POSITIONS,
    "qd": ("rpm", *(f"{unit}/s" for unit in POSITIONS)),
    "tau": ("mnm", "ncm", "nmm", "knm", "mn", "kn", "ozin", "lbft", "lbfft", "lbin", "inlb", "kgcm", "kgfcm", "%"),
}


def refuse_other_units(layout: Layout, source: str, *, degrees: bool, scaled: bool, time_unit: str) -> None:
    """Raise RecordingError where the name of a column says another unit than it is read in.

    Args:
        degrees: positions and velocities are read as degrees.
        scaled: torques are multiplied by gains.
        time_unit: in which times are read.
    """
    names = [name for field in ("q", "qd", "reference") for name in getattr(layout, field) or ()]
    told = next((name for name in names if DEGREES.search(name.lower())), None)
    if told is not None and not degrees:
        remedy = f"read it with {argument('degrees', True)}"
        raise RecordingError(f"{source}: column {told!r} is in degrees by its name", argument="degrees", remedy=remedy)
    unit = _unit(layout.t).replace("µ", "u").replace("μ", "u")
    if unit in TIME_UNITS and unit != time_unit:
        remedy = f"read it with {argument('time_unit', unit)}"
        raise RecordingError(
            f"{source}: column {layout.t!r} is in {TIME_UNITS[unit][0]} by its name",
            argument="time_unit",
            remedy=remedy,
        )
    for field, units in OTHERS.items():
        for name in getattr(layout, field) or ():
            if _unit(name) in units and not (field == "tau" and scaled):
                remedy = "convert it to N m or N" if field == "tau" else "convert it to rad or m, and seconds"
                more = f", or scale it with {argument('gains', ...)}" if field == "tau" else ""
                raise RecordingError(f"{source}: column {name!r} is in another unit by its name", remedy=remedy + more)


def _unit(name: str) -> str:
    """What stands in brackets at the end of a name, as one word."""
    found = IN_BRACKETS.search(name.lower())
    return BETWEEN.sub("", found[1]) if found else ""
