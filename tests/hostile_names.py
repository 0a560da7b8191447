"""Names that some language, file system or terminal would take for more than a name."""

from __future__ import annotations

from dataclasses import replace

import tauform as tf

NAMES = {
    "end of a comment": "arm*/ int evil(void); /*",
    "quotes": "a\"b'c`d",
    "lines": "a\nb\r\n#error c",
    "separators": "a\u2028b\u0085c\tv\x0bf\x0c",
    "backslash at the end": "arm\\",
    "backslash and line": "arm\\\n*\\\n/ #error x",
    "trigraph": "arm??/",
    "make": "$(shell touch pwned)$$(shell touch pwned) `touch pwned` ${HOME}",
    "cmake": '${CMAKE_COMMAND}")\nexecute_process(COMMAND touch pwned)',
    "template": "$name ${guard} {prefix} {0} %s%n%d",
    "script": "</script><script>alert(1)</script>",
    "element": "</title><img src=x onerror=alert(1)><!--",
    "xml": "]]>&amp;<x/>a-->b---",
    "json": '"},{"x":1}//',
    "toml": '"\nname = "x"\n[[joint]]',
    "escape sequences": "\x1b[31mred\x1b]0;title\x07\x1b[2J\x9b31m\x7f\x08",
    "turned text": "\u202egnp.exe\u2066x\u200bz",
    "zero": "a\x00b",
    "half a character": "a\udcffb",
    "very long": "x" * 5000,
    "letters of the world": "Röbot 机器人 🤖 روبوت",
    "keyword": "while",
    "rich markup": "[red]arm[/red] [/] [link=file:///etc]x",
    "formula": "=cmd|' /C calc'!A0",
    "another formula": "@SUM(1)",
    "cells": 'a,b;c\t"d"',
    "latex": r"\input{/etc/passwd}$x^2$%&#_{}~^'",
    "path": "../../pwned/../x",
    "hidden": "..",
    "python": "__import__('os').system('touch pwned')",
    "markdown": "[x](javascript:alert(1)) **b** `c` | d\n# e",
}
# All that is short, in one.
WORST = " ".join(name for name in NAMES.values() if len(name) < 1000 and "\udcff" not in name)


def renamed(robot: tf.Robot, name: str) -> tf.Robot:
    """The robot with this name everywhere: its own, and those of joints, links and frames, which differ at the end."""
    names = [name, *(f"{name}{number}" for number in range(2, robot.n_bodies + 1))]
    joints = tuple(replace(joint, name=own) for joint, own in zip(robot.joints, names, strict=True))
    links = tuple(replace(link, name=own) for link, own in zip(robot.links, names, strict=True))
    frames = tuple(replace(frame, name=f"{name}f{number}") for number, frame in enumerate(robot.frames))
    tip = frames[-1].name if frames else None
    return replace(robot, name=name, joints=joints, links=links, frames=frames, tip=tip)
