"""Changes of a robot: masses, payload, tool and gravity; the torques follow, and the result can be saved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from tauform.studio.desk import Desk

AXES = "xyz"


def show_changes(desk: Desk, update: Callable[[], None]) -> None:
    """Fields for all that can be changed, and buttons to save the robot.

    Args:
        update: called after each change; computes the torques anew.
    """
    robot, project = desk.project.described, desk.project
    assert robot is not None

    def changed() -> None:
        update()
        desk.show_lines(project.lines.changed())

    def place(name: str, label: str, unit: str, values: tuple[float, ...], store: Callable[[Any], None]) -> None:
        with ui.row().classes("fields gap-2 items-center no-wrap"):
            ui.label(f"{label} [{unit}]").classes("text-sm").style("width: 9rem")
            held = list(values)
            for k, axis in enumerate(AXES):
                # Bound as a default: the loop's variable would be the last axis for all.
                def taken(value: float, k: int = k) -> None:
                    held[k] = value
                    store(tuple(held))
                    changed()

                _number(axis, values[k], taken).mark(f"{name}_{axis}")

    place("gravity", "gravity", "m/s²", project.gravity, lambda found: setattr(project, "gravity", found))
    place("tool", "tool moved by", "m", project.tool, lambda found: setattr(project, "tool", found))
    with ui.row().classes("gap-2 items-center no-wrap"):
        ui.label("payload [kg]").classes("text-sm").style("width: 9rem")

        def weighed(value: float) -> None:
            project.payload = (value, project.payload[1])
            changed()

        _number("mass", project.payload[0], weighed).mark("payload")
    centre = lambda found: setattr(project, "payload", (project.payload[0], found))  # noqa: E731  # a setter
    place("centre", "its centre of mass", "m", project.payload[1], centre)
    ui.label("mass of each link [kg], its shape kept").classes("text-sm q-mt-sm")
    with ui.row().classes("gap-x-3 gap-y-0"):
        for link in robot.links:

            def heavier(value: float, name: str = link.name) -> None:
                project.masses[name] = value
                changed()

            _number(link.name, project.masses.get(link.name, link.inertia.mass), heavier, "8.5rem").mark(
                f"mass {link.name}"
            )
    with ui.row():
        for suffix in (".toml", ".urdf"):
            ui.button(f"Save {suffix[1:].upper()}", on_click=lambda suffix=suffix: _save(desk, suffix)).props(
                "flat dense no-caps icon=save"
            )


def _save(desk: Desk, suffix: str) -> None:
    project = desk.project

    def save() -> None:
        path = project.folder / f"edited{suffix}"
        # Into the session's folder first: the browser downloads whole files only.
        written = project.robot.save(path)
        # What a format has no place for is said, not swallowed.
        for finding in written.findings:
            ui.notify(finding, multi_line=True)
        ui.download(path, project.lines.file_name(suffix))
        desk.show_lines(project.lines.saved(suffix))

    desk.attempt(save)


def _number(label: str, value: float, change: Callable[[float], None], width: str = "4.6rem") -> ui.number:
    field = ui.number(label, value=value, format="%.6g").props("dense").style(f"width: {width}")
    # An emptied field changes nothing.
    field.on_value_change(lambda event: change(float(event.value)) if event.value is not None else None)
    return field
