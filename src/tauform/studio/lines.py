"""Lines that do what the page did, pasted anywhere: the studio teaches the library."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# What the lines call the robot that Save TOML downloads.
EDITED = "_edited.toml"
IDENTIFIED = "identified.toml"
# Of the motion that a fit was judged on, in C: an hour would be gigabytes, which no browser downloads.
LONGEST_EXCERPT = 120.0  # seconds


@dataclass(frozen=True)
class Lines:
    """The same in Python and on the command line."""

    python: str
    shell: str


@dataclass(frozen=True)
class LogChoice:
    """A log and what was chosen for it; nothing where the guess was taken.

    Attributes:
        path: as the user knows it; uploads are known by name.
        options: of `read_recording`: "columns", "units" and "rate".
    """

    path: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def python(self) -> str:
        """The call that reads it."""
        more = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"tf.read_recording({self.path!r}, robot{more})"

    @property
    def flags(self) -> str:
        """What the command line needs for the same."""
        columns = self.options.get("columns", {})
        # What is left out is none, as on the page an emptied list.
        chosen = {k: [v or "none"] if v is None or isinstance(v, str) else v for k, v in columns.items()}
        flags = "".join(f" --column {shlex.quote(key + '=' + ','.join(names))}" for key, names in chosen.items())
        units, rate = self.options.get("units"), self.options.get("rate")
        return flags + (f" --unit {units}" if units else "") + (f" --rate {rate:g}" if rate else "")


@dataclass(frozen=True)
class Edits:
    """What was changed of a robot on the page; None or empty where nothing was."""

    gravity: tuple[float, float, float] | None = None
    masses: Mapping[str, float] = field(default_factory=dict)
    tool: tuple[float, float, float] | None = None
    payload: tuple[float, tuple[float, float, float]] | None = None

    @property
    def python(self) -> list[str]:
        """Lines that change `robot`."""
        lines = []
        if self.gravity is not None:
            lines.append(f"robot = robot.with_gravity({_vector(self.gravity)})")
        if self.masses:
            lines.append(f"robot = robot.with_masses({dict(self.masses)!r})")
        if self.tool is not None:
            lines.append(f"robot = robot.with_tool({_vector(self.tool)})")
        if self.payload is not None:
            mass, com = self.payload
            lines.append(f"robot = robot.with_payload(tf.Inertia.of({mass!r}, com={_vector(com)}))")
        return lines

    @property
    def need_a_file(self) -> bool:
        """Whether the command line takes them from a saved robot alone."""
        return bool(self.masses) or self.tool is not None or self.payload is not None


@dataclass(frozen=True)
class FitLines:
    """Lines that end with `fit`, and the command of it without what it writes."""

    python: tuple[str, ...]
    shell: str


@dataclass(frozen=True)
class RobotLines:
    """Lines about one robot.

    Attributes:
        source: what `tf.load` was given.
        tip: where it is cut.
        fit: whose identified robot is reduced and delivered.
    """

    source: str
    tip: str | None = None
    edits: Edits = field(default_factory=Edits)
    fit: FitLines | None = None

    def load(self) -> Lines:
        """Load and show the robot."""
        return Lines(script(*self._robot(), "robot.view()"), self._command("show"))

    def state(self, q: Sequence[float], qd: Sequence[float], qdd: Sequence[float], more: Mapping[str, Any]) -> Lines:
        """Torques, gravity, mass matrix and manipulability at a state.

        Args:
            more: further arguments of inverse dynamics.
        """
        given = {"q": q, "qd": qd, "qdd": qdd}
        moving = any(qd) or any(qdd)
        rates = f"qd, qdd = np.array([{_vector(qd)}, {_vector(qdd)}])" if moving else "qd = qdd = 0 * q"
        arguments = ", ".join([*given, *(f"{name}={value!r}" for name, value in more.items())])
        python = (
            f"q = np.array({_vector(q)}); {rates}",
            f"print(tf.inverse_dynamics(robot, {arguments}), tf.gravity_torque(robot, q), tf.mass_matrix(robot, q))",
            "print(np.prod(np.linalg.svd(tf.jacobian(robot, q), compute_uv=False)))  # manipulability",
        )
        # With = between: a value may begin with a minus. Rates of zero are what the verb takes without them.
        flags = (f" --{name}={','.join(map(_number, values))}" for name, values in given.items() if any(values))
        return Lines(script(*self._robot(), *python), f"{self._command('show')}{''.join(flags) or ' --q 0'}")

    def changed(self) -> Lines:
        """What was changed on the page."""
        return Lines(script(*self._robot()), self._command("show"))

    def saved(self, suffix: str) -> Lines:
        """The changed robot as a file."""
        name = self.file_name(suffix)
        python_only = "# changes of links and tool: in Python, or on this page"
        plain = f"{self._command('show')} -o {quoted(name)}"
        shell = python_only if self.edits.need_a_file else plain
        return Lines(script(*self._robot(), f"robot.save({name!r})"), shell)

    def file_name(self, suffix: str) -> str:
        """What the changed robot is called; never as its source, which it would overwrite."""
        return Path(self.source).stem + EDITED.replace(".toml", suffix)

    def look(self, log: LogChoice) -> Lines:
        """Columns, signals, rest, delays and spectra of a log."""
        python = (
            f"print(tf.inspect_log({log.path!r}))",
            f"recording = {log.python}",
            "seen = tf.inspect_recording(robot, recording); print(seen)",
            'recording.plot(); seen.plot("delays"); seen.plot("spectra")',
        )
        return Lines(script(*self._robot(), *python), self._command("inspect", log) + log.flags)

    def identification(self, fitted: Sequence[LogChoice], validated: Sequence[LogChoice], physical: bool) -> FitLines:
        """Identify from logs."""
        read, checked = (", ".join(log.python for log in logs) for logs in (fitted, validated))
        # A flag once or not at all: text times a truth value.
        more = f", validate=[{checked}]" * bool(checked) + ", physical=True" * physical
        flags = "".join(f" --validate {quoted(log.path)}" for log in validated) + " --physical" * physical
        logs = " ".join(quoted(log.path) for log in fitted)
        # One mapping on the command line: logs of one robot have the same columns.
        columns = next((log.flags for log in (*fitted, *validated) if log.flags), "")
        python = (*self._robot(), f"fit = tf.identify(robot, [{read}]{more})")
        return FitLines(python, f"{self._command('identify')} {logs}{flags}{columns}")

    def report(self) -> Lines:
        """The report of the fit."""
        assert self.fit is not None
        return Lines(script(*self.fit.python, 'fit.report("report.html")'), f"{self.fit.shell} --report report.html")

    def reduction(self, tolerance: float, profile: str, logs: Sequence[LogChoice] = ()) -> Lines:
        """The cheapest program within an error."""
        if logs:
            read = f"tf.recorded_profile([{', '.join(log.python for log in logs)}])"
            # One mapping here too.
            columns = next((log.flags for log in logs if log.flags), "")
            flags = "".join(f" --recording {quoted(log.path)}" for log in logs) + columns
        else:
            read, flags = repr(profile), f" --profile {profile}"
        python = f"found = tf.reduce(robot, profile={read}, tolerance={tolerance:g})"
        shell = f"{self._identified('reduce')} --tolerance {tolerance:g}{flags}"
        return Lines(script(*self._identified_robot(), python, "print(found)", "found.plot()"), shell)

    def code(self, functions: Sequence[str], target: str, real: str) -> Lines:
        """Code in a language."""
        # Defaults are left out, as a user would type it.
        precision = f" --real {real}" * (real != "double")
        names = list(functions)
        if self.fit is not None and target == "c":
            # Checked on the recording too.
            more = f"functions={names!r}, real={real!r}, excerpt={LONGEST_EXCERPT:g}"
            python = script(*self.fit.python, f'fit.write_code("out", {more})')
            flags = f" --functions {','.join(names)}{precision} --excerpt {LONGEST_EXCERPT:g}"
            return Lines(python, f"{self.fit.shell} --code out{flags}")
        programs = f"programs = [tf.generate(robot, name) for name in {names!r}]"
        written = f'tf.write(programs, "out", target={target!r}, real={real!r})'
        options = f" --functions {','.join(names)}" + f" --target {target}" * (target != "c") + precision
        python = script(*self._identified_robot(), programs, written)
        return Lines(python, f"{self._identified('generate')}{options} -o out")

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
        python = (f"motion = tf.excite(robot, {given})", 'motion.save_csv("motion.csv")')
        return Lines(script(*self._robot(), *python), f"{self._command('excite')}{shown} -o motion.csv")

    def _robot(self) -> list[str]:
        more = f", tip={self.tip!r}" if self.tip else ""
        return [f"robot = tf.load({self.source!r}{more})", *self.edits.python]

    def _identified_robot(self) -> list[str]:
        return self._robot() if self.fit is None else [*self.fit.python, "robot = fit.identified_robot"]

    def _identified(self, verb: str) -> str:
        """A verb about the identified robot, after the command that saves it."""
        if self.fit is None:
            return self._command(verb)
        return f"{self.fit.shell} --identified {IDENTIFIED}\ntauform {verb} {IDENTIFIED}"

    def _command(self, verb: str, log: LogChoice | None = None) -> str:
        # A log is looked at without a robot too, so that this verb takes it as an option.
        robot = "" if log is None else f"{quoted(log.path)} --robot "
        if self.edits.need_a_file:
            # The file holds tip and gravity as well.
            return f"# of the robot that Save TOML gives\ntauform {verb} {robot}{quoted(self.file_name('.toml'))}"
        gravity = self.edits.gravity
        flags = "" if gravity is None else " --gravity " + " ".join(map(_number, gravity))
        tip = f" --tip {shlex.quote(self.tip)}" if self.tip else ""
        return f"tauform {verb} {robot}{quoted(self.source)}{tip}{flags}"


def script(*lines: str) -> str:
    """Lines with the imports that they need."""
    text = "\n".join(lines)
    return "import numpy as np\n" * ("np." in text) + f"import tauform as tf\n{text}"


def quoted(path: str) -> str:
    """A path as one word of a shell, which no command takes for an option."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def _vector(values: Sequence[float]) -> str:
    return "[" + ", ".join(map(_number, values)) + "]"


def _number(value: float) -> str:
    # Twelve digits: what the page shows is repeated, without the tails of sums in double.
    return f"{value:.12g}"
