"""Planned blocks: registers and memory hold what the program says, and the machine code stores it in any batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

import tauform as tf
from tauform.codegen.backends.llvm import module
from tauform.codegen.backends.llvm.planned import block
from tauform.codegen.backends.llvm.planned.registers import FUSED, Allocation, Line, Operand, Place
from tauform.codegen.backends.llvm.planned.steps import GROUP, PlannedStep, planned_steps
from tauform.codegen.backends.llvm.text import DOUBLE, FLOAT, ScalarType, Vector
from tauform.codegen.candidates import plain_program
from tauform.codegen.functions import FUNCTIONS
from tauform.codegen.program.program import FREE, Op, Program
from tauform.codegen.runtime.kernel import Kernel, compile_program
from tauform.fast.functions import function_of

PLAIN: dict[str, Callable[..., Any]] = {
    "load": lambda x: x,
    "move": lambda x: x,
    "store": lambda x: x,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "negate": np.negative,
    "sqrt": np.sqrt,
}
SIGNS = {"fmadd": (1, 1), "fmsub": (1, -1), "fnmadd": (-1, 1)}


@pytest.fixture(scope="module", autouse=True)
def all_programs_are_planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORM_CACHE", str(tmp_path_factory.mktemp("kernels")))
        patch.setattr(block, "LEAST_OPERATIONS", 1)
        patch.setattr(block, "MOST_OTHERS", 10.0)
        yield


@pytest.fixture(scope="module")
def program() -> Program:
    return tf.generate(tf.load("sr6ia"), "linearize_forward")


def executed(line: Line, at: Callable[[Operand], Any]) -> Any:
    """What an instruction leaves in its target."""
    sources = [at(source) for source in line.sources]
    if line.op in PLAIN:
        return PLAIN[line.op](*sources)
    name, form = line.op[:-3], line.op[-3:]
    named = dict(zip("123", (at(line.target), *sources), strict=True))
    a, b, c = (named[digit] for digit in form)
    product, addend = SIGNS[name]
    return product * a * b + addend * c


@pytest.mark.parametrize("registers", [6, 9, 16, 30])
def test_registers_and_slots_hold_what_the_program_says(program: Program, registers: int) -> None:
    """An interpreter of the instructions, on as few registers as rows leave room for, and on many."""
    states = np.random.default_rng(0).uniform(-1, 1, (3, 5, 4))
    expected = program.values(list(states))
    steps = planned_steps(program, block.divided(program)[1])
    made = {step.value for step in steps}
    outside = dict.fromkeys(k for step in steps for k in step.args if k not in made)
    given = {k: Place("given", number) for number, k in enumerate(outside)}
    found = Allocation(steps, given, registers, for_rows=2)
    memory: dict[Operand, Any] = {place: expected[k] for k, place in given.items()}
    stored = [np.full((5, port.size), np.nan) for port in program.outputs]
    for line in found.lines:
        assert all(register < registers for register in (*line.free, *line.sources) if isinstance(register, int))
        if line.op == "rows":
            assert not set(line.free) & set(line.sources)
            port, column = line.place
            for k, source in enumerate(line.sources):
                stored[port][:, column + k] = memory[source]
            memory.update(dict.fromkeys(line.free, np.nan))
        else:
            memory[line.target] = executed(line, lambda operand: memory.get(operand, np.nan))
    assert all(place.index < found.n_slots for place in memory if isinstance(place, Place) and place.kind == "slot")
    for ours, right in zip(stored, program(*states), strict=True):
        np.testing.assert_allclose(ours, right.reshape(ours.shape), rtol=0, atol=1e-12 * np.abs(right).max())


@pytest.mark.parametrize("op", sorted(FUSED))
@pytest.mark.parametrize("args", [(0, 1, 2), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 0, 0)])
def test_sums_of_products_with_equal_operands(op: str, args: tuple[int, ...]) -> None:
    """Whether or not operands are needed again: one of three is overwritten."""
    values = {0: 1.3, 1: 0.7, 2: 2.1}
    a, b, c = (values[k] for k in args)
    product, addend = SIGNS[op]
    for again in ((), (0,), (0, 1, 2)):
        steps = [PlannedStep(op, args, 3), PlannedStep("rows", (3, *again, *[3] * (GROUP - 1 - len(again))))]
        lines = Allocation(steps, {k: Place("given", k) for k in values}, 8, for_rows=1).lines
        memory: dict[Operand, Any] = {Place("given", k): value for k, value in values.items()}
        for line in lines[:-1]:
            memory[line.target] = executed(line, memory.__getitem__)
        assert memory[lines[-1].sources[0]] == product * a * b + addend * c
        assert [memory[source] for source in lines[-1].sources[1 : 1 + len(again)]] == [values[k] for k in again]


def supported() -> list[Vector]:
    """Vectors that this processor computes with."""
    features = module.host()[1].split(",")
    if not llvm.get_default_triple().startswith("x86_64") or "+fma" not in features:
        return []
    bits = [256, *[512] * ("+avx512f" in features)]
    return [Vector(width // real.bits, True, real) for width in bits for real in (DOUBLE, FLOAT)]


def planned_kernel(program: Program, vector: Vector) -> Kernel:
    text = module.print_module(program, vector)
    assert "asm sideeffect" in text
    return Kernel(program, module.load_object(module.compile_object(text)), vector)


@pytest.mark.parametrize("vector", supported(), ids=lambda vector: vector.suffix)
def test_batches_of_any_size_and_layout_are_the_interpreted_program(program: Program, vector: Vector) -> None:
    kernel, lanes, real = planned_kernel(program, vector), vector.lanes, vector.scalar
    tolerance = 1e-13 if real is DOUBLE else 1e-4
    for n in (1, 2, lanes - 1, lanes, lanes + 1, 3 * lanes + 5):
        states = np.random.default_rng(n).uniform(-1, 1, (3, n, 4)).astype(real.dtype)
        expected = [np.asarray(x, dtype=real.dtype) for x in program(*states.astype(np.float64))]
        # room before and behind, which must stay as it is; rows apart; entries apart
        for layout in ((n + 2, 4, 4), (2 * n + 2, 4, 4), (n + 2, 4, 8)):
            arrays = [np.full(layout, np.nan, real.dtype) for _ in expected]
            step = 2 if layout[0] == 2 * n + 2 and n > 1 else 1
            views = tuple(array[1 : 1 + step * n : step, :, :: layout[2] // 4] for array in arrays)
            kernel(*states, out=views)
            for array, view, right in zip(arrays, views, expected, strict=True):
                assert np.abs(view - right).max() <= tolerance * np.abs(right).max()
                assert np.isnan(array).sum() == array.size - right.size


def test_vectors_are_narrower_where_results_would_fill_the_cache(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "host", lambda: ("skylake-avx512", "+avx,+avx512f,+fma"))
    assert module.kernel_vector(program).lanes == 8
    monkeypatch.setattr(module, "MOST_RESULT_BYTES", 3 * 16 * 8 * 8 - 1)
    assert module.kernel_vector(program).lanes == 4
    assert module.kernel_vector(program, FLOAT).lanes == 8
    monkeypatch.setattr(module, "host", lambda: ("haswell", "+avx,+fma"))
    assert module.kernel_vector(program).lanes == 4


@pytest.mark.parametrize("vector", supported(), ids=lambda vector: vector.suffix)
def test_an_output_may_be_the_array_of_an_input(vector: Vector) -> None:
    program = tf.generate(tf.load("sr6ia"), "inverse_dynamics")
    kernel, n = planned_kernel(program, vector), 3 * vector.lanes + 1
    states = np.random.default_rng(0).uniform(-1, 1, (3, n, 4)).astype(vector.scalar.dtype)
    expected = kernel(*states)
    for k in range(3):
        copies = states.copy()
        assert np.array_equal(kernel(*copies, out=copies[k]), expected)


def test_constants_and_inputs_may_be_results() -> None:
    """A mass matrix with constant entries, and zeros of either sign."""
    robot = tf.random_robot("PPR", 1, branching=0.0)
    program = tf.generate(robot, "mass_matrix")
    assert any(program.instructions[k].op in FREE for result in program.results for k in result)
    assert any(program.instructions[k].op is not Op.CONSTANT for result in program.results for k in result)
    q = np.random.default_rng(0).uniform(-1, 1, (37, 3))
    np.testing.assert_allclose(compile_program(program)(q), tf.textbook.mass_matrix(robot, q), rtol=0, atol=1e-12)


@pytest.mark.parametrize("function", ["inverse_dynamics", "regressor"])
def test_what_takes_more_than_one_instruction_is_left_to_llvm(function: str) -> None:
    """Signs of Coulomb friction, as torques and as columns."""
    robot = tf.random_robot("RRPR", 2, branching=0.0)
    wanted = function_of(function, {}) if function == "regressor" else FUNCTIONS[function]
    program = plain_program(robot, wanted)
    assert program.count(Op.SIGN)
    kernel = compile_program(program)
    states = np.random.default_rng(0).uniform(-1, 1, (3, 21, 4))
    right = getattr(tf.textbook, function)(robot, *states)
    np.testing.assert_allclose(kernel(*states), right, rtol=0, atol=1e-12 * np.abs(right).max())


@pytest.mark.parametrize("real", [DOUBLE, FLOAT], ids=lambda real: real.name)
def test_other_programs_and_processors_stay_with_llvm(real: ScalarType, monkeypatch: pytest.MonkeyPatch) -> None:
    vector = Vector(256 // real.bits, True, real)
    program = tf.generate(tf.load("sr6ia"), "inverse_dynamics")
    assert block.is_planned(program, vector, "x86_64-linux")
    assert not block.is_planned(program, vector, "aarch64-linux")
    assert not block.is_planned(program, Vector(128 // real.bits, True, real), "x86_64-linux")
    assert not block.is_planned(program, Vector(256 // real.bits, False, real), "x86_64-linux")
    monkeypatch.setattr(block, "LEAST_OPERATIONS", 1000)
    assert not block.is_planned(program, vector, "x86_64-linux")
    long = tf.generate(tf.load("kr6_r700"), "linearize_inverse")
    assert block.is_planned(long, vector, "x86_64-linux")
