"""Inside a solver of CasADi: the external that the target `casadi` writes beside CasADi's C of Pinocchio."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import casadi
import numpy as np

from tools.arms import arm
from tools.measuring.timing import Row, one_processor, side_by_side
from tools.peers.nlp_external import our_externals, pinocchio_external

TITLE = (
    "Torques and their Jacobians as externals of CasADi, arms without friction and rotors: what the target `casadi` "
    "writes of inverse_dynamics and linearize_inverse, beside CasADi's C of Pinocchio's rnea and "
    "computeRNEADerivatives behind the same interface, compiled alike. First alone, mapped over 50 knots; then inside "
    "nlpsol: IPOPT, quasi-Newton, a motion of 50 knots with torque limits, 40 iterations, processor times as nlpsol "
    "states them. CasADi's own Jacobian multiplies the external's by 3 n directions; with blocks, it is given as the "
    "option jac_g (docs/targets/frameworks.md). Over knots, ours is one external for all of them (`knots=50`), with "
    "CasADi's own Jacobian or with blocks, beside the peer mapped and with blocks, its best way."
)
ARMS = {"kr6_r700": 60.0, "panda": 25.0}  # torque limits [N m]
KNOTS, SOLVES = 50, 12
AGREEMENT = 1e-12
Times = Mapping[str, float]
Pair = tuple[Any, Any]  # torques over all knots, and their Jacobians


def rows() -> Iterator[Row]:
    """Each arm: calls alone, CasADi's own Jacobian, blocks; ours of one state, and over knots beside the same peer."""
    with one_processor():
        for name, limit in ARMS.items():
            robot = arm(name)
            with TemporaryDirectory() as ours, TemporaryDirectory() as theirs:
                single, over = our_externals(robot, Path(ours), KNOTS)
                mine, knots = _mapped(single), (over, over.jacobian())
                peer = _mapped(pinocchio_external(robot, Path(theirs)))
                agree = max(_disagreement(own, peer) for own in (mine, knots))
                own_jacobian = [_solver(pair, limit, blocks=False) for pair in (mine, knots, peer)]
                blocks = [_solver(pair, limit, blocks=True) for pair in (mine, knots, peer)]
                ways = {
                    "alone": _alone(mine, peer),
                    "alone over knots": _alone(knots, peer),
                    "nlpsol": _in_turns(own_jacobian[0], own_jacobian[2]),
                    "nlpsol over knots": _in_turns(own_jacobian[1], blocks[2]),
                    "nlpsol with blocks": _in_turns(blocks[0], blocks[2]),
                    "nlpsol over knots with blocks": _in_turns(blocks[1], blocks[2]),
                }
                for way, (seconds_of, others) in ways.items():
                    for key, seconds in seconds_of.items():
                        name_of_peer, note = f"Pinocchio's C by CasADi {casadi.__version__}", f"agree to {agree:.0e}"
                        yield Row(f"{name}, {way}, {key}", seconds, others[key], name_of_peer, note=note)


def _mapped(function: Any) -> Pair:
    """A function of one state and its Jacobian, knot by knot."""
    return function.map(KNOTS), function.jacobian().map(KNOTS)


def _disagreement(ours: Pair, theirs: Pair) -> float:
    motion = np.random.default_rng(0).uniform(-np.pi, np.pi, (3, ours[0].size1_in(0), KNOTS))
    # Nonzeros: blocks stand one after another, whether their matrix is wide or has them on its diagonal.
    results = [
        np.hstack([np.array(block.nonzeros()) for block in (f(*motion), *jacobian(*motion, 0))])
        for f, jacobian in (ours, theirs)
    ]
    error = float(np.abs(results[0] - results[1]).max() / np.abs(results[1]).max())
    if error > AGREEMENT:
        raise RuntimeError(f"the peer disagrees by {error:.1e}; its time means nothing")
    return error


def _alone(ours: Pair, theirs: Pair) -> tuple[Times, Times]:
    """Seconds of one call over all knots, through CasADi's buffers."""
    found: tuple[dict[str, float], dict[str, float]] = {}, {}
    for key, pair in zip(("torques", "Jacobians"), zip(ours, theirs, strict=True), strict=True):
        seconds = side_by_side({str(k): _called(f) for k, f in enumerate(pair)}, clock=time.process_time)
        for times, second in zip(found, seconds.values(), strict=True):
            times[key] = second
    return found


def _called(function: Any) -> Callable[[], object]:
    rng = np.random.default_rng(0)
    inputs = [rng.uniform(-1, 1, function.numel_in(k)) for k in range(function.n_in())]
    outputs = [np.empty(function.numel_out(k)) for k in range(function.n_out())]
    buffer, evaluate = function.buffer()
    for k, array in enumerate(inputs):
        buffer.set_arg(k, memoryview(array))
    for k, array in enumerate(outputs):
        buffer.set_res(k, memoryview(array))
    # evaluate() alone keeps none of its arrays alive
    return partial(lambda *held: held[0](), evaluate, buffer, function, inputs, outputs)


def _in_turns(ours: Callable[[], Times], theirs: Callable[[], Times]) -> tuple[Times, Times]:
    """Least times of many solutions."""
    best: tuple[dict[str, float], dict[str, float]] = {}, {}
    for _ in range(SOLVES):
        for kept, solve in zip(best, (ours, theirs), strict=True):
            kept |= {key: min(seconds, kept.get(key, np.inf)) for key, seconds in solve().items()}
    return best


def _solver(pair: Pair, limit: float, *, blocks: bool) -> Callable[[], Times]:
    """A solution; its seconds per call and per iteration."""
    torques, jacobians = pair
    n, h = torques.size1_in(0), 1.0 / (KNOTS - 1)
    x = casadi.MX.sym("x", 3 * n * KNOTS)
    q, qd, qdd = (casadi.reshape(part, n, KNOTS) for part in casadi.vertsplit(x, n * KNOTS))
    before, after = slice(0, KNOTS - 1), slice(1, KNOTS)
    # Acceleration linear between knots, from rest to rest.
    defects = casadi.veccat(
        qd[:, after] - qd[:, before] - h / 2 * (qdd[:, before] + qdd[:, after]),
        q[:, after] - q[:, before] - h * qd[:, before] - h**2 / 6 * (2 * qdd[:, before] + qdd[:, after]),
        *(q[:, 0] + 1.2, q[:, -1] - 1.2, qd[:, 0], qd[:, -1]),
    )
    g = casadi.vertcat(casadi.vec(torques(q, qd, qdd)), defects)
    quiet = {"print_level": 0, "sb": "yes", "hessian_approximation": "limited-memory", "max_iter": 40}
    options: dict[str, Any] = {"ipopt": quiet, "print_time": False, "record_time": True}
    if blocks:
        along = casadi.diagcat(*[casadi.Sparsity.dense(n, n)] * KNOTS)
        by = jacobians(q, qd, qdd, casadi.MX(n, KNOTS))
        slopes = casadi.horzcat(*(casadi.sparsity_cast(block, along) for block in by))
        jacobian = casadi.vertcat(slopes, casadi.evalf(casadi.jacobian(defects, x)))
        names = ["x", "p"], ["g", "jac_g_x"]
        options["jac_g"] = casadi.Function("jac_g", [x, casadi.MX.sym("p", 0)], [g, jacobian], *names)
    solver = casadi.nlpsol("solver", "ipopt", {"x": x, "f": h * casadi.sumsqr(qdd), "g": g}, options)
    limits = np.concatenate([np.full(n * KNOTS, limit), np.zeros(defects.numel())])

    def solve() -> Times:
        solver(x0=0.0, lbg=-limits, ubg=limits)
        stats = solver.stats()
        functions = sum(seconds for key, seconds in stats.items() if key.startswith("t_proc_nlp_"))
        return {
            "constraints": stats["t_proc_nlp_g"] / stats["n_call_nlp_g"],
            "Jacobian of the constraints": stats["t_proc_nlp_jac_g"] / stats["n_call_nlp_jac_g"],
            "all functions of an iteration": functions / stats["iter_count"],
            "an iteration with IPOPT's own work": stats["t_proc_total"] / stats["iter_count"],
        }

    return solve
