"""Random MuJoCo models with everything that acts on bodies: read with the torques of MuJoCo, or refused by name."""

from __future__ import annotations

import os
from pathlib import Path

import mujoco
import numpy as np
import pytest

import tauform as tf
from tauform.errors import DescriptionError

# MJCF_SCALE=100 is a campaign.
N_MODELS = 80 * int(os.environ.get("MJCF_SCALE", "1"))
Numbers = np.ndarray


def numbers(values: Numbers | list[float]) -> str:
    return " ".join(f"{value:.6g}" for value in np.atleast_1d(values))


class Maker:
    """One model, drawn from everything that MJCF can say about dynamics."""

    def __init__(self, seed: int, odd: float) -> None:
        self.rng, self.odd, self.joints = np.random.default_rng(seed), odd, list[str]()

    def some(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def size(self, low: float = 0.05, high: float = 2.0) -> float:
        return float(self.rng.uniform(low, high))

    def attributes(self, choices: dict[str, str], share: float) -> str:
        return " ".join(f'{key}="{value}"' for key, value in choices.items() if self.some(share))

    def joint(self) -> str:
        name = f"j{len(self.joints)}"
        self.joints.append(name)
        kind = "slide" if self.some(0.3) else "hinge"
        usual = {"armature": numbers([self.size()]), "damping": numbers([self.size()]), "frictionloss": "0.3"}
        usual |= {"ref": "0.4", "pos": numbers(self.rng.normal(size=3) * 0.1), "range": "-1 2"}
        rare = {"stiffness": numbers([self.size()]), "springref": "0.3", "springdamper": "0.1 1", "damping": "1 2 3"}
        rare |= {"stiffness ": "1 0.5", "actuatorgravcomp": "true"}
        text = self.attributes(usual, 0.4)
        for key, value in rare.items():
            if self.some(self.odd) and f"{key.strip()}=" not in text:
                text += f' {key.strip()}="{value}"'
        return f'<joint name="{name}" type="{kind}" axis="{numbers(self.rng.normal(size=3))}" {text}/>'

    def inertia(self) -> str:
        if self.some(0.5):
            moments = self.rng.uniform(0.02, 0.03, 3)
            turn = numbers(self.rng.normal(size=4))
            place = numbers(self.rng.normal(size=3) * 0.2)
            return f'<inertial mass="{self.size()}" pos="{place}" quat="{turn}" diaginertia="{numbers(moments)}"/>'
        shapes = {"box": "0.1 0.2 0.3", "sphere": "0.1", "capsule": "0.05 0.2", "cylinder": "0.05 0.2"}
        kind = str(self.rng.choice(list(shapes)))
        weight = f'mass="{self.size()}"' if self.some(0.5) else f'density="{self.size() * 500}"'
        place = numbers(self.rng.normal(size=3) * 0.2)
        return f'<geom type="{kind}" size="{shapes[kind]}" {weight} pos="{place}" euler="10 20 30"/>'

    def body(self, depth: int) -> str:
        compensated = 'gravcomp="0.5"' if self.some(self.odd / 2) else ""
        turn = f'quat="{numbers(self.rng.normal(size=4))}"' if self.some(0.7) else 'euler="30 -20 70"'
        joints = "".join(self.joint() for _ in range(int(self.rng.choice([0, 1, 1, 1, 2]) if self.joints else 1)))
        inside = joints + self.inertia() + (f'<site name="s{len(self.joints)}" pos="0.1 0 0"/>' if joints else "")
        for _ in range(int(self.rng.integers(0, 3)) if depth < 3 else 0):
            inside += self.body(depth + 1)
        return f'<body pos="{numbers(self.rng.normal(size=3) * 0.3)}" {turn} {compensated}>{inside}</body>'

    def motors(self) -> str:
        text = ""
        for name in self.joints:
            while self.some(0.3):
                where = f'{"jointinparent" if self.some(0.2) else "joint"}="{name}"'
                if self.tendons and self.some(self.odd):
                    where = 'tendon="t0"'
                extra = {"armature": numbers([self.size()]), "damping": numbers([self.size()])}
                text += f'<motor {where} gear="{numbers([self.size(-5, 5)])}" {self.attributes(extra, 0.6)}'
                text += (
                    ' damping="1 0.2"/>' if "damping" not in text.rsplit("<", 1)[-1] and self.some(self.odd) else "/>"
                )
            if self.some(0.1):
                text += f'<position joint="{name}" kp="50" kv="2"/><velocity joint="{name}" kv="3"/>'
        return f"<actuator>{text}</actuator>"

    def some_tendons(self) -> str:
        self.tendons = "t0" if len(self.joints) > 1 and self.some(0.4) else ""
        if not self.tendons:
            return ""
        acting = {"stiffness": "3", "damping": "2", "frictionloss": "1", "armature": "0.2"}
        pulled = "".join(f'<joint joint="{name}" coef="{self.size():.3g}"/>' for name in self.joints[:2])
        return f'<tendon><fixed name="t0" {self.attributes(acting, self.odd)}>{pulled}</fixed></tendon>'

    def equalities(self) -> str:
        text = ""
        while len(self.joints) > 1 and self.some(0.3):
            first, second = self.rng.choice(self.joints, 2, replace=False)
            curved = "0.1" if self.some(self.odd) else "0"
            leader = f'joint2="{second}"' if self.some(0.8) else ""
            active = 'active="false"' if self.some(0.2) else ""
            text += f'<joint joint1="{first}" {leader} polycoef="0.1 {self.size():.3g} {curved} 0 0" {active}/>'
        return f"<equality>{text}</equality>"

    def option(self) -> str:
        rare = {"density": "1.2", "viscosity": "0.1", "wind": "1 0 0", "integrator": "implicit"}
        flags = dict.fromkeys(
            ("gravity", "damper", "spring", "frictionloss", "equality", "constraint", "limit"), "disable"
        )
        flags |= {"actuation": "disable", "invdiscrete": "enable", "energy": "enable"}
        chosen = self.attributes(flags, self.odd / 2)
        flag = f"<flag {chosen}/>" if chosen else ""
        gravity = numbers(self.rng.normal(size=3) * 5)
        return f'<option gravity="{gravity}" {self.attributes(rare, self.odd / 2)}>{flag}</option>'

    def model(self) -> str:
        compiler = {"boundmass": "0.01", "balanceinertia": "true", "inertiafromgeom": "true"}
        bodies = "".join(self.body(0) for _ in range(int(self.rng.integers(1, 3))))
        parts = self.some_tendons() + self.motors() + self.equalities()
        head = f"<compiler {self.attributes(compiler, 0.15)}/>{self.option()}"
        return f'<mujoco model="m">{head}<worldbody>{bodies}</worldbody>{parts}</mujoco>'


def mujoco_torque(text: str, robot: tf.Robot, q: Numbers, qd: Numbers, qdd: Numbers) -> Numbers:
    """Torques of the joints that q holds: those of the tree, by the principle of virtual work, and Coulomb friction."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    model.opt.enableflags = 0
    F, offset = np.eye(robot.n_bodies), np.zeros(robot.n_bodies)
    if robot.closure is not None:
        F, offset = robot.closure.F, robot.closure.offset
    order = [model.joint(joint.name).id for joint in robot.joints]
    data = mujoco.MjData(model)
    data.qpos[order], data.qvel[order], data.qacc[order] = F @ q + offset, F @ qd, F @ qdd
    mujoco.mj_inverse(model, data)
    friction = model.dof_frictionloss[order] * np.sign(F @ qd)
    return np.asarray(F.T @ (data.qfrc_inverse[order] + friction))


@pytest.mark.parametrize("odd", [0.0, 0.03])
def test_random_models_have_the_torques_of_mujoco_or_are_refused(odd: float, tmp_path: Path) -> None:
    read, reasons = 0, set[str]()
    path = tmp_path / "m.xml"
    for seed in range(N_MODELS):
        text = Maker(seed, odd).model()
        path.write_text(text)
        try:
            robot = tf.load(path)
        except DescriptionError as error:
            reasons.add(str(error))
            continue
        read += 1
        q, qd, qdd = np.random.default_rng(seed).normal(size=(3, robot.n_joints))
        expected = mujoco_torque(text, robot, q, qd, qdd)
        torque = tf.inverse_dynamics(robot, q, qd, qdd)
        np.testing.assert_allclose(torque, expected, rtol=0, atol=1e-9 * max(1.0, np.abs(expected).max()), err_msg=text)
    assert read > N_MODELS * (0.2 if odd else 0.6), reasons
    assert len(reasons) >= (8 if odd else 0)
    assert not [reason for reason in reasons if "MuJoCo finds other torques" in reason]  # each cause has its sentence
