"""What the API says, in the words of the command line: `snap=1e-5` becomes `--snap 1e-5`.

Messages are written once, for Python; whatever a verb prints passes through here on its way to the terminal.
"""

from __future__ import annotations

import ast
import re

# Parameter of a verb -> its flag and the opposite one, by verb; `verb` fills it in.
FLAGS: dict[str, dict[str, tuple[str, str]]] = {}
# Where to send a user whose verb lacks the option.
MOST_OPTIONS = "identify"
# Arguments of the API whose options have another name.
RENAMED = {
    "columns": "column",
    "filters": "cutoff",
    "max_seconds": "seconds",
    "n_fresh": "samples",
}
# Functions of the API and the verbs that call them, where the names differ.
VERBS = {"base_parameters": "base", "explain": "base", "state_space": "linearize", "model_robot": "model"}

CALL = re.compile(r"(?:tf\.)?\w+\(\.\.\., (\w+=[^()]*)\)")
KEYWORD = re.compile(r"(?<![\w.'-])(\w+)=(\{(?:[^{}]|\{\})*\}|'[^']*'|[\w.+-]*\d|\.\.\.|True|False|None)?(?![=\w])")
# How sentences of the door of a public function begin: `identify: smoother: no 'x'; ...`.
DOOR = re.compile(r"\A\w+: (\w+)(?=: no | must be )")
FUNCTION = re.compile(r"\btf\.(\w+)(?:\([^()]*\))?")


def in_flags(text: str, verb: str) -> str:
    """A sentence of the API with its arguments as flags of a verb."""
    text = DOOR.sub(lambda found: in_flags(f"{found[1]}=", verb).removesuffix("="), text)
    text = CALL.sub(r"\1", text)
    text = KEYWORD.sub(lambda found: _flag(found, verb), text)
    return FUNCTION.sub(_command, text)


def _flag(found: re.Match[str], verb: str) -> str:
    name, value = RENAMED.get(found[1], found[1]), found[2]
    owner = next((owner for owner in (verb, MOST_OPTIONS) if name in FLAGS.get(owner, {})), None)
    if owner is None:
        return found[0]
    flag, opposite = FLAGS[owner][name]
    command = "" if owner == verb else f"tauform {owner} "
    if value in ("None", "False"):
        return f"{command}{opposite}" if opposite else found[0]
    if value is None or value == "True":
        return f"{command}{flag}"
    return command + " ".join(f"{flag} {word}" for word in _words(value))


def _words(value: str) -> list[str]:
    """A value as it is typed: quotes dropped, {'a': 1} as a=1."""
    if not value.startswith("{"):
        return [value.strip("'")]
    try:
        entries = ast.literal_eval(value.replace("...", "'...'"))
    except (SyntaxError, ValueError):
        return [value]
    return [f"{key}={_typed(item)}" for key, item in entries.items()]


def _typed(item: object) -> str:
    return "none" if item is None else ",".join(item) if isinstance(item, list) else str(item)


def _command(found: re.Match[str]) -> str:
    verb = VERBS.get(found[1], found[1])
    return f"`tauform {verb}`" if verb in FLAGS else found[0]
