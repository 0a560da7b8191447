"""What the HTML report says, without a browser."""

from __future__ import annotations

import json
import re
from html import unescape

import numpy as np
import pytest

import tauform as tf
from tauform.pipeline.model_robot import model_robot
from tauform.pipeline.motion import sweep_motion
from tauform.pipeline.robot_model import RobotModel
from tauform.report.delivery import Delivery
from tauform.report.html.document import plotly_script
from tauform.report.html.robot_view import view_data
from tauform.report.model_page import model_page
from tauform.report.sections.torques import torque_parts

DATA = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)


@pytest.fixture(scope="module")
def page(delivery: Delivery) -> str:
    return delivery.report.read_text(encoding="utf-8")


def plots_of(page: str) -> list[dict[str, object]]:
    found = [json.loads(text) for text in DATA.findall(page)]
    return [data for data in found if "panels" in data]


def test_the_page_needs_no_network(page: str) -> None:
    # the library that draws names addresses which nobody visits; the browser's tests watch what is asked for
    own = page.replace(plotly_script(), "")
    assert len(own) < len(page) - 4e6
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", own)
    assert not re.search(r"<(?:script|img|iframe)[^>]+src=|@import|url\(", own)
    assert "default-src 'none'" in page


def test_every_section_is_linked_and_there(page: str) -> None:
    anchors = re.findall(r'<section id="([\w-]+)"', page)
    assert anchors == ["described", "robot", "torques", "code", "accuracy", "closed-form", "base", "stages"]
    assert re.findall(r'<a href="#([\w-]+)"', page) == anchors


def test_base_parameters_stand_with_relation_value_and_unit(page: str, two_link: RobotModel) -> None:
    text = unescape(page)
    for relation, value in zip(two_link.base.relations, two_link.base.values(two_link.robot), strict=True):
        name, right = relation.text().split(" = ", 1)
        assert f"<code>{name}</code>" in text
        assert len(relation.terms) == 1 or f"<code>{right}</code>" in text
        assert f'<td class="number" data-label="value">{value:.4g}</td>' in text
    assert '<td data-label="unit">kg m²</td>' in text


def test_certificates_state_error_and_candidates(page: str, two_link: RobotModel) -> None:
    for program in two_link.programs:
        assert program.certificate is not None
        assert f"{program.certificate.error:.1e}" in page
        assert all(candidate.algorithm in page for candidate in program.candidates)


def test_equations_of_small_models_are_shown(page: str, two_link: RobotModel) -> None:
    assert two_link.closed_form is not None
    assert two_link.closed_form.equations()[0] in unescape(page)


def test_plotted_torques_add_up_to_inverse_dynamics(page: str, two_link: RobotModel) -> None:
    data = next(plot for plot in plots_of(page) if plot["xlabel"] == "time [s]")
    motion = sweep_motion(two_link.robot)
    expected = tf.inverse_dynamics(two_link.robot, motion.q, motion.qd, motion.qdd)
    for j, panel in enumerate(data["panels"]):  # type: ignore[arg-type,var-annotated]
        curves = {series["name"]: np.array(series["y"]) for series in panel["series"]}
        total = curves.pop("total")
        np.testing.assert_allclose(total, expected[:, j], atol=1e-4)
        np.testing.assert_allclose(sum(curves.values()), total, atol=1e-3)


@pytest.mark.parametrize("name", ["two_link", "sr6ia"])
def test_parts_from_the_closed_form_and_from_the_textbook_agree(name: str) -> None:
    robot = tf.load(name)
    values = np.array(robot.parameters)
    robot.layout.by_joint(values)[:, 1:] = 0.3, 0.2, 0.1  # Fv, Fc, Fo
    robot = robot.with_parameters(values)
    motion = sweep_motion(robot)
    include = ("link", "viscous", "coulomb", "offset")
    closed = torque_parts(robot, tf.derive(robot, include=include).bind(robot), motion)
    textbook = torque_parts(robot, None, motion)
    closed["velocity"] = closed.pop("Coriolis", 0.0) + closed.pop("centrifugal", 0.0)  # type: ignore[arg-type]
    if name == "sr6ia":  # a constant force on the slide is gravity to the closed form, which cannot tell
        for parts in (closed, textbook):
            parts["gravity"] = parts.get("gravity", 0.0) + parts.pop("friction")  # type: ignore[arg-type]
    assert closed.keys() == textbook.keys()
    for part in closed:
        np.testing.assert_allclose(closed[part], textbook[part], atol=1e-10)
    total = tf.inverse_dynamics(robot, motion.q, motion.qd, motion.qdd)
    np.testing.assert_allclose(sum(textbook.values()), total, atol=1e-10)


def test_loops_reach_the_view() -> None:
    robot = tf.load("parallelogram")
    data = view_data(robot, sweep_motion(robot))
    assert robot.closure is not None
    assert data["F"] == robot.closure.F.tolist()
    assert len(data["joints"]) == robot.n_bodies
    assert len(data["home"]) == robot.n_joints


def test_a_robot_without_closed_form_has_a_page_too() -> None:
    model = model_robot(tf.load("four_bar"), functions=("gravity_torque",), tolerance=None)
    page = model_page(model)
    assert 'id="closed-form"' not in page
    assert 'id="accuracy"' not in page
    assert "loops that are not linear in q have no closed form" in page


def test_names_from_a_description_cannot_inject_markup() -> None:
    from dataclasses import replace

    robot = tf.load("two_link")
    evil = "<img src=x onerror=alert(1)>"
    joints = (replace(robot.joints[0], name=evil), *robot.joints[1:])
    page = model_page(model_robot(replace(robot, name=evil, joints=joints), functions=(), tolerance=None))
    assert "<img src=x" not in page
