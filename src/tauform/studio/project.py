"""Project: what one browser session works on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tauform.arrays import Array
from tauform.description.formats.load import load
from tauform.description.inertia import Inertia
from tauform.description.robot import Robot
from tauform.errors import DescriptionError, RecordingError, TauformError
from tauform.files.file import fresh_file
from tauform.files.private import private_folder
from tauform.pipeline.motion import home_position
from tauform.report.html.meshes import LinkMesh, link_meshes
from tauform.studio.file_names import without_paths
from tauform.studio.jobs import Job
from tauform.studio.lines import Edits, FitLines, Lines, LogChoice, RobotLines
from tauform.studio.results import FIELDS, FitLook, LogLook, PlannedMotion, ShownReduction

LARGEST_UPLOAD = 400 * 2**20  # bytes
LONGEST_NAME = 200  # bytes, of an uploaded file; temporaries beside it add to theirs
ROBOT_FILES = (".urdf", ".xacro", ".xml", ".mjcf", ".toml")


class OpenedRobot(NamedTuple):
    """A robot as it was read, with what it looks like and sentences about meshes that are missing."""

    robot: Robot
    source: str
    tip: str | None
    meshes: list[LinkMesh]
    notes: list[str]


class ProjectBusyError(TauformError):
    """Work is running already."""


@dataclass
class Project:
    """Files, robot, recordings, fits and running work of a session; pages are drawn from it, so a reload loses nothing.

    Attributes:
        folder: where uploads lie; no other session reads it.
        described: the robot as loaded; `robot` is it with the edits of the page.
        source: what `tf.load` was given, for the lines that the page shows.
        payload: mass [kg] and centre of mass at the tool [m].
        tool: shift of the tool in its own frame [m].
        given: paths of logs that were named at the start, as they were given, by their names here.
        spoken: what the user calls files outside the folder, also once they are off the list.
        looks: what was seen of a log, by its name.
        fits: what was seen of a fit, by its name, in the order they were made.
        fit_lines: lines that make each of them.
        choices: what was chosen on the pages, by the name of the input.
        delivered: words of the last self-test, the folder it ran in, and whose code it is.
        report: the last report's path, and whose it is.
        job: running work; its result goes to `finish`, whether a page is open or not.
        complaint: why the last work failed, until a page has shown it.
        shown_lines: how the library does what was done last; None before anything was.
        watchers: called by every open page's name when something changes: "robot", "logs", "work".
        pages: browser pages of the session, with those that were left a moment ago and may come back.
    """

    folder: Path
    source: str = "kr6_r700"
    described: Robot | None = None
    tip: str | None = None
    q: Array = field(default_factory=lambda: np.zeros(0))
    payload: tuple[float, tuple[float, float, float]] = (0.0, (0.0, 0.0, 0.0))
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    tool: tuple[float, float, float] = (0.0, 0.0, 0.0)
    masses: dict[str, float] = field(default_factory=dict)
    logs: dict[str, Path] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    spoken: dict[Path, str] = field(default_factory=dict)
    looks: dict[str, LogLook] = field(default_factory=dict)
    fits: dict[str, FitLook] = field(default_factory=dict)
    fit_lines: dict[str, FitLines] = field(default_factory=dict)
    reduction: ShownReduction | None = None
    motion: PlannedMotion | None = None
    delivered: dict[str, str] | None = None
    report: dict[str, str] | None = None
    choices: dict[str, Any] = field(default_factory=dict)
    job: Job | None = None
    finish: Callable[[Any], None] = lambda result: None
    complaint: str = ""
    shown_lines: Lines | None = None
    watchers: list[Callable[[str], None]] = field(default_factory=list)
    pages: list[Any] = field(default_factory=list)
    meshes: list[LinkMesh] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # Kept while no edit changes: sliders ask for it many times a second.
    _edited: tuple[Robot, Any, Robot] | None = None

    def __post_init__(self) -> None:
        # Before any upload: one of this name is refused, so that nobody's file is ever unpickled as a fit.
        with private_folder(self.fit_folder):
            pass

    @property
    def fit_folder(self) -> Path:
        """Where fits are kept, out of reach of uploads."""
        return self.folder / "fits"

    def open_robot(self, source: str | Path, tip: str | None = None) -> Robot:
        """Load a robot; what belonged to another one is put aside.

        Raises:
            DescriptionError: it is no robot that we read; the project stays as it was.
        """
        opened = self.read_robot(source, tip)
        self.take_robot(opened)
        return opened.robot

    @staticmethod
    def read_robot(source: str | Path, tip: str | None = None) -> OpenedRobot:
        """A robot with its meshes; nothing of the project changes.

        Raises:
            DescriptionError: it is no robot that we read.
        """
        robot = load(source, tip=tip or None)
        return OpenedRobot(robot, str(source), tip or None, *link_meshes(robot))

    def take_robot(self, opened: OpenedRobot) -> None:
        """Work on another robot; what belonged to the last one is put aside, and its running work ended."""
        robot = opened.robot
        if self.job is not None and self.job.state == "running":
            # Its result would stand beside a robot that it does not belong to.
            self.job.cancel()
            self.complaint = f"{self.job.title} was ended: it worked on the robot that was open before"
        self.described, self.source, self.tip = robot, opened.source, opened.tip
        self.meshes, self.notes = opened.meshes, opened.notes
        self.gravity = (float(robot.gravity[0]), float(robot.gravity[1]), float(robot.gravity[2]))
        self.payload, self.tool, self.masses = (0.0, (0.0, 0.0, 0.0)), (0.0, 0.0, 0.0), {}
        self.q = home_position(robot)
        # Fits, code and motions belong to the joints of the robot that is left; logs are read again.
        self.fits, self.fit_lines, self.looks = {}, {}, {}
        self.reduction, self.motion = None, None
        self.delivered, self.report = None, None
        self.tell("robot")

    @property
    def lines(self) -> RobotLines:
        """Lines about the robot of the page."""
        described = self.described
        turned = described is not None and tuple(described.gravity.tolist()) != tuple(self.gravity)
        # Only what was changed on the page: a line says no more than is needed.
        edits = Edits(
            gravity=self.gravity if turned else None,
            masses=self.masses,
            tool=self.tool if any(self.tool) else None,
            payload=self.payload if self.payload[0] else None,
        )
        # Uploads lie in a folder that the user does not know; they are known by name.
        source = Path(self.source).name if Path(self.source).parent == self.folder else self.source
        return RobotLines(source, self.tip, edits, self.fit_lines[next(reversed(self.fits))] if self.fits else None)

    def name_logs(self, paths: Sequence[Path]) -> None:
        """Logs named at the start; two of one name go by their paths."""
        names = [path.name for path in paths]
        for path in paths:
            name = path.name if names.count(path.name) == 1 else str(path)
            # Resolved: the server may change its folder.
            self.logs[name], self.given[name] = path.resolve(), str(path)
            self.spoken[path.resolve()] = str(path)

    def log_choice(self, name: str) -> LogChoice:
        """A log as the lines name it."""
        return LogChoice(self.given.get(name, name), self.log_options(name))

    def log_options(self, name: str) -> dict[str, Any]:
        """What `read_recording` is given for a log: what was chosen in place of the guess."""
        columns = {field: self.choices.get(f"{name}:{field}") for field in FIELDS}
        kept: dict[str, Any] = {field: value for field, value in columns.items() if value}
        # An emptied list leaves velocities out, and stamps where the rate stands for them; other fields are needed.
        rated = self.choices.get(f"{name}:rate")
        emptied = [field for field in ("qd", *(["t"] if rated else [])) if f"{name}:{field}" in self.choices]
        kept |= {field: None for field in emptied if field not in kept and self._may_hold(name, field)}
        chosen: dict[str, Any] = {"columns": kept}
        chosen |= {"units": ",".join(self.choices.get(f"{name}:units") or ()), "rate": rated}
        # What nobody chose stays with the reader's guess, which it checks.
        return {option: value for option, value in chosen.items() if value}

    def _may_hold(self, name: str, field: str) -> bool:
        """Whether a log may have columns for a field: unless it was looked at and has none."""
        look = self.looks.get(name)
        return look is None or bool(look.guess.get(field))

    def tell(self, what: str) -> None:
        """Tell every open page what changed."""
        # A copy: a page that is closed meanwhile leaves the list.
        for watcher in list(self.watchers):
            watcher(what)

    def start(self, title: str, finish: Callable[[Any], None], function: Callable[..., Any], *arguments: Any) -> None:
        """Begin long work; its result goes to `finish`, also where the page that asked is closed by then.

        Raises:
            ProjectBusyError: other work is running: two searches would halve each other's speed.
        """
        if self.job is not None and self.job.state == "running":
            raise ProjectBusyError(f"{self.job.title} is still running", remedy="cancel it first")
        self.job, self.finish = Job.start(title, function, *arguments), finish
        self.tell("work")

    def poll(self) -> None:
        """Take up what running work said; store its result, or why it failed."""
        job = self.job
        if job is None or job.state != "running" or job.poll():
            return
        if job.state == "done":
            self.finish(job.result)
        else:
            self.complaint = self.said(job.error)
        self.tell("work")

    def said(self, error: object) -> str:
        """The sentence of an error, files by the names that the user knows."""
        return without_paths(str(error), self.folder, self.spoken)

    def drop_log(self, name: str) -> None:
        """Take a log off the list; fits that were made of it stay."""
        for held in (self.logs, self.given, self.looks):
            held.pop(name, None)
        self.tell("logs")

    @property
    def robot(self) -> Robot:
        """The robot with the edits of the page.

        Raises:
            DescriptionError: no robot is open, or an edit is no number.
        """
        if self.described is None:
            raise DescriptionError("no robot is open; drop a file or pick one of the catalogue")
        edits = (self.gravity, self.tool, self.payload, tuple(self.masses.items()))
        if self._edited is None or self._edited[:2] != (self.described, edits):
            # From the description each time: edits never pile up.
            self._edited = (self.described, edits, self._with_edits(self.described))
        return self._edited[2]

    def _with_edits(self, described: Robot) -> Robot:
        robot = described.with_gravity(self.gravity)
        if self.masses:
            robot = robot.with_masses(self.masses)
        if any(self.tool):
            robot = robot.with_tool(self.tool)
        mass, com = self.payload
        # No payload rather than one of zero mass: the robot stays as described.
        return robot.with_payload(Inertia.of(mass, com=com)) if mass else robot

    @property
    def whose(self) -> str:
        """Which robot programs and reports are of, in words."""
        return f"the robot of {next(reversed(self.fits))}" if self.fits else "the robot as it is on the page"

    @property
    def last_fit(self) -> FitLook | None:
        """The newest fit."""
        return next(reversed(self.fits.values())) if self.fits else None

    @property
    def identified(self) -> Robot:
        """The robot of the last fit, else as it is on the page."""
        return self.last_fit.identified_robot if self.last_fit else self.robot

    def keep(self, name: str, data: bytes) -> Path:
        """Store an uploaded file under its own name.

        Raises:
            RecordingError: it is too large, or the disk refuses.
        """
        if len(data) > LARGEST_UPLOAD:
            raise RecordingError(f"{name}: larger than {LARGEST_UPLOAD // 2**20} MB; read it with tf.read_recording")
        # a name of another system's path is a name; browsers send a quote in one as %22
        path = self.folder / Path(name.replace("\\", "/").replace("%22", '"')).name
        if len(path.name.encode(errors="replace")) > LONGEST_NAME:
            raise RecordingError(f"{path.name[:30]}...: the file's name is longer than {LONGEST_NAME} bytes; rename it")
        with fresh_file(path, RecordingError) as file:
            file.write(data)
        return path
