"""Where the URDF files of real robots are: example-robot-data, and pybullet_data for the iiwa14."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

from tauform import Robot


def example_folder() -> Path:
    """The data folder of example-robot-data; it shares its installation prefix with Pinocchio.

    Raises:
        FileNotFoundError: Pinocchio is not installed.
    """
    # Looked for here: who simulates robots of our own needs neither.
    spec = importlib.util.find_spec("pinocchio")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("example-robot-data stands beside Pinocchio, which is not installed")
    prefix = next(parent for parent in Path(spec.origin).parents if parent.name == "cmeel.prefix")
    return prefix / "share" / "example-robot-data" / "robots"


def all_urdfs() -> list[Path]:
    """Every URDF of example-robot-data."""
    return sorted(example_folder().rglob("*.urdf"))


def urdf(name: str) -> Path:
    """The path of a URDF by its file name; "iiwa14" is the one of pybullet_data.

    Raises:
        FileNotFoundError: the package that has it is not installed.
    """
    if name == "iiwa14":
        spec = importlib.util.find_spec("pybullet_data")
        found = [Path(spec.origin).parent / "kuka_iiwa" / "model.urdf"] if spec and spec.origin else []
    else:
        found = [path for path in all_urdfs() if path.stem == name]
    if not found:
        raise FileNotFoundError(f"no URDF of {name}: is example-robot-data (iiwa14: pybullet) installed?")
    return found[0]


def copied_urdf(name: str, folder: Path) -> Path:
    """A URDF of example-robot-data in a folder of one's own; its meshes stay where they are."""
    text = urdf(name).read_text(encoding="utf-8")
    meshes = example_folder().as_posix()
    copy = folder / f"{name}.urdf"
    copy.write_text(text.replace("package://example-robot-data/robots", f"file://{meshes}"), encoding="utf-8")
    return copy


def without_losses(robot: Robot) -> Robot:
    """The bare tree that other tools compute with: no friction, no rotors, mimic joints free."""
    nothing = {"viscous": 0.0, "coulomb": 0.0, "offset": 0.0, "rotor_inertia": None}
    return replace(robot, closure=None, joints=tuple(replace(joint, **nothing) for joint in robot.joints))
