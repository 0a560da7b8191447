"""Commands whose `--help` shows no value behind a switch: some versions of typer write `--help <bool>`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


class Command(TyperCommand):
    """A verb."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters, and `--help`."""
        return without_values(super().get_params(ctx))


class Group(TyperGroup):
    """All verbs."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options beside the verbs, `--help` and completion among them."""
        return without_values(super().get_params(ctx))


def without_values(parameters: list[Any]) -> list[Any]:
    """The same parameters, their switches without the name of a value."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters
