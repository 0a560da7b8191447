"""Desk: what the tabs share: the project, running work, the lines that do the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nicegui import events, ui

from tauform.errors import TauformError
from tauform.studio.jobs import Job
from tauform.studio.lines import Lines
from tauform.studio.project import LARGEST_UPLOAD, Project

POLL = 0.2  # seconds between looks at a running job


class Desk:
    """What the tabs share: the project, the lines below the page, running work."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.followers: list[Callable[[], None]] = []
        self.python: Any = None
        self.shell: Any = None

    def show_lines(self, lines: Lines) -> None:
        """Show how the library does what was just done."""
        self.python.set_content(lines.python)
        # An empty block would look broken.
        self.shell.set_content(lines.shell or "# in Python only")

    def robot_changed(self) -> None:
        """Tell all tabs that another robot is open."""
        for follow in self.followers:
            follow()

    def attempt(self, action: Callable[[], None]) -> bool:
        """Do something a user asked for; a mistake of theirs becomes a sentence in the page."""
        try:
            action()
        except TauformError as error:
            complain(str(error))
            return False
        return True

    async def keep(self, uploads: Sequence[Any]) -> list[Path]:
        """Store what was dropped; a file that cannot be stored is named, and the others stay."""
        kept: list[Path] = []
        for upload in uploads:
            name, data = upload.name, await upload.read()
            self.attempt(lambda name=name, data=data: kept.append(self.project.keep(name, data)))  # type: ignore[misc]
        return kept

    def run(self, job: Job, bar: JobProgress, done: Callable[[Any], None]) -> None:
        """Follow a job in its bar; what it returns goes to `done`."""
        # One job per session: two searches would halve each other's speed.
        if self.project.job is not None and self.project.job.state == "running":
            # It has just been started by the caller; a refusal must end it.
            job.cancel()
            complain(f"{self.project.job.title} is still running; cancel it first")
            return
        self.project.job = job
        bar.follow(job, done)


class JobProgress:
    """A bar with the words of a job, and a button that ends it."""

    def __init__(self) -> None:
        with ui.row().classes("items-center w-full gap-3") as self.row:
            self.spinner = ui.spinner(size="sm")
            self.words = ui.label().classes("text-sm").props('role="status"')
            self.button = ui.button("Cancel", on_click=self._cancel).props("flat dense color=negative")
        self.row.set_visibility(False)
        self.job: Job | None = None

    def follow(self, job: Job, done: Callable[[Any], None]) -> None:
        """Show a job until it ends."""
        self.job = job
        self.row.set_visibility(True)

        def look() -> None:
            running = job.poll()
            self.words.set_text(f"{job.title}: {job.words}")
            if running:
                return
            # The last look: a timer that lives on would poll an ended job.
            timer.cancel()
            self.row.set_visibility(False)
            if job.state == "done":
                done(job.result)
            # A cancelled job falls through: the user ended it, and was told.
            elif job.state == "failed":
                complain(job.error)

        timer = ui.timer(POLL, look)

    def _cancel(self) -> None:
        if self.job is not None:
            self.job.cancel()
            ui.notify(f"{self.job.title}: cancelled")


def drop_zone(label: str, dropped: Callable[[events.MultiUploadEventArguments], Any], name: str) -> ui.upload:
    """A place to drop files on; they arrive together.

    Args:
        dropped: called with the files.
        name: class of the element, for tests and style sheets.
    """
    return ui.upload(
        label=label,
        multiple=True,
        auto_upload=True,
        max_file_size=LARGEST_UPLOAD,
        on_multi_upload=dropped,
        # The browser refuses before it sends: the server would hold the file in memory.
        on_rejected=lambda: complain(f"the file is larger than {LARGEST_UPLOAD // 2**20} MB"),
    ).classes(f"w-full {name}")


def complain(sentence: str) -> None:
    """One sentence about what was wrong; it stays until it is read."""
    # timeout=0 keeps it; mistakes vanish too fast otherwise.
    ui.notify(sentence, type="negative", multi_line=True, close_button="OK", timeout=0, position="top")
