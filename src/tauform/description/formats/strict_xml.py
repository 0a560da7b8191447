"""XML read strictly: what is not well-formed, declares entities or nests without bound is no robot file."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from tauform.errors import DescriptionError

# No description of a robot comes near these.
MAX_BYTES = 100_000_000
MAX_DEPTH = 200


def parse_xml(data: bytes) -> Any:
    """The root element of a document.

    Prefixes stay part of the names ("xacro:macro"), so that one which is declared nowhere, as in many files of
    simulators, needs no repair; a parser that repairs also takes a cut file for a whole one.

    Raises:
        DescriptionError: it is not well-formed, too large, or declares entities or attributes of its own, which expand
            without bound and could name other files.
    """
    if len(data) > MAX_BYTES:
        raise DescriptionError(f"{len(data) / 1e6:.0f} MB cannot be the description of a robot; check the file")
    builder = ElementTree.TreeBuilder()
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise DescriptionError(f"<{tag}> is nested {depth} deep, which no robot needs; check the file")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    # A DOCTYPE alone is harmless; what it declares is not.
    parser.StartDoctypeDeclHandler = _refuse_declarations
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise DescriptionError(_not_xml(error)) from None
    # DescriptionError raised in a handler passes through expat unchanged.
    except (LookupError, ValueError) as error:
        if isinstance(error, DescriptionError):
            raise
        raise DescriptionError(f"its encoding cannot be read ({error}); save it as UTF-8") from None
    return builder.close()


def _not_xml(error: expat.ExpatError) -> str:
    text = str(error)
    if "unknown encoding" in text:
        return f"its encoding cannot be read ({text}); save it as UTF-8"
    if "no element found" in text or "unclosed" in text:
        return f"not XML ({text}); the file is cut off, fetch or export it again"
    return f"not XML ({text}); correct that line"


def _refuse_declarations(name: str, system: str | None, public: str | None, declares: int) -> None:
    if declares:
        raise DescriptionError("its <!DOCTYPE> declares entities or attributes; write their text out instead")
