"""Calls that the pages name in passing exist, with the arguments that they name; whole blocks are run elsewhere."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tauform as tf

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
INLINE = re.compile(r"^```.*?^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
# What stands before the dot on the pages, and what it may be.
MEANT = {
    "tf": [tf],
    "robot": [tf.Robot],
    "tf.Robot": [tf.Robot],
    "model": [tf.ClosedFormModel, tf.StateSpace],
    "bound": [tf.BoundModel],
    "base": [tf.BaseParameters],
    "recording": [tf.Recording],
    "fit": [tf.Fit],
    "split": [tf.MultiRate],
}
CALL = re.compile(
    rf"(?<![\w./])({'|'.join(map(re.escape, MEANT))})\.(\w+)(?:\(([^()]*)\))?(?![\w(])(?<!\.py)(?<!\.csv)"
)
KEYWORD = re.compile(r"(?<![\w.])(\w+)=")


def calls(text: str) -> Iterator[tuple[str, str, str]]:
    """Owner, name and arguments of each call of ours in inline code."""
    for code in filter(None, INLINE.findall(without_peers(text))):
        yield from CALL.findall(code)


def without_peers(text: str) -> str:
    """Tables lose what stands before the column "tauform": these are calls of other tools."""
    lines, first = [], 0
    for line in text.splitlines():
        cells = line.split("|") if line.startswith("|") else []
        if "tauform" in map(str.strip, cells):
            first = next(k for k, cell in enumerate(cells) if cell.strip() == "tauform")
        first = first if cells else 0
        lines.append("|".join(cells[first:]) if cells else line)
    return "\n".join(lines)


def has(owner: Any, name: str) -> bool:
    """Whether the owner has an attribute, or a field without a default."""
    return hasattr(owner, name) or name in getattr(owner, "__dataclass_fields__", {})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_calls_that_a_page_names_exist(page: Path) -> None:
    for owner, name, arguments in calls(page.read_text(encoding="utf-8")):
        found = [one for one in MEANT[owner] if has(one, name)]
        assert found, f"{owner}.{name}"
        taken = inspect.signature(getattr(found[0], name)).parameters if arguments else {}
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values()):
            assert set(KEYWORD.findall(arguments)) <= set(taken), f"{owner}.{name}({arguments})"


def test_names_are_found_in_passing() -> None:
    table = "| theirs | tauform |\n| `tf.a` | `tf.b` |"
    text = f"see `tf.load(..., tip=)`, or `robot.no`\n```python\ntf.in_a_block\n```\n{table}"
    assert list(calls(text)) == [("tf", "load", "..., tip="), ("robot", "no", ""), ("tf", "b", "")]
    assert not has(tf.Robot, "no")
