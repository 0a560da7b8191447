"""without_paths: sentences with the names of files that a user knows; where they lie on this machine says nothing."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

TEMPORARY = "the folder of temporary files"


def without_paths(sentence: str, folder: Path, spoken: Mapping[Path, str]) -> str:
    """A sentence in which files have the names that a user gave them.

    Args:
        folder: of the session; uploads lie in it under their own names.
        spoken: what the user calls files elsewhere.
    """
    # The longest first: a path may begin another one.
    for path in sorted(spoken, key=lambda path: -len(str(path))):
        sentence = sentence.replace(str(path), spoken[path])
    # Systems reach temporary files by links, so that both spellings occur.
    for place in {str(folder), os.path.realpath(folder)}:
        sentence = sentence.replace(f"{place}{os.sep}", "")
    for place in {tempfile.gettempdir(), os.path.realpath(tempfile.gettempdir())}:
        # Not within another path, as in /home/me/tmp/run.csv.
        below = rf"(?<![\w./\\-]){re.escape(place)}(?![\w.-])([^\s'\":,;()]*)"
        sentence = re.sub(below, lambda found: Path(found[1]).name or TEMPORARY, sentence)
    return sentence
