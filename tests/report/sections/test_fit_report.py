"""The main job with recordings: identified models and programs, and what the report says about the fit."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from tauform.cli import main
from tauform.errors import IdentificationError
from tauform.pipeline.model_robot import model_robot
from tauform.pipeline.robot_model import RobotModel
from tauform.report.html.document import plotly_script
from tauform.report.model_page import model_page
from tauform.report.sections.identification import write_report
from tools.simulated_logs import simulated_log

NOISE = 0.01  # of each joint's torque


def real_robot() -> tf.Robot:
    """The two-link arm, heavier than described and with friction."""
    robot = tf.load("two_link")
    values = np.array(robot.parameters)
    values[:20] *= 1.2
    values[21:23], values[25:27] = (2.0, 3.0), (1.0, 1.5)  # Fv, Fc of both joints
    return robot.with_parameters(values)


def record(seed: int) -> tf.Recording:
    """Sums of sines at 200 Hz, torque with noise."""
    return simulated_log(real_robot(), seed, seconds=12.0, rate=200.0, noise=NOISE)


@pytest.fixture(scope="module")
def identified() -> RobotModel:
    return model_robot(
        tf.load("two_link"), record(1), validate=record(2), functions=("inverse_dynamics",), tolerance=None
    )


def test_programs_have_the_identified_dynamics(identified: RobotModel) -> None:
    q, qd, qdd = np.random.default_rng(3).uniform(-1.5, 1.5, (3, 200, 2))
    truth = tf.inverse_dynamics(real_robot(), q, qd, qdd)
    found = identified.programs[0](q, qd, qdd)
    described = tf.inverse_dynamics(identified.described, q, qd, qdd)
    error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
    assert error < 0.02
    assert error < 0.1 * np.linalg.norm(described - truth) / np.linalg.norm(truth)


def test_what_was_fitted_is_checked_on_other_recordings(identified: RobotModel) -> None:
    stage = next(stage for stage in identified.stages if stage.name == "identification")
    assert stage.status == "verified"
    assert stage.check == "validation recordings"
    assert stage.figure is not None
    assert stage.figure < 0.02


def test_everything_is_identified_once(identified: RobotModel) -> None:
    """The robot that programs are made of is that of the fit which was judged."""
    fit = identified.fit
    assert fit is not None
    assert [stage.name for stage in identified.stages if "identification" in stage.name] == ["identification"]
    assert identified.robot.parameters.tolist() == fit.identified_robot.parameters.tolist()


def test_the_page_shows_errors_torques_and_intervals(identified: RobotModel) -> None:
    fit = identified.fit
    assert fit is not None
    page = model_page(identified)
    anchors = re.findall(r'<section id="([\w-]+)"', page)
    assert anchors[:4] == ["verdict", "friction", "values", "residuals"]
    for name, value, deviation in zip(fit.names, fit.values, fit.deviations, strict=True):
        assert f"<code>{name}</code>" in page
        assert f'data-label="95 % from">{value - 1.96 * deviation:.4g}</td>' in page
    # the first words of the page are the verdict and its figure
    first = page.index(f"<strong>{fit.verdict.grade}</strong>")
    assert first < page.index("torque error on validation recordings") < page.index("<figure")


def plots(page: str) -> dict[str, dict[str, Any]]:
    """Figures of a page by caption."""
    found = re.findall(r'<figcaption>(.*?)</figcaption><script type="application/json">(.*?)</script>', page)
    return {caption: json.loads(text) for caption, text in found}


def test_the_first_figure_is_the_validation_recording(identified: RobotModel) -> None:
    """What is drawn are the torques that the verdict's figure is made of."""
    fit = identified.fit
    assert fit is not None
    assert fit.validation is not None
    drawn = plots(model_page(identified))["Measured and predicted torque, validation recordings"]
    errors, torques = [], []
    for panel in drawn["panels"]:
        curves = {series["name"]: np.array(series["y"]) for series in panel["series"]}
        np.testing.assert_allclose(curves["measured"] - curves["predicted"], curves["error"], atol=1e-3)
        errors.append(np.sum(curves["error"] ** 2))
        torques.append(np.sum(curves["measured"] ** 2))
    assert np.sqrt(sum(errors) / sum(torques)) == pytest.approx(fit.validation.total, rel=0.05)


def test_friction_is_drawn_as_it_was_identified(identified: RobotModel) -> None:
    fit = identified.fit
    assert fit is not None
    drawn = plots(model_page(identified))["Friction by joint"]
    truth = real_robot()
    for j, panel in enumerate(drawn["panels"]):
        points, law = panel["series"]
        qd = np.zeros((len(law["x"]), 2))
        qd[:, j] = law["x"]
        expected = tf.friction(truth, qd)[:, j]
        np.testing.assert_allclose(law["y"], expected, atol=0.1 * np.abs(expected).max())
        near = np.interp(points["x"], law["x"], law["y"])
        assert np.median(np.abs(np.array(points["y"]) - near)) < 0.1 * np.abs(expected).max()


def test_unseen_data_is_called_by_its_name_everywhere(
    identified: RobotModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Held-out blocks and validation recordings are two things; where the one is shown it is never named the other."""
    validated = identified.fit
    assert validated is not None
    alone = replace(validated, validation=None, others=None)
    assert (validated.unseen, alone.unseen) == (validated.validation, validated.held_out)
    log = record(1)
    rows = np.column_stack([log.t, log.q, log.tau])
    np.savetxt(tmp_path / "run.csv", rows, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    line = ["identify", "two_link", str(tmp_path / "run.csv"), "--friction", "plain", "--no-couplings"]
    pages = {}
    for name, more in {"alone": [], "validated": ["--validate", str(tmp_path / "run.csv")]}.items():
        assert main([*line, *more]) == 0
        pages[name] = " ".join(capsys.readouterr().out.split())
    # The figure of the verdict, in a repr, a report and a terminal.
    assert "error on held-out blocks" in repr(alone)
    assert "error on validation recordings" in repr(validated)
    for page in (own_text(alone.report(tmp_path / "a.html")), pages["alone"]):
        assert "held-out blocks [%]" in page
        assert "validation" not in page.lower()
    for page in (own_text(validated.report(tmp_path / "v.html")), pages["validated"]):
        assert "validation recordings [%]" in page
        assert "held-out blocks [%]" not in page
    assert "torque error on validation recordings" in model_page(identified)
    assert "torque error on held-out blocks" in model_page(replace(identified, fit=alone))


def own_text(path: Path) -> str:
    """A page without the library that draws."""
    return path.read_text(encoding="utf-8").replace(plotly_script(), "")


def test_a_fit_writes_a_page_of_its_own(identified: RobotModel, tmp_path: Path) -> None:
    assert identified.fit is not None
    path = identified.fit.report(tmp_path / "fit.html")
    assert '<section id="verdict">' in path.read_text(encoding="utf-8")
    assert path.stat().st_size < 6e6
    with pytest.raises(IdentificationError, match="cannot be written"):
        write_report(identified.fit, tmp_path)


def test_the_command_reads_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in (1, 2):
        log = record(seed)
        rows = np.column_stack([log.t, log.q, log.tau])
        np.savetxt(tmp_path / f"run{seed}.csv", rows, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    line = ["model", "two_link", str(tmp_path / "run1.csv"), "--validate", str(tmp_path / "run2.csv")]
    assert main([*line, "-o", str(tmp_path / "out"), "--tolerance", "0", "--function", "gravity_torque"]) == 0
    assert "Identification good" in capsys.readouterr().out
    assert (tmp_path / "out" / "fit.json").is_file()
    # validation without identification is a mistake, said in one sentence
    assert main(["model", "two_link", *line[3:], "-o", str(tmp_path / "other")]) == 2
    assert "recording to identify from" in capsys.readouterr().err
