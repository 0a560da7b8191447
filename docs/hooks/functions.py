"""The functions that can be generated, as a table made from the programs themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

MARK = re.compile(r"^<!-- functions -->$", re.MULTILINE)
N_JOINTS = 3  # a number that is no other length of an array


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in the table."""
    return MARK.sub(lambda match: table(), markdown)


def table() -> str:
    """Name, arrays in and out, and a line on each function, in Markdown; n joints, l base parameters."""
    import tauform as tf
    from tauform.codegen.functions import FUNCTIONS

    chain = tf.planar_chain(N_JOINTS)
    robot = replace(chain, joints=tuple(replace(joint, viscous=1.0) for joint in chain.joints))
    lengths = {N_JOINTS: "n", tf.base_parameters(robot, include="declared").n: "l"}
    lines = ["| function | takes | gives | what it is |", "|---|---|---|---|"]
    for name, function in FUNCTIONS.items():
        program = tf.generate(robot, name)
        cells = f"`{name}`", arrays(program.inputs, lengths), arrays(program.outputs, lengths), function.summary
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def arrays(ports: Iterable[Any], lengths: dict[int, str]) -> str:
    """Names of arrays, with the shapes of those that are no joint vectors."""
    shapes = {port.name: ", ".join(lengths.get(length, str(length)) for length in port.shape) for port in ports}
    return ", ".join(f"`{name}`" if shape == "n" else f"`{name}` ({shape})" for name, shape in shapes.items())
