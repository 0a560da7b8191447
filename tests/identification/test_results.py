"""What becomes of a fit: reduced, physical, saved, a URDF, C, a verdict."""

from __future__ import annotations

import subprocess
import weakref
from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import which
from xml.etree import ElementTree

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion, with_drives
from tauform.errors import IdentificationError
from tauform.identification.load_fit import load_fit
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.payload import identify_payload, load_columns, load_regressor
from tauform.identification.physical import log_cholesky, semidefinite
from tauform.identification.physical.log_cholesky import link_map, link_numbers
from tauform.identification.regression.terms import Column, coupling

NOISE = [2.0, 1.0, 0.5]


@cache
def fit() -> tf.Fit:
    robot = arm()
    rng = np.random.default_rng(0)
    recordings = [simulated_recording(robot, motion(robot, k), rng, torque_noise=NOISE) for k in (1, 2, 3)]
    return tf.identify(robot, recordings, friction="plain", couplings=None)


def states(robot: tf.Robot, n: int = 20) -> np.ndarray:
    return np.random.default_rng(9).normal(size=(3, n, robot.n_joints))


def test_a_coupling_is_found_where_there_is_one_and_not_elsewhere() -> None:
    robot = arm()
    rng = np.random.default_rng(1)
    shaft = map(tf.Drive.with_coefficient, coupling(1, 2), (0.4, 2.0, 3.0))
    coupled = robot.with_drives([*robot.drives, *shaft])
    recordings = [simulated_recording(coupled, motion(robot, k), rng, torque_noise=NOISE) for k in (1, 2)]
    found = tf.identify(robot, recordings, friction="plain")
    names = [term.name for term in found.terms]
    assert {"Fvm_2_3", "Fcm_2_3"} <= set(names)
    assert not any(name.endswith("_1_2") for name in names)
    assert found.values[found.names.index("Fcm_2_3")] == pytest.approx(3.0, rel=0.2)


def test_a_spring_is_found_where_there_is_one() -> None:
    robot = arm()
    recording = simulated_recording(robot, motion(robot, 1, duration=16), np.random.default_rng(1), torque_noise=NOISE)
    sprung = replace(recording, tau=recording.tau + [0, 0, 6.0] * recording.q)
    found = tf.identify(robot, sprung, couplings=None)
    assert found.values[found.names.index("K_3")] == pytest.approx(6.0, rel=0.1)
    assert len(found.terms) <= 2
    (spring,) = (term for term in found.identified_robot.further_drives if term.shape == "stiffness")
    assert spring.coefficient == found.values[found.names.index("K_3")]


def test_declared_terms_that_no_motion_tells_from_the_links_are_named_and_lose_nothing() -> None:
    """About a horizontal axis a torque of sin q is that of a weight; two springs of one joint are one."""
    plain = with_drives(tf.load("two_link"))
    springs = [tf.Drive.of("stiffness", 1, 3.0, label=side) for side in ("left", "right")]
    terms = [tf.Drive.of("sine", 0, 4.0), *springs, tf.Drive.of("coupled_inertia", (0, 1), 0.1)]
    robot = plain.with_drives([*plain.drives, *terms])
    recording = simulated_recording(robot, motion(robot, 1), np.random.default_rng(1), exact_states=True)
    found = tf.identify(robot, recording, friction="plain", couplings=None, filters=None)
    (said,) = (finding for finding in found.findings if finding.startswith("no motion tells"))
    assert said.startswith("no motion tells Ks_1, K_2@right, Iam_1_2 from other values")
    assert found.names[-1] == "K_2@left"
    q = states(robot)
    truth = tf.inverse_dynamics(robot, *q)
    for torque in (found.predict(*q), tf.inverse_dynamics(found.identified_robot, *q)):
        np.testing.assert_allclose(torque, truth, rtol=0, atol=1e-8 * np.abs(truth).max())


def test_columns_of_the_user_are_refused_by_name_where_no_function_of_python_can_go(tmp_path: Path) -> None:
    own = Column("ripple", lambda q, qd, qdd: np.sin(5 * q) * [1.0, 0.0, 0.0])
    robot = arm()
    recording = simulated_recording(robot, motion(robot, 1), np.random.default_rng(1), torque_noise=NOISE)
    recording = replace(recording, tau=recording.tau + 2.0 * own.torque(recording.q, recording.q, recording.q))
    found = tf.identify(robot, recording, friction="plain", couplings=None, terms=[own])
    assert abs(found.values[-1] - 2.0) < 4 * found.deviations[-1]
    assert found.reduced().predict(*states(robot)).shape == (20, 3)
    with pytest.raises(IdentificationError, match=r"columns of your own \(ripple\)"):
        _ = found.identified_robot
    with pytest.raises(IdentificationError, match=r"columns of your own \(ripple\)"):
        tf.load_fit(found.save(tmp_path / "fit.json"))
    with pytest.raises(IdentificationError, match="columns of your own"):
        found.save(tmp_path / "fit.npz")
    with pytest.raises(IdentificationError, match=r"columns of your own \(ripple\)"):
        found.write_code(tmp_path / "c")


def test_reduction_drops_what_does_not_matter_and_improves_the_condition() -> None:
    small = fit().reduced()
    assert len(small.values) < len(fit().values)
    assert small.raw_condition < fit().raw_condition
    assert small.held_out.total < 1.1 * fit().held_out.total
    np.testing.assert_allclose(small.residuals.relative, fit().residuals.relative, rtol=0.2)


def test_scatter_over_recordings_has_the_statistics_of_the_paper() -> None:
    scatter = fit().per_recording()
    assert scatter.estimates.shape == (3, len(fit().values))
    np.testing.assert_allclose(scatter.mean, fit().values, rtol=0, atol=5 * fit().deviations.max())
    assert (scatter.minimum <= scatter.mean).all()
    assert (scatter.mean <= scatter.maximum).all()


def test_physical_links_could_be_built_and_predict_as_well() -> None:
    pytest.importorskip("clarabel")
    physical = fit().physically_consistent()
    robot = physical.identified_robot
    assert min(np.linalg.eigvalsh(inertia.pseudo_inertia)[0] for inertia in robot.inertias) >= -1e-12
    assert all(joint.viscous >= 0 and joint.coulomb >= 0 for joint in robot.joints)
    assert physical.held_out.total < 1.1 * fit().held_out.total
    q = states(robot)
    np.testing.assert_allclose(tf.inverse_dynamics(robot, *q), physical.predict(*q), rtol=0, atol=1e-8)


def test_slopes_of_free_numbers_are_exact() -> None:
    numbers = np.random.default_rng(0).normal(size=10)
    ten, slopes = link_map(numbers)
    assert np.linalg.eigvalsh(tf.Inertia(ten).pseudo_inertia)[0] > 0
    np.testing.assert_allclose(link_numbers(ten), numbers, rtol=0, atol=1e-12)
    step = 1e-6 * np.eye(10)
    differences = [(link_map(numbers + h)[0] - link_map(numbers - h)[0]) / 2e-6 for h in step]
    np.testing.assert_allclose(slopes.T, differences, rtol=0, atol=1e-7 * np.abs(slopes).max())


def test_free_numbers_and_a_semidefinite_program_find_the_same_links() -> None:
    """Where the best links are inside the physically consistent set, both ways of keeping them there agree."""
    pytest.importorskip("clarabel")
    smooth = fit_of_quiet_robot().physically_consistent(method="log_cholesky")
    solved = fit_of_quiet_robot().physically_consistent()
    assert smooth.physical is not None
    inside = [np.linalg.eigvalsh(inertia.pseudo_inertia)[0] for inertia in smooth.identified_robot.inertias]
    assert min(inside) > 0
    # the semidefinite program takes what lies nearest to the prior within one standard deviation of one value
    free = fit_of_quiet_robot()
    squares = [float((free.evidence.residual_squares(f.values) / free.sigma**2).sum()) for f in (smooth, solved)]
    assert abs(squares[1] - squares[0]) < 1.1
    assert (np.abs(smooth.values - solved.values) < 1.1 * free.deviations).all()
    assert smooth.held_out.total == pytest.approx(solved.held_out.total, rel=0.01)


def test_links_that_may_not_be_the_best_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """How a search ended and what a solver says of its solution are findings; a settled one has none."""
    pytest.importorskip("clarabel")
    settled = fit_of_quiet_robot()
    assert settled.physically_consistent().findings == settled.findings
    with monkeypatch.context() as patch:
        patch.setattr(log_cholesky, "MOST_EVALUATIONS", 3)
        found = settled.physically_consistent(method="log_cholesky")
    assert found.findings == (*settled.findings, log_cholesky.UNSETTLED)
    accurate = semidefinite.least
    monkeypatch.setattr(semidefinite, "least", lambda *given: replace(accurate(*given), is_accurate=False))
    assert settled.physically_consistent().findings == (*settled.findings, semidefinite.INACCURATE)


def test_without_noise_free_numbers_find_the_truth() -> None:
    robot = arm()
    recordings = [
        simulated_recording(robot, motion(robot, k), np.random.default_rng(0), exact_states=True) for k in (1, 2)
    ]
    exact = tf.identify(robot, recordings, filters=None, friction="plain", couplings=None)
    light = robot.with_parameters(0.9 * robot.parameters)
    found = exact.physically_consistent(prior=light, method="log_cholesky")
    truth = exact.base.values(robot)
    assert np.abs(found.theta - truth).max() <= 1e-9 * np.abs(truth).max()


def test_the_identified_robot_has_the_dynamics_of_the_fit() -> None:
    q = states(arm())
    np.testing.assert_allclose(tf.inverse_dynamics(fit().identified_robot, *q), fit().predict(*q), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["fit.npz", "fit.json"])
def test_a_saved_fit_predicts_the_same(tmp_path: Path, name: str) -> None:
    fit().save(tmp_path / name)
    again = load_fit(tmp_path / name, arm())
    q = states(arm())
    np.testing.assert_array_equal(again.predict(*q), fit().predict(*q))
    assert again.verdict.grade == fit().verdict.grade
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["two_link", "parallelogram"])
def test_a_saved_fit_brings_its_robot(tmp_path: Path, name: str) -> None:
    robot = with_drives(tf.load(name)) if name == "two_link" else tf.load(name)
    recording = simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), torque_noise=0.5)
    fitted = tf.identify(robot, recording, friction="plain", couplings=None)
    again = tf.load_fit(fitted.save(tmp_path / "fit.npz"))
    q = states(robot)
    np.testing.assert_array_equal(again.predict(*q), fitted.predict(*q))
    np.testing.assert_array_equal(again.robot.parameters, robot.parameters)
    assert again.verdict.reasons == fitted.verdict.reasons
    assert again.robot.joint_names == robot.joint_names


def test_a_file_without_its_robot_asks_for_it(tmp_path: Path) -> None:
    path = fit().save(tmp_path / "fit.npz")
    with np.load(path) as archive:
        arrays = {key: archive[key] for key in archive.files}
    np.savez(path, **{key: array for key, array in arrays.items() if key != "robot"})
    with pytest.raises(IdentificationError, match=r"give it too, tf\.load_fit\('fit\.npz', robot\)"):
        tf.load_fit(path)
    assert tf.load_fit(path, arm()).names == fit().names
    for robot, said in (("name = 1 2", "not a fit, or a damaged one"), ("a = 1", "the robot in it is damaged")):
        np.savez(path, **{**arrays, "robot": np.array(robot)})
        with pytest.raises(IdentificationError, match=said):
            tf.load_fit(path)


def test_a_saved_fit_keeps_its_errors_on_torques_as_measured(tmp_path: Path) -> None:
    held = replace(fit().held_out, unfiltered=fit().unfiltered)
    again = load_fit(replace(fit(), validation=held).save(tmp_path / "fit.npz"), arm()).validation
    assert held.unfiltered is not None
    assert again is not None
    assert again.unfiltered is not None
    assert again.total == held.total
    assert again.unfiltered.total == held.unfiltered.total
    np.testing.assert_array_equal(again.unfiltered.rms, held.unfiltered.rms)


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


def test_a_payload_is_found_within_two_percent() -> None:
    robot = arm()
    mass, com = 2.0, np.array([0.03, -0.02, 0.08])
    load = tf.Inertia.of(mass, com, (0.01, 0.012, 0.008, 0, 0, 0), inertia_about="com")
    loaded = simulated_recording(
        robot.with_payload(load), motion(robot, 6), np.random.default_rng(6), torque_noise=[0.2, 0.2, 0.1]
    )
    found = identify_payload(fit_of_quiet_robot(), loaded)
    assert found.mass == pytest.approx(mass, rel=0.02)
    place = robot.tool.link_from_frame
    # The base and the axes leave the com's part along the first axis open on a short arm; what matters is the lever.
    lever = (place[:3, :3] @ found.com + place[:3, 3]) - (place[:3, :3] @ com + place[:3, 3])
    assert np.linalg.norm(lever) < 0.02 * np.linalg.norm(place[:3, :3] @ com + place[:3, 3])


def test_a_payload_is_part_of_what_friction_by_load_grows_with() -> None:
    """The estimate is of the robot that is shipped, fit.identified_robot.with_payload(found.inertia)."""
    robot = arm().with_drives([*arm().drives, *(tf.Drive.of("load", j, 0.15) for j in range(3))])
    load = tf.Inertia.of(3.0, (0.05, 0.0, 0.1), (0.05, 0.05, 0.05, 0, 0, 0), inertia_about="com")
    rng, path = np.random.default_rng(6), motion(robot, 6)
    fit = tf.identify(
        arm(), simulated_recording(robot, motion(robot, 1), rng, torque_noise=0.1), friction="load", couplings=None
    )
    found = identify_payload(fit, simulated_recording(robot.with_payload(load), path, rng, torque_noise=0.1))
    assert found.mass == pytest.approx(load.mass, abs=3 * found.deviations[0])
    assert found.deviations[0] < 0.01 * load.mass
    moving = path.q, path.qd, path.qdd
    truth = tf.inverse_dynamics(robot.with_payload(load), *moving)
    shipped = tf.inverse_dynamics(fit.identified_robot.with_payload(found.inertia), *moving)
    assert np.linalg.norm(shipped - truth) < 1e-3 * np.linalg.norm(truth)


def test_deviations_of_a_payload_cover_it() -> None:
    """Over many recordings errors are as large as told, and larger than told where the fit counts as exact."""
    robot, noise = arm(), [2.0, 2.0, 1.0]
    load = tf.Inertia.of(2.0, (0.03, -0.02, 0.08), (0.01, 0.012, 0.008, 0, 0, 0), inertia_about="com")
    columns = load_regressor(robot)(*states(robot))
    relative, trusting, torques = [], [], []
    for k in range(25):
        rng = np.random.default_rng(k)
        empty = simulated_recording(robot, motion(robot, 1), rng, torque_noise=noise)
        loaded = simulated_recording(robot.with_payload(load), motion(robot, 6), rng, torque_noise=noise)
        fitted = tf.identify(robot, empty, friction="plain", couplings=None)
        found = identify_payload(fitted, loaded)
        error = found.inertia.parameters - load.parameters
        relative.append(error / found.deviations)
        exact = replace(fitted, covariance=np.zeros_like(fitted.covariance))
        trusting.append(error / identify_payload(exact, loaded).deviations)
        torques.append(columns @ error / np.sqrt(np.einsum("kjp,pq,kjq->kj", columns, found.covariance, columns)))
    assert (np.sqrt(np.mean(np.square(relative), axis=0)) < 1.4).all()
    assert 0.8 < np.sqrt(np.mean(np.square(torques))) < 1.25
    assert np.mean(np.abs(torques) < 2) > 0.9
    assert (np.sqrt(np.mean(np.square(trusting), axis=0)) > 1.5).all()


def test_columns_of_a_load_belong_to_the_states_they_are_asked_at() -> None:
    robot, rng = arm(), np.random.default_rng(6)
    load = tf.Inertia.of(2.0, (0.03, -0.02, 0.08), (0.01, 0.012, 0.008, 0, 0, 0), inertia_about="com")
    columns, loaded = load_columns(robot), robot.with_payload(load)
    held = []
    for _ in range(3):
        q = rng.uniform(-1, 1, (50, robot.n_joints))
        found = sum(p * column.torque(q, q, q) for p, column in zip(load.parameters, columns, strict=True))
        change = tf.inverse_dynamics(loaded, q, q, q) - tf.inverse_dynamics(robot, q, q, q)
        np.testing.assert_allclose(found, change, atol=1e-10)
        held.append(weakref.ref(q))
    del q
    # Only the last states are remembered; were they freed, another array at their place could pass for them.
    assert [reference() is not None for reference in held] == [False, False, True]


@cache
def fit_of_quiet_robot() -> tf.Fit:
    robot = arm()
    rng = np.random.default_rng(3)
    recordings = [simulated_recording(robot, motion(robot, k), rng, torque_noise=[0.2, 0.2, 0.1]) for k in (1, 2)]
    return tf.identify(robot, recordings, friction="plain", couplings=None)


def test_a_fit_stands_beside_the_model_as_it_was_shipped() -> None:
    shipped = arm().with_parameters(arm().parameters * np.where(np.arange(3 * 14) < 30, 1.3, 0.0))
    rng = np.random.default_rng(0)
    recordings = [simulated_recording(arm(), motion(arm(), k), rng, torque_noise=NOISE) for k in (1, 2)]
    found = tf.identify(shipped, recordings, friction="plain", couplings=None)
    beside = found.compared_with()
    assert (beside.improvement > 3).all()
    np.testing.assert_allclose(beside.error_after.rms, np.sqrt((found.residuals.error**2).mean(axis=0)))
    # The truth is as near as the deviations say, the file is far off.
    assert np.abs(found.compared_with(arm()).moved).max() < 4
    assert np.abs(beside.moved).max() > 30
    with pytest.raises(IdentificationError, match="the fit is of"):
        found.compared_with(tf.load("two_link"))


def test_errors_are_told_with_and_without_filters() -> None:
    unfiltered = fit().unfiltered
    assert unfiltered is not None
    # White noise loses the part above the cut-off: here rows are kept at 2.5 times that.
    np.testing.assert_allclose(unfiltered.rms, NOISE, rtol=0.1)
    assert (fit().sigma < 0.6 * unfiltered.rms).all()


def test_the_verdict_follows_a_refit_to_the_recordings_it_is_validated_on() -> None:
    pytest.importorskip("clarabel")
    robot, rng = arm(), np.random.default_rng(8)
    records = [simulated_recording(robot, motion(robot, k), rng, torque_noise=[0.2, 0.2, 0.1]) for k in (1, 2)]
    # Torques of the opposite sign, a usual mistake: values fit as well as ever, but no links could have them.
    turned = [replace(record, tau=-record.tau) for record in records]
    free = tf.identify(robot, turned[0], validate=turned[1], friction="plain", couplings=None)
    physical = free.physically_consistent()
    assert free.validation is not None
    assert physical.validation is not None
    assert free.validation.total < 0.1
    assert str(free.verdict).startswith(
        "not trustworthy: the torques of all joints have the opposite sign: that leaves"
    )
    assert "gains=" in free.verdict.next[0]
    # A weight may lie on the other side of its axis, but no inertia is negative: a third of the torque is left.
    assert physical.validation.total > 0.3
    assert physical.validation.total > 100 * free.validation.total
    assert physical.verdict.grade == "not trustworthy"
    assert "physically consistent links" in str(physical.verdict)
    good = tf.identify(robot, records[0], validate=records[1], friction="plain", couplings=None, physical=True)
    assert good.verdict.grade == "good"
    assert good.validation is not None
    assert good.validation.total < 0.1


def test_the_verdict_says_where_a_mass_matrix_is_not_positive_definite() -> None:
    quiet = fit_of_quiet_robot()
    assert "mass matrix" not in str(quiet.verdict)
    # A hundredth of joint 3's own inertia is left: still positive, but less than it shares with the joints before.
    values, at = np.array(quiet.values), quiet.names.index("Ia_3")
    values[at] -= 0.99 * tf.mass_matrix(quiet.identified_robot, np.zeros(3))[2, 2]
    spoilt = replace(quiet, values=values)
    assert np.linalg.eigvalsh(tf.mass_matrix(spoilt.identified_robot, np.zeros(3)))[0] < 0
    assert spoilt.verdict.grade == "usable"
    assert "mass matrix is not positive definite in 100 of 100 postures" in str(spoilt.verdict)
    assert "physical=True" in spoilt.verdict.next[0]


def test_the_verdict_names_frames_that_are_almost_aligned(tmp_path: Path) -> None:
    """Axes that are 4e-6 rad off a right angle: fitted on a copy without a parameter that no motion can tell apart."""
    crooked = URDF.replace('<origin xyz="0 0 0.4"/>', '<origin xyz="0 0 0.4" rpy="0 4e-6 0"/>')
    source = tmp_path / "arm.urdf"
    source.write_text(crooked.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 0 1"/>'))
    robot, straight = with_drives(tf.load(source)), with_drives(tf.load(source, snap=1e-5))
    recording = simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), torque_noise=0.1)
    mended, sound = (tf.identify(x, recording, friction="plain", couplings=None) for x in (robot, straight))
    assert "almost, not exactly, aligned (off by 4.0e-06 rad)" in mended.findings[0]
    assert "a copy with these angles made exact" in mended.findings[0]
    assert mended.names == sound.names
    mended.save(tmp_path / "fit.npz")
    loaded = tf.load_fit(tmp_path / "fit.npz", robot)  # the user's own, crooked as its file is
    np.testing.assert_array_equal(loaded.values, mended.values)
    np.testing.assert_allclose(mended.values, sound.values, rtol=1e-4)
    assert mended.condition < 1.001 * sound.condition
    assert mended.verdict.grade == sound.verdict.grade == "good"
    # Parallel axes: what the angle tells apart is of second order.
    parallel = crooked.replace('<axis xyz="1 0 0"/>', '<axis xyz="0 1 0"/>').replace('"0 4e-6 0"', '"4e-6 0 0"')
    source.write_text(parallel)
    slanted = tf.load(source)
    recording = simulated_recording(
        with_drives(slanted), motion(slanted, 1), np.random.default_rng(0), torque_noise=0.1
    )
    assert tf.identify(slanted, recording, friction="plain", couplings=None).verdict.grade == "good"


def test_the_verdict_on_noise_is_not_trustworthy() -> None:
    robot = arm()
    noise = simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), torque_noise=[2000, 2000, 1000])
    verdict = tf.identify(robot, noise, friction="plain", couplings=None).verdict
    assert verdict.grade == "not trustworthy"
    assert "error of all joints on held-out blocks" in str(verdict)
    assert verdict.next


URDF = """<robot name="arm">
  <!-- a comment of the source -->
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.1 0 0.2"/><mass value="4"/>
    <inertia ixx="0.05" iyy="0.06" izz="0.02" ixy="0" ixz="0" iyz="0.001"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0 0.05 0.15" rpy="0.1 0.2 0.3"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="a" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
  <joint name="b" type="continuous"><parent link="upper"/><child link="fore"/><origin xyz="0 0 0.4"/>
    <axis xyz="1 0 0"/></joint>
</robot>
"""


def test_masses_that_hardly_show_stay_near_the_description() -> None:
    pytest.importorskip("clarabel")
    robot = tf.load("kr6_r700")
    described = robot.with_parameters(
        np.where(np.arange(robot.layout.n) < robot.layout.links.stop, robot.parameters, 0.0)
    )
    true = with_drives(described)
    rng = np.random.default_rng(2)
    recordings = [simulated_recording(true, motion(true, k), rng, torque_noise=[1.0] * 3 + [0.3] * 3) for k in (1, 2)]
    found = tf.identify(described, recordings, friction="plain", couplings=None)
    physical = found.physically_consistent()
    assert physical.physical is not None
    masses, before = physical.physical[:60:10], described.parameters[:60:10]
    # torques show sums of masses only; noise must not make a heavy link of a light one
    assert (np.abs(masses - before) < 0.5 * before).all()
    assert physical.held_out.total < 1.05 * found.held_out.total
