"""The page on TOML names every key that the reader knows, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from tauform.description.fields import PLACEMENT
from tauform.description.formats.dh import COLUMNS
from tauform.description.formats.toml.reader import HEADER, JOINT

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "howto" / "robot_files.md").read_text(encoding="utf-8")
TABLES = ("closed_loop", "frame", "drive", "payload", "relations", "loops", "row", "joint", "end")
OTHERS = ("active", "F", "base", "tool", "convention")


def test_every_key_of_the_format_is_on_its_page() -> None:
    known = {*HEADER, *COLUMNS, *JOINT, *PLACEMENT, *OTHERS} - set(TABLES)
    named = set(re.findall(r"`(\w+)`", PAGE))
    assert sorted(known - named) == []
    assert all(f"[{table}]" in PAGE for table in TABLES)


def test_tables_name_no_key_that_is_refused() -> None:
    known = {*HEADER, *COLUMNS, *JOINT, *PLACEMENT, *OTHERS}
    rows = re.findall(r"^\| (`\w+`(?:(?:, | or )`\w+`)*) \| ", PAGE, re.MULTILINE)
    listed = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    assert len(listed) > 25
    assert sorted(listed - known) == []
