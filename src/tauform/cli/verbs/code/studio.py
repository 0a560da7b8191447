"""tauform studio: the package as an application in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tauform.cli.options import PANEL
from tauform.cli.page import Page
from tauform.cli.verb import verb


@verb
def studio(
    source: Annotated[str | None, typer.Argument(metavar="ROBOT", help="A name of the catalogue, or a file.")] = None,
    logs: Annotated[list[Path] | None, typer.Argument(metavar="LOG", help="Recordings to offer.")] = None,
    tip: Annotated[
        str | None, typer.Option(metavar="FRAME", help="Frame or link to end at.", rich_help_panel=PANEL)
    ] = None,
    port: Annotated[int, typer.Option(help="Port of 127.0.0.1; 0 takes a free one.", min=0, max=65535)] = 0,
    browser: Annotated[bool, typer.Option(help="Open the address in the usual browser.")] = True,
) -> Page:
    """Open the studio: robots, logs, fits, smaller programs and code in the browser, on this machine alone."""
    from tauform.errors import RecordingError
    from tauform.studio.server import serve

    # Before the server starts: its page would show the error too late.
    for path in logs or []:
        if not path.is_file():
            raise RecordingError(f"{path}: no such log")
    # Blocks until Ctrl-C; the page below has nothing left to say.
    serve(source, logs or [], tip=tip, port=port, browser=browser, opened=_say)
    return Page({}, ())


def _say(address: str) -> None:
    typer.echo(f"tauform studio: {address}\nCtrl-C ends it.")
