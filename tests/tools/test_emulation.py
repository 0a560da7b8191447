"""Written C on other processors, in QEMU: its stored results are repeated, its cost is counted to the instruction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tools.emulation.counting import count_on
from tools.emulation.machines import MACHINES, Machine
from tools.measuring.c_timing import CFunction
from traced_programs import every_kind, inverse_dynamics

FLAGS = ("-O2", "-std=c99", "-ffp-contract=fast", "-Wall", "-Wextra", "-Werror")
FUNCTIONS = ("inverse_dynamics", "gravity_torque", "mass_matrix", "forward_dynamics", "momentum_observer")
ROBOTS = {
    "chain": tf.load("kr6_r700"),
    "loop": tf.load("parallelogram"),
    "tree": tf.random_robot(5, seed=3, branching=0.6),
}


def installed(name: str) -> Machine:
    machine = MACHINES[name]
    if machine.missing():
        pytest.skip(f"{machine.missing()} is not installed")
    return machine


def passes(machine: Machine, folder: Path) -> str:
    """Output of the folder's own self-test on the machine."""
    program = machine.compiled([folder / "arm.c", folder / "test_arm.c"], folder / "program", FLAGS)
    return machine.run(program)


@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("name", representatives(MACHINES, "m4f", "aarch64"))
def test_the_self_test_passes_on_the_machine(tmp_path: Path, name: str, real: str) -> None:
    machine = installed(name)
    tf.write_c([inverse_dynamics(tf.load("two_link")), every_kind()], tmp_path, name="arm", real=real)
    assert "arm: passed" in passes(machine, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", MACHINES)
def test_robots_on_every_machine(tmp_path: Path, name: str, robot: str, real: str) -> None:
    machine = installed(name)
    programs = [tf.generate(ROBOTS[robot], function) for function in FUNCTIONS]
    tf.write_c(programs, tmp_path, name="arm", real=real)
    said = passes(machine, tmp_path)
    assert "arm: passed" in said
    assert all(function in said for function in FUNCTIONS)


@pytest.mark.parametrize("name", representatives(MACHINES, "m4f"))
def test_instructions_and_stack_are_counted_exactly(tmp_path: Path, name: str) -> None:
    """A hundred instructions more are a hundred, and 512 bytes more on the stack are 512."""
    machine = installed(name)
    texts = {
        "plain": "out[0] = 2*in[0];",
        "longer": '__asm__ volatile(".rept 100\\n\\tnop\\n\\t.endr"); out[0] = 2*in[0];',
        "deeper": "volatile char room[512]; room[0] = 1; out[0] = 2*in[0] + (float)(room[0] - 1);",
    }
    head = "void {}(const float *in, float *out)"
    functions = []
    for label, text in texts.items():
        source = tmp_path / f"{label}.c"
        source.write_text(f"{head.format(label)};\n{head.format(label)}\n{{ {text} }}\n")
        functions.append(CFunction(label, (source,), f"{head.format(label)};", f"{label}(in, out);"))
    inputs = np.array([[1.5], [-0.25]])
    counted = count_on(machine, functions, inputs, 1, "float", ("-O2", "-std=c99"))
    assert counted["longer"].instructions - counted["plain"].instructions == 100
    assert 512 <= counted["deeper"].stack_bytes - counted["plain"].stack_bytes <= 540
    assert counted["longer"].text_bytes > counted["plain"].text_bytes
    for label in texts:
        np.testing.assert_array_equal(counted[label].outputs, 2 * inputs)
