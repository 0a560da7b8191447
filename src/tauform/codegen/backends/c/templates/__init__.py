"""Texts of the files that the C backend writes, with places for what depends on the robot."""

from __future__ import annotations

from importlib import resources
from string import Template


def template(name: str) -> Template:
    """A template file of this folder."""
    return Template(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
