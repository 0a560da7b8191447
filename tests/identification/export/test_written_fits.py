"""A fit as a URDF and as C: the same dynamics, and in words what is not held."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import which
from xml.etree import ElementTree

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion, with_drives
from identification.fits import URDF, fit, states
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.regression.terms import coupling


def test_the_urdf_of_a_fit_has_its_dynamics(tmp_path: Path) -> None:
    pytest.importorskip("clarabel")
    source = tmp_path / "arm.urdf"
    source.write_text(URDF)
    robot = with_drives(tf.load(source))
    rng = np.random.default_rng(0)
    recordings = [simulated_recording(robot, motion(robot, k), rng, torque_noise=0.2) for k in (1, 2)]
    physical = tf.identify(robot, recordings, friction="plain", couplings=None).physically_consistent()
    about = physical.write_urdf(source, tmp_path / "out.urdf")
    written, wanted = tf.load(tmp_path / "out.urdf"), np.array(physical.physical)
    wanted[20:].reshape(-1, 4)[:, [0, 3]] = 0.0  # a URDF has no rotors and no offsets
    q = states(robot)
    np.testing.assert_allclose(
        tf.inverse_dynamics(written, *q), tf.inverse_dynamics(robot.with_parameters(wanted), *q), rtol=0, atol=1e-8
    )
    # What it cannot hold is said, by its values, in the result and in the file.
    loss, rotors, offsets = about.findings
    assert loss.startswith("torques of this URDF are off by")
    drives = physical.identified_robot.joints
    assert all(f"Ia_{j + 1} = {joint.rotor_inertia:.4g}" in rotors for j, joint in enumerate(drives))
    assert all(f"Fo_{j + 1} = {joint.offset:.4g}" in offsets for j, joint in enumerate(drives))
    text = about.path.read_text()
    assert text.count("Note: URDF has no place for") == 2
    assert "<!-- a comment of the source -->" in text


def test_another_engine_reads_the_friction_of_a_written_urdf(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    pytest.importorskip("clarabel")
    source = tmp_path / "arm.urdf"
    source.write_text(URDF)
    robot = with_drives(tf.load(source))
    recording = simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), torque_noise=0.2)
    fitted = tf.identify(robot, recording, friction="plain", couplings=None, physical=True)
    read = mujoco.MjModel.from_xml_path(str(fitted.write_urdf(source, tmp_path / "out.urdf").path))
    np.testing.assert_allclose(read.dof_damping, [joint.viscous for joint in fitted.identified_robot.joints])
    np.testing.assert_allclose(read.dof_frictionloss, [joint.coulomb for joint in fitted.identified_robot.joints])


def test_a_urdf_says_what_it_holds_otherwise_than_the_fit(tmp_path: Path) -> None:
    """A fit that no links have, a flange with a mass of its own, and a base that nothing was identified of."""
    pytest.importorskip("clarabel")
    source = tmp_path / "arm.urdf"
    heavy = '<inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    flange = f"""<link name="flange">{heavy}</link><joint name="c" type="fixed"><parent link="fore"/>
    <child link="flange"/></joint></robot>"""
    source.write_text(
        URDF.replace("</robot>", flange).replace('<link name="base"/>', f'<link name="base">{heavy}</link>')
    )
    robot = tf.load(source)
    recordings = [simulated_recording(robot, motion(robot, k), np.random.default_rng(k)) for k in (1, 2)]
    free = tf.identify(robot, recordings, include=("link", "viscous", "coulomb"), friction="plain", couplings=None)
    about = free.write_urdf(source, tmp_path / "out.urdf")
    physical, loss, merged = about.findings
    assert "fit.physically_consistent()" in physical
    assert f"that of the fit {100 * free.held_out.total:.3g} %" in physical
    assert merged.endswith("lost its own inertia: flange")
    assert str(about) == f"{about.path}; {physical}; {loss}; {merged}"
    bodies = {link.get("name"): link for link in ElementTree.parse(about.path).getroot().findall("link")}
    assert [len(bodies[name].findall("inertial")) for name in ("base", "upper", "fore", "flange")] == [1, 1, 1, 0]


def test_the_c_of_a_fit_computes_its_prediction(tmp_path: Path) -> None:
    compiler = which("cc") or which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    spring, breakaway = tf.Drive.of("stiffness", 1), tf.Drive.of("stribeck", 2, width=0.2)
    design = fit().design.with_terms([spring, breakaway, *coupling(0, 1, 0.1, -1)]).with_widths((0.1, 0.0, 0.3))
    values = np.concatenate([fit().values, [3.0, 0.7, 0.2, 0.5, 0.9]])
    rich = replace(fit(), design=design, values=values, source=None)
    name = "arm"
    rich.write_code(tmp_path / "c", name)
    subprocess.run(["make", "check"], cwd=tmp_path / "c", check=True, capture_output=True)
    q = states(arm(), 4)
    calls = "".join(
        f"{{double q[]={_c(a)},v[]={_c(b)},a[]={_c(c)},t[3];{name}_inverse_dynamics(q,v,a,t);"
        f'for(int i=0;i<3;i++)printf("%.17g ",t[i]);}}'
        for a, b, c in zip(*q, strict=True)
    )
    program = f'#include <stdio.h>\n#include "{name}.h"\nint main(void){{{calls}return 0;}}\n'
    (tmp_path / "main.c").write_text(program)
    sources = [str(tmp_path / "main.c"), str(tmp_path / "c" / f"{name}.c")]
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path / 'c'}"]
    subprocess.run([compiler, *flags, *sources, "-lm", "-o", str(tmp_path / "run")], check=True)
    out = subprocess.run([str(tmp_path / "run")], check=True, capture_output=True, text=True).stdout
    np.testing.assert_allclose(np.array(out.split(), dtype=float).reshape(4, 3), rich.predict(*q), rtol=0, atol=1e-9)


def _c(values: np.ndarray) -> str:
    return "{" + ",".join(repr(float(v)) for v in values) + "}"
