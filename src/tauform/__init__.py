"""tauform: tau in closed form.

A robot's description goes in; out come its dynamics in minimal closed form, its base inertial parameters, their
values identified from measured data, and verified real-time C. The public names stand in `__init__.pyi`; each loads on
first use, so importing is quick.
"""

import os
import signal
import sys

# The command itself, on its way here: Ctrl-C ends it without a word until `__main__` listens. Programs that import the
# package keep their own way to be interrupted.
_command = [*sys.orig_argv, "", ""]
if (_command[1:3] == ["-m", "tauform"] or os.path.basename(_command[1]) == "tauform") and (
    signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from types import FunctionType  # noqa: E402
from typing import Any  # noqa: E402

import lazy_loader  # noqa: E402

from tauform.moved import find_moved_modules  # noqa: E402
from tauform.version import __version__ as __version__  # noqa: E402

find_moved_modules()
_load, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = ["__version__", *_names]


def __getattr__(name: str) -> Any:
    if name not in _names:
        from tauform.hints import no_public_name

        raise no_public_name(name, __all__)
    value = _load(name)
    if isinstance(value, FunctionType):
        from tauform.arguments import checked

        # Methods of classes are checked there already; functions get it here.
        value = value if hasattr(value, "checks_arguments") else checked(value)
        value.__module__ = "tauform"  # where pickle and help find it
    # Found directly from now on: __getattr__ is asked for missing names only.
    globals()[name] = value
    return value
