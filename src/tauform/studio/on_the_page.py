"""The words of the studio: what Python calls `rate=125.0` is the field "rate without a time column [Hz]" of a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tauform.studio.results import FIELDS
from tauform.wording import NAMED, Python, written

# Labels of the page, beside which a log and a robot are told what they are.
FIELD_WORDS = {"t": "time", "q": "positions", "qd": "velocities", "tau": "torques"}
UNITS_LABEL = "units that are not SI"
# Argument -> label of its only field.
LABELS = {"rate": "rate without a time column [Hz]", "tip": "tip: cut here", "physical": "physically consistent links"}
# Of the list of units: those that logs of arms come in; Python and the command line know all.
UNITS = ("deg", "mm", "mNm", "ms", "us", "ns")
COLUMNS_PLACE = "in the lists of columns"


def label_of(field: str) -> str:
    """The label of the list in which the columns of a field are chosen."""
    return f"{FIELD_WORDS[field]} ({field})"


@dataclass(frozen=True)
class OnThePage(Python):
    """What to choose on the page in place of arguments; what it has no field for is left to the library, by name."""

    def argument(self, name: str, value: object) -> str:
        """`"units that are not SI" deg`, and `delay=-0.2 in Python` for what the page has no field for."""
        return self._chosen(name, value) or f"{super().argument(name, value)} in Python"

    def call(self, function: str, given: str, arguments: Mapping[str, object]) -> str:
        """The fields where every argument has one, else the call."""
        chosen = [self._chosen(name, value) for name, value in arguments.items()]
        if chosen and all(chosen):
            return ", ".join(chosen)
        return f"{super().call(function, given, arguments)} in Python"

    def _chosen(self, name: str, value: object) -> str:
        """Where the page is told so; empty where it cannot be."""
        if name == "columns":
            return _lists(value)
        if name == "joints" and isinstance(value, list | tuple):
            return f"the columns of {', '.join(map(str, value))}, chosen in this order {COLUMNS_PLACE}"
        if name in ("units", "time_unit", "degrees"):
            units = _units(value)
            return f'"{UNITS_LABEL}" {", ".join(units)}' if units and set(units) <= set(UNITS) else ""
        if name not in LABELS or value is None or value is False:
            return ""
        return f'"{LABELS[name]}"' + ("" if value in (NAMED, ..., True) else f" {_word(value)}")


def _lists(value: object) -> str:
    """Lists of columns, and what to choose in them; by themselves where no columns are named."""
    if value is NAMED:
        return f"the columns {COLUMNS_PLACE}"
    if not isinstance(value, Mapping) or not set(value) <= set(FIELDS):
        return ""
    return ", ".join(f'"{label_of(field)}" {_columns(meant)}' for field, meant in value.items())


def _columns(meant: object) -> str:
    if meant is None:
        return "emptied"
    return ", ".join(map(_word, meant)) if isinstance(meant, list | tuple) else _word(meant)


def _word(item: object) -> str:
    # Lists show whole names, which a pattern stands for.
    return item.replace("{}", "…") if isinstance(item, str) else written(item)


def _units(value: object) -> list[str]:
    """Words of the list of units that say the same; none where only some columns are meant."""
    if isinstance(value, Mapping):
        return list(dict.fromkeys(map(str, value.values()))) if set(value) <= set(FIELDS) else []
    # degrees=True is a unit too.
    return value.split(",") if isinstance(value, str) else ["deg"] if value is True else []
