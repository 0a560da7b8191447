"""Loops that are not linear in q: against Pinocchio projected by G, Lagrange's equations, and energy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from closed_linkages import OFFSET, RADIUS, ROD, four_bar, slider_crank
from pinocchio_oracle import model_of
from sampling import representatives

pin = pytest.importorskip("pinocchio")
TIGHT = 1e-10
STEP = 1e-30


def states(robot: tf.Robot, n: int = 6) -> np.ndarray:
    return np.random.default_rng(1).uniform(-3, 3, (3, n, robot.n_joints))


def projected(robot: tf.Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Torque and mass matrix of a linkage closed at a point, from Pinocchio's tree and its frame Jacobians alone."""
    loop = robot.closure.relations[0]
    pair = model_of(replace(robot, closure=None))
    model, data, names = pair.model, pair.data, [joint.name for joint in robot.joints]
    passive = [names.index(name) for name in loop.passive]
    active = [k for k in range(len(names)) if k not in passive]
    frames = [
        model.addFrame(pin.Frame(f.name, f.link + 1, 0, pin.SE3(f.link_from_frame), pin.FrameType.OP_FRAME))
        for f in (robot.frame(name) for name in loop.frames)
    ]
    data = model.createData()
    x = np.zeros(len(names))
    x[active] = q
    x[passive] = robot.closure.at(q[:, None]).q[passive, 0] + 1e-3  # near the branch; solved again here

    def jacobian() -> np.ndarray:
        rows = [pin.computeFrameJacobian(model, data, x, f, pin.LOCAL_WORLD_ALIGNED)[:3] for f in frames]
        return rows[0] - rows[1]

    for _ in range(8):
        pin.framesForwardKinematics(model, data, x)
        gap = data.oMf[frames[0]].translation - data.oMf[frames[1]].translation
        x[passive] -= np.linalg.pinv(jacobian()[:, passive]) @ gap
    assert np.abs(gap).max() < 1e-13
    J = jacobian()
    G = np.zeros((len(names), len(active)))
    G[active] = np.eye(len(active))
    G[passive] = -np.linalg.pinv(J[:, passive]) @ J[:, active]
    v = G @ qd
    pin.forwardKinematics(model, data, x, v, 0 * v)
    drift = [pin.getFrameClassicalAcceleration(model, data, f, pin.LOCAL_WORLD_ALIGNED).linear for f in frames]
    bent = np.zeros(len(names))
    bent[passive] = -np.linalg.pinv(J[:, passive]) @ (drift[0] - drift[1])
    tau = pin.rnea(model, data, x, v, G @ qdd + bent)
    M = pin.crba(model, data, x)
    M = np.triu(M) + np.triu(M, 1).T
    return G.T @ tau, G.T @ M @ G


@pytest.mark.parametrize("robot", [four_bar("rocker"), four_bar("ground"), slider_crank("loop")], ids=lambda r: r.name)
def test_torques_are_pinocchios_projected(robot: tf.Robot) -> None:
    rigid = robot.rigid
    for q, qd, qdd in zip(*states(robot), strict=True):
        tau, M = projected(rigid, q, qd, qdd)
        np.testing.assert_allclose(tf.textbook.inverse_dynamics(rigid, q, qd, qdd), tau, rtol=0, atol=TIGHT)
        np.testing.assert_allclose(tf.textbook.mass_matrix(rigid, q), M, rtol=0, atol=TIGHT)


@pytest.mark.parametrize("robot", [four_bar(), slider_crank("text")], ids=lambda r: r.name)
def test_lagranges_equations_hold(robot: tf.Robot) -> None:
    """d/dt dT/dqd - dT/dq + dU/dq = tau, with derivatives by complex steps of the energies."""
    robot, (q, qd, qdd) = robot.rigid, states(robot)
    book, unit = tf.textbook, np.eye(robot.n_joints)
    slope = [book.kinetic_energy(robot, q + 1j * STEP * e, qd).imag / STEP for e in unit]
    weight = [book.potential_energy(robot, q + 1j * STEP * e).imag / STEP for e in unit]
    M, rate = book.mass_matrix(robot, q), book.mass_matrix(robot, q + 1j * STEP * qd).imag / STEP
    change = (M @ qdd[..., None] + rate @ qd[..., None])[..., 0]
    lagrange = change - np.stack(slope, -1) + np.stack(weight, -1)
    np.testing.assert_allclose(book.inverse_dynamics(robot, q, qd, qdd), lagrange, rtol=0, atol=TIGHT)
    C = book.coriolis_matrix(robot, q, qd)
    skew = rate - 2 * C
    np.testing.assert_allclose(skew, -np.swapaxes(skew, -1, -2), rtol=0, atol=TIGHT)
    bias = (C @ qd[..., None])[..., 0] + book.gravity_torque(robot, q)
    np.testing.assert_allclose(book.bias_torque(robot, q, qd), bias, rtol=0, atol=TIGHT)
    np.testing.assert_allclose(book.forward_dynamics(robot, q, qd, lagrange), qdd, rtol=0, atol=1e-9)
    Y = book.slotine_li_regressor(robot, q, qd, qd, qdd)
    np.testing.assert_allclose(Y @ robot.parameters, lagrange, rtol=0, atol=TIGHT)
    np.testing.assert_allclose(book.regressor(robot, q, qd, qdd) @ robot.parameters, lagrange, rtol=0, atol=TIGHT)


def test_piston_by_hand() -> None:
    """x = r cos a + sqrt(l^2 - (e - r sin a)^2), and its force reaches the crank by dx/da."""
    robot, q = slider_crank("loop"), states(slider_crank("loop"))[0]
    y = OFFSET - RADIUS * np.sin(q[:, 0])
    x = RADIUS * np.cos(q[:, 0]) + np.sqrt(ROD**2 - y**2)
    slope = -RADIUS * np.sin(q[:, 0]) + y * RADIUS * np.cos(q[:, 0]) / np.sqrt(ROD**2 - y**2)
    place, G, _ = robot.closure.at(q.T)
    np.testing.assert_allclose(place[2], x, rtol=0, atol=1e-14)
    np.testing.assert_allclose(G[2, 0], slope, rtol=0, atol=1e-13)
    qd = np.ones_like(q)
    np.testing.assert_allclose(tf.friction(robot, qd, q)[:, 0], 2.0 * slope**2, rtol=0, atol=1e-12)


def test_however_a_loop_is_closed_it_is_the_same_linkage() -> None:
    """A dyad on two sides, one in line, and Newton's method with three unknowns."""
    q, qd, qdd = states(four_bar())
    one, other, third = (four_bar(at).rigid for at in ("rocker", "ground", "frame"))
    assert third.closure.relations[0].dyad is None
    # the rocker's rotor turns at other rates where it sits elsewhere
    plain = [replace(r, joints=tuple(replace(j, rotor_inertia=None) for j in r.joints)) for r in (one, other, third)]
    expected = tf.textbook.inverse_dynamics(plain[0], q, qd, qdd)
    for robot in plain[1:]:
        np.testing.assert_allclose(tf.textbook.inverse_dynamics(robot, q, qd, qdd), expected, rtol=0, atol=TIGHT)
    text, loop = slider_crank("text"), slider_crank("loop")
    q, qd, qdd = states(text)
    same = tf.textbook.inverse_dynamics(text, q, qd, qdd), tf.textbook.inverse_dynamics(loop, q, qd, qdd)
    np.testing.assert_allclose(same[0], same[1], rtol=0, atol=TIGHT)


FOLLOWING = ("inverse_dynamics", "forward_dynamics", "coriolis_matrix", "linearize_inverse")


@pytest.mark.parametrize("function", representatives(FOLLOWING, "inverse_dynamics", "linearize_inverse"))
def test_programs_follow_loops(function: str) -> None:
    robot = four_bar(friction=True)
    program = tf.generate(robot, function)
    q, qd, last = states(robot)
    arrays = {"coriolis_matrix": (q, qd)}.get(function, (q, qd, last))
    found = tf.compile(program)(*arrays)
    expected = getattr(tf.textbook, function)(robot, *arrays)
    pairs = [(found, expected)] if isinstance(found, np.ndarray) else zip(found, vars(expected).values(), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)


def test_unrolled_newton_is_certified() -> None:
    program = tf.generate(four_bar("frame"), "gravity_torque")
    assert program.certificate.error < 1e-12


def test_energy_is_kept() -> None:
    robot = four_bar().rigid
    motion = tf.simulate(robot, [0.2, 0.5], [0.5, 3.0], None, 0.5, integrator="rk4")
    assert np.ptp(motion.energy) < 1e-7


def test_derivatives_of_linkages_are_those_of_differences() -> None:
    robot = slider_crank("text")
    q, qd, qdd = states(robot, 4)
    found, h = tf.linearize_inverse(robot, q, qd, qdd), 1e-6
    for name, at in (("dq", 0), ("dqd", 1), ("dqdd", 2)):
        moved = [[x + (k == at) * sign * h for k, x in enumerate((q, qd, qdd))] for sign in (1, -1)]
        slope = (tf.inverse_dynamics(robot, *moved[0]) - tf.inverse_dynamics(robot, *moved[1])) / (2 * h)
        np.testing.assert_allclose(getattr(found, name)[..., 0], slope, rtol=1e-7, atol=1e-7)


def test_base_parameters_of_linkages() -> None:
    """All three models give one rank; the relations around a four-bar are in symbols of its links."""
    robot = four_bar()
    sizes = {tf.base_parameters(robot, source=source).n for source in ("dynamic", "velocity_free", "energy")}
    base = tf.base_parameters(robot)
    assert sizes == {base.n}
    assert all(relation.exact for relation in base.relations)
    q, qd, qdd = states(robot)
    rigid = robot.rigid
    expected = tf.textbook.inverse_dynamics(rigid, q, qd, qdd)
    found = tf.inverse_dynamics(rigid.with_base_parameters(base.values(rigid), base), q, qd, qdd)
    np.testing.assert_allclose(found, expected, rtol=0, atol=TIGHT)


def test_a_linkage_is_identified() -> None:
    robot = tf.load("four_bar")
    rng, t = np.random.default_rng(0), np.arange(0, 6, 0.01)
    w = 2 * np.pi / 6 * np.arange(1, 6)
    a, b = rng.normal(size=(2, 5, 2)) * 0.7
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q, qd, qdd = s @ a + c @ b, (c * w) @ a - (s * w) @ b, -(s * w**2) @ a - (c * w**2) @ b
    tau = tf.inverse_dynamics(robot, q, qd, qdd) + 0.01 * rng.normal(size=q.shape)
    fit = tf.identify(robot, tf.Recording(t, q, tau), friction="plain", couplings=None)
    found = fit.predict(q, qd, qdd)
    assert np.sqrt(np.mean((found - tau) ** 2)) < 0.015


@pytest.mark.parametrize("robot", [four_bar("ground"), four_bar("frame"), slider_crank("inline")], ids=lambda r: r.name)
def test_base_parameters_hold_the_torque_however_a_loop_is_closed(robot: tf.Robot) -> None:
    """A loop may end at the very link that it starts from."""
    base, (q, qd, qdd) = tf.base_parameters(robot), states(robot, 60)
    Y = tf.textbook.regressor(robot.rigid, q, qd, qdd)[..., list(base.pivots)]
    assert np.linalg.matrix_rank(Y.reshape(-1, base.n), tol=1e-9) == base.n
    tau = tf.textbook.inverse_dynamics(robot.rigid, q, qd, qdd)
    np.testing.assert_allclose(Y @ base.values(robot.rigid), tau, rtol=0, atol=TIGHT)
