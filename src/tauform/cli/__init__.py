"""The command line: verbs of the API as commands.

A verb is a module of `verbs/` that defines one function of its own name, marked with `@verb`; naming it in PANELS
registers it. Heavy imports stay inside the verbs, so that `tauform --help` answers at once.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated

import typer

from tauform.cli.commands import Command, VerbGroup
from tauform.cli.page import complain, note
from tauform.cli.wording import CommandLine
from tauform.errors import TauformError
from tauform.files.streams import drop_output
from tauform.version import __version__
from tauform.wording import spoken_by

# Panel of the help -> room of `verbs/` and verbs; what a newcomer sees first stands first.
PANELS = {
    "Look at a robot": ("description", ("robots", "show")),
    "The main job": ("code", ("model", "studio")),
    "Its equations": ("equations", ("derive", "base", "linearize")),
    "Its motion": ("equations", ("simulate",)),
    "Code for a controller": ("code", ("generate", "reduce", "multirate")),
    "From measurements": ("measurements", ("excite", "inspect", "identify", "fleet")),
    "This machine": ("machine", ("bench", "cache")),
}
VERBS = tuple(name for _, names in PANELS.values() for name in names)
COMMANDS = tuple(name.replace("_", "-") for name in VERBS)
# 130 and 141 are what a shell reports for SIGINT and SIGPIPE: 128 and the signal's number.
BAD_INPUT, INTERRUPTED, NOBODY_READS = 2, 130, 141
WIDEST = 10_000  # columns of a terminal

app = typer.Typer(
    name="tauform",
    cls=VerbGroup,
    help="tau in closed form: robot dynamics, base parameters, identification and verified real-time code.",
    epilog="Start with: tauform show kr6_r700, then tauform model kr6_r700 -o out. A robot is a name of the catalogue "
    "or a file; tauform COMMAND --help says what a command takes.",
    # Tracebacks of defects stay plain: they are to be pasted into an issue.
    pretty_exceptions_enable=False,
)
for _panel, (_room, _names) in PANELS.items():
    # The help groups by panel in the order of registration.
    for _name in _names:
        _function = getattr(import_module(f"tauform.cli.verbs.{_room}.{_name}"), _name)
        app.command(_name.replace("_", "-"), cls=Command, rich_help_panel=_panel)(_function)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", metavar="", help="Print the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"tauform {__version__}")
    # Without a verb: help and exit code 0, as the user asked nothing wrong.
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code.

    0; 1 where the result must not be relied on; 2 after one sentence on what was wrong with the input; 141 where nobody
    reads on what is printed.
    """
    _drop_impossible_width()
    words = sys.argv[1:] if arguments is None else arguments
    # The verb decides how messages name options; it may stand behind options of the root.
    verb = next((word.replace("-", "_") for word in words if word in COMMANDS), "")
    try:
        with warnings.catch_warnings(), spoken_by(CommandLine(verb)):
            # Warnings become one line each; Python's own form shows file and line of the package.
            warnings.showwarning = lambda message, *_, **__: note(str(message))
            code = _command()(args=arguments, prog_name="tauform", standalone_mode=False)
        # Flushed here: a closed pipe must fail inside this block, not when the interpreter ends.
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # Without this the interpreter would fail again when it flushes at its end.
        drop_output()
        return NOBODY_READS
    except SystemExit as end:  # typer's answer to a pipe that is closed (1), and to a shell that completes
        drop_output()
        return NOBODY_READS if end.code == 1 else BAD_INPUT if end.code else 0
    except OSError as error:
        complain(f"{error.filename}: {error.strerror}" if error.filename is not None else str(error))
        drop_output()
    except TauformError as error:
        complain(str(error))
    except MemoryError as error:
        complain(f"not enough memory ({error or 'no more could be had'}); free some, or ask for less at a time")
    except Exception as error:
        # Usage errors share no public base class over the versions of typer; what they have in common is this.
        if not hasattr(error, "format_message"):
            raise
        complain(error.format_message(), hint="add --help to see what the command takes")
    else:
        return code if isinstance(code, int) else 0
    return BAD_INPUT


@cache
def _command() -> Callable[..., object]:
    """All verbs with their options: made once in a process."""
    return typer.main.get_command(app)


def _drop_impossible_width() -> None:
    """Forget a width of the terminal that no table could have."""
    width = os.environ.get("COLUMNS", "80")
    if not (width.isascii() and width.isdigit() and 0 < int(width) < WIDEST):
        del os.environ["COLUMNS"]
