"""Fits: verdict, figures, fits side by side, the recording on the robot."""

from __future__ import annotations

import numpy as np
from nicegui import ui

from tauform.report.html.plot import Panel, Plot, Series, short_names
from tauform.studio.desk import Desk, facts_table, figure
from tauform.studio.project import Project
from tauform.studio.results import FitLook, Playback
from tauform.studio.scene import Player, RobotScene

# Errors further apart are told apart on a logarithmic axis only.
MOST_LINEAR_RATIO = 20.0


def show_fits(desk: Desk) -> None:
    """The last fit, what it looks like, and how it compares with those before."""
    fits = desk.project.fits
    if not fits:
        with ui.column().classes("card gap-1"):
            ui.label("Nothing is identified yet.").classes("heading")
            ui.label("Drop one or more logs of the robot, look at them, press Identify. The last log validates.")
        return
    # The newest: what a user just waited for.
    name, fit = next(reversed(fits.items()))
    _verdict(name, fit)
    _figures(fit)
    if fit.playback is not None:
        _play(desk.project, fit.playback)
    if len(fits) > 1:
        with ui.column().classes("card gap-1 w-full").mark("comparison"):
            ui.label("Fits side by side").classes("heading")
            _table(fits)
            figure(comparison_plot(fits))


def _verdict(name: str, fit: FitLook) -> None:
    with ui.column().classes("card gap-1 w-full"):
        with ui.row().classes("items-center gap-3"):
            ui.label(fit.verdict.grade).classes(f"badge verdict {fit.verdict.grade}")
            ui.label(f"{100 * fit.unseen.total:.2g} %").classes("figure")
            ui.label(f"torque error on {fit.unseen.source}").classes("font-medium")
            ui.label(f"{name}, {fit.method}").classes("text-xs soft")
        with ui.element("div").classes("columns").style("grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr))"):
            for title, sentences in {"Why": fit.verdict.sentences, "What to do next": fit.next_steps}.items():
                with ui.column().classes("gap-0"):
                    ui.label(title).classes("heading")
                    for sentence in sentences:
                        ui.label(f"• {sentence}").classes("text-sm")
        if fit.findings:
            with ui.expansion(f"{len(fit.findings)} remarks on the recordings").classes("w-full text-sm"):
                for sentence in fit.findings:
                    ui.label(sentence).classes("text-sm")


def _figures(fit: FitLook) -> None:
    with ui.column().classes("card gap-1 w-full"):
        toggle = ui.toggle(list(fit.plots), value="torque").props("dense no-caps flat")
        place = ui.column().classes("w-full")

    def draw(what: str) -> None:
        drawn = fit.plots[what]
        place.clear()
        with place:
            figure(drawn, "30rem" if drawn.tall else "22rem")

    toggle.on_value_change(lambda event: draw(str(event.value)))
    draw("torque")


def _table(fits: dict[str, FitLook]) -> None:
    rows = [
        {
            "fit": name,
            "verdict": fit.verdict.grade,
            "error": f"{100 * fit.unseen.total:.3g} %",
            "on": fit.unseen.source,
            "values": fit.n_values,
            "method": fit.method,
        }
        for name, fit in fits.items()
    ]
    facts_table(rows)


def comparison_plot(fits: dict[str, FitLook]) -> Plot:
    """Torque error of each joint on unseen data, fit beside fit."""
    joints = short_names(next(iter(fits.values())).identified_robot.joint_names)
    # Unseen data alone: errors of the fit itself fall with every parameter that is added.
    bars = [Series(name, 100 * fit.unseen.joints, x=joints) for name, fit in fits.items()]
    caption = "Torque error on unseen data, by joint"
    errors = np.concatenate([fit.unseen.joints for fit in fits.values()])
    # Bars that differ little would differ much on a logarithmic axis, which does not begin at zero.
    apart = bool(errors.max() > MOST_LINEAR_RATIO * errors.min())
    return Plot(caption, [Panel("", bars)], "joint", "RMS error / RMS torque [%]", ylog=apart, bars=True)


def _play(project: Project, playback: Playback) -> None:
    """The motion of the verdict on the robot, links coloured by the error of their joint."""
    with ui.column().classes("card gap-1 w-full").mark("playback"):
        ui.label("The recording, links coloured by the torque error of their joint").classes("heading")
        scene = RobotScene(project, height="20rem", along=playback.q)

        def show(frame: int) -> None:
            scene.move(playback.q[frame])
            scene.colour(playback.errors[frame].tolist())

        Player(playback.t.tolist(), show, "time of the recording")
        show(0)
        ui.label("white: no error; red: an error as large as the joint's RMS torque").classes("text-xs soft")
