"""A page for each verb of the command line: hand-written text, then what `--help` prints."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from typing import Any

os.environ.update(COLUMNS="84", NO_COLOR="1", TERM="dumb")

SECTION = "How to"
HELP = re.compile(r"^<!-- help: ([\w-]+) -->$", re.MULTILINE)


def on_config(config: Any) -> Any:
    """Name the pages in the navigation, in the order of the verbs."""
    from tauform.cli import VERBS

    section = next(entry for entry in config.nav if isinstance(entry, dict) and SECTION in entry)
    written = {path.stem for path in (Path(config.docs_dir) / "howto").glob("*.md")}
    section[SECTION] = [f"howto/{name}.md" for name in ("command_line", "model", *VERBS) if name in written]
    section[SECTION] = list(dict.fromkeys(section[SECTION]))
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in the help."""
    return HELP.sub(lambda match: f"```text\n{help_of(match[1])}\n```", markdown)


def help_of(verb: str) -> str:
    """What `tauform VERB --help` prints, without the frame of its box drawing."""
    from tauform.cli import main

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        main([verb, "--help"])
    return "\n".join(line.rstrip() for line in printed.getvalue().strip().splitlines())
