"""Texts for people: what a terminal would obey, or nobody would see, is written out."""

from __future__ import annotations

import re
from hashlib import sha256

# Longest name of a file that is made of a robot's: file systems take 255 bytes, and something is put behind it.
LONGEST_FILE_NAME = 100


def visible(text: str) -> str:
    r"""One line that shows what it holds: `\x1b` for an escape, `\n` for a line break, `\u202e` for text that turns.

    All that Unicode does not count as printable is written so: control characters, formats, bidirectional overrides,
    separators other than a blank, halves of characters.
    """
    return text if text.isprintable() else "".join(map(_visible_letter, text))


def visible_lines(text: str) -> str:
    """The same for a text of several lines, whose line breaks stay."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _visible_letter(letter: str) -> str:
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")


def file_name(text: str) -> str:
    """The text as one part of a path on any system: no separators, no leading dot, not too long."""
    word = re.sub(r"[^\w.+-]", "_", text).lstrip(".") or "robot"
    return word if len(word) <= LONGEST_FILE_NAME else shortened(word, text, LONGEST_FILE_NAME)


def shortened(word: str, text: str, length: int) -> str:
    """The beginning of a word and a digest of the text that it was made of, so that different texts stay different."""
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{word[: length - 9]}_{digest}"
