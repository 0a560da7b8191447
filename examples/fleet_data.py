"""Fleet data: logs of many simulated KR6 arms, with spread between units, drift over shifts and known faults.

`python examples/fleet_data.py FOLDER --units 1000 --seconds 600` writes one Parquet file per unit and shift, and
`truth.json` that says what is wrong with whom, so that everything `tauform fleet` states can be checked:

    tauform fleet kr6_r700 FOLDER -o out
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tauform as tf
from tauform.arrays import Array

# What healthy units differ by from one another, relative: links by casting and cables, friction by assembly.
LINK_SPREAD, FRICTION_SPREAD = 0.01, 0.04
# Of the root mean square torque of a joint; encoders in rad.
TORQUE_NOISE, POSITION_NOISE = 0.02, 2e-5
VISCOUS = np.array([6.0, 6.0, 4.0, 1.2, 0.9, 0.6])
COULOMB = np.array([9.0, 9.0, 6.0, 2.0, 1.5, 1.0])
POSE = np.array([0.0, -0.8, 1.0, 0.3, 0.6, 0.0])
# Fourier motion of 20 s, another one in each shift of each unit.
PERIOD, HARMONICS = 20.0, 5
# Seconds between the starts of shifts: eight hours.
SHIFT = 28_800.0
FAULTS = ("friction", "gain", "payload", "swap", "drift")
PAYLOAD = tf.Inertia.of(1.5, com=[0.0, 0.0, 0.06])


@dataclass(frozen=True)
class Unit:
    """A unit and what is wrong with it: "" or one of FAULTS, at a joint."""

    name: str
    fault: str
    joint: int


class Factory:
    """Makes the logs; one compiled kernel takes the parameters of every unit at run time."""

    def __init__(self, seed: int = 0) -> None:
        self.robot = tf.load("kr6_r700")
        self.kernel = tf.compile(self.robot, parameters="runtime")
        self.seed = seed

    def units(self, count: int, share: float) -> list[Unit]:
        """Every unit; a share of them has faults, all kinds in turns."""
        rng = np.random.default_rng([self.seed, 1])
        n_faulty = round(share * count)
        ill = {int(k): i for i, k in enumerate(rng.permutation(count)[:n_faulty])}
        return [
            Unit(f"R{k:05d}", FAULTS[ill[k] % len(FAULTS)] if k in ill else "", int(rng.integers(self.robot.n_joints)))
            for k in range(count)
        ]

    def logs(self, unit: Unit, shifts: int, seconds: float, rate: float) -> list[tuple[float, Array, Array, Array]]:
        """(start, t, q, tau) of each shift of a unit."""
        rng = np.random.default_rng([self.seed, 2, int(unit.name[1:])])
        robot = self.robot.with_payload(PAYLOAD) if unit.fault == "payload" else self.robot
        values = robot.parameters * (1 + LINK_SPREAD * rng.normal(size=robot.layout.n))
        theta = self.kernel.program.theta_of(robot.with_parameters(values))
        viscous, coulomb = (f * (1 + FRICTION_SPREAD * rng.normal(size=6)) for f in (VISCOUS, COULOMB))
        found = []
        for shift in range(shifts):
            scale = np.ones(6)
            if unit.fault == "friction":
                scale[unit.joint] = 1.3
            if unit.fault == "drift":
                # Wear that rises from shift to shift, by 30 % at the end.
                scale[unit.joint] = 1 + 0.3 * shift / max(1, shifts - 1)
            t = np.arange(round(seconds * rate)) / rate
            q, qd, qdd = _motion(t, rng)
            tau = self.kernel(q, qd, qdd, theta) + scale * (viscous * qd + coulomb * np.sign(qd))
            tau += TORQUE_NOISE * tau.std(axis=0) * rng.standard_normal(tau.shape)
            found.append((SHIFT * shift, t, q + POSITION_NOISE * rng.standard_normal(q.shape), _logged(unit, tau)))
        return found


def _motion(t: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """A periodic motion of all joints about a working pose."""
    w = 2 * np.pi / PERIOD * np.arange(1, HARMONICS + 1)
    a, b = rng.normal(size=(2, HARMONICS, 6)) * 0.5 / np.arange(1, HARMONICS + 1)[:, None]
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q = POSE + sine @ a + cosine @ b
    return q, (cosine * w) @ a - (sine * w) @ b, -(sine * w**2) @ a - (cosine * w**2) @ b


def _logged(unit: Unit, tau: Array) -> Array:
    """Torques as the drives report them."""
    if unit.fault == "gain":
        # Lost magnetisation: 15 % less torque per ampere than the drive believes.
        tau[:, unit.joint] /= 0.85
    if unit.fault == "swap":
        other = (unit.joint + 1) % 6
        tau[:, [unit.joint, other]] = tau[:, [other, unit.joint]]
    return tau


def write_fleet(
    folder: Path,
    units: int,
    seconds: float,
    *,
    rate: float = 100.0,
    shifts: int = 4,
    share: float = 0.05,
    seed: int = 0,
) -> list[Unit]:
    """Write the data set and what is true of it.

    Args:
        units: how many.
        seconds: of motion of each unit, over all shifts.
        share: of units with a fault.
    """
    import pyarrow
    from pyarrow import parquet

    factory = Factory(seed)
    made = factory.units(units, share)
    for unit in made:
        place = folder / f"unit={unit.name}"
        place.mkdir(parents=True, exist_ok=True)
        for k, (start, t, q, tau) in enumerate(factory.logs(unit, shifts, seconds / shifts, rate)):
            columns: dict[str, Any] = {"t": t + start}
            # Single precision, as loggers write it; halves the disk.
            columns |= {f"q{j + 1}": q[:, j].astype(np.float32) for j in range(6)}
            columns |= {f"tau{j + 1}": tau[:, j].astype(np.float32) for j in range(6)}
            parquet.write_table(pyarrow.table(columns), place / f"shift{k:04d}.parquet", compression="lz4")
    told = [{"unit": u.name, "fault": u.fault, "joint": u.joint + 1} for u in made]
    (folder / "truth.json").write_text(json.dumps(told, indent=0) + "\n", encoding="utf-8")
    return made


def main() -> int:
    """Write a fleet and say what is in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("build/fleet"))
    parser.add_argument("--units", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=40.0, help="of motion of each unit")
    parser.add_argument("--shifts", type=int, default=4, help="files of each unit")
    parser.add_argument("--share", type=float, default=0.05, help="of units with a fault")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    made = write_fleet(
        given.folder, given.units, given.seconds, shifts=given.shifts, share=given.share, seed=given.seed
    )
    faulty = sum(bool(unit.fault) for unit in made)
    print(f"{given.folder}: {len(made)} units, {given.shifts} shifts of {given.seconds / given.shifts:g} s each")
    print(f"{faulty} with a fault, named in truth.json; try: tauform fleet kr6_r700 {given.folder} -o out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
