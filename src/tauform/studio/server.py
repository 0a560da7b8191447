"""serve: the studio on this machine, for browsers of this machine."""

from __future__ import annotations

import os
import secrets
import socket
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from tauform.errors import DescriptionError, MissingExtraError
from tauform.files.temporaries import scratch_folder
from tauform.wording import spoken_by

MISSING = "the studio needs NiceGUI"


def serve(
    robot: str | Path | None = None,
    logs: Sequence[Path] = (),
    *,
    tip: str | None = None,
    port: int = 0,
    opened: Callable[[str], None] = lambda address: None,
    browser: bool = True,
) -> None:
    """Run the studio until it is interrupted.

    Args:
        robot: opened in every new session; one of the catalogue if not given.
        logs: offered in every new session.
        tip: where to cut the robot.
        port: of the loopback address; a free one by default.
        opened: called with the address once it answers.
        browser: open it in the usual browser.

    Raises:
        MissingExtraError: NiceGUI is not installed.
        DescriptionError: the robot cannot be read, or the port is taken.
    """
    # One stack for the server's life: folders of sessions vanish with it.
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder())
        # the library keeps its own files there, not where the user stands
        os.environ["NICEGUI_STORAGE_PATH"] = str(folder)
        try:
            import nicegui as nicegui
            import uvicorn
        except ImportError:
            raise MissingExtraError(MISSING, remedy="pip install tauform[studio]") from None
        from tauform.studio.application import application
        from tauform.studio.on_the_page import OnThePage

        # Before the robot is read: a taken port is told at once.
        listening = _listen(port)
        token = secrets.token_urlsafe(24)
        site = application(lambda: stack.enter_context(scratch_folder()), token, robot, tip, logs)
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/?token={token}"
        # lifespan on: the shutdown hook ends running work.
        config = uvicorn.Config(site, log_level="error", lifespan="on")
        opened(address)
        if browser:
            webbrowser.open_new_tab(address)
        # From here on sentences are read on a page, and no longer in the terminal.
        stack.enter_context(spoken_by(OnThePage()))
        uvicorn.Server(config).run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    """A socket of the loopback interface alone: nobody outside this machine reaches it."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # A port that was just left can be used again.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise DescriptionError(f"port {port} cannot be used ({error}); choose another, or 0 for a free one") from None
    listening.listen(128)
    return listening
