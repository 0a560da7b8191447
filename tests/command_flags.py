"""Flags of the verbs, as their parser knows them."""

from __future__ import annotations

import re
from functools import cache

import typer

from tauform.cli import app

# `tauform identify --method` speaks of another verb than the one that says it.
FLAG = re.compile(r"(?:tauform ([a-z]+) (?:[A-Z\w.]+ )*)?(?<![-\w])(--[a-z][a-z-]*[a-z])")


@cache
def flags_of(verb: str) -> set[str]:
    """Every spelling of every option of a verb."""
    command = typer.main.get_command(app).commands[verb]  # type: ignore[attr-defined]
    return {"--help", *(word for option in command.params for word in (*option.opts, *option.secondary_opts))}


def foreign_flags(text: str, verb: str) -> list[str]:
    """Flags that a text of a verb names and that do not exist."""
    return [flag for other, flag in FLAG.findall(text) if flag not in flags_of(other or verb)]
