"""Robotics Toolbox for Python: a DH table with inertias, for which it has Newton-Euler in C."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from roboticstoolbox import DHRobot, RevoluteMDH

import tauform as tf
from tools.python_peers.dh_table import dh_table
from tools.python_peers.peer import Peer, direct, looped


def peer(robot: tf.Robot) -> Peer:
    """rne takes batches; inertia and accel are made of calls of rne, one state after the other."""
    table = dh_table(robot)
    links = [
        RevoluteMDH(
            alpha=row.alpha,
            a=row.a,
            offset=row.theta,
            d=row.d,
            m=row.inertia.mass,
            r=row.inertia.com,
            I=row.inertia.tensor_about_com,
            name=f"link{i}",
        )
        for i, row in enumerate(table.rows)
    ]
    theirs = DHRobot(links, gravity=table.gravity)
    calls = {
        "inverse_dynamics": lambda q, qd, qdd: np.asarray(theirs.rne(q, qd, qdd)),
        "mass_matrix": lambda q: np.asarray(theirs.inertia(q)),
        "forward_dynamics": lambda q, qd, tau: np.asarray(theirs.accel(q, qd, tau)),
    }
    batch = {name: looped(function) for name, function in calls.items()}
    batch["inverse_dynamics"] = direct(calls["inverse_dynamics"])
    name = f"Robotics Toolbox {version('roboticstoolbox-python')}"
    return Peer(name, {name: direct(function) for name, function in calls.items()}, batch)
