"""Programs as PyTorch functions: compiled kernels with gradients, on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import Any

import numpy as np

from tauform.codegen.differentiation.adjoint import adjoint_program
from tauform.codegen.differentiation.jacobian import tangent_program
from tauform.codegen.frameworks.extras import library
from tauform.codegen.program.embed import whole
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import Kernel, compile_program
from tauform.errors import ShapeError


def to_torch(program: Program) -> Callable[..., Any]:
    """The program as a function of tensors of shape (..., *port.shape), differentiable by autograd.

    It runs the compiled kernel, and for gradients that of the program's adjoint: a few times the cost of the function
    itself, however many inputs there are. Leading dimensions broadcast, tensors are double or float (computed in
    double), run-time parameters are tensors behind the state and may differ from state to state. `torch.func` applies,
    second derivatives too.

    Args:
        program: of any function.

    Returns:
        A function that returns one tensor, or a tuple when the program has several outputs.

    Raises:
        MissingExtraError: PyTorch is not installed.
    """
    torch = library("torch", "torch")
    function, kernel = _autograd_function(torch, whole(program)), compile_program(whole(program))
    plain, double, dual = torch.Tensor, torch.float64, torch.autograd.forward_ad

    def memory_of(tensors: Sequence[Any]) -> list[Any] | None:
        """Arrays of tensors that nobody differentiates; None where autograd or torch.func take part."""
        arrays = []
        # Rates of forward differentiation travel unseen beside a tensor; where nobody can tell, they may.
        if getattr(dual, "_current_level", 0) >= 0:
            return None
        for tensor in tensors:
            if type(tensor) is not plain or tensor.dtype is not double:
                return None
            try:
                arrays.append(tensor.numpy())
            # It requires a gradient, lives on another device, or stands for others inside torch.func.
            except (RuntimeError, TypeError):
                return None
        return arrays

    def call(*tensors: Any) -> Any:
        # Autograd's own bookkeeping takes ten times as long as the kernel.
        arrays = memory_of(tensors)
        if arrays is None:
            return function.apply(*tensors)
        results = kernel(*arrays)
        if isinstance(results, tuple):
            return tuple(torch.from_numpy(np.asarray(result)) for result in results)
        return torch.from_numpy(np.asarray(results))

    call.__name__ = call.__qualname__ = program.name
    call.__doc__ = f"{program.about.summary or program.name} of {program.robot}: tensors of shape (..., n)."
    return call


def _autograd_function(torch: Any, program: Program) -> Any:
    # Once per program: every call shares it.
    kernel = compile_program(program)

    # Made when the first derivative is asked for; a second one is the adjoint of the adjoint, and so on.
    @cache
    def adjoint() -> Any:
        return _autograd_function(torch, adjoint_program(program))

    @cache
    def tangent() -> Any:
        return _autograd_function(torch, tangent_program(program))

    class Function(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(*tensors: Any) -> Any:
            _check(torch, program, tensors)
            return _run(torch, kernel, tensors)

        @staticmethod
        def setup_context(context: Any, inputs: Any, output: Any) -> None:
            # Inputs serve both directions: gradients backwards, rates forwards.
            context.save_for_backward(*inputs)
            context.save_for_forward(*inputs)

        @staticmethod
        def backward(context: Any, *weights: Any) -> Any:
            tensors = context.saved_tensors
            slopes = adjoint().apply(*tensors, *weights)
            slopes = slopes if isinstance(slopes, tuple) else (slopes,)
            # A tensor that was broadcast has served several states: its slope is the sum over them.
            return tuple(s.sum_to_size(t.shape).to(t.dtype) for s, t in zip(slopes, tensors, strict=True))

        @staticmethod
        def jvp(context: Any, *rates: Any) -> Any:
            tensors = context.saved_tensors
            # None is an input that does not move.
            known = [torch.zeros_like(t) if r is None else r for r, t in zip(rates, tensors, strict=True)]
            return tangent().apply(*tensors, *known)

        @staticmethod
        def vmap(info: Any, dimensions: Sequence[int | None], *tensors: Any) -> Any:
            # Kernels take batches: mapping is one call, not a loop.
            result = Function.apply(*_mapped(program.inputs, dimensions, tensors))
            return result, tuple(0 for _ in result) if isinstance(result, tuple) else 0

    return Function


def _check(torch: Any, program: Program, tensors: Sequence[Any]) -> None:
    if len(tensors) != len(program.inputs):
        names = ", ".join(port.name for port in program.inputs)
        raise ShapeError(f"{program.name}: expected {len(program.inputs)} tensors ({names}), got {len(tensors)}")
    for tensor, port in zip(tensors, program.inputs, strict=True):
        if not isinstance(tensor, torch.Tensor):
            raise ShapeError(f"{port.name}: expected a tensor, got {type(tensor).__name__}; torch.as_tensor makes one")
        if tensor.dtype not in (torch.float64, torch.float32):
            raise ShapeError(f"{port.name}: expected a tensor of float64 or float32, got {tensor.dtype}")
        # A kernel reads memory of this process.
        if tensor.device.type != "cpu":
            raise ShapeError(f"{port.name}: expected a tensor on the CPU, got {tensor.device}; kernels run there")


def _run(torch: Any, kernel: Kernel, tensors: Sequence[Any]) -> Any:
    """The kernel on tensors: doubles without a copy, floats through doubles and back."""
    results = kernel(*(tensor.detach().numpy() for tensor in tensors))
    scalar = reduce(torch.promote_types, (tensor.dtype for tensor in tensors))
    if isinstance(results, tuple):
        return tuple(torch.from_numpy(np.asarray(result)).to(scalar) for result in results)
    return torch.from_numpy(np.asarray(results)).to(scalar)


def _mapped(ports: Sequence[Port], dimensions: Sequence[int | None], tensors: Sequence[Any]) -> list[Any]:
    """Tensors with the mapped dimension first, and behind it as many batch dimensions as any of them has."""
    moved = [t if d is None else t.movedim(d, 0) for t, d in zip(tensors, dimensions, strict=True)]
    # Batch dimensions of each tensor, without the mapped one.
    ranks = [t.ndim - len(port.shape) - (d is not None) for t, d, port in zip(moved, dimensions, ports, strict=True)]
    return [
        t if d is None else t.reshape(t.shape[0], *[1] * (max(ranks) - rank), *t.shape[1:])
        for t, d, rank in zip(moved, dimensions, ranks, strict=True)
    ]
