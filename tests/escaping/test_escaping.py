"""Each escaping function against what reads its language, for any text at all."""

from __future__ import annotations

import csv
import html
import json
import re
import tomllib
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from hostile_names import NAMES
from tauform.errors import TauformError
from tauform.escaping import c, markup, tables
from tauform.escaping.shown import LONGEST_FILE_NAME, file_name, visible, visible_lines

texts = st.one_of(
    st.text(), st.sampled_from(list(NAMES.values())), st.text("*/?\\-'\"$<>&[]{}_^%\n\x1b\u202e", max_size=12)
)


@given(texts)
def test_what_is_shown_is_printable_and_says_what_it_holds(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    assert not any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") for letter in shown)
    assert visible(shown) == shown
    if "\\" not in text:
        assert shown.encode("latin-1", "backslashreplace").decode("unicode_escape") == text
    assert visible_lines(text).count("\n") == text.count("\n")


@given(texts)
def test_errors_do_not_command_the_terminal(text: str) -> None:
    assert visible_lines(str(TauformError(f"robot {text}: refused"))) == str(TauformError(f"robot {text}: refused"))


@given(texts)
def test_comments_of_c_end_where_they_should(text: str) -> None:
    comment = c.comment(text)
    assert "*/" not in comment
    assert "/*" not in comment
    assert "??" not in comment
    assert "\n" not in comment


@given(texts)
def test_strings_of_c_hold_the_text(text: str) -> None:
    literal = c.string(text)
    assert re.fullmatch(r'"(?:[ !#-\[\]-~]|\\[0-7]{3})*"', literal)
    assert "??" not in literal
    held = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), literal[1:-1])
    assert held.encode("latin-1") == text.encode("utf-8", "surrogatepass")


@given(texts)
def test_names_of_c_are_names_everywhere(text: str) -> None:
    assert re.fullmatch(r"[A-Za-z]\w*", c.identifier(text), flags=re.ASCII)
    name = c.build_name(text)
    assert re.fullmatch(r"[A-Za-z]\w*", name, flags=re.ASCII)
    assert name.lower() not in c.TAKEN
    assert c.build_name(name) == name
    assert len(name) <= c.LONGEST_NAME + len("_robot")


@given(texts)
def test_toml_reads_back(text: str) -> None:
    written = tables.toml_string(text)
    held = "".join(f"\\u{ord(x):04x}" if 0xD800 <= ord(x) <= 0xDFFF else x for x in text)
    assert tomllib.loads(f"x = {written}") == {"x": held}
    assert written.isprintable()


@given(st.lists(texts, min_size=1, max_size=5))
def test_lines_of_a_table_read_back_and_hold_no_formula(cells: list[str]) -> None:
    line = tables.csv_line(cells)
    assert line.count("\n") == 1
    (read,) = csv.reader([line])
    assert len(read) == len(cells)
    for cell, text in zip(read, cells, strict=True):
        assert cell.removeprefix("'") == visible(text).removeprefix("'")
        assert not cell.startswith(("=", "@", "\t", "\r"))
        assert not cell.startswith(("+", "-")) or re.fullmatch(r"[+-][\d._einfaty+-]+%?", cell, re.IGNORECASE)


@given(texts)
def test_html_shows_the_text(text: str) -> None:
    written = markup.html_text(text)
    assert not set("<>\"'") & set(written)
    assert html.unescape(written) == visible(text)


@given(texts)
def test_xml_holds_or_is_refused(text: str) -> None:
    refused = markup.beyond_xml(text)
    element = ElementTree.Element("robot", name=text)
    if refused is None:
        assert ElementTree.fromstring(ElementTree.tostring(element, encoding="unicode")).get("name") == text
    else:
        with pytest.raises((ElementTree.ParseError, UnicodeEncodeError)):
            ElementTree.fromstring(ElementTree.tostring(element, encoding="unicode"))


@given(texts)
def test_comments_of_xml_end_where_they_should(text: str) -> None:
    written = f"<robot><!-- {markup.xml_comment(text)} --><link/></robot>"
    assert [child.tag for child in ElementTree.fromstring(written)] == ["link"]


@given(texts)
def test_markdown_shows_the_text_and_nothing_else(text: str) -> None:
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render(f"# {markup.markdown(text)}.")
    (shown,) = re.findall(r"^<h1>([^<]*)</h1>\n$", rendered)
    assert html.unescape(shown).split() == f"{visible(text)}.".split()


@given(st.text("abcXYZ019_{}$&#%\\^~' *-/()[]<>=.,:;\"@|!?\x1b\u202e", max_size=20))
def test_latex_reads_a_symbol(text: str) -> None:
    mathtext = pytest.importorskip("matplotlib.mathtext")
    symbol = markup.latex_symbol(text)
    assert symbol.count("{") - symbol.count(r"\{") == symbol.count("}") - symbol.count(r"\}")
    assert not re.search(r"(?<!\\)[$&#%~]", symbol)
    assert set(re.findall(r"\\([a-z]+)", symbol)) <= {"mathrm", "backslash", "wedge", "sim", "prime"}
    # what matplotlib's own parser knows; it lacks spaces and quotes there
    if text and not set(text) & set(' "@&\x1b\u202e'):
        mathtext.MathTextParser("path").parse(f"${symbol}$")


@given(texts)
def test_plots_draw_the_text(text: str) -> None:
    mathtext = pytest.importorskip("matplotlib.cbook")
    assert not mathtext.is_math_text(markup.plot_text(text))


@given(texts)
def test_names_of_files_stay_in_their_folder(text: str) -> None:
    name = file_name(text)
    assert len(name) <= LONGEST_FILE_NAME
    assert Path("/folder", f"{name}_x.csv").resolve().parent == Path("/folder")
    assert not name.startswith(".")
    assert name.isprintable()


@given(texts)
def test_json_is_ascii_and_reads_back(text: str) -> None:
    assert json.dumps(text).isascii()
    assert json.loads(json.dumps(text)) == text
