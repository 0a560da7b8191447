"""Letters beyond ASCII in names of robots, joints, files and columns, under a locale that has none of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from sampling import representatives

# Latin, Greek, Chinese, and beyond sixteen bits.
NAME = "Ärmé_φ漢_😀"
PLAIN = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def renamed(name: str) -> str:
    """two_link in which robot, joints and links have other letters."""
    text = tf.load("two_link")
    lines = []
    for k, joint in enumerate(text.joints):
        rows = ", ".join(str(x) for x in text.inertias[k].parameters)
        T = joint.parent_from_joint
        parent = f'parent = "{name}_link{k}"\n' if k else ""
        lines.append(
            f'[[joint]]\nname = "{name}{k + 1}"\nkind = "revolute"\nlink = "{name}_link{k + 1}"\n{parent}'
            f"xyz = {T[:3, 3].tolist()}\nrotation = {T[:3, :3].tolist()}\nparameters = [{rows}]\n"
        )
    return f'name = "{name}"\nconvention = "frames"\n' + "\n".join(lines)


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """A command under the C locale, where text is ASCII unless a program says otherwise."""
    done = subprocess.run(
        [sys.executable, "-m", "tauform", *words],
        cwd=folder,
        env={**os.environ, **PLAIN},
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode("utf-8", "replace")
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / f"{NAME}.toml").write_text(renamed(NAME), encoding="utf-8")
    t = np.arange(0, 10, 0.01)
    w = np.array([[1.3, 2.1], [3.7, 4.9], [6.1, 7.3]])
    phase = np.multiply.outer(t, w)
    q, qd, qdd = (x.sum(axis=1) for x in (np.sin(phase) / w, np.cos(phase), -w * np.sin(phase)))
    tau = tf.inverse_dynamics(tf.load("two_link"), q, qd, qdd) + 0.05 * np.random.default_rng(0).normal(size=q.shape)
    names = [f"{field}_{NAME}{k}" for field in ("position", "effort") for k in (1, 2)]
    table = np.column_stack([t, q, tau])
    np.savetxt(
        tmp_path / f"{NAME}.csv", table, delimiter=",", header=",".join(["t", *names]), comments="", encoding="utf-8"
    )
    return tmp_path


VERBS = {
    "show": (["-o", f"{NAME}_copy.toml"], f"{NAME}_copy.toml"),
    "urdf": (["-o", f"{NAME}.urdf"], f"{NAME}.urdf"),
    "generate": (["--function", "gravity_torque", "-o", "c", "--name", "arm"], "c/arm.c"),
    "derive": (["-o", "model.npz"], "model.npz"),
    "excite": (["--seconds", "0.1", "--duration", "4", "-o", "motion.csv"], "motion.csv"),
    "linearize": (["-o", "linear.json"], None),
    "identify": ([f"{NAME}.csv", "--friction", "plain", "--no-couplings", "--save", "fit.json"], "fit.json"),
    "model": (["-o", "out", "--tolerance", "0", "--function", "gravity_torque", "--name", "arm"], "out/report.html"),
}


@pytest.mark.parametrize("verb", representatives(VERBS, "show", "generate", "urdf"))
def test_files_are_utf8_whatever_the_locale(verb: str, folder: Path) -> None:
    options, file = VERBS[verb]
    done = run(folder, "show" if verb == "urdf" else verb, f"{NAME}.toml", *options)
    assert done.returncode == (0 if file else 2), done.stderr.decode("utf-8", "replace")
    if file is not None and not file.endswith(".npz"):
        text = (folder / file).read_text(encoding="utf-8")
        # C has the prefix that was asked for, and escapes in its comments.
        assert NAME in text or json.dumps(NAME)[1:-1] in text or verb == "generate"


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_what_is_printed_fits_the_terminal(options: tuple[str, ...], folder: Path) -> None:
    done = run(folder, "show", f"{NAME}.toml", *options)
    assert done.returncode == 0
    shown = done.stdout.decode("ascii")  # escapes where the terminal has no such letters
    if options:
        assert json.loads(shown)["name"] == NAME


def test_a_refusal_is_a_sentence_there_too(folder: Path) -> None:
    done = run(folder, "show", f"{NAME}_absent.toml")
    assert done.returncode == 2
    assert b"no such file" in done.stderr
    assert len(done.stderr.splitlines()) == 1
