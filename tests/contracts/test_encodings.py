"""Text is read and written as UTF-8, whatever the locale: no call leaves the encoding to the machine."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from source_trees import parsed

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "tauform"
# Functions that take the machine's encoding unless told otherwise.
TEXT = {"open", "fdopen", "read_text", "write_text", "savetxt", "loadtxt", "genfromtxt", "reconfigure"}
# Output of other programs is decoded where it is asked for as text.
PROGRAMS = {"run", "Popen", "check_output"}


def left_open(source: str) -> Iterator[str]:
    """Calls that read or write text without naming its encoding."""
    for node in ast.walk(parsed(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        values = [getattr(x, "value", None) for x in [*node.args, *given.values()]]
        is_binary = any(isinstance(x, str) and set(x) <= set("rwxab+") and "b" in x for x in values)
        own = name == "write_text" and isinstance(node.func, ast.Name)  # ours, of tauform.files
        asks_text = (name in TEXT and not own) or (name in PROGRAMS and {"text", "universal_newlines"} & set(given))
        is_archive = (
            name == "open" and isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) in ARCHIVES
        )
        if asks_text and "encoding" not in given and not is_binary and not is_archive:
            yield f"line {node.lineno}: {ast.unparse(node)[:80]}"


# zipfile's open gives bytes; np.savetxt into a file that is open has the file's encoding.
ARCHIVES = ("archive", "zipfile", "webbrowser", "os")


def test_every_text_names_its_encoding() -> None:
    modules = sorted(PACKAGE.rglob("*.py"))
    assert modules
    found = [f"{m.relative_to(PACKAGE)} {call}" for m in modules for call in left_open(m.read_text(encoding="utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    "call",
    [
        "open('a')",
        "path.read_text()",
        "path.write_text(t, newline='')",
        "subprocess.run(c, text=True)",
        "path.open('w')",
    ],
)
def test_an_encoding_left_to_the_machine_is_seen(call: str) -> None:
    assert list(left_open(call))


@pytest.mark.parametrize("call", ["open('a', 'rb')", "path.read_text(encoding='utf-8')", "archive.open(name)"])
def test_bytes_and_named_encodings_are_allowed(call: str) -> None:
    assert not list(left_open(call))
