"""The texts of a MuJoCo model before MuJoCo reads them: whole files, and no more of anything than a robot needs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tauform.description.formats.strict_xml import parse_xml
from tauform.errors import DescriptionError

# Attributes whose product says how much MuJoCo makes of an element, and the most of it. A height field of more cells
# takes minutes and gigabytes, whatever the robot beside it is.
SIZES = {
    "hfield": (("nrow", "ncol"), 5_000_000),
    "texture": (("width", "height"), 50_000_000),
    "replicate": (("count",), 10_000),
    "composite": (("count",), 10_000),
    "flexcomp": (("count",), 10_000),
}
# Attributes of any element that say how many numbers MuJoCo keeps for it, or for each of a kind, and the most of them.
COUNTS = ("nkey", "nuserdata", "actdim", "nsample", "dim")
MOST_NUMBERS = 100_000
MOST_FILES = 500


def check_document(path: Path) -> None:
    """Parse a model and the files that it includes.

    Raises:
        DescriptionError: one of them is cut off or not XML, or asks for more than a robot needs.
    """
    # By the resolved path: a file that includes itself is read once.
    waiting, seen = [path], {path.resolve()}
    while waiting:
        place = waiting.pop()
        try:
            root = parse_xml(place.read_bytes())
        except DescriptionError as error:
            inner = "" if place == path else f" (in {place.name})"
            raise DescriptionError(f"{error}{inner}") from None
        for included in _included(root, path.parent):
            if included.is_file() and included.resolve() not in seen:  # what is missing MuJoCo names itself
                seen.add(included.resolve())
                waiting.append(included)
        if len(seen) > MOST_FILES:
            raise DescriptionError(f"it includes more than {MOST_FILES} files, which cannot be meant")
        _check_sizes(root, 1)


def _included(root: Any, folder: Path) -> Iterator[Path]:
    yield from (folder / element.get("file") for element in root.iter("include") if element.get("file"))


def _check_sizes(element: Any, copies: int) -> None:
    """Multiply along the tree: copies of copies count as often as they are made."""
    attributes, most = SIZES.get(element.tag, ((), 0))
    for key in attributes:
        for word in element.get(key, "1").split():
            copies *= max(_whole(word), 1)
    if attributes and copies > most:
        raise DescriptionError(f"<{element.tag}> asks for {copies:.3g} entries, a robot needs fewer than {most:.3g}")
    for key, word in element.items():
        if (key in COUNTS or key.startswith("nuser_")) and _whole(word) > MOST_NUMBERS:
            raise DescriptionError(
                f"<{element.tag} {key}=...> asks for {word:.20} entries, a robot needs fewer than {MOST_NUMBERS:.3g}"
            )
    for child in element:
        _check_sizes(child, copies if element.tag == "replicate" else 1 if attributes else copies)


def _whole(word: str) -> int:
    try:
        return int(float(word))
    except (OverflowError, ValueError):  # MuJoCo says what is wrong with it
        return 1
