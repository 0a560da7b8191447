"""ROS 2 as a target: a package with a solver plugin and a gravity-compensation controller over the plain C.

Declarations follow inverse_dynamics_solver (unisa-acg/inverse-dynamics-solver at 24aeb34) and ros2_control at 00228c4;
values of interfaces are read and set as those of both older and newer distributions allow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tauform.codegen.backends.backend import Backend, Request, release
from tauform.codegen.backends.interfaces import needed, plain_c
from tauform.codegen.backends.templating import template
from tauform.codegen.names import c_prefix
from tauform.codegen.program.program import Program
from tauform.errors import GenerationError
from tauform.escaping.tables import yaml_string
from tauform.version import __version__

# What the solver interface passes to each function.
WANTED = {"mass_matrix": ("q",), "velocity_torque": ("q", "qd"), "gravity_torque": ("q",), "friction": ("qd",)}
# Files by their places in the package, and the template of each.
FILES = {
    "package.xml": "package.xml",
    "CMakeLists.txt": "package.cmake",
    "Makefile": "Makefile",
    "README.md": "README.md",
    "solver_plugin.xml": "solver_plugin.xml",
    "controller_plugin.xml": "controller_plugin.xml",
    "include/{name}/solver.hpp": "solver.hpp",
    "include/{name}/gravity_compensation_controller.hpp": "controller.hpp",
    "src/solver.cpp": "solver.cpp",
    "src/gravity_compensation_controller.cpp": "controller.cpp",
    "config/controllers.yaml": "controllers.yaml",
    "launch/gravity_compensation.launch.py": "launch.py.txt",
}


class Ros2(Backend):
    """The backend."""

    title = "ROS 2"
    functions = tuple(WANTED)

    def prefix(self, name: str | None, robot: str) -> str:
        """Name of the package: an identifier of lower-case letters, digits and single underscores."""
        usable = c_prefix(name, robot)
        # REP 144: names of packages.
        package = re.sub("_+", "_", usable.lower()).strip("_")
        if name is not None and name != package:
            raise GenerationError(
                f"name: {name!r} is no name of a ROS package; take lower-case letters, digits and single _, "
                f"such as {package!r}"
            )
        return package

    def files(self, request: Request) -> dict[str, str]:
        """The package: plain C with its self-test, both plugins, parameters and a launch file."""
        name, inner = request.prefix, f"{request.prefix}_plain"
        wanted = _wanted(request.programs)
        gravity = needed(request.programs, wanted, self.title)["gravity_torque"]
        n = gravity.outputs[0].size
        # The controller claims hardware by these names; without any, the user edits the file.
        joints = gravity.about.joints or tuple(f"joint{k + 1}" for k in range(n))
        rubbing = "friction" in wanted
        facts = {
            "name": name,
            "inner": inner,
            "guard": name.upper(),
            "n": str(n),
            "version": __version__,
            "release": release() if release().count(".") == 2 else f"{release()}.0",
            "joints": "".join(f"      - {yaml_string(joint)}\n" for joint in joints),
            "functions": ", ".join(program.name for program in request.programs),
            # A robot without friction has a vector of zeros, and nothing to call.
            "friction": f"{inner}_friction(joint_velocities.data(), torques.data());" if rubbing else "",
            "compensated": f"{inner}_friction(velocities.data(), friction.data());" if rubbing else "",
            "frictionless": "" if rubbing else " The robot has no friction: its vector is zero.",
        }
        written = {
            file.format(name=name): template(__package__, source).substitute(facts) for file, source in FILES.items()
        }
        code = {f"src/{file}": text for file, text in plain_c(request, inner).items()}
        return {**code, **written}

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """The compiled self-test."""
        return (f"test_{prefix}",)

    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """The self-test of the C; the plugins need ROS 2, which builds them with colcon."""
        return (("make", "check"),)


def _wanted(programs: Sequence[Program]) -> dict[str, tuple[str, ...]]:
    """Functions that the plugin calls; friction only where the robot has some."""
    # Needed where the robot rubs: the solver's torque without it would be silently wrong.
    rubs = any(program.about.has_friction or program.name == "friction" for program in programs)
    return {name: inputs for name, inputs in WANTED.items() if rubs or name != "friction"}


BACKEND = Ros2()
