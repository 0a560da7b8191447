"""Lines that do what the page did: the studio teaches the library."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Lines:
    """The same in Python and on the command line."""

    python: str
    shell: str

    @classmethod
    def of_robot(cls, source: str, tip: str | None) -> Lines:
        """Load and show a robot."""
        more = f", tip={tip!r}" if tip else ""
        # Without the folder: uploads lie in one that the user does not know.
        name = Path(source).name
        return cls(f"robot = tf.load({name!r}{more})\nrobot.view()", f"tauform show {shlex.quote(name)}{_tip(tip)}")

    @classmethod
    def of_state(cls, q: Sequence[float]) -> Lines:
        """Torques at a posture."""
        values = ", ".join(f"{value:.4g}" for value in q)
        return cls(f"q = np.array([{values}])\ntf.inverse_dynamics(robot, q, 0 * q, 0 * q)", "")

    @classmethod
    def of_fit(
        cls, source: str, tip: str | None, fitted: Sequence[str], validated: Sequence[str], physical: bool
    ) -> Lines:
        """Identify from logs."""
        read = [f"tf.read_recording({name!r}, robot)" for name in fitted]
        checked = [f"tf.read_recording({name!r}, robot)" for name in validated]
        # A flag once or not at all: text times a truth value.
        more = f", validate=[{', '.join(checked)}]" * bool(checked) + ", physical=True" * physical
        flags = "".join(f" --validate {shlex.quote(name)}" for name in validated) + " --physical" * physical
        logs = " ".join(map(shlex.quote, fitted))
        shell = f"tauform identify {shlex.quote(Path(source).name)}{_tip(tip)} {logs}{flags} --report fit.html"
        return cls(f"fit = tf.identify(robot, [{', '.join(read)}]{more})\nfit.plot()", shell)

    @classmethod
    def of_reduction(cls, source: str, tip: str | None, tolerance: float, profile: str) -> Lines:
        """The cheapest program within an error."""
        shell = (
            f"tauform reduce {shlex.quote(Path(source).name)}{_tip(tip)} --tolerance {tolerance:g} --profile {profile}"
        )
        return cls(f'tf.reduce(robot, profile="{profile}", tolerance={tolerance:g})', shell)

    @classmethod
    def of_code(cls, source: str, tip: str | None, functions: Sequence[str], target: str, real: str) -> Lines:
        """Code in a language."""
        programs = ", ".join(f'tf.generate(robot, "{name}")' for name in functions)
        python = f'tf.write([{programs}], "out", target="{target}", real="{real}")'
        # Defaults are left out, as a user would type it.
        options = f" --target {target}" * (target != "c") + f" --real {real}" * (real != "double")
        return cls(python, f"tauform generate {shlex.quote(Path(source).name)}{_tip(tip)}{options} -o out")

    @classmethod
    def of_plan(cls, source: str, tip: str | None, duration: float) -> Lines:
        """A motion to record."""
        shell = f"tauform excite {shlex.quote(Path(source).name)}{_tip(tip)} --duration {duration:g} -o motion.csv"
        return cls(f'tf.excite(robot, duration={duration:g}).save_csv("motion.csv")', shell)


def _tip(tip: str | None) -> str:
    return f" --tip {shlex.quote(tip)}" if tip else ""
