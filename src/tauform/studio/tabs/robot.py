"""Robot: open one, move it, see its torques at once, change its masses, payload and gravity, save it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from nicegui import events, ui

from tauform.arrays import Array
from tauform.description.formats.load import robots
from tauform.fast.kinematics import jacobian
from tauform.fast.matrices import mass_matrix
from tauform.fast.torques import gravity_torque, inverse_dynamics
from tauform.pipeline.motion import coordinate_ranges, reference_temperature
from tauform.report.html.meshes import FORMATS
from tauform.studio.desk import Desk, drop_zone
from tauform.studio.lines import Lines
from tauform.studio.project import ROBOT_FILES
from tauform.studio.scene import RobotScene

# Torques of that share of the largest are rounding, and shown as zero.
DUST = 1e-12


def robot_tab(desk: Desk) -> None:
    """The tab: files on the left, the robot in the middle, numbers on the right."""
    tab = RobotTab(desk)
    desk.followers.append(tab.rebuild)
    tab.rebuild()


class RobotTab:
    """Inputs and outputs of the open robot."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.project = desk, desk.project
        self.labels: list[dict[str, Any]] = []
        self.rates: list[dict[str, Any]] = []
        with ui.row().classes("w-full flex-wrap gap-3 items-start"):
            with ui.column().classes("gap-2").style("flex: 1 1 15rem; min-width: 13rem"):
                self._sources()
            with ui.column().style("flex: 3 1 24rem; min-width: 18rem"):
                self.scene = RobotScene(self.project)
                # Not sanitised: numbers only, written by this module.
                self.matrix = ui.html("", sanitize=False).classes("text-xs")
            self.sliders = ui.column().classes("gap-1").style("flex: 2 1 24rem; min-width: 18rem")

    def _sources(self) -> None:
        self.catalogue = ui.select(sorted(robots()), label="Catalogue", on_change=self._pick).classes("w-full")
        self.tip = ui.input("Tip (cut here)", on_change=None).classes("w-full").props("clearable dense")
        self.tip.on("keydown.enter", lambda: self._open(self.project.source))
        drop_zone("Drop a robot and its meshes", self._dropped, "robot-upload").props(
            f'accept="{",".join((*ROBOT_FILES, *FORMATS, ".yaml"))}"'
        )
        self.findings = ui.column().classes("gap-1 text-sm")
        with ui.expansion("Change it").classes("w-full"):
            self.edits = ui.column().classes("gap-1 w-full")

    def _pick(self, event: events.ValueChangeEventArguments[Any]) -> None:
        if event.value:
            self._open(str(event.value))

    async def _dropped(self, event: events.MultiUploadEventArguments) -> None:
        kept = await self.desk.keep(event.files)
        found = [path for path in kept if path.suffix.lower() in ROBOT_FILES]
        if found:
            self._open(str(found[0]))
        # Meshes alone belong to the robot that is open.
        elif self.project.described is not None:
            self._open(self.project.source)  # meshes that came later

    def _open(self, source: str) -> None:
        if self.desk.attempt(lambda: _ignore(self.project.open_robot(source, self.tip.value or None))):
            self.desk.robot_changed()
            self.desk.show_lines(Lines.of_robot(self.project.source, self.project.tip))

    def rebuild(self) -> None:
        """Draw what belongs to the robot that is open now."""
        robot = self.project.described
        self.scene.build()
        for place in (self.sliders, self.findings, self.edits):
            place.clear()
        if robot is None:
            return
        self._show_findings()
        self._show_edits()
        self.labels, self.rates = [], []
        with self.sliders:
            ui.label(repr(robot)).classes("text-sm font-medium")
            with ui.row().classes("w-full no-wrap gap-2 text-xs text-grey-7"):
                ui.label("joint").classes("grow")
                for heading, width in (("q", 3.0), ("qd", 2.4), ("qdd", 2.4), ("torque", 6.0), ("gravity", 3.6)):
                    ui.label(heading).style(f"width: {width}rem; flex: none")
            for j, (name, (low, high)) in enumerate(zip(robot.joint_names, coordinate_ranges(robot), strict=True)):
                self._row(j, name, float(low), float(high))
        self.update()

    def _row(self, j: int, name: str, low: float, high: float) -> None:
        ui.label(name).classes("text-xs truncate w-full").style("margin-bottom: -.6rem")
        with ui.row().classes("items-center w-full no-wrap gap-2"):
            # Two thousand steps: finer than a pointer can set.
            slider = ui.slider(min=low, max=high, step=(high - low) / 2000, value=float(self.project.q[j]))
            slider.props(f'aria-label="position of {_plain(name)}"').classes("grow").mark(f"q{j}")
            slider.on_value_change(partial(self._moved, j))
            held: dict[str, Any] = {"q": _figure("3rem")}
            rate: dict[str, Any] = {}
            for quantity in ("qd", "qdd"):
                rate[quantity] = ui.number(value=0.0, format="%.3g", on_change=self.update).props("dense borderless")
                rate[quantity].style("width: 2.4rem; flex: none").tooltip(f"{quantity} of {name}")
            held["tau"] = _figure("6rem").classes("font-medium torque")
            held["gravity"] = _figure("3.6rem").classes("text-grey-7")
        self.labels.append(held)
        self.rates.append(rate)

    def _moved(self, j: int, event: events.ValueChangeEventArguments[Any]) -> None:
        # A new array: the old one may still be held by a figure.
        self.project.q = np.array([*self.project.q[:j], float(event.value), *self.project.q[j + 1 :]])
        self.update()

    def update(self) -> None:
        """Numbers at the posture of the sliders, and the robot there."""
        self.desk.attempt(self._compute)

    def _compute(self) -> None:
        robot, q = self.project.robot, self.project.q
        # A field that was emptied counts as zero.
        qd, qdd = (np.array([float(rate[name].value or 0.0) for rate in self.rates]) for name in ("qd", "qdd"))
        tau = inverse_dynamics(robot, q, qd, qdd, **reference_temperature(robot))
        gravity = gravity_torque(robot, q)
        dust = DUST * max(float(np.abs(tau).max()), float(np.abs(gravity).max()))
        types = {joint.name: joint.type for joint in robot.joints}
        for j, (name, held) in enumerate(zip(robot.joint_names, self.labels, strict=True)):
            kind = types[name]
            held["q"].set_text(f"{kind.display_factor * q[j]:.1f}°" if kind.is_angle else f"{1e3 * q[j]:.0f} mm")
            # The attribute keeps all digits, which the text rounds.
            held["tau"].set_text(f"{_shown(tau[j], dust)} {kind.effort_unit}").props(f'data-value="{float(tau[j])!r}"')
            held["gravity"].set_text(_shown(gravity[j], dust))
        self.scene.move(q)
        self.matrix.set_content(_matrix(mass_matrix(robot, q), jacobian(robot, q)))
        self.desk.show_lines(Lines.of_state(q.tolist()))

    def _show_findings(self) -> None:
        with self.findings:
            for sentence in [*(str(finding) for finding in self.project.robot.check()), *self.project.notes]:
                ui.label(sentence).classes("text-orange-9")

    def _show_edits(self) -> None:
        robot, project = self.project.described, self.project
        assert robot is not None
        with self.edits:
            with ui.row().classes("gap-1"):
                for k, axis in enumerate("xyz"):
                    _number(f"gravity {axis}", project.gravity[k], partial(self._set_gravity, k))
            with ui.row().classes("gap-1"):
                _number("payload [kg]", project.payload[0], self._set_payload_mass)
                for k, axis in enumerate("xyz"):
                    _number(f"its {axis} [m]", project.payload[1][k], partial(self._set_payload_place, k))
            for link, inertia in zip(robot.links, robot.inertias, strict=True):
                _number(f"mass of {link.name} [kg]", inertia.mass, partial(self._set_mass, link.name), wide=True)
            with ui.row():
                ui.button("Save TOML", on_click=lambda: self._save(".toml")).props("flat dense")
                ui.button("Save URDF", on_click=lambda: self._save(".urdf")).props("flat dense")

    def _set_gravity(self, k: int, value: float) -> None:
        changed = list(self.project.gravity)
        changed[k] = value
        self.project.gravity = (changed[0], changed[1], changed[2])
        self.update()

    def _set_payload_mass(self, value: float) -> None:
        self.project.payload = (value, self.project.payload[1])
        self.update()

    def _set_payload_place(self, k: int, value: float) -> None:
        changed = list(self.project.payload[1])
        changed[k] = value
        self.project.payload = (self.project.payload[0], (changed[0], changed[1], changed[2]))
        self.update()

    def _set_mass(self, link: str, value: float) -> None:
        self.project.masses[link] = value
        self.update()

    def _save(self, suffix: str) -> None:
        def save() -> None:
            path = self.project.folder / f"edited{suffix}"
            written = self.project.robot.save(path)
            for finding in written.findings:
                ui.notify(finding, multi_line=True)
            ui.download(path, Path(self.project.source).stem + suffix)

        self.desk.attempt(save)


def _figure(width: str) -> ui.label:
    """A place for a number that keeps its width while it changes."""
    return ui.label().classes("text-xs").style(f"width: {width}; flex: none; white-space: nowrap")


def _shown(value: float, dust: float) -> str:
    return "0" if abs(value) <= dust else f"{value:.4g}"


def _number(label: str, value: float, change: Any, wide: bool = False) -> None:
    field = ui.number(label, value=value, format="%.6g").props("dense").style(f"width: {'100%' if wide else '4.6rem'}")
    # An emptied field changes nothing.
    field.on_value_change(lambda event: change(float(event.value)) if event.value is not None else None)


def _matrix(M: Array, J: Array) -> str:
    """The mass matrix as a table, and how far the tool is from a singular posture."""
    rows = "".join(
        "<tr>" + "".join(f"<td style='padding: 0 .5rem'>{value:.4g}</td>" for value in row) + "</tr>" for row in M
    )
    # Yoshikawa's measure sqrt(det(J J')); with fewer joints than rows J'J has the rank to show it.
    spread = np.sqrt(max(0.0, float(np.linalg.det(J @ J.T if len(J) <= J.shape[1] else J.T @ J))))
    return f"<b>Mass matrix</b><table>{rows}</table><b>Manipulability</b> {spread:.4g}"


def _plain(name: str) -> str:
    # Quotes would end the attribute.
    return "".join(letter for letter in name if letter.isalnum() or letter in "_- ")


def _ignore(_: Any) -> None:
    """Results that the project holds already."""
