"""A page for each verb of the command line: hand-written text, then what it takes, as tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

SECTION = "How to"
HELP = re.compile(r"^<!-- help: ([\w-]+) -->$", re.MULTILINE)
# What a verb does has a page of its own for those who call it from Python or write its files.
IN_PYTHON = {
    "robots": "howto/robot_files.md",
    "show": "howto/change_robot.md",
    "derive": "closed_form.md",
    "linearize": "linearization.md",
    "generate": "howto/kernels.md",
}


def on_config(config: Any) -> Any:
    """Name the pages in the navigation, in the order of the verbs; what has no verb comes last."""
    from tauform.cli import VERBS

    section = next(entry for entry in config.nav if SECTION in entry)
    written = {path.stem for path in (Path(config.docs_dir) / "howto").glob("*.md")}
    section[SECTION] = []
    further = ("online", "notebook", "control")
    for name in dict.fromkeys(("command_line", "model", *VERBS, *further)):
        section[SECTION] += [f"howto/{name}.md"] if name in written else []
        section[SECTION] += [IN_PYTHON[name]] if name in IN_PYTHON else []
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in the help."""
    return HELP.sub(lambda match: help_of(match[1]), markdown)


def help_of(verb: str) -> str:
    """What `tauform VERB --help` says, in Markdown: one table for each of its panels."""
    import typer

    from tauform.cli import app

    command = typer.main.get_command(app).commands[verb]  # type: ignore[attr-defined]
    panels: dict[str, list[str]] = {}
    for parameter in command.params:
        panel = getattr(parameter, "rich_help_panel", None) or "Options"
        panels.setdefault(panel, []).append(f"| {signature(parameter)} | {meaning(parameter)} |")
    usage = " ".join(word for word in ("tauform", verb, *map(placeholder, command.params)) if word)
    tables = ["\n".join([f"| {panel} | |", "|---|---|", *rows]) for panel, rows in panels.items()]
    return "\n\n".join([f"## {usage}", '<div class="options" markdown>', *tables, "</div>"])


def is_argument(parameter: Any) -> bool:
    return not any(name.startswith("-") for name in parameter.opts)


def placeholder(parameter: Any) -> str:
    """How an argument stands in the line; options have no place there."""
    if not is_argument(parameter):
        return ""
    word = parameter.metavar + ("..." if parameter.nargs == -1 else "")
    return word if parameter.required else f"[{word}]"


def signature(parameter: Any) -> str:
    """The names of a parameter and of its value."""
    if is_argument(parameter):
        return f"`{placeholder(parameter)}`"
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    return f"{names} `{parameter.metavar}`" if parameter.metavar else names


def meaning(parameter: Any) -> str:
    """Its help, and its default where there is one to speak of; a switch is off."""
    text = (parameter.help or "").replace("|", r"\|")
    default = parameter.default
    on = default is True and parameter.secondary_opts
    spoken = default is not None and not isinstance(default, bool) and default not in ("", [], ())
    return f"{text} Default: `{parameter.opts[0] if on else default}`." if on or spoken else text
