"""The studio in a browser: from a slider to new numbers, and from ten million samples to a plot and a verdict."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tauform as tf
from tools.browser import BROWSER, NO_BROWSER, chromium, studio
from tools.measuring.timing import Row
from tools.real_robots import urdf
from tools.simulated_logs import simulated_log, write_csv, write_long_log

TITLE = (
    "A Panda (seven joints, meshes) in Chromium without a graphics card, which draws robots on the same processors; "
    "times by the clock, measured in the page. During a block the page's own thread answers nothing."
)
TIP = "panda_link8"
MOVES = 60
N_SAMPLES, RATE = 10_000_000, 1000.0
ALLOWED = 0.05  # seconds from a slider to new numbers

# A key moves the slider by a step; the time until the torque of its joint has changed.
MOVE = """async count => {
    const slider = document.querySelectorAll('.q-slider__thumb')[1], torque = document.querySelectorAll('.torque')[1];
    const found = [];
    for (let k = 0; k < count; k++) {
        const shown = new Promise(done => {
            const observer = new MutationObserver(() => { observer.disconnect(); done(performance.now()); });
            observer.observe(torque, {attributes: true, attributeFilter: ['data-value']});
        });
        const start = performance.now();
        slider.dispatchEvent(new KeyboardEvent('keydown', {keyCode: 39, bubbles: true}));
        found.push((await shown - start) / 1000);
        // longer than the page waits before it sends the next of several moves
        await new Promise(done => setTimeout(done, 150));
    }
    return found;
}"""
WATCH = """() => {
    window.blocks = [];
    new PerformanceObserver(list => list.getEntries().forEach(entry => window.blocks.push(entry.duration / 1000)))
        .observe({type: 'longtask'});
}"""


def rows() -> Iterator[Row]:
    """Slider, then the long log; nothing where there is no browser."""
    if BROWSER is None:
        yield Row("slider to new torques", None, ALLOWED, "asked for", note=NO_BROWSER)
        return
    robot = tf.load(urdf("panda"), tip=TIP)
    with tempfile.TemporaryDirectory() as folder:
        log = write_long_log(robot, Path(folder) / "long.npz", N_SAMPLES, RATE)
        other = write_csv(simulated_log(robot, 1, seconds=60.0), Path(folder) / "check.csv")
        with studio(str(urdf("panda")), str(log), str(other), "--tip", TIP) as address, chromium() as browser:
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            page.set_default_timeout(600_000)
            page.goto(address)
            page.wait_for_selector(".torque")
            yield from slider(page)
            yield from long_log(page, log.stat().st_size / 1e6)


def slider(page: Any) -> Iterator[Row]:
    """Moves one by one, after the scene is drawn."""
    page.wait_for_timeout(5000)
    found = np.array(page.evaluate(MOVE, MOVES))
    for name, value in {"median": np.median(found), "95 of 100": np.quantile(found, 0.95)}.items():
        yield Row(f"slider to new torques, {name}", float(value), ALLOWED, "asked for", note=f"{MOVES} moves")


def long_log(page: Any, megabytes: float) -> Iterator[Row]:
    """Plot, zoom and verdict of a log that stays in its file."""
    page.get_by_role("tab", name="Identify").click()
    page.evaluate(WATCH)
    start = time.perf_counter()
    page.get_by_role("button", name="Look at it").first.click()
    page.wait_for_selector(".js-plotly-plot .scatterlayer .trace")
    note = f"{N_SAMPLES} samples of 7 joints, {megabytes:.0f} MB; columns, signals, delays and spectra"
    yield Row("a long log to its first plot", time.perf_counter() - start, N_SAMPLES / RATE, "real time", note=note)
    page.wait_for_timeout(2000)
    yield Row("longest block until then", longest_block(page), None, "-")
    zoom(page)
    yield Row("longest block while zooming in that plot", longest_block(page), None, "-")
    start, peaks = time.perf_counter(), {"worker": 0.0, "server": 0.0}
    page.get_by_role("button", name="Identify").click()
    while not page.locator(".verdict").count():
        measure_memory(peaks)
        page.wait_for_timeout(200)
    took, grade = time.perf_counter() - start, page.locator(".verdict").inner_text().lower()
    yield Row("that log to its verdict", took, N_SAMPLES / RATE, "real time", note=f"judged on another log: {grade}")
    yield Row("longest block until then, in the page", longest_block(page), None, "-", note="with the robot's scene")
    yield Row("largest memory of the server", peaks["server"], None, "-", "MB", "libraries included")
    yield Row("largest memory of the process that fits", peaks["worker"], None, "-", "MB", "libraries included")


def longest_block(page: Any) -> float:
    """Since the last call [s]; tasks below 50 ms are none."""
    return float(page.evaluate("() => Math.max(0, ...window.blocks.splice(0))"))


def zoom(page: Any) -> None:
    """Three rectangles, each drawn with the pointer into the one before, and back."""
    plot = page.locator(".js-plotly-plot").first
    for _ in range(3):
        area = plot.locator(".nsewdrag").first.bounding_box()
        page.mouse.move(area["x"] + 0.2 * area["width"], area["y"] + 20)
        page.mouse.down()
        page.mouse.move(area["x"] + 0.7 * area["width"], area["y"] + 40, steps=20)
        page.mouse.up()
        page.wait_for_timeout(300)
    page.mouse.dblclick(area["x"] + 0.5 * area["width"], area["y"] + 40)
    page.wait_for_timeout(500)


def measure_memory(peaks: dict[str, float]) -> None:
    """Largest memory [MB] of the studio's server and of its work, as the system counts it."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            command = (status.parent / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            found = re.search(r"VmHWM:\s+(\d+)", status.read_text())
        except OSError:
            continue  # it ended meanwhile
        kind = "worker" if "spawn_main" in command else "server" if "tauform studio" in command else ""
        if kind and found:
            peaks[kind] = max(peaks[kind], int(found[1]) / 1024)
