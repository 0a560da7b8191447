"""Equations as MathML, which browsers draw themselves: nothing is fetched, at build time or later.

$$ ... $$ is an equation of its own, $ ... $ stands in the line. \\tag{...} names the paper that it comes from and its
number there; equations without a tag are ours and are numbered within their page, (1), (2), ...
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from latex2mathml.converter import convert

CODE = re.compile(r"(^```.*?^```[ \t]*$|^(?: {4}|\t).*?$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
EQUATION = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.DOTALL)
TAG = re.compile(r"\\tag\{([^}]*)\}")
FUNCTION = re.compile(r"(\\(?:sin|cos|log)(?:\^\{?\w+\}?)?) ")  # the converter leaves no space before an argument
# Markdown would find emphasis inside MathML, so a word stands in until the page is HTML.
STAND_IN = "tauformequation{}tauform"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Take the equations out of the text."""
    found: list[str] = []
    own = itertools.count(1)

    def stand_in(match: re.Match[str]) -> str:
        found.append(displayed(match[1], own) if match[1] else mathml(match[2]))
        return STAND_IN.format(len(found) - 1)

    parts = CODE.split(markdown)  # every second part is code, where a dollar is a dollar
    parts[::2] = [EQUATION.sub(stand_in, part) for part in parts[::2]]
    page.equations = found
    return "".join(parts)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Put them back."""
    for k, equation in enumerate(page.equations):
        html = html.replace(STAND_IN.format(k), equation)
    return html


def displayed(latex: str, own: Iterator[int]) -> str:
    """An equation in the middle of its line, its source or its number on this page at the margin."""
    tag = TAG.search(latex)
    body = mathml(TAG.sub("", latex), display="block")
    source = tag[1] if tag else f"({next(own)})"
    return f'<span class="equation">{body}<span class="equation-source">{source}</span></span>'


def mathml(latex: str, display: str = "inline") -> str:
    return convert(FUNCTION.sub(r"\1\\, ", latex.strip()), display=display)
