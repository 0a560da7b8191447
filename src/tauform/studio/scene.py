"""RobotScene: the robot in space, link by link, moved without drawing it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from nicegui import ui

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.report.html.meshes import LinkMesh
from tauform.rigidbody.kinematics import forward_kinematics, link_placements
from tauform.studio.project import Project

# Colours of residuals on the robot: none, and as large as the joint's own torque.
BLUE, ORANGE, GREY = "#1f63c4", "#d1571a", "#8d99a6"
CALM, BAD = np.array([0.62, 0.66, 0.70]), np.array([0.78, 0.15, 0.15])


class RobotScene:
    """A three.js scene with a group for each link; a posture moves the groups."""

    def __init__(self, project: Project, height: str = "26rem") -> None:
        self.project = project
        with ui.scene(width=600, height=420, background_color="#f7f7f5", fps=30) as self.scene:
            self.groups: list[Any] = []
            self.bodies: dict[int, list[Any]] = {}
        self.scene.classes("w-full").style(f"height: {height}")
        self.scene.props('aria-label="The robot in space"')
        self.build()

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
                    self.bodies[link] = [
                        self._mesh(k) for k, mesh in enumerate(self.project.meshes) if mesh.link == link
                    ]
                self.groups.append(group)
            if not self.project.meshes:
                self._sticks(robot)
        self.move(self.project.q)
        self._look()

    def _mesh(self, k: int) -> Any:
        mesh = self.project.meshes[k]
        # The robot in the address: browsers would show the last robot's mesh from their cache.
        shown = self.scene.stl(f"/mesh/{k}.stl?robot={abs(hash(self.project.source)) % 10**8}")
        return shown.material("#" + "".join(f"{round(255 * part):02x}" for part in mesh.colour))

    def _sticks(self, robot: Robot) -> None:
        """Joints as thick, links as thin cylinders; what a description without shapes tells."""
        # Three percent of the reach, with a floor for small robots.
        size = 0.03 * max(0.3, float(np.abs(forward_kinematics(robot, self.project.q)[:3, 3]).max()))
        for k, joint in enumerate(robot.joints):
            with self.groups[k + 1]:
                self._cylinder(size, 2.5 * size, np.array([0.0, 0.0, 1.0]), BLUE if joint.type.is_angle else ORANGE)
        ends = [(joint.parent, joint.parent_from_joint[:3, 3]) for joint in robot.joints]
        for parent, end in [*ends, (robot.tool.link, robot.tool.link_from_frame[:3, 3])]:
            length = float(np.linalg.norm(end))
            # Joints that share an origin have no link to draw between.
            if length > 1e-6:
                with self.groups[parent + 1]:
                    self._cylinder(0.45 * size, length, end / length, GREY).move(*(end / 2).tolist())

    def _cylinder(self, radius: float, length: float, along: Array, colour: str) -> Any:
        """A cylinder about its centre; those of three.js stand along y."""
        # Any direction across the axis; x itself would give a zero product.
        side = np.cross(along, [1.0, 0.0, 0.0] if abs(along[0]) < 0.9 else [0.0, 1.0, 0.0])
        side /= np.linalg.norm(side)
        # Columns of the rotation: the cylinder's own y goes along the link.
        turned = np.column_stack([side, along, np.cross(side, along)])
        return self.scene.cylinder(radius, radius, length).rotate_R(turned.tolist()).material(colour)

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
            for body in self.bodies.get(link, []):
                body.material("#" + "".join(f"{round(255 * part):02x}" for part in mixed))

    def plain(self) -> None:
        """The links' own colours again."""
        for link, bodies in self.bodies.items():
            own = [mesh for mesh in self.project.meshes if mesh.link == link]
            for body, mesh in zip(bodies, own, strict=True):
                body.material("#" + "".join(f"{round(255 * part):02x}" for part in mesh.colour))

    def _look(self) -> None:
        robot = self.project.described
        if robot is None:
            return
        places = link_placements(robot, self.project.q)[:, :3, 3]
        centre = places.mean(axis=0)
        # Forty centimetres at the least: a robot folded at its base would fill the view.
        away = 1.05 * max(0.4, float(np.ptp(places, axis=0).max()))
        self.scene.move_camera(
            x=centre[0] + away, y=centre[1] - away, z=centre[2] + 0.7 * away,
            look_at_x=centre[0], look_at_y=centre[1], look_at_z=centre[2], duration=0,
        )  # fmt: skip


def stl(mesh: LinkMesh) -> bytes:
    """A mesh as a binary STL: 80 bytes of heading, a count, then a normal, three corners and two bytes each."""
    corners: AnyArray = mesh.vertices[mesh.faces].astype("<f4")
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    # A triangle without area has no normal; zero is allowed in STL.
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-20)
    rows = np.zeros(len(corners), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("none", "<u2")])
    rows["normal"], rows["corners"] = normals, corners
    return bytes(80) + np.array([len(corners)], dtype="<u4").tobytes() + rows.tobytes()
