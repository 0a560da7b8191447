"""Equations as MathML, which browsers draw themselves: nothing is fetched, at build time or later.

$$ ... $$ is an equation of its own, $ ... $ stands in the line, and \\tag{...} names where it comes from.
"""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert

CODE = re.compile(r"(^```.*?^```[ \t]*$|^(?: {4}|\t).*?$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
EQUATION = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.DOTALL)
TAG = re.compile(r"\\tag\{([^}]*)\}")
# Markdown would find emphasis inside MathML, so a word stands in until the page is HTML.
STAND_IN = "tauformequation{}tauform"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Take the equations out of the text."""
    found: list[str] = []

    def stand_in(match: re.Match[str]) -> str:
        found.append(displayed(match[1]) if match[1] else convert(match[2].strip()))
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


def displayed(latex: str) -> str:
    """An equation in the middle of its line, its source at the margin."""
    tag = TAG.search(latex)
    body = convert(TAG.sub("", latex).strip(), display="block")
    source = f'<span class="equation-source">{tag[1]}</span>' if tag else ""
    return f'<span class="equation">{body}{source}</span>'
