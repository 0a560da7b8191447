"""link_meshes: what a robot's links look like, as few triangles in few bytes."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.description.shapes import Box, Capsule, Colour, Cylinder, Hull, Mesh, Shape, Solid, Sphere, Triangles

# Triangles of a whole robot: about half a megabyte of a page, and quick to turn without a graphics card.
MOST_TRIANGLES = 24_000
# A part of a robot keeps at least these, whatever the others take.
LEAST_TRIANGLES = 60
# Files that are read; others are named as missing.
FORMATS = (".stl", ".dae", ".obj", ".ply", ".glb", ".off")
LARGEST_FILE = 64 * 2**20  # bytes
LARGEST_PART = 1e6  # m
# Of the decimation, from 0 (faithful) to 10 (few triangles).
AGGRESSION = 8
GREY: Colour = (0.62, 0.66, 0.70)
# Coordinates are stored as 16-bit steps of a part's own box: a thousandth of a per cent of its size.
STEPS = 2**16 - 1


@dataclass(frozen=True, eq=False)
class LinkMesh:
    """Triangles of one colour on one link.

    Attributes:
        link: index, -1 for the base.
        vertices: (k, 3) in the link's frame [m].
        faces: (m, 3) indices of corners.
        colour: red, green, blue from 0 to 1.
    """

    link: int
    vertices: Array
    faces: AnyArray
    colour: Colour

    def packed(self) -> dict[str, Any]:
        """The mesh for a page's script: 16-bit corners within a box, in base64."""
        low = self.vertices.min(axis=0)
        # A flat part has no extent in one direction; dividing by it would give NaN.
        size = np.maximum(self.vertices.max(axis=0) - low, 1e-9)
        # Little-endian on every machine, as the script's typed arrays are read.
        steps = np.round((self.vertices - low) / size * STEPS).astype("<u2")
        return {
            "link": self.link,
            "colour": "#" + "".join(f"{round(255 * part):02x}" for part in self.colour),
            "low": low.tolist(),
            "size": size.tolist(),
            "vertices": _base64(steps),
            "faces": _base64(self.faces.astype("<u2")),
        }


def link_meshes(robot: Robot, most: int = MOST_TRIANGLES) -> tuple[list[LinkMesh], list[str]]:
    """Meshes of all links, and sentences about those that could not be read.

    Visuals where the description has any, else collision shapes; nothing without trimesh, or where it has neither.
    """
    try:
        # Imported for its error; without it robots are lines.
        import trimesh as trimesh
    except ImportError:
        return [], []
    # By link and colour: the script draws each pair as one object.
    parts: dict[tuple[int, Colour], list[Any]] = defaultdict(list)
    missing = []
    for shape in robot.visuals or robot.shapes:
        frame = robot.frame(shape.frame)
        link_from_shape = frame.link_from_frame @ shape.frame_from_shape
        try:
            for mesh, colour in _surfaces(shape):
                parts[frame.link, colour].append(mesh.copy().apply_transform(link_from_shape))
        except Exception as error:  # readers of meshes raise many kinds
            # The first line: readers append tracebacks of their own.
            reason = (str(error) or type(error).__name__).splitlines()[0]
            missing.append(f"link {shape.frame!r} is shown without its shape: {_named(shape.solid)}: {reason}")
    merged = {key: trimesh.util.concatenate(some) for key, some in parts.items()}
    total = sum(len(mesh.faces) for mesh in merged.values())
    # Every part gives up the same share of its triangles.
    share = min(1.0, most / max(total, 1))
    return [_link_mesh(link, colour, mesh, share) for (link, colour), mesh in merged.items()], missing


def _link_mesh(link: int, colour: Colour, mesh: Any, share: float) -> LinkMesh:
    # Small parts would otherwise lose their shape altogether.
    wanted = max(LEAST_TRIANGLES, int(share * len(mesh.faces)))
    if wanted < len(mesh.faces):
        # corners that coincide are one: files of loose triangles have nothing to collapse
        mesh.merge_vertices(merge_tex=True, merge_norm=True)
        mesh = mesh.simplify_quadric_decimation(face_count=wanted, aggression=AGGRESSION)
        # Twice as many is still fine; beyond, the collapse found nothing to do.
        mesh = mesh if len(mesh.faces) <= 2 * wanted else _clustered(mesh, wanted)
    vertices, faces = np.asarray(mesh.vertices, dtype=np.float64), np.asarray(mesh.faces)
    if len(vertices) > STEPS:  # more corners than 16 bits can name
        # The first triangles only: an incomplete part is better than indices that wrap around.
        used, faces = np.unique(faces[: STEPS // 3], return_inverse=True)
        vertices, faces = vertices[used], faces.reshape(-1, 3)
    return LinkMesh(link, vertices, faces, colour)


def _clustered(mesh: Any, wanted: int) -> Any:
    """Corners rounded to ever coarser steps until few triangles are left: for surfaces of many loose pieces, which no
    edge can be collapsed of."""
    import trimesh

    # A two-hundredth of the part is hardly visible.
    step = float(mesh.extents.max()) / 200
    while len(mesh.faces) > 2 * wanted:
        mesh = trimesh.Trimesh(np.round(mesh.vertices / step) * step, mesh.faces, process=True)
        # Rounding makes triangles collapse to lines, or onto each other.
        mesh.update_faces(mesh.nondegenerate_faces() & mesh.unique_faces())
        step *= 1.3
    return mesh


def _surfaces(shape: Shape) -> Iterator[tuple[Any, Colour]]:
    """Meshes of a shape in its own frame, with their colours."""
    import trimesh

    solid, own = shape.solid, shape.colour
    if isinstance(solid, Mesh):
        for mesh in _read(solid):
            yield mesh, own or _colour(mesh)
    elif isinstance(solid, Box):
        yield trimesh.creation.box(solid.size), own or GREY
    elif isinstance(solid, Cylinder):
        yield trimesh.creation.cylinder(solid.radius, solid.length, sections=32), own or GREY
    elif isinstance(solid, Capsule):
        capsule = trimesh.creation.capsule(solid.length, solid.radius, count=(16, 24))
        # Centred along z, as descriptions place a capsule.
        yield capsule.apply_translation((0, 0, -capsule.bounds.mean(axis=0)[2])), own or GREY
    elif isinstance(solid, Sphere):
        yield trimesh.creation.icosphere(2, solid.radius), own or GREY
    elif isinstance(solid, Hull):
        yield trimesh.convex.convex_hull(solid.points), own or GREY
    elif isinstance(solid, Triangles):
        # process=False keeps corners in their order, which faces count on.
        yield trimesh.Trimesh(solid.vertices, solid.faces, process=False), own or GREY
    else:
        raise ValueError("it has no geometry that can be read")


def _read(solid: Mesh) -> list[Any]:
    """Meshes of a file, at their places in it and to its scale."""
    import trimesh

    path = Path(solid.file)
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"meshes are read from {', '.join(FORMATS)}")
    if not path.is_file():
        raise ValueError("no such file")
    # Checked before reading: a mesh of gigabytes would exhaust memory for a picture.
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(f"the file is larger than {LARGEST_FILE // 2**20} MB")
    scene = trimesh.load_scene(path, file_type=path.suffix.lower()[1:], process=False)
    placed = [scene.graph[node] for node in scene.graph.nodes_geometry]  # (file_from_mesh, name)
    # A file may place one mesh several times, so each place takes a copy.
    meshes = [(scene.geometry[name].copy(), file_from_mesh) for file_from_mesh, name in placed]
    found = [
        mesh.apply_transform(file_from_mesh).apply_scale(solid.scale)
        for mesh, file_from_mesh in meshes
        # Point clouds and curves have no triangles to show.
        if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces)
    ]
    if not found:
        raise ValueError("it holds no triangles")
    for mesh in found:
        _check(mesh.vertices, mesh.faces)
    return found


def _check(vertices: AnyArray, faces: AnyArray) -> None:
    """Refuse what later steps count on: readers pass damaged files on as they are."""
    if vertices.ndim != 2 or vertices.shape[1] != 3 or not (np.abs(vertices) < LARGEST_PART).all():
        raise ValueError("corners are no points")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise ValueError("triangles name corners that do not exist")


def _colour(mesh: Any) -> Colour:
    """The colour of a mesh as its file says it, rounded so that like parts are drawn together."""
    try:
        material = getattr(mesh.visual, "material", None)
        # Without any colour of its own trimesh answers with a default.
        defined = material is not None or mesh.visual.defined
        found = np.asarray(mesh.visual.main_color if material is None else material.main_color, dtype=float)
        red, green, blue = (round(float(part) / 255 * 16) / 16 for part in found[:3])
    except (AttributeError, TypeError, ValueError):
        return GREY
    return (red, green, blue) if defined else GREY


def _named(solid: Solid | None) -> str:
    return Path(solid.file).name if isinstance(solid, Mesh) else type(solid).__name__.lower()


def _base64(values: AnyArray) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
