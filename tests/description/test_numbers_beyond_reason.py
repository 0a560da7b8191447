"""Numbers that nobody means, in files of any format: one short sentence that names the place."""

from __future__ import annotations

from pathlib import Path

import pytest

import tauform as tf
from tauform.errors import DescriptionError, TauformError

TOML = """convention = "standard"
[[row]]
joint = "revolute"
a = 0.5
alpha = 0.0
d = 0.1
mass = {}
com = [0.1, 0.0, 0.0]
"""
URDF = (Path(__file__).parent / "formats" / "sample.urdf").read_text()
NUMBERS = ["1" + "0" * 400, "9" * 5000, "5e-324", "1e-200", "1e308", "nan", "inf", "true", "[" * 200 + "]" * 200]
NUMBERS += ["[" * 5000 + "]" * 5000, "{a=" * 90 + "1" + "}" * 90, "1979-05-27", "-5e-324"]
LONGEST_SENTENCE = 300


@pytest.mark.parametrize("number", NUMBERS, ids=lambda text: text[:12])
def test_in_toml(number: str, tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text(TOML.format(number))
    with pytest.raises(DescriptionError, match=r"\Aarm\.toml: ") as caught:
        tf.load(path)
    assert len(str(caught.value)) < LONGEST_SENTENCE


@pytest.mark.parametrize("number", [n for n in NUMBERS if "=" not in n], ids=lambda text: text[:12])
def test_in_urdf(number: str, tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(URDF.replace('<mass value="2"/>', f'<mass value="{number}"/>'))
    with pytest.raises(TauformError, match=r"\Aarm\.urdf: link 'one': ") as caught:
        tf.load(path)
    assert len(str(caught.value)) < LONGEST_SENTENCE


def test_a_body_without_mass_is_still_one() -> None:
    assert tf.Inertia.of(0.0).mass == 0.0
    assert tf.Inertia.of(1e-40).mass == 1e-40
    with pytest.raises(DescriptionError, match=r"mass: \S+ kg cannot be meant; write 0"):
        tf.Inertia.of(5e-324)
