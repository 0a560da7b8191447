"""Every exception a user may catch.

Each message is one sentence that names the place and the remedy; the command line prints it and exits with 2.
"""

from __future__ import annotations

from tauform.escaping.shown import visible_lines


class TauformError(Exception):
    """Base of all errors that a user's input can cause; names in a message cannot command the terminal it reaches.

    Attributes:
        argument: Python name of the argument that is wrong; None where it is another matter.
        value: what was given for it.
        remedy: what to do, which also ends the sentence; None where the sentence has it in other words.
        finished: what was done before the error, where that is worth keeping (a fit, a model, files); else None.
    """

    finished: object | None = None

    def __init__(
        self, *args: object, argument: str | None = None, value: object = None, remedy: str | None = None
    ) -> None:
        self.argument, self.value, self.remedy = argument, value, remedy
        # The remedy ends the sentence, and stays apart for programs that show it elsewhere.
        parts = (f"{args[0]}; {remedy}", *args[1:]) if remedy else args
        super().__init__(*(visible_lines(part) if isinstance(part, str) else part for part in parts))


class ArgumentError(TauformError, TypeError):
    """An argument is of another type than the function takes; the message says what to write instead."""


class ShapeError(TauformError, ValueError):
    """An array has the wrong shape or holds values that are not finite."""


class DescriptionError(TauformError, ValueError):
    """A robot description cannot be read or does not describe a robot we support."""


class LoopError(DescriptionError):
    """A loop of the robot does not close at a posture."""


class UnknownNameError(TauformError, KeyError):
    """A joint, link, frame, parameter, function or robot of that name does not exist."""

    def __str__(self) -> str:  # KeyError would print the repr of its argument
        return str(self.args[0]) if self.args else ""


class SingularMassMatrixError(TauformError, ArithmeticError):
    """Forward dynamics of a robot whose mass matrix is not positive definite; the message names the link."""


class ModelError(TauformError, ValueError):
    """A closed-form model cannot be derived, bound, read or written."""


class GenerationError(TauformError, ValueError):
    """A program cannot be generated, or failed verification."""


class ProgramTooLongError(GenerationError):
    """A program would have too many operations for one straight line."""


class VerificationError(GenerationError):
    """A result deviates from the textbook algorithms; it is not handed over."""


class RecordingError(TauformError, ValueError):
    """A recording cannot be read, or its contents do not fit the robot."""


class IdentificationError(TauformError, ValueError):
    """A recording does not determine what was asked of it."""


class SimulationError(TauformError, ValueError):
    """A motion cannot be simulated as asked, or runs away; the message says when."""


class MissingExtraError(TauformError, ImportError):
    """An optional dependency is not installed; the message says which extra brings it."""
