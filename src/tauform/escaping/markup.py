"""Documents: HTML, XML, Markdown, LaTeX, and the texts of plots."""

from __future__ import annotations

import re
from html import escape

from tauform.escaping.shown import visible, visible_lines

# What XML 1.0 cannot hold, not even as a reference; a half of a character is none of its letters either.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Underscores within a word mean nothing in Markdown, and names are full of them.
_MARKDOWN = re.compile(r"([\\`*\[\]#|<>&~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
# Letters that LaTeX's math mode takes for something else.
_LATEX = {
    **{letter: f"\\{letter}" for letter in "_{}$&#%"},
    "\\": r"\backslash ",
    "^": r"\wedge ",
    "~": r"\sim ",
    "'": r"{}^{\prime}",
    " ": r"\ ",
}


def html_text(text: str) -> str:
    """The text in an element or in a quoted attribute."""
    return escape(visible(text))


def html_lines(text: str) -> str:
    """The same for lines of an element that keeps them."""
    return escape(visible_lines(text))


def beyond_xml(text: str) -> str | None:
    """The first character that no XML file can hold; all others are written by the library that writes the file."""
    found = _NOT_XML.search(text)
    return found[0] if found else None


def xml_comment(text: str) -> str:
    """The text inside a comment, which two hyphens would end."""
    return re.sub("-(?=-|$)", "- ", visible_lines(text))


def markdown(text: str) -> str:
    """The text within a line, letter by letter."""
    return _MARKDOWN.sub(r"\\\1", visible(text))


def latex_symbol(text: str) -> str:
    """The text as one upright symbol of a formula."""
    return rf"\mathrm{{{''.join(_LATEX.get(letter, letter) for letter in visible(text))}}}"


def plot_text(text: str) -> str:
    """The text as matplotlib draws it: between two dollars it would look for a formula."""
    return visible(text).replace("$", r"\$")
