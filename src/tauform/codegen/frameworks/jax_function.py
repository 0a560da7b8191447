"""Programs as JAX functions: pure array operations for any device, or compiled kernels on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from tauform.codegen.differentiation.jacobian import jacobian_program
from tauform.codegen.frameworks.extras import library
from tauform.codegen.program.embed import whole
from tauform.codegen.program.interpret import ARITHMETIC, interpret
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Op, Program
from tauform.codegen.runtime.xla_call import register
from tauform.errors import GenerationError, ShapeError
from tauform.messages import no_such
from tauform.wording import call

JaxForm = Literal["arrays", "kernel"]


def to_jax(program: Program, form: JaxForm = "arrays", derivatives: Program | None = None) -> Callable[..., Any]:
    """The program as a JAX function of arrays of shape (..., *port.shape); jit, vmap, grad and jacfwd apply.

    Run-time parameters are arrays behind the state and may differ from state to state.

    Args:
        program: of any function.
        form: "arrays" is made of `jax.numpy` alone, for processors, GPUs and TPUs, in the precision of its arguments;
            "kernel" calls the compiled kernel from XLA, on the CPU and in double (`jax_enable_x64`), with Jacobians of
            our own as its derivative.
        derivatives: for "kernel", the program of the Jacobians, such as tf.generate(robot, "linearize_inverse"); made
            of the program itself if not given.

    Returns:
        A function that returns one array, or a tuple when the program has several outputs.

    Raises:
        MissingExtraError: JAX is not installed.
        UnknownNameError: no such form.
        GenerationError: "kernel" without double precision, or derivatives of another function.
    """
    if form not in ("arrays", "kernel"):
        raise no_such("form", form, ("arrays", "kernel"))
    jax = library("jax", "jax")
    # JAX differentiates by all inputs: parameters of run time must be among them.
    made = whole(program)
    call = _arrays(jax, made) if form == "arrays" else _kernel(jax, made, derivatives)
    call.__name__ = call.__qualname__ = program.name
    call.__doc__ = f"{program.about.summary or program.name} of {program.robot}: arrays of shape (..., n)."
    return call


def _arrays(jax: Any, program: Program) -> Callable[..., Any]:
    jnp = jax.numpy
    operations = {
        **ARITHMETIC,
        Op.SIN: jnp.sin,
        Op.COS: jnp.cos,
        Op.SQRT: jnp.sqrt,
        Op.SIGN: jnp.sign,
        Op.ABS: jnp.abs,
        Op.EXP: jnp.exp,
        Op.TANH: jnp.tanh,
        Op.ATAN2: jnp.arctan2,
    }

    def call(*arrays: Any) -> Any:
        given, batch = _checked(jnp, program, arrays)
        # (..., size): entries of a port in the last dimension, row by row.
        flat = [array.reshape(*array.shape[: array.ndim - len(p.shape)], -1) for array, p in given]
        inputs = [[array[..., k] for k in range(port.size)] for array, (_, port) in zip(flat, given, strict=True)]
        # The widest type of the arguments: constants follow it.
        scalar = jnp.result_type(*(array for array, _ in given))
        outputs = []
        for port, result in zip(program.outputs, interpret(program, inputs, operations), strict=True):
            # A result that is constant has no batch of its own.
            entries = [jnp.broadcast_to(jnp.asarray(entry, scalar), batch) for entry in result]
            outputs.append(jnp.stack(entries, axis=-1).reshape((*batch, *port.shape)))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    return call


def _kernel(jax: Any, program: Program, derivatives: Program | None) -> Callable[..., Any]:
    # Else JAX would round the arrays on the way, and nobody would know.
    if not jax.config.jax_enable_x64:
        raise GenerationError("form='kernel' computes in double; jax.config.update('jax_enable_x64', True) first")
    jnp = jax.numpy
    function = _foreign_call(jax, program)
    # Checked now: a wrong program would fail in the middle of a training.
    given = None if derivatives is None else jacobians_of(program, derivatives)
    slopes: list[Any] = []  # compiled when the first derivative is asked for

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def call(*arrays: Any) -> Any:
        results = function(*arrays)
        return results[0] if len(results) == 1 else results

    @call.defjvp  # type: ignore[untyped-decorator]
    def rule(arrays: Any, rates: Any) -> Any:
        if not slopes:
            slopes.append(_foreign_call(jax, given or jacobians_of(program)))
        blocks = iter(slopes[0](*arrays))
        changes = []
        for output in program.outputs:
            # d out = sum over the inputs of J_k d in_k, linear in the rates, so that JAX can transpose it
            terms = [_times(next(blocks), rate, output, p) for rate, p in zip(rates, program.inputs, strict=True)]
            changes.append(sum(terms[1:], start=terms[0]))
        return call(*arrays), changes[0] if len(changes) == 1 else tuple(changes)

    def checked(*arrays: Any) -> Any:
        given, batch = _checked(jnp, program, arrays)
        # XLA gives the kernel whole buffers: every input gets the shape of the batch.
        return call(*(jnp.broadcast_to(array, (*batch, *port.shape)).astype(jnp.float64) for array, port in given))

    return checked


def _times(block: Any, rate: Any, output: Port, port: Port) -> Any:
    """J d in, over the last dimensions of the input."""
    batch = rate.shape[: rate.ndim - len(port.shape)]
    # Outputs and inputs of any shape become the two sides of a matrix.
    matrix = block.reshape(*batch, output.size, port.size)
    change = (matrix @ rate.reshape(*batch, port.size, 1))[..., 0]
    return change.reshape((*batch, *output.shape))


def _foreign_call(jax: Any, program: Program) -> Callable[..., Any]:
    """A function of arrays of one batch shape that returns a tuple of outputs."""
    target = register(jax, program)

    def call(*arrays: Any) -> Any:
        batch = arrays[0].shape[: arrays[0].ndim - len(program.inputs[0].shape)]
        shapes = [jax.ShapeDtypeStruct((*batch, *port.shape), jax.numpy.float64) for port in program.outputs]
        # vmap adds a leading dimension to every array: the kernel takes any number of them.
        return tuple(jax.ffi.ffi_call(target, shapes, vmap_method="broadcast_all")(*arrays))

    return call


def _checked(jnp: Any, program: Program, arrays: Any) -> tuple[list[tuple[Any, Port]], tuple[int, ...]]:
    """Arrays with their ports, and the shape of the batch."""
    if len(arrays) != len(program.inputs):
        names = ", ".join(port.name for port in program.inputs)
        raise ShapeError(f"{program.name}: expected {len(program.inputs)} arrays ({names}), got {len(arrays)}")
    given = [(jnp.asarray(array), port) for array, port in zip(arrays, program.inputs, strict=True)]
    leading = []
    for array, port in given:
        inner = array.ndim - len(port.shape)
        if inner < 0 or array.shape[inner:] != port.shape:
            wanted = ", ".join(["...", *map(str, port.shape)])
            raise ShapeError(f"{port.name}: expected shape ({wanted}), got {array.shape}")
        # Integers have no derivatives in JAX.
        if not jnp.issubdtype(array.dtype, jnp.floating):
            raise ShapeError(f"{port.name}: expected real floating-point numbers, got {array.dtype}")
        leading.append(array.shape[:inner])
    try:
        return given, jnp.broadcast_shapes(*leading)
    except ValueError as error:
        raise ShapeError(f"{program.name}: the leading dimensions do not fit ({error})") from None


# The Jacobians that a framework is given with a function, and which of a program's ports they belong to.


def jacobians_of(program: Program, derivatives: Program | None = None) -> Program:
    """The program of all Jacobians of a whole program, output by output and within each input by input.

    Args:
        program: without shared inputs.
        derivatives: the same made by an algorithm of its own, such as "linearize_inverse"; else the program itself is
            differentiated.

    Raises:
        GenerationError: the derivatives belong to another robot or function.
    """
    if derivatives is None:
        return jacobian_program(program)
    made = whole(derivatives)
    wanted = [(*output.shape, *port.shape) for output in program.outputs for port in program.inputs]
    given = [port.shape for port in made.outputs]
    named = [_named(port, output, len(program.outputs)) for output in program.outputs for port in program.inputs]
    if made.robot != program.robot or made.inputs != program.inputs or given != wanted:
        example = call("generate", "robot, 'linearize_inverse'")
        raise GenerationError(
            f"derivatives: {derivatives.name} of {derivatives.robot} does not hold the Jacobians of {program.name} of "
            f"{program.robot}; {example} has those of inverse dynamics; without any, they are made of the program"
        )
    if [port.name for port in made.outputs] != named:
        raise GenerationError(f"derivatives: expected outputs {', '.join(named)} of {derivatives.name}")
    return made


def _named(port: Port, output: Port, n_outputs: int) -> str:
    return f"d{port.name}" if n_outputs == 1 else f"d_{output.name}_{port.name}"
