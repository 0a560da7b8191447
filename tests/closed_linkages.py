"""Linkages whose loops are not linear in q: four-bars closed in several ways, slider-cranks."""

from __future__ import annotations

import numpy as np

import tauform as tf
from tauform.description.joint import Frame, Joint, Link
from tauform.description.robot import Robot

CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.45, 0.35, 0.5
UPRIGHT = np.array([[1.0, 0, 0, 0.1], [0, 0, -1, 0], [0, 1, 0, 0.5], [0, 0, 0, 1]])


def place(x: float = 0.0, on: np.ndarray | None = None) -> np.ndarray:
    T = np.eye(4)
    T[0, 3] = x
    return T if on is None else on @ T


def link(name: str, seed: int) -> Link:
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(3, 3)) * 0.1
    return Link(name, tf.Inertia.of(rng.uniform(0.5, 2), rng.normal(size=3) * 0.1, half @ half.T, inertia_about="com"))


def four_bar(closed_at: str = "rocker", friction: bool = False) -> Robot:
    """A column that turns, and a four-bar on it: crank, coupler, rocker.

    Args:
        closed_at: "rocker": coupler and rocker meet at a point; "ground": the rocker, at the end of the coupler, meets
            the column at a point; "frame": so it does with a last link whose axes stay those of the column.
    """
    drive = {"rotor_inertia": 0.02, "viscous": 0.3, "coulomb": 0.2} if friction else {"rotor_inertia": 0.02}
    joints = [Joint("yaw", "revolute", -1, np.eye(4), **drive), Joint("crank", "revolute", 0, UPRIGHT, **drive)]
    joints.append(Joint("coupler", "revolute", 1, place(CRANK), **drive))
    ground = Frame("ground", 0, place(GROUND, UPRIGHT))
    start = {"crank": 1.0, "coupler": -0.7, "rocker": 1.6}
    if closed_at == "rocker":
        joints.append(Joint("rocker", "revolute", 0, place(GROUND, UPRIGHT), **drive))
        frames = (Frame("coupler_end", 2, place(COUPLER)), Frame("rocker_end", 3, place(ROCKER)))
    else:
        joints.append(Joint("rocker", "revolute", 2, place(COUPLER), **drive))
        frames = (Frame("rocker_end", 3, place(-ROCKER)), ground)
        start = {"crank": 1.0, "coupler": -0.7, "rocker": 1.3}
    links = [link(joint.name, k) for k, joint in enumerate(joints)]
    if closed_at != "rocker":  # its frame sits at the other end of the same body
        links[3] = Link("rocker", links[3].inertia.moved(place(-ROCKER)))
    passive = ["coupler", "rocker"]
    if closed_at == "frame":
        joints.append(Joint("last", "revolute", 3, place(-ROCKER)))
        links.append(Link("last", tf.Inertia.zero()))
        frames = (Frame("last_end", 4, np.eye(4)), ground)
        passive.append("last")
        start["last"] = -1.6
    robot = Robot("four_bar", tuple(joints), tuple(links), frames=frames)
    names = [frame.name for frame in frames]
    return robot.with_closed_loop("four-bar", names, passive, start, "frame" if closed_at == "frame" else "point")


RADIUS, ROD, OFFSET = 0.1, 0.35, 0.03


def slider_crank(by: str) -> Robot:
    """Crank, connecting rod, and a piston that slides along x with an offset in y; gravity along -y.

    Args:
        by: "text": relations given as functions; "loop": closed and solved; "inline": the slide sits at the end of the
            rod, which is closed on the cylinder.
    """
    slide = np.array([[0.0, 0, 1, 0], [0, 1, 0, OFFSET], [-1, 0, 0, 0], [0, 0, 0, 1]])
    joints = (
        Joint("crank", "revolute", -1, np.eye(4), rotor_inertia=0.01),
        Joint("rod", "revolute", 0, place(RADIUS)),
        Joint("piston", "prismatic", -1, slide, viscous=2.0),
    )
    links = tuple(link(joint.name, 10 + k) for k, joint in enumerate(joints))
    frames = (Frame("rod_end", 1, place(ROD)), Frame("pin", 2, np.eye(4)))
    robot = Robot("slider_crank", joints, links, np.array([0.0, -9.81, 0.0]), frames=frames)
    if by == "text":
        y = f"({OFFSET} - {RADIUS}*sin(crank))"
        return robot.with_relations(
            {
                "rod": f"asin({y}/{ROD}) - crank",
                "piston": f"{RADIUS}*cos(crank) + sqrt({ROD}**2 - {y}**2)",
            }
        )
    return robot.with_closed_loop("piston", ["rod_end", "pin"], ["rod", "piston"], {"crank": 0.5, "piston": 0.4})
