"""Commands whose `--help` reads as one would write it: some versions of typer say `--help <bool>`, `{ROBOT} <str>`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


class Command(TyperCommand):
    """A verb."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Parameters of the verb, and `--help`."""
        return without_values(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Arguments on the line after Usage: ROBOT, not {ROBOT}."""
        # Braces mean a choice to readers of shells; there is none here.
        pieces = [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]
        # Two words that are named are not any number of them.
        return [piece.removesuffix("...") if " " in piece else piece for piece in pieces]


class VerbGroup(TyperGroup):
    """All verbs."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """`fleet watch ROBOT ...` is `fleet --watch ROBOT ...`: no robot has that name."""
        for k in range(len(args) - 1):
            if args[k : k + 2] == ["fleet", "watch"]:
                args = [*args[: k + 1], "--watch", *args[k + 2 :]]
                break
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """The options beside the verbs, `--help` and completion among them."""
        return without_values(super().get_params(ctx))


def without_values(parameters: list[Any]) -> list[Any]:
    """The same parameters, switches without the name of a value and arguments without that of a Python type."""
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            # Arguments show their metavar alone; the Python type beside it says nothing new.
            parameter.display_type_rich = lambda ctx: None
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            # An empty name leaves the column blank; None would bring the type's name back.
            parameter.metavar = ""
    return parameters
