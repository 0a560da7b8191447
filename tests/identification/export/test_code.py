"""C of a fit, compiled: on the motion that the fit was judged on it has the fit's own torque error."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from sampling import representatives
from tauform.codegen.generate import generate
from tauform.errors import GenerationError, IdentificationError, VerificationError
from tauform.identification.export.code import CodeOptions, write_proven
from tauform.identification.export.judged import judged_motion
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.selection.laws import FrictionLaw
from tauform.identification.signals.differentiate import SMOOTHERS

pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None or shutil.which("make") is None, reason="no make or C compiler"
)
FIGURE = re.compile(r"^(\S+) +torque error (\S+) %, expected (\S+) %, deviation (\S+), allowed (\S+)$", re.MULTILINE)
# Digits that `make check` prints, as a share of the torque.
PRINTED = 0.51e-6


def recorded(seed: int, rate: float = 100.0) -> tf.Recording:
    rng = np.random.default_rng(seed)
    return simulated_recording(arm(), motion(arm(), seed, rate=rate), rng, torque_noise=[2.0, 1.0, 0.5])


@cache
def fit(rate: float = 100.0) -> tf.Fit:
    """Judged on a recording of its own, whose rate may differ from that of the fitted ones."""
    return tf.identify(
        arm(), [recorded(1), recorded(2)], friction="plain", couplings=None, validate=[recorded(3, rate), recorded(4)]
    )


def unvalidated() -> tf.Fit:
    return replace(fit(), validation=None, others=None)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("written") / "c"
    fit().write_code(folder, "arm")
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """A copy of one folder of C."""
    return shutil.copytree(written, tmp_path / "c")


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    flags = "CFLAGS=-std=c99 -O0 -ffp-contract=fast -Wall -Wextra -Wpedantic -Werror"
    return subprocess.run(["make", "-B", "check", flags], cwd=folder, capture_output=True, text=True, check=False)


def figures(folder: Path) -> dict[str, float]:
    """What a folder's self-test says about its functions."""
    done = check(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: float(found) / 100 for name, found, *_ in FIGURE.findall(done.stdout)}


@pytest.mark.parametrize("real", ["double", "float"])
def test_make_check_repeats_the_verdict(real: str, tmp_path: Path) -> None:
    fit().write_code(tmp_path / "c", "arm", real=real)
    found = figures(tmp_path / "c")
    assert fit().unseen.source == "validation recordings"
    assert found["inverse_dynamics"] == pytest.approx(fit().unseen.total, abs=PRINTED)
    readme = " ".join((tmp_path / "c" / "README.md").read_text().split())
    assert f"| `arm_inverse_dynamics` | {100 * fit().unseen.total:.4f} % |" in readme
    assert f"verdict is on validation recordings: {100 * fit().unseen.total:.4f} %" in readme
    assert f"in {real} precision" in readme


def test_without_validation_it_is_the_error_of_the_fitted_recordings(tmp_path: Path) -> None:
    """Blocks are held out for the verdict; what is shipped has seen them all, and both figures are said."""
    unvalidated().write_code(tmp_path / "c", "arm")
    said = check(tmp_path / "c").stdout
    found = {name: float(error) / 100 for name, error, *_ in FIGURE.findall(said)}
    assert found == {"inverse_dynamics": pytest.approx(fit().residuals.total, abs=PRINTED)}
    assert f"the verdict is on held-out blocks: {100 * fit().held_out.total:.4f} %" in said


@pytest.mark.parametrize("rate", representatives([93.0, 500.0, 2000.0], 93.0))
def test_recordings_of_other_rates_are_filtered_as_in_the_verdict(rate: float, tmp_path: Path) -> None:
    fit(rate).write_code(tmp_path / "c", "arm")
    assert figures(tmp_path / "c")["inverse_dynamics"] == pytest.approx(fit(rate).unseen.total, abs=PRINTED)


LAWS: tuple[FrictionLaw, ...] = ("stribeck", "asymmetric", "quadratic", "load", "thermal")


@pytest.mark.parametrize("law", [pytest.param(law, marks=pytest.mark.nightly) for law in LAWS[:3]] + [*LAWS[3:]])
def test_every_friction_law_is_in_the_c(law: FrictionLaw, tmp_path: Path) -> None:
    """Temperature is an input of the function and a column of the recording."""
    logs = [recorded(k, 500.0) for k in (1, 2, 3)]
    warm = [replace(log, temperature=np.outer(np.linspace(20.0, 40.0, len(log.t)), np.ones(3))) for log in logs]
    found = tf.identify(arm(), warm[:2], friction=law, couplings=None, validate=warm[2])
    assert len(found.terms) == 3
    found.write_code(tmp_path / "c", "arm")
    assert figures(tmp_path / "c")["inverse_dynamics"] == pytest.approx(found.unseen.total, abs=PRINTED)
    assert ("temperature" in (tmp_path / "c" / "arm.h").read_text()) == (law == "thermal")


@pytest.mark.parametrize("smoother", representatives([*SMOOTHERS, None], "kalman", None), ids=str)
def test_torques_in_the_filters_have_the_error_of_the_columns(smoother: str | None) -> None:
    """The verdict filters columns and multiplies them by values; here torques are filtered."""
    options = {"filters": None} if smoother is None else {"smoother": smoother}
    found = tf.identify(arm(), recorded(1, 500.0), friction="plain", couplings=None, **options)  # type: ignore[arg-type]
    judged = judged_motion(found)
    assert judged is not None
    torque = partial(tf.inverse_dynamics, found.identified_robot)
    assert judged.error_of(torque) == pytest.approx(found.residuals.total, abs=1e-6)
    assert judged.distance(torque, torque) == 0.0


def test_another_model_is_not_shipped_under_the_figure_of_this_one(tmp_path: Path) -> None:
    wrong = generate(arm())
    with pytest.raises(VerificationError, match="compared with the fit on validation recordings"):
        write_proven(fit(), [wrong], tmp_path / "c", "arm")
    assert not (tmp_path / "c").exists()


def altered(pattern: str, text: str) -> Callable[[str], str]:
    return lambda whole: re.sub(pattern, text, whole, count=1)


@pytest.mark.parametrize(
    ("file", "damage", "complaint"),
    [
        ("recording.csv", altered(r"(?m)^(0\.5\d*,\d,[^,]*)\d,", r"\g<1>7,"), "is not the file that was written"),
        ("recording.csv", lambda text: text[: len(text) // 2], "is not the file that was written"),
        ("recording.csv", lambda text: text + "1,1,1\n", "is not the file that was written"),
        ("recording.csv", altered(r"\d\.\d+", "nan"), "is not the file that was written"),
        ("recording.csv", lambda text: "", "is not the file that was written"),
        ("test_arm_recording.c", altered(r"states, 0\.0", "states, 0.1"), "FAILED"),
        ("test_arm_recording.c", altered(r"states, 0\.0(\d{4})", r"states, 0.00\1"), "FAILED"),
        ("arm.c", altered(r"\*sign_of\(", "*0.98*sign_of("), "FAILED"),
    ],
    ids=["a digit", "cut", "longer", "not a number", "empty", "figure", "smaller figure", "friction"],
)
def test_what_was_changed_fails(file: str, damage: Callable[[str], str], complaint: str, folder: Path) -> None:
    path = folder / file
    whole = path.read_text()
    path.write_text(damage(whole))
    assert path.read_text() != whole
    done = check(folder)
    assert done.returncode != 0
    assert complaint in done.stdout
    assert done.stdout.rstrip().endswith("FAILED") or "Error" in done.stderr


def test_a_missing_recording_fails_and_other_ends_of_lines_do_not(folder: Path) -> None:
    path = folder / "recording.csv"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert figures(folder)
    path.unlink()
    done = check(folder)
    assert done.returncode != 0
    assert "recording.csv: cannot be read" in done.stdout


def test_the_recording_is_a_table_that_reads_back(tmp_path: Path) -> None:
    """Names that `read_recording` knows, states to nine digits."""
    one = tf.identify(arm(), recorded(1), friction="plain", couplings=None)
    one.write_code(tmp_path / "c", "arm")
    log = tf.read_recording(tmp_path / "c" / "recording.csv", arm())
    judged = judged_motion(one)
    assert judged is not None
    (stretch,) = judged.stretches
    np.testing.assert_allclose(log.t, stretch.t - stretch.t[0], atol=1e-9)
    for name in ("q", "qd", "tau"):
        assert np.array_equal(getattr(log, name), getattr(stretch, name)), name


def test_an_excerpt_has_a_figure_of_its_own(tmp_path: Path) -> None:
    fit().write_code(tmp_path / "c", "arm", excerpt=4.0)
    whole, part = judged_motion(fit()), judged_motion(fit(), 4.0)
    assert whole is not None
    assert part is not None
    assert 3.8 < part.seconds <= 4.0 < whole.seconds
    own = part.error_of(generate(fit().identified_robot))
    assert abs(own - fit().unseen.total) > 10 * PRINTED  # else the test could not tell them apart
    assert figures(tmp_path / "c")["inverse_dynamics"] == pytest.approx(own, abs=PRINTED)
    lines = (tmp_path / "c" / "recording.csv").read_text().splitlines()[1:]
    t = [float(line.split(",")[0]) for line in lines]
    assert t[-1] - t[0] <= 4.0
    readme = " ".join((tmp_path / "c" / "README.md").read_text().split())
    assert f"an excerpt of {part.seconds:.1f} s from {whole.seconds:.1f} s" in readme
    assert f"{100 * own:.4f} %" in readme
    assert f"{100 * fit().unseen.total:.4f} %" in readme


def test_an_excerpt_that_is_long_enough_is_everything(folder: Path, tmp_path: Path) -> None:
    fit().write_code(tmp_path / "much", "arm", excerpt=1e6)
    for file in ("recording.csv", "README.md", "test_arm_recording.c"):
        assert (folder / file).read_text() == (tmp_path / "much" / file).read_text()


def test_a_confidential_recording_stays_away(tmp_path: Path) -> None:
    files = fit().write_code(tmp_path / "c", "arm", recording=False)
    assert not any("recording" in file.name for file in files)
    done = check(tmp_path / "c")
    assert done.returncode == 0
    assert not FIGURE.search(done.stdout)
    readme = " ".join((tmp_path / "c" / "README.md").read_text().split())
    assert "No recording is stored here, as was asked for" in readme
    assert f"{100 * fit().unseen.total:.4f} %" in readme


def test_a_loaded_fit_has_no_recording_and_says_so(tmp_path: Path) -> None:
    loaded = tf.load_fit(fit().save(tmp_path / "fit.npz"))
    loaded.write_code(tmp_path / "c", "arm")
    assert check(tmp_path / "c").returncode == 0
    readme = " ".join((tmp_path / "c" / "README.md").read_text().split())
    assert "the fit was loaded from a file" in readme


@pytest.mark.parametrize("excerpt", [0.0, -1.0, float("nan"), float("inf")])
def test_an_excerpt_is_a_length_of_time(excerpt: float) -> None:
    with pytest.raises(IdentificationError, match="excerpt= is a length of time"):
        CodeOptions(excerpt=excerpt)


def test_choices_that_cannot_be_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(IdentificationError, match="too short, for filters settle in"):
        fit().write_code(tmp_path / "c", excerpt=0.01)
    with pytest.raises(IdentificationError, match="leave one of them out"):
        fit().write_code(tmp_path / "c", excerpt=4.0, recording=False)
    with pytest.raises(GenerationError, match="double, float"):
        CodeOptions(real="half")
    assert not (tmp_path / "c").exists()
