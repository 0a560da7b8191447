"""Dispatch: a public function answers by the best tier there is, and sees to a better one where the work pays for it.

Each robot holds an entry per function and options. The entry counts the seconds that the textbook algorithm took; when
they pay for it, the workshop makes a kernel, which answers from then on. Whatever a kernel does not take (complex
numbers, other shapes, values that are not finite, temperatures below absolute zero) goes to the textbook function: it
computes or refuses it, so that all tiers refuse the same with the same words.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from time import perf_counter
from typing import Any, ParamSpec, TypeVar

from tauform.arguments import checked
from tauform.description.drives.friction import ABSOLUTE_ZERO
from tauform.description.robot import Robot
from tauform.errors import GenerationError, TauformError
from tauform.fast.shaping import (
    NOTHING,
    Answer,
    alone,
    checking_pivots,
    frames_of,
    has_pivots,
    making,
    plain_array,
    wrapped,
)
from tauform.fast.tier import Tier, forced_tier
from tauform.fast.workshop import WORKSHOP

# Seconds of NumPy that pay for a plain kernel, and seconds of plain kernels that pay for a search.
PAYS_FOR_KERNEL = 0.1
PAYS_FOR_SEARCH = 20.0

P = ParamSpec("P")
T = TypeVar("T")
Options = Mapping[str, Any]
OptionKey = tuple[tuple[str, Any], ...]

TIER_DOCUMENT = """\
        tier: 1 computes by the textbook algorithm in NumPy, 2 by a compiled kernel, 3 by one that was searched for the
            fewest operations; a tier that is not there yet is waited for. None takes the best there is.
"""


class Entry:
    """Kernels that answer calls of one function of a robot with the same options.

    Attributes:
        kernels: by tier.
        seconds: spent in the present tier.
        refused: why there is no kernel.
        asked: the tier that the workshop is making, and in which generation of the process.
    """

    def __init__(self) -> None:
        self.kernels: dict[int, Any] = {}
        self.seconds = 0.0
        self.refused: TauformError | None = None
        self.asked: tuple[int, Tier] | None = None

    @property
    def tier(self) -> int:
        """The highest so far."""
        return max(self.kernels, default=1)


class Tiered:
    """A public function: the textbook algorithm, and how calls and results of kernels are shaped.

    Args:
        textbook: the function in NumPy.
        result: makes the result of the kernel's outputs.
        divides: by inertias, so that a singular mass matrix must be refused.
        adopts: kernels of `tf.compile` by that name compute the same.
    """

    def __init__(
        self,
        textbook: Callable[..., Any],
        result: Callable[..., Any] | None = None,
        divides: bool = False,
        adopts: bool = True,
    ) -> None:
        self.textbook, self.name = textbook, textbook.__name__
        self.result, self.divides, self.adopts = result, divides, adopts
        self.slot = f"_fast_{self.name}"
        self.defaults = {name: parameter.default for name, parameter in signature(textbook).parameters.items()}

    def public(self, function: Callable[P, T]) -> Callable[P, T]:
        """The public function; one plain state goes straight to compiled code once there is some.

        `robot.__dict__` holds that code: a look-up is all that stands before it.
        """
        # Arguments, results and errors are described once, at the textbook function; the line that the function itself
        # has is for editors, which read the source.
        function.__doc__ = _documented(self.textbook)
        refusing: Callable[..., Any] = checked(function)
        self.refusing = refusing
        slot = self.slot

        @wraps(function)
        def call(robot: Any = None, /, *state: Any, **options: Any) -> Any:
            # Options ask for another kernel or tier: only the plain call is short.
            if not options:
                try:
                    ready = robot.__dict__[slot]
                except (AttributeError, KeyError):
                    pass
                else:
                    return ready(*state)
            # Without a robot the general function says what is missing.
            return refusing(*(() if robot is None else (robot,)), *state, **options)

        call.checks_arguments = True  # type: ignore[attr-defined]
        return call

    def __call__(self, robot: Robot, states: Options, options: Options, tier: Any) -> Any:
        """Answer a call: the states by name, and the options of the textbook function."""
        wanted = forced_tier(self.name, tier)
        # A method that is not named is the textbook function's own default.
        given = {name: value for name, value in options.items() if name != "method" or value is not None}
        # Kernels are made of a robot and of options: without drive terms it is another robot.
        moving, key = self._variant(robot, given)
        # Tier 1, or options that no kernel covers.
        if wanted == 1 or key is None:
            return self.textbook(robot, **states, **given)
        entry = self._entry(moving, (("function", self.name), *key))
        # What `tf.compile` made for this robot serves its public functions too.
        if self.adopts and not key and 3 not in entry.kernels:
            self._adopt(moving, entry)
        if wanted is not None and wanted not in entry.kernels:
            self._wait(moving, entry, key, wanted, refuse=tier is not None)
        # The best that there is, unless a tier was demanded.
        present = wanted or entry.tier
        kernel = entry.kernels.get(present)
        start = perf_counter()
        answer = NOTHING if kernel is None else self._by_kernel(kernel, moving, states, given)
        if answer is NOTHING:
            if kernel is not None:  # what no kernel takes is no reason for a better one
                return self.textbook(robot, **states, **given)
            answer = self.textbook(robot, **states, **given)
        if wanted is None and present < 3 and not entry.refused:
            self._count(moving, entry, key, perf_counter() - start)
        return answer

    def _variant(self, robot: Robot, options: Options) -> tuple[Robot, OptionKey | None]:
        """The robot that a kernel is made of, and the options that it depends on; None where only NumPy will do."""
        if options.get("method") is not None:
            return robot, None
        chosen = []
        for name, value in options.items():
            if name == "wrenches" and value is not None:
                value = frames_of(robot, value)
                if value is None:
                    return robot, None
                value = value or None  # no frame, no wrench
            if name not in ("temperature", "drives") and value is not None:
                chosen.append((name, tuple(value) if isinstance(value, list) else value))
        try:
            # Options at their defaults make the same kernel as none.
            key = tuple(pair for pair in chosen if pair[1] != self.defaults[pair[0]])
            hash(key)
        except (TypeError, ValueError):
            return robot, None
        return robot if options.get("drives", True) else robot.rigid, key

    def _title(self, robot: Robot) -> str:
        return robot.name

    def _entry(self, robot: Robot, key: OptionKey) -> Entry:
        entries: dict[OptionKey, Entry] = robot.__dict__.setdefault("_fast_entries", {})
        return entries.setdefault(key, Entry()) if key not in entries else entries[key]

    def _by_kernel(self, kernel: Any, robot: Robot, states: Options, options: Options) -> Any:
        arrays = []
        wrenches = options.get("wrenches") or {}
        given = {**states, **options, **{f"wrench_{robot.frame(name).name}": value for name, value in wrenches.items()}}
        for port in kernel.program.inputs:
            array = plain_array(given.get(port.name), port.shape[-1])
            if array is None or (port.name == "temperature" and (array < ABSOLUTE_ZERO).any()):
                return NOTHING
            arrays.append(array)
        try:
            outputs = kernel(*arrays)
        except TauformError:  # batches that do not broadcast: the textbook function says so in its words
            return NOTHING
        if has_pivots(kernel):
            *results, pivots = outputs
            # A pivot that is not positive: the textbook function refuses with its own words.
            if not (pivots > 0).all():
                return NOTHING
            outputs = tuple(results) if len(results) > 1 else results[0]
        return outputs if self.result is None else wrapped(self.result, outputs)

    def _count(self, robot: Robot, entry: Entry, key: OptionKey, seconds: float) -> None:
        # Time spent decides, not calls: a few large batches pay for a kernel as well as many small ones.
        entry.seconds += seconds
        better: Tier = 2 if entry.tier == 1 else 3
        if entry.seconds < (PAYS_FOR_KERNEL if better == 2 else PAYS_FOR_SEARCH):
            return
        asked = (WORKSHOP.generation, better)
        # Asked once; after a fork the workshop has another generation, and is asked again.
        if entry.asked != asked:
            entry.asked = asked
            WORKSHOP.ask(self._stages(robot, entry, key, better, in_background=True))

    def _wait(self, robot: Robot, entry: Entry, key: OptionKey, tier: Tier, refuse: bool) -> None:
        """Make the kernel now.

        Raises:
            GenerationError: there is none, where a refusal is asked for.
        """
        if entry.refused is None:
            for _ in self._stages(robot, entry, key, tier):
                pass
        if entry.refused is not None and refuse:
            raise GenerationError(
                f"{self.name} of {self._title(robot)} has no kernel: {entry.refused}",
                argument="tier",
                value=tier,
                remedy="leave out tier, or choose 1",
            )

    def _stages(self, robot: Robot, entry: Entry, key: OptionKey, tier: Tier, in_background: bool = False) -> Any:
        """The work between here and a kernel, with pauses; a kernel that cannot be made leaves the entry as it is."""
        # The first pause comes before any work: asking costs a call nothing.
        yield
        try:
            kernel = yield from self._kernel(robot, key, tier, in_background)
        except TauformError as error:
            entry.refused = error
            return
        self._install(robot, entry, kernel, tier, fast=not key)

    def _kernel(self, robot: Robot, key: OptionKey, tier: Tier, in_background: bool) -> Any:
        from tauform.fast.aside import stages  # its imports take longer than a thousand calls

        return (yield from stages(robot, self.name, dict(key), tier, self.divides, in_background))

    def _adopt(self, robot: Robot, entry: Entry) -> None:
        """Take the kernel that `tf.compile` made of this robot."""
        kernel = robot.__dict__.get("_compiled_kernels", {}).get(self.name)
        if kernel is None or entry.refused:
            return
        if self.divides:
            from tauform.fast.definite import is_definite

            if not is_definite(robot):  # that kernel does not look at its pivots
                return
        self._install(robot, entry, kernel, 3, fast=True)

    def _install(self, robot: Robot, entry: Entry, kernel: Any, tier: Tier, fast: bool) -> None:
        entry.seconds = 0.0
        entry.kernels[tier] = kernel
        names = [port.name for port in kernel.program.inputs]
        # temperatures are compared with absolute zero, which compiled code does not
        # A lower tier does not replace a higher one that answers already.
        if not fast or "temperature" in names or tier < entry.tier or forced_tier(self.name, None) == 1:
            return
        # Weak: the robot's own dictionary holds this function, and would keep the robot alive.
        owner, refusing = weakref.ref(robot), self.refusing
        finishing = self.result or (alone if has_pivots(kernel) else None)

        def general(*state: Any, **options: Any) -> Any:
            answer = refusing(owner(), *state, **options)
            return answer if finishing is None else Answer(answer)

        made = kernel.answering(general)
        if made is not None:
            compiled, kept = made
            robot.__dict__[f"{self.slot}_kept"] = kept, kernel
            if finishing is not None:
                compiled = (checking_pivots if has_pivots(kernel) else making)(compiled, finishing, general)
            # In the robot's own dictionary: the next call finds it with one look-up, and it goes with the robot.
            robot.__dict__[self.slot] = compiled


def _documented(textbook: Callable[..., Any]) -> str:
    """The textbook function's docstring with the argument that tiers add."""
    text = textbook.__doc__ or ""
    for mark in ("\n    Returns:", "\n    Raises:"):
        if mark in text:
            return text.replace(mark, TIER_DOCUMENT + mark, 1)
    return text
