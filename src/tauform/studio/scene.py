"""RobotScene: the robot in space, link by link, moved without drawing it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from nicegui import events, ui

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.report.html.meshes import LinkMesh
from tauform.report.html.robot_view import home_box, round_length, swept_box
from tauform.rigidbody.kinematics import link_placements
from tauform.studio.project import Project

BLUE, ORANGE, GREY, HIGHLIGHT = "#1f63c4", "#d1571a", "#5f6b77", "#e8590c"
# White links and black ones both stand out, on a light page and on a dark one.
BACKGROUND = "#6b7683"
# Colours of residuals on the robot: none, and as large as the joint's own torque.
CALM, BAD = np.array([0.93, 0.94, 0.95]), np.array([0.80, 0.10, 0.10])
GRID, SQUARES = "#8a95a1", 6  # of the floor: colour, and squares from its middle to each side
FIELD_OF_VIEW = 35.0  # degrees: wider ones bend robots
FRAMES_PER_SECOND = 20
MOST_FRAMED = 30


class RobotScene:
    """A three.js scene with a group for each link; a posture moves the groups.

    Args:
        along: (N, n) postures of a motion that is shown; all of them are in sight. The robot at home where None.
    """

    def __init__(self, project: Project, height: str = "26rem", along: Array | None = None) -> None:
        self.project, self.along = project, along
        self.groups: list[Any] = []
        # Each body with its own colour, by link.
        self.bodies: dict[int, list[tuple[Any, str]]] = {}
        self.scene = ui.scene(
            # The library's own grid lies on a plane that hides arms below their base.
            width=640, height=420, background_color=BACKGROUND, fps=20, grid=False,
            camera=ui.scene.perspective_camera(fov=FIELD_OF_VIEW),
        )  # fmt: skip
        self.scene.classes("scene").style(f"height: {height}").props('role="img" aria-label="The robot in space"')
        self.build()

    def _floor(self) -> None:
        """A grid below the robot, with some squares per reach, whatever the robot's size."""
        low, high = self._box()
        centre, step = (low + high) / 2, round_length(max(float(np.max(high - low)), 0.1) / 3)
        # On multiples of the step, so that squares can be counted from the base.
        x0, y0 = (step * np.round(centre[:2] / step)).tolist()
        z, reach = float(low[2]), SQUARES * step
        for k in range(-SQUARES, SQUARES + 1):
            self.scene.line([x0 + k * step, y0 - reach, z], [x0 + k * step, y0 + reach, z]).material(GRID)
            self.scene.line([x0 - reach, y0 + k * step, z], [x0 + reach, y0 + k * step, z]).material(GRID)

    def _box(self) -> tuple[Array, Array]:
        robot = self.project.described
        if robot is None:
            return np.zeros(3), np.ones(3)
        if self.along is None:
            return home_box(robot, self.project.meshes)
        # A few postures are enough to frame a motion.
        return swept_box(robot, self.along[:: max(1, len(self.along) // MOST_FRAMED)], self.project.meshes)

    def build(self) -> None:
        """Draw the project's robot anew."""
        self.scene.clear()
        self.groups, self.bodies = [], {}
        robot = self.project.described
        if robot is None:
            return
        with self.scene:
            # -1 is the base; group k + 1 belongs to link k.
            for link in range(-1, robot.n_bodies):
                with self.scene.group() as group:
                    own = [(k, mesh) for k, mesh in enumerate(self.project.meshes) if mesh.link == link]
                    self.bodies[link] = [self._mesh(k, mesh) for k, mesh in own]
                self.groups.append(group)
            self._sticks(robot)
            self._floor()
        self.move(self.project.q)
        self._look()

    def _mesh(self, k: int, mesh: LinkMesh) -> tuple[Any, str]:
        # The robot in the address: browsers would show the last robot's mesh from their cache.
        shown = self.scene.stl(f"/mesh/{k}.stl?robot={abs(hash(self.project.source)) % 10**8}")
        colour = _colour(np.array(mesh.colour))
        return shown.material(colour), colour

    def _sticks(self, robot: Robot) -> None:
        """Joints as thick, links as thin cylinders, where no mesh shows the link."""
        low, high = self._box()
        # Three percent of the robot's size, with a floor for small robots.
        size = 0.03 * max(0.3, float(np.max(high - low)))
        seen = {mesh.link for mesh in self.project.meshes}
        for k, joint in enumerate(robot.joints):
            if k not in seen:
                colour = BLUE if joint.type.is_angle else ORANGE
                self._cylinder(k, size, 2.5 * size, np.array([0.0, 0.0, 1.0]), np.zeros(3), colour)
        ends = [(joint.parent, joint.parent_from_joint[:3, 3]) for joint in robot.joints]
        for parent, end in [*ends, (robot.tool.link, robot.tool.link_from_frame[:3, 3])]:
            length = float(np.linalg.norm(end))
            # Joints that share an origin have no link to draw between.
            if parent not in seen and length > 1e-6:
                self._cylinder(parent, 0.45 * size, length, end / length, end / 2, GREY)

    def _cylinder(self, link: int, radius: float, length: float, along: Array, centre: Array, colour: str) -> None:
        """A cylinder on a link; those of three.js stand along y."""
        # Any direction across the axis; x itself would give a zero product.
        side = np.cross(along, [1.0, 0.0, 0.0] if abs(along[0]) < 0.9 else [0.0, 1.0, 0.0])
        side /= np.linalg.norm(side)
        # Columns of the rotation: the cylinder's own y goes along the link.
        turned = np.column_stack([side, along, np.cross(side, along)])
        with self.groups[link + 1]:
            body = self.scene.cylinder(radius, radius, length).rotate_R(turned.tolist()).move(*centre.tolist())
        self.bodies[link].append((body.material(colour), colour))

    def move(self, q: Array) -> None:
        """Show a posture."""
        robot = self.project.described
        if robot is None or not self.groups:
            return
        # The base does not move; groups of links follow in order.
        for group, base_from_link in zip(self.groups[1:], link_placements(robot, q), strict=True):
            group.move(*base_from_link[:3, 3].tolist()).rotate_R(base_from_link[:3, :3].tolist())

    def colour(self, shares: Sequence[float]) -> None:
        """Colour links by how large the torque error of their joint is, as a share of its torque."""
        for link, share in enumerate(shares):
            # From calm to bad, up to an error as large as the joint's torque.
            mixed = CALM + min(1.0, max(0.0, share)) * (BAD - CALM)
            for body, _ in self.bodies.get(link, []):
                body.material(_colour(mixed))

    def highlight(self, links: Sequence[int]) -> None:
        """Show some links in a colour of their own, all others in theirs."""
        for link, bodies in self.bodies.items():
            for body, own in bodies:
                body.material(HIGHLIGHT if link in links else own)

    def _look(self) -> None:
        low, high = self._box()
        centre, extent = (low + high) / 2, max(0.2, float(np.max(high - low)))
        # So far that the robot fills three quarters of the height.
        away = 0.67 * extent / np.tan(np.radians(FIELD_OF_VIEW / 2))
        direction = np.array([0.72, -0.60, 0.36])
        eye = centre + away * direction / np.linalg.norm(direction)
        self.scene.move_camera(
            x=eye[0], y=eye[1], z=eye[2],
            look_at_x=centre[0], look_at_y=centre[1], look_at_z=centre[2], duration=0,
        )  # fmt: skip


class Player:
    """A slider through the frames of a motion, and a button that plays it in real time."""

    def __init__(self, times: Sequence[float], show: Callable[[int], None], name: str) -> None:
        self.times, self.show = times, show
        with ui.row().classes("items-center w-full no-wrap gap-3"):
            self.button = (
                ui.button("Play", on_click=self._toggle)
                .props("flat dense no-caps icon=play_arrow")
                .style("width: 5rem; flex: none")
            )
            self.slider = ui.slider(min=0, max=len(times) - 1, value=0, on_change=self._moved)
            self.slider.props(f'aria-label="{name}"').classes("grow")
            self.clock = ui.label().classes("text-xs soft").style("width: 4rem; flex: none")
        self.timer = ui.timer(1 / FRAMES_PER_SECOND, self._advance, active=False)
        self.at = float(times[0])
        self._tell(0)

    def _tell(self, frame: int) -> None:
        self.clock.set_text(f"{self.times[frame]:.2f} s")

    def _moved(self, event: events.ValueChangeEventArguments[Any]) -> None:
        frame = int(event.value)
        self.at = float(self.times[frame])
        self._tell(frame)
        self.show(frame)

    def _advance(self) -> None:
        self.at += 1 / FRAMES_PER_SECOND
        # From the beginning again once it is over.
        at = self.at if self.at <= self.times[-1] else float(self.times[0])
        frame = min(len(self.times) - 1, int(np.searchsorted(self.times, at)))
        self.slider.set_value(frame)
        # The slider's frame lies behind the clock by less than a frame; the clock counts.
        self.at = at

    def _toggle(self) -> None:
        self.timer.active = not self.timer.active
        self.button.set_text("Stop" if self.timer.active else "Play")
        self.button.set_icon("stop" if self.timer.active else "play_arrow")


def _colour(mixed: Array) -> str:
    return "#" + "".join(f"{round(255 * float(part)):02x}" for part in mixed)


def stl(mesh: LinkMesh) -> bytes:
    """A mesh as a binary STL: 80 bytes of heading, a count, then a normal, three corners and two bytes each."""
    corners: AnyArray = mesh.vertices[mesh.faces].astype("<f4")
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    # A triangle without area has no normal; zero is allowed in STL.
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-20)
    rows = np.zeros(len(corners), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("none", "<u2")])
    rows["normal"], rows["corners"] = normals, corners
    return bytes(80) + np.array([len(corners)], dtype="<u4").tobytes() + rows.tobytes()
