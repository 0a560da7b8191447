"""Robot: open one, move it, see its torques at once, change its masses, payload, tool and gravity, save it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from nicegui import events, run, ui

from tauform.arrays import Array
from tauform.description.formats.load import robots
from tauform.description.robot import Robot
from tauform.errors import TauformError
from tauform.fast.kinematics import jacobian
from tauform.fast.matrices import mass_matrix
from tauform.fast.torques import gravity_torque, inverse_dynamics
from tauform.messages import counted
from tauform.pipeline.motion import coordinate_ranges, reference_temperature
from tauform.report.html.meshes import FORMATS
from tauform.studio.desk import Desk, complain, drop_zone
from tauform.studio.on_the_page import LABELS
from tauform.studio.project import ROBOT_FILES
from tauform.studio.scene import RobotScene
from tauform.studio.tabs.changes import show_changes

# Torques of that share of the largest are none to a reader, and inertias of that one are rounding.
MAX_HIDDEN_SHARE, MAX_ROUNDING_SHARE = 1e-5, 1e-9
# Joints whose mass matrix has room for its numbers.
MOST_WRITTEN = 12
TONES = {"unphysical": "bad", "doubtful": "warn", "note": "soft"}
# Width of the columns beside a slider [rem].
WIDTHS = {"q": 3.4, "qd": 2.6, "qdd": 2.6, "torque": 6.2, "gravity": 4.4}


def robot_tab(desk: Desk) -> None:
    """The tab: the robot and its mass matrix on the left, joints, sources and changes on the right."""
    tab = RobotTab(desk)
    desk.follow("robot", tab.rebuild)
    tab.rebuild()


class RobotTab:
    """Inputs and outputs of the open robot."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.project = desk, desk.project
        self.labels: list[dict[str, Any]] = []
        self.rates: list[dict[str, Any]] = []
        with ui.element("div").classes("columns robot"):
            with ui.column().classes("gap-2"):
                self.title = ui.label().classes("text-lg font-semibold")
                self.place = ui.column().classes("w-full")
                # Not sanitised: numbers only, written by this module.
                self.matrix = ui.html("", sanitize=False).classes("w-full text-sm")
            with ui.column().classes("gap-2"):
                self.joints = ui.column().classes("gap-0 card")
                self.findings = ui.column().classes("gap-1 card")
                with ui.expansion("Open another robot").classes("card"):
                    self._sources()
                with ui.expansion("Change masses, payload, tool, gravity").classes("card"):
                    self.changes = ui.column().classes("gap-1 w-full")

    def _sources(self) -> None:
        with ui.row().classes("w-full no-wrap gap-3"):
            self.catalogue = ui.select(sorted(robots()), label="catalogue", on_change=self._pick).classes("grow")
            self.tip = ui.input(LABELS["tip"]).classes("grow").props("clearable")
        self.tip.on("keydown.enter", lambda: self._open(self.project.source))
        zone = drop_zone(self.desk, "Drop a URDF, xacro, MJCF or TOML, with its meshes", self._dropped, "robot-upload")
        zone.props(f'accept="{",".join((*ROBOT_FILES, *FORMATS, ".yaml"))}"')

    async def _pick(self, event: events.ValueChangeEventArguments[Any]) -> None:
        # Drawing sets the field too, to the robot that is open.
        if event.value and event.value != self.project.source:
            await self._open(str(event.value))

    async def _dropped(self, event: events.MultiUploadEventArguments) -> None:
        kept = await self.desk.keep(event.files)
        # A robot may be dropped together with its meshes; the first file that can be one is it.
        found = [path for path in kept if path.suffix.lower() in ROBOT_FILES]
        if found:
            await self._open(str(found[0]))
        # Meshes alone belong to the robot that is open.
        elif kept and self.project.described is not None:
            missing = self.project.notes
            await self._open(self.project.source)
            if self.project.notes == missing:
                names = ", ".join(path.name for path in kept)
                complain(f"{names}: {self.project.robot.name} misses no mesh of this name")

    async def _open(self, source: str) -> None:
        try:
            # Meshes of a humanoid take seconds: in a thread, so that the page answers meanwhile.
            opened = await run.io_bound(self.project.read_robot, source, self.tip.value or None)
        except TauformError as error:
            complain(self.project.said(error))
            return
        # None where the server ends meanwhile.
        if opened is not None:
            self.project.take_robot(opened)
        self.desk.show_lines(self.project.lines.load())

    def rebuild(self) -> None:
        """Draw what belongs to the robot that is open now."""
        robot = self.project.described
        for place in (self.place, self.joints, self.findings, self.changes):
            place.clear()
        if robot is None:
            return
        self.title.set_text(f"{robot.name}: {robot.n_joints} joints")
        # Empty beside a dropped robot: the entry before it can be picked again.
        self.catalogue.set_value(self.project.source if self.project.source in robots() else None)
        with self.place:
            self.scene = RobotScene(self.project, height="clamp(18rem, 48vh, 34rem)")
        self._show_findings()
        with self.changes:
            show_changes(self.desk, self.update)
        self.labels, self.rates = [], []
        with self.joints:
            self._head(robot)
            for j, (name, (low, high)) in enumerate(zip(robot.joint_names, coordinate_ranges(robot), strict=True)):
                self._row(j, name, float(low), float(high))
        self.update()

    def _head(self, robot: Robot) -> None:
        units = _units(robot)
        with ui.row().classes("w-full gap-2 text-xs soft items-end joint-row"):
            ui.label("joint").classes("grow joint-name")
            for heading, width in WIDTHS.items():
                with ui.column().classes("gap-0 items-end").style(f"width: {width}rem; flex: none"):
                    ui.label(heading).classes("font-semibold")
                    ui.label(units[heading]).classes("text-right")

    def _row(self, j: int, name: str, low: float, high: float) -> None:
        with ui.row().classes("items-center w-full gap-2 joint-row"):
            with ui.column().classes("gap-0 grow joint-name"):
                ui.label(name).classes("text-xs truncate w-full").style("margin-bottom: -.1rem")
                # Two thousand steps: finer than a pointer can set.
                slider = ui.slider(min=low, max=high, step=(high - low) / 2000, value=float(self.project.q[j]))
                slider.props(f'dense aria-label="position of {_plain(name)}"').mark(f"q{j}")
                slider.on_value_change(partial(self._moved, j))
            held: dict[str, Any] = {"q": _figure("q")}
            rate: dict[str, Any] = {}
            for quantity in ("qd", "qdd"):
                rate[quantity] = ui.number(value=0.0, format="%.3g", on_change=self.update).props(
                    f'dense borderless input-class="text-right text-xs" aria-label="{quantity} of {_plain(name)}"'
                )
                rate[quantity].style(f"width: {WIDTHS[quantity]}rem; flex: none")
            held["tau"] = _figure("torque").classes("font-semibold torque")
            held["gravity"] = _figure("gravity").classes("soft")
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
        # At the temperature at which friction is what Fv says: the page has no field for it.
        more = reference_temperature(robot)
        tau = inverse_dynamics(robot, q, qd, qdd, **more)
        gravity = gravity_torque(robot, q)
        largest = max(float(np.abs(tau).max()), float(np.abs(gravity).max()))
        types = {joint.name: joint.type for joint in robot.joints}
        for j, (name, held) in enumerate(zip(robot.joint_names, self.labels, strict=True)):
            kind = types[name]
            held["q"].set_text(f"{kind.display_factor * q[j]:.1f}°" if kind.is_angle else f"{1e3 * q[j]:.0f} mm")
            held["tau"].set_text(f"{_shown(tau[j], largest)} {kind.effort_unit}")
            # The attribute keeps all digits, which the text rounds.
            held["tau"].props(f'data-value="{float(tau[j])!r}"')
            held["gravity"].set_text(_shown(gravity[j], largest))
        self.scene.move(q)
        self.matrix.set_content(_matrix(mass_matrix(robot, q), jacobian(robot, q)))
        self.desk.show_lines(self.project.lines.state(q.tolist(), qd.tolist(), qdd.tolist(), more))

    def _show_findings(self) -> None:
        robot = self.project.robot
        # As it is on the page: a mass that was edited is checked too.
        found = robot.check()
        with self.findings:
            many = f"{counted(len(found), 'finding')}; a click shows the link"
            words = many if found else "The check finds nothing wrong."
            ui.label(words).classes("heading")
            for finding in found:
                label = ui.label(str(finding)).classes(f"finding {TONES[finding.severity]}")
                label.on("click", partial(self._point, finding.place, label))
            for note in self.project.notes:
                ui.label(note).classes("text-sm soft")

    def _point(self, place: str, label: ui.label) -> None:
        """Show the links that a finding names in a colour of their own; a second click takes it back."""
        robot, chosen = self.project.robot, "chosen" in label.classes
        # A finding names links or the joints that move them, in quotes.
        names = [{repr(link.name), repr(joint.name)} for link, joint in zip(robot.links, robot.joints, strict=True)]
        links = [k for k, either in enumerate(names) if any(name in place for name in either)]
        for other in self.findings.default_slot.children:
            other.classes(remove="chosen")
        if not chosen:
            label.classes("chosen")
        self.scene.highlight([] if chosen else links)


def _units(robot: Robot) -> dict[str, str]:
    """Units of the columns: those of joints that turn, of joints that slide, or both."""
    kinds = {joint.type.is_angle: joint.type for joint in robot.joints}.items()
    coordinate = {is_angle: "°" if is_angle else "mm" for is_angle, _ in kinds}
    rate, effort = ", ".join(f"{kind.unit}/s" for _, kind in kinds), ", ".join(kind.effort_unit for _, kind in kinds)
    acceleration = ", ".join(f"{kind.unit}/s²" for _, kind in kinds)
    shown = {"q": ", ".join(coordinate.values()), "qd": rate, "qdd": acceleration}
    return shown | {"torque": effort, "gravity": effort}


def _figure(column: str) -> ui.label:
    """A place for a number that keeps its width while it changes."""
    return (
        ui.label().classes("text-xs text-right").style(f"width: {WIDTHS[column]}rem; flex: none; white-space: nowrap")
    )


def _shown(value: float, largest: float) -> str:
    hidden = abs(value) <= MAX_HIDDEN_SHARE * largest
    return "0" if hidden else np.format_float_positional(value, precision=4, fractional=False, trim="-")


def _matrix(M: Array, J: Array) -> str:
    """The mass matrix, the darker the larger, and how far the tool is from a singular posture."""
    # Relative to the diagonal: M_ij^2 <= M_ii M_jj.
    diagonal = np.sqrt(np.maximum(np.diagonal(M), 1e-300))
    shares = np.abs(M) / np.outer(diagonal, diagonal)
    # Many joints leave no room for numbers: colours alone then, and the number under the pointer.
    small, strength = len(M) <= MOST_WRITTEN, 0.3 if len(M) <= MOST_WRITTEN else 0.9

    def written(value: float, share: float) -> str:
        return ("0" if share < MAX_ROUNDING_SHARE else f"{value:.3g}") if small else ""

    rows = "".join(
        "<tr>"
        + "".join(
            f'<td style="background: rgba(31, 99, 196, {strength * share:.2f})" title="{value:.3g}">'
            f"{written(value, share)}</td>"
            for value, share in zip(row, part, strict=True)
        )
        + "</tr>"
        for row, part in zip(M, shares, strict=True)
    )
    # Yoshikawa's measure, sqrt(det(J J')), or sqrt(det(J'J)) with fewer joints than rows.
    gains = np.linalg.svd(J, compute_uv=False)
    # At a singularity what rounding leaves is zero.
    spread = float(np.prod(gains)) if gains[-1] > MAX_ROUNDING_SHARE * gains[0] else 0.0
    return (
        f'<div><b>Manipulability</b> <span class="manipulability">{spread:.4g}</span></div>'
        '<div><b>Mass matrix</b> <span class="soft">[kg m², kg m, kg]</span></div>'
        f'<table class="matrix{" dense" * (not small)}">{rows}</table>'
    )


def _plain(name: str) -> str:
    # Quotes would end the attribute.
    return "".join(letter for letter in name if letter.isalnum() or letter in "_- ")
