"""Shapes of a URDF, for collisions and for pictures: sizes as it writes them, meshes by the files that they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import read_only
from tauform.description.formats.urdf.values import placement
from tauform.description.shapes import Box, Colour, Cylinder, Mesh, Shape, Solid, Sphere
from tauform.errors import DescriptionError, TauformError


def urdf_shapes(root: Any, folder: Path, package_dirs: Sequence[Path] = ()) -> tuple[Shape, ...]:
    """The collision elements of a document.

    Args:
        folder: of the file, where meshes are looked for.
        package_dirs: folders that hold packages, looked through first.

    Raises:
        DescriptionError: a shape stands nowhere, since its origin cannot be read.
    """
    folders = (*package_dirs, folder, *folder.resolve().parents)
    return tuple(
        Shape(link.get("name"), read_only(_placed(link, element)), _solid(element.find("geometry"), folder, folders))
        for link in root.findall("link")
        for element in link.findall("collision")
    )


def urdf_visuals(root: Any, folder: Path, package_dirs: Sequence[Path] = ()) -> tuple[Shape, ...]:
    """The visual elements of a document; those that cannot be read are left out, since nothing depends on them."""
    folders = (*package_dirs, folder, *folder.resolve().parents)
    materials = {material.get("name"): _rgb(material) for material in root.findall("material")}
    return tuple(
        found
        for link in root.findall("link")
        for element in link.findall("visual")
        if (found := _visual(link, element, materials, folder, folders)) is not None
    )


def _visual(
    link: Any, element: Any, materials: dict[str, Colour | None], folder: Path, folders: Sequence[Path]
) -> Shape | None:
    solid = _solid(element.find("geometry"), folder, folders)
    material = element.find("material")
    # a material has its colour in place, or is named after one of the robot's
    own = None if material is None else _rgb(material) or materials.get(material.get("name"))
    try:
        return (
            None if solid is None else Shape(link.get("name"), read_only(placement(element.find("origin"))), solid, own)
        )
    except (TauformError, ValueError):
        return None


def _rgb(material: Any) -> Colour | None:
    colour = material.find("color")
    try:
        # Cut off: colours beyond one are common, and mean the brightest.
        red, green, blue = (min(max(value, 0.0), 1.0) for value in _numbers(colour.get("rgba")).tolist()[:3])
    except (AttributeError, ValueError):
        return None
    return red, green, blue


def _placed(link: Any, element: Any) -> Any:
    try:
        return placement(element.find("origin"))
    except (TauformError, ValueError) as error:
        raise DescriptionError(f"link {link.get('name')!r}: <collision>: {error}; correct its origin") from None


def _solid(geometry: Any, folder: Path, folders: Sequence[Path]) -> Solid | None:
    """None for a shape that is none of ours, or that lacks its sizes."""
    for element in () if geometry is None else geometry:
        try:
            if element.tag == "box":
                return Box(_positive(element.get("size"), 3))
            if element.tag == "cylinder":
                return Cylinder(*_positive(f"{element.get('radius')} {element.get('length')}", 2))
            if element.tag == "sphere":
                return Sphere(*_positive(element.get("radius"), 1))
            if element.tag == "mesh" and element.get("filename"):
                # One number for all axes, or one for each.
                scale = np.broadcast_to(_numbers(element.get("scale", "1")), (3,))
                return Mesh(_found(element.get("filename"), folder, folders), tuple(scale.tolist()))
        except (AttributeError, ValueError):
            return None
    return None


def _numbers(text: str) -> Any:
    return np.array([float(word) for word in text.split()])


def _positive(text: str, count: int) -> tuple[Any, ...]:
    numbers = _numbers(text)
    if numbers.shape != (count,) or not (np.isfinite(numbers) & (numbers > 0)).all():
        raise ValueError("a size is missing")
    return tuple(numbers.tolist())


def _found(name: str, folder: Path, folders: Sequence[Path]) -> str:
    """The file that a mesh's name means: package://robot/meshes/a.stl lies in a folder `robot` somewhere above."""
    scheme, mark, rest = name.partition("://")
    if not mark:
        rest, usual, places = name, str(folder / name), [folder / name]
    elif scheme == "file":
        # An absolute place, which only the machine that wrote it may have.
        usual, places = rest, [Path(rest)]
    else:
        # Not found: the name stays, and whoever needs the mesh says which file is missing.
        usual, places = name, list(_candidates(rest, folders))
    # Last, beside the robot: files that were sent or dropped together have lost their folders.
    places.append(folder / Path(rest.replace("\\", "/")).name)
    return next((str(path) for path in places if _is_there(path)), usual)


def _is_there(path: Path) -> bool:
    # A name that no disk can hold is no file.
    with suppress(OSError, ValueError):
        return path.is_file()
    return False


def _candidates(rest: str, folders: Sequence[Path]) -> Iterator[Path]:
    # The user's folders first, then upwards from the file.
    for parent in folders:
        yield parent / rest
        # The package's own folder may have another name where it is checked out.
        yield parent / Path(*Path(rest).parts[1:])
