"""robot_view: a robot in space that turns with the pointer, with a slider for each coordinate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.description.inertia import Inertia
from tauform.description.robot import GeneralClosure, Robot
from tauform.escaping.markup import html_text
from tauform.pipeline.motion import ShownMotion, coordinate_ranges, home_position
from tauform.report.html.elements import bullets, data_script, folded, rounded
from tauform.report.html.meshes import LinkMesh, link_meshes
from tauform.rigidbody.kinematics import forward_kinematics, link_placements

N_POSES = 200
# The radius of a robot without any lengths [m].
MIN_RADIUS = 0.1
# Transforms keep more digits than a picture needs, so that the tool stands where the package says.
EXACT_DIGITS = 12
# Below the sliders: a motion to play, and what else is drawn.
TOOLS = (
    '<div class="buttons">'
    '<button type="button" class="zero">Home</button><button type="button" class="play">Play</button>'
    '<label><input type="checkbox" class="masses">centres of mass</label>'
    '<label><input type="checkbox" class="ellipsoids">inertia ellipsoids</label></div>'
)


def robot_view(robot: Robot, motion: ShownMotion, compact: bool = False) -> str:
    """A figure of the robot, moved by sliders or along a motion; frames follow from the robot's own transforms.

    Links look as their meshes do, or their collision shapes, or are lines where the description has neither.

    Args:
        compact: sliders are folded away, to leave room for others.
    """
    # The script knows linear closures (F, offset); functions of the loop are not shipped.
    if isinstance(robot.closure, GeneralClosure):
        return "<p>Joints follow others by functions: no figure that moves.</p>\n"
    ranges, home = coordinate_ranges(robot), home_position(robot)
    meshes, missing = link_meshes(robot)
    sliders = "".join(
        f'<label class="joint"><span title="{html_text(name)}">{html_text(name)}</span><output></output>'
        f'<input type="range" min="{low:.6g}" max="{high:.6g}" step="any" value="{start:.6g}"></label>'
        for name, (low, high), start in zip(robot.joint_names, ranges, home, strict=True)
    )
    joints = f'<div class="joints">{sliders}</div><p class="tool">Tool at x y z [m]: <output></output></p>'
    caption = f"<figcaption>{html_text(robot.name)}</figcaption>" if compact else ""
    return (
        f'<figure class="robot-view">{caption}{data_script(view_data(robot, motion, meshes), EXACT_DIGITS)}'
        '<div class="robot"><div class="stage" tabindex="0" role="img" aria-label="The robot; drag or use the arrow '
        'keys to turn it, plus and minus to magnify"></div><img class="printed" alt="The robot at its home position">'
        f"<div>{folded('Move the joints', joints) if compact else joints}{TOOLS}</div></div></figure>\n"
    ) + _missing(missing)


def _missing(sentences: Sequence[str]) -> str:
    """Meshes that could not be read, named below the figure: a line in place of a link needs a word."""
    if len(sentences) < 2:
        return bullets(sentences) if sentences else ""
    return folded(f"{len(sentences)} links are lines, without their meshes", bullets(sentences))


def view_data(robot: Robot, motion: ShownMotion, meshes: Sequence[LinkMesh] = ()) -> dict[str, Any]:
    """What the script needs: constant transforms, loop constraints, coordinates, meshes, scale and motion."""
    low, high = box_of(robot, meshes)
    # Half the cube's edge.
    reach = float(np.max(high - low)) / 2
    # The camera looks at the middle of all that is drawn at home, and the floor lies below it.
    bottom, top = home_box(robot, meshes)
    closure, types = robot.closure, {joint.name: joint.type for joint in robot.joints}
    return {
        "joints": [
            {"parent": joint.parent, "screw": joint.type.screw, "placement": _rows(joint.parent_from_joint)}
            for joint in robot.joints
        ],
        # Sliders show degrees for angles, metres for lengths.
        "coordinates": [{"isAngle": types[name].is_angle} for name in robot.joint_names],
        "F": None if closure is None else closure.F.tolist(),
        "offset": None if closure is None else closure.offset.tolist(),
        "tool": {"link": robot.tool.link, "placement": _rows(robot.tool.link_from_frame)},
        "home": home_position(robot),
        "reach": reach,
        "low": low,
        "high": high,
        "centre": (bottom + top) / 2,
        "extent": float(np.max(top - bottom)),
        "floor": bottom[2],
        "bodies": [body for k, inertia in enumerate(robot.inertias) if (body := _body(k, inertia))],
        "links": ["base", *(link.name for link in robot.links)],
        "meshes": [mesh.packed() for mesh in meshes],
        "grid": round_length(reach / 5),
        # Fewer digits than transforms: a motion is most of the data.
        "motion": rounded({"t": motion.t, "q": motion.q}),
    }


def _body(link: int, inertia: Inertia) -> dict[str, Any] | None:
    """Centre of mass of a link, and the solid ellipsoid of its mass and inertia; None for a link without mass."""
    if inertia.mass <= 0:
        return None
    moments, axes = np.linalg.eigh(inertia.tensor_about_com)
    # Of a solid ellipsoid I_x = m (b^2 + c^2) / 5; identified links may be none, and get a flat one.
    squares = 2.5 * (moments.sum() - 2 * moments) / inertia.mass
    semi_axes = axes * np.sqrt(np.maximum(squares, 0.0))
    return {"link": link, "mass": inertia.mass, "com": inertia.com, "axes": rounded(semi_axes)}


def box_of(robot: Robot, meshes: Sequence[LinkMesh] = ()) -> tuple[Array, Array]:
    """Corners of a cube that holds base, links and tool in most poses of the robot's ranges, and all of it at home."""
    low, high = coordinate_ranges(robot).T
    # Seeded: the same robot gives the same page.
    poses = np.random.default_rng(0).uniform(low, high, (N_POSES, robot.n_joints))
    places = _places(robot, poses)
    # The few poses that reach farthest would make all others small; home and base are always inside.
    bottom, top = home_box(robot, meshes)
    ends = np.quantile(places, [0.01, 0.99], axis=0)
    ends = np.array([np.minimum(ends[0], bottom), np.maximum(ends[1], top)])
    centre, half = ends.mean(axis=0), max(float(np.ptp(ends, axis=0).max()) / 2, MIN_RADIUS)
    return centre - half, centre + half


def home_box(robot: Robot, meshes: Sequence[LinkMesh] = ()) -> tuple[Array, Array]:
    """Lowest and highest corner of base, links, tool and meshes at home."""
    return swept_box(robot, home_position(robot)[None], meshes)


def swept_box(robot: Robot, poses: Array, meshes: Sequence[LinkMesh] = ()) -> tuple[Array, Array]:
    """Lowest and highest corner of base, links, tool and meshes in (N, n) poses."""
    points = np.vstack([_places(robot, poses), *_corners(robot, meshes, poses)])
    return points.min(axis=0), points.max(axis=0)


def _corners(robot: Robot, meshes: Sequence[LinkMesh], poses: Array) -> Iterator[Array]:
    """(N k, 3) vertices of each mesh in all poses, in the base frame."""
    base_from_links = link_placements(robot, poses)
    for mesh in meshes:
        base_from_link = np.eye(4)[None] if mesh.link < 0 else base_from_links[:, mesh.link]
        # Row vectors: p_base = R p + t becomes p' R' + t'.
        placed = mesh.vertices @ base_from_link[:, :3, :3].swapaxes(1, 2) + base_from_link[:, None, :3, 3]
        yield placed.reshape(-1, 3)


def _places(robot: Robot, poses: Array) -> Array:
    """(N, 3) origins of links and tool in all poses, and the base."""
    links = link_placements(robot, poses)[..., :3, 3]
    # (N, 1, 3), to stand beside (N, links, 3).
    tool = forward_kinematics(robot, poses)[..., None, :3, 3]
    return np.vstack([np.concatenate([links, tool], axis=1).reshape(-1, 3), np.zeros((1, 3))])


def _rows(T: Array) -> list[float]:
    """The rows of [R | p], one after the other."""
    rows: list[float] = T[:3].ravel().tolist()
    return rows


def round_length(length: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten that is not longer."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * max(k for k in (1, 2, 5) if k * power <= length))
