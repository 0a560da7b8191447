"""Lines that do what the page did: the studio teaches the library."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Lines:
    """The same in Python and on the command line."""

    python: str
    shell: str


@dataclass(frozen=True)
class LogChoice:
    """A log and the columns that were chosen for it; none where the guess was taken."""

    name: str
    columns: Mapping[str, Any] = field(default_factory=dict)

    @property
    def python(self) -> str:
        """The call that reads it."""
        more = f", columns={dict(self.columns)!r}" if self.columns else ""
        return f"tf.read_recording({self.name!r}, robot{more})"

    @property
    def flags(self) -> str:
        """What the command line needs for the same columns."""
        chosen = {key: [value] if isinstance(value, str) else value for key, value in self.columns.items()}
        return "".join(f" --column {shlex.quote(key + '=' + ','.join(names))}" for key, names in chosen.items())


@dataclass(frozen=True)
class RobotLines:
    """Lines about one robot.

    Attributes:
        source: what `tf.load` was given.
        tip: where it is cut.
        gravity: [m/s^2] where the page changed it.
    """

    source: str
    tip: str | None = None
    gravity: tuple[float, float, float] | None = None

    def load(self) -> Lines:
        """Load and show the robot."""
        more = f", tip={self.tip!r}" if self.tip else ""
        return Lines(f"robot = tf.load({self._name!r}{more})\nrobot.view()", self._command("show"))

    def state(self, q: Sequence[float], qd: Sequence[float], qdd: Sequence[float]) -> Lines:
        """Torques, mass matrix and Jacobian at a state."""
        moving = any(qd) or any(qdd)
        rates = f"{_vector(qd)}, {_vector(qdd)}" if moving else "0 * q, 0 * q"
        python = f"q = np.array({_vector(q)})\ntf.inverse_dynamics(robot, q, {rates}); tf.mass_matrix(robot, q)"
        return Lines(python, "")

    def edits(
        self, masses: Mapping[str, float], payload: tuple[float, Sequence[float]], tool: Sequence[float]
    ) -> Lines:
        """What was changed on the page."""
        lines = []
        if self.gravity is not None:
            lines.append(f"robot = robot.with_gravity({_vector(self.gravity)})")
        if masses:
            lines.append(f"masses = {dict(masses)!r}  # [kg], each link of the same shape")
            lines.append("values = robot.parameters.copy()")
            scaled = "values[robot.layout.link(k)] *= masses.get(link.name, link.inertia.mass) / link.inertia.mass"
            lines.append(f"for k, link in enumerate(robot.links): {scaled}")
            lines.append("robot = robot.with_parameters(values)")
        if any(tool):
            lines.append(f"# the tool is moved by {_vector(tool)} m in its own frame")
        if payload[0]:
            lines.append(f"robot = robot.with_payload(tf.Inertia.of({payload[0]:g}, com={_vector(payload[1])}))")
        return Lines("\n".join(lines) or "robot  # as described", self._command("show"))

    def saved(self, name: str) -> Lines:
        """The changed robot as a file."""
        return Lines(f"robot.save({name!r})", "")

    def fit(self, fitted: Sequence[LogChoice], validated: Sequence[LogChoice], physical: bool) -> Lines:
        """Identify from logs."""
        read, checked = (", ".join(log.python for log in logs) for logs in (fitted, validated))
        # A flag once or not at all: text times a truth value.
        more = f", validate=[{checked}]" * bool(checked) + ", physical=True" * physical
        flags = "".join(f" --validate {shlex.quote(log.name)}" for log in validated) + " --physical" * physical
        logs = " ".join(shlex.quote(log.name) for log in fitted)
        # One mapping on the command line: logs of one robot have the same columns.
        columns = next((log.flags for log in (*fitted, *validated) if log.flags), "")
        shell = f"{self._command('identify')} {logs}{flags}{columns} --report fit.html"
        return Lines(f"fit = tf.identify(robot, [{read}]{more})\nfit.plot()", shell)

    def look(self, log: LogChoice) -> Lines:
        """Columns and signals of a log."""
        return Lines(f"tf.inspect_log({log.name!r})\n{log.python}.plot()", f"tauform inspect {shlex.quote(log.name)}")

    def reduction(self, tolerance: float, profile: str, logs: Sequence[LogChoice] = ()) -> Lines:
        """The cheapest program within an error."""
        if logs:
            read = f"tf.recorded_profile([{', '.join(log.python for log in logs)}])"
            flags = "".join(f" --recording {shlex.quote(log.name)}" for log in logs)
        else:
            read, flags = repr(profile), f" --profile {profile}"
        shell = f"{self._command('reduce')} --tolerance {tolerance:g}{flags}"
        return Lines(f"tf.reduce(robot, profile={read}, tolerance={tolerance:g}).plot()", shell)

    def code(self, functions: Sequence[str], target: str, real: str) -> Lines:
        """Code in a language."""
        programs = ", ".join(f'tf.generate(robot, "{name}")' for name in functions)
        python = f'tf.write([{programs}], "out", target="{target}", real="{real}")'
        # Defaults are left out, as a user would type it.
        options = f" --functions {','.join(functions)}" + f" --target {target}" * (target != "c")
        return Lines(python, f"{self._command('generate')}{options}{f' --real {real}' * (real != 'double')} -o out")

    def report(self) -> Lines:
        """The report of a fit."""
        return Lines('fit.report("report.html")', f"{self._command('identify')} LOG --report report.html")

    def plan(self, options: Mapping[str, Any]) -> Lines:
        """A motion to record."""
        given = ", ".join(f"{name}={value!r}" for name, value in options.items())
        # Where the verb has another word than the function.
        flags = {"max_seconds": "seconds"}
        shown = "".join(
            (" --no-collisions" if value is False else "")
            if isinstance(value, bool)
            else f" --{flags.get(name, name)} {value:g}"
            for name, value in options.items()
        )
        python = f'tf.excite(robot, {given}).save_csv("motion.csv")'
        return Lines(python, f"{self._command('excite')}{shown} -o motion.csv")

    @property
    def _name(self) -> str:
        # Without the folder: uploads lie in one that the user does not know.
        return Path(self.source).name

    def _command(self, verb: str) -> str:
        # Only what was changed on the page: a line says no more than is needed.
        gravity = "" if self.gravity is None else " --gravity " + " ".join(f"{g:g}" for g in self.gravity)
        tip = f" --tip {shlex.quote(self.tip)}" if self.tip else ""
        return f"tauform {verb} {shlex.quote(self._name)}{tip}{gravity}"


def _vector(values: Sequence[float]) -> str:
    return "[" + ", ".join(f"{value:.4g}" for value in values) + "]"
