"""The words of the command line: what Python calls `snap=1e-5` is `--snap 1e-5` here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from shlex import quote

from tauform.wording import NAMED, Python, written

# Parameter of a verb -> its flag and the opposite one, by verb; `verb` fills it in.
FLAGS: dict[str, dict[str, tuple[str, str]]] = {}
# Where a user whose verb lacks the option is sent first.
MOST_OPTIONS = "identify"
# Arguments of the API whose options have another name.
RENAMED = {
    "columns": "column",
    "filters": "cutoff",
    "max_seconds": "seconds",
    "n_fresh": "samples",
    "joints": "map",
    "ranges": "rounding",
    "units": "unit",
}
# Functions of the API and the verbs that call them, where the names differ.
VERB_OF_FUNCTION = {"base_parameters": "base", "explain": "base", "state_space": "linearize", "model_robot": "model"}


@dataclass(frozen=True)
class CommandLine(Python):
    """Flags of a verb in place of arguments; what no verb offers keeps its Python name.

    Attributes:
        verb: empty where none was typed.
    """

    verb: str

    def argument(self, name: str, value: object) -> str:
        """`--snap 1e-05`, or `tauform identify --smoother butterworth` in a verb that lacks it."""
        if name == "path" and isinstance(value, list):
            # Files of one recording are one word.
            return quote("+".join(map(str, value)))
        return self._flags(name, value) or super().argument(name, value)

    def call(self, function: str, given: str, arguments: Mapping[str, object]) -> str:
        """The flags where arguments matter, else the verb."""
        flags = [self._flags(name, value) for name, value in arguments.items()]
        verb = VERB_OF_FUNCTION.get(function, function)
        # All or none: a mixture of flags and arguments could not be typed.
        if flags and all(flags):
            return " ".join(flags)
        return f"`tauform {verb}`" if verb in FLAGS and not flags else super().call(function, given, arguments)

    def place(self, owner: str, name: str) -> str:
        """`--smoother`; the bare name where there is no such flag."""
        return FLAGS.get(self.verb, {}).get(RENAMED.get(name, name), (name, ""))[0]

    def _flags(self, name: str, value: object) -> str:
        """Empty where no verb offers the argument, or not this value."""
        name = RENAMED.get(name, name)
        # The typed verb first, then the one with most options, then any that has it.
        owner = next((owner for owner in (self.verb, MOST_OPTIONS, *FLAGS) if name in FLAGS.get(owner, {})), None)
        if owner is None:
            return ""
        flag, opposite = FLAGS[owner][name]
        # A flag of another verb is shown with that verb, so that the line can be typed.
        command = "" if owner == self.verb else f"tauform {owner} "
        # A value that is off has a flag only where the switch has an opposite.
        if value is None or value is False or not flag:
            return f"{command}{opposite}" if opposite else ""
        # NAMED asks for the flag without a value.
        words = [flag] if value is NAMED or value is True else [f"{flag} {word}" for word in _typed(value)]
        return command + " ".join(words)


def _typed(value: object) -> list[str]:
    """A value as it is typed behind a flag, quoted for a shell; {'a': 1} is a=1, once for each entry."""
    if isinstance(value, Mapping):
        return [quote(f"{key}={_word(item)}") for key, item in value.items()]
    # Several values of one flag: --between 2 58.
    return [" ".join(quote(_word(item)) for item in (value if isinstance(value, tuple) else (value,)))]


def _word(item: object) -> str:
    if item is None:
        return "none"
    if isinstance(item, list):
        return ",".join(map(_word, item))
    return item if isinstance(item, str) else written(item)
