"""Libraries that are imported when asked for, and what to say where one is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tauform.errors import MissingExtraError


def library(name: str, extra: str) -> Any:
    """The module of that name.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != name.split(".")[0]:
            raise  # something else is missing
        raise MissingExtraError(f"{name} is not installed; pip install 'tauform[{extra}]'") from None
