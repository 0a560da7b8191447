"""A cut file is not a robot: wherever a file of any format ends early, it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import tauform as tf
from real_robots import urdf
from tauform.errors import TauformError

FOLDER = Path(__file__).parent
SAMPLE = (FOLDER / "sample.urdf").read_text()
# An undeclared prefix, over which parsers that repair take a cut file for a whole one.
PREFIXED = SAMPLE.replace("</robot>", '  <gazebo:plugin name="p"/>\n</robot>\n')
XACRO = SAMPLE.replace(
    '<robot name="sample">',
    '<robot name="sample" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="m" value="7"/>',
).replace('<mass value="2"/>', '<mass value="${m / 2}"/>')
MJCF = """<mujoco model="arm"><worldbody><body name="a"><joint name="j" axis="0 0 1"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.01 0.01"/><body name="b" pos="0.3 0 0"><joint axis="1 0 0"/>
<geom type="sphere" size="0.05" mass="0.5"/></body></body></worldbody></mujoco>
"""


def loads(text: str, path: Path) -> bool:
    path.write_text(text)
    try:
        tf.load(path)
    except TauformError as error:
        return path.name not in str(error)  # what refuses it names it
    return True


@pytest.mark.parametrize(
    ("text", "name", "step"),
    [(SAMPLE, "a.urdf", 7), (PREFIXED, "a.urdf", 7), (XACRO, "a.xacro", 61), (MJCF, "a.xml", 1), (SAMPLE, "a.xml", 31)],
)
def test_no_beginning_of_a_file_is_a_robot(text: str, name: str, step: int, tmp_path: Path) -> None:
    end = len(text.rstrip())  # what follows the last tag is white space
    assert loads(text[:end], tmp_path / name)
    for length in [*range(0, end, step), *range(end - 12, end)]:
        assert not loads(text[:length], tmp_path / name), length


@pytest.mark.parametrize("name", ["panda", "anymal", "tiago_no_hand"])
def test_no_beginning_of_a_real_file_is_a_robot(name: str, tmp_path: Path) -> None:
    text = urdf(name).read_text()
    end = len(text.rstrip())
    for part in range(1, 40):
        assert not loads(text[: end * part // 40], tmp_path / "real.urdf")
