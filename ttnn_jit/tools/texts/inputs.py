"""Inputs of functions of texts: drawn, or from a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects.text_calls.op_calls import is_allocated, read_op
from ttnn_jit.dialects.text_calls.tensor_types import is_tensor, spec_in_text
from ttnn_jit.dialects.text_calls.text_attributes import symbol_of
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    import torch


def require_memory(specs: Sequence[TensorSpec], location: Location | None = None) -> None:
    """Refuses inputs of the function at `location` that are larger than the memory of the machine.

    Allocating them may get the process killed.
    """
    drawn = ((8 if spec.dtype.is_integer else 4) * spec.volume for spec in specs)  # drawn as int64 or float32
    wanted = sum(max(spec.nbytes, nbytes) for spec, nbytes in zip(specs, drawn, strict=True))
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if wanted > there:
        raise ArgumentError(f"the inputs take {wanted:,} bytes, and this machine has {there:,}", location=location)


def draw_inputs(function: FuncOp, specs: Sequence[TensorSpec], seed: int) -> list[torch.Tensor]:
    """Normally distributed floats; integers of all magnitudes, or below the limit of the op that reads them."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    arguments = [each for each in function.body.block.args if is_tensor(each.type)]
    return [_drawn(spec, _limit(value), generator) for value, spec in zip(arguments, specs, strict=True)]


def _drawn(spec: TensorSpec, limit: int | None, generator: torch.Generator) -> torch.Tensor:
    import torch

    shape = tuple(spec.shape)
    if spec.dtype.is_integer:
        values = spec.dtype.values
        begin = values[0] if limit is None else 0
        beyond = min(values[-1] + 1, torch.iinfo(torch.int64).max)
        beyond = beyond if limit is None else min(beyond, max(1, limit))
        return torch.randint(begin, beyond, shape, generator=generator).to(spec.dtype.torch)
    if limit is not None:
        return torch.randint(0, max(1, limit), shape, generator=generator).to(spec.dtype.torch)
    return torch.randn(shape, generator=generator).to(spec.dtype.torch)


def _limit(value: SSAValue) -> int | None:
    """The smallest limit of the ops that read a value as indices, also through ops of one operand; None without any."""
    return min(_limits(value, set()), default=None)


def _limits(value: SSAValue, seen: set[SSAValue]) -> Iterator[int]:
    if value in seen:
        return
    seen.add(value)
    for use in value.uses:
        for same in _through_functions(use.operation, use.index):
            yield from _limits(same, seen)
        yield from _limits_of_use(use.operation, value)
        tensors = [each for each in use.operation.operands if is_tensor(each.type) and not is_allocated(each)]
        if len(tensors) == 1:
            for result in use.operation.results:
                yield from _limits(result, seen)


def _through_functions(op: Operation, index: int) -> Iterator[SSAValue]:
    """The values that are the operand `index` of a call in its function, or of a return at the function's calls."""
    if isinstance(op, ReturnOp):
        function = op.parent_op()
        assert isinstance(function, FuncOp), "functions return"
        calls = (each for each in _root(op).walk() if _callee(each) == function.sym_name.data)
        yield from (each.results[index] for each in calls if index < len(each.results))
    elif name := _callee(op):
        functions = (each for each in _root(op).walk() if isinstance(each, FuncOp) and each.sym_name.data == name)
        yield from (each.args[index] for each in functions if index < len(each.args))


def _root(op: Operation) -> Operation:
    """The module that holds every function."""
    while (parent := op.parent_op()) is not None:
        op = parent
    return op


def _callee(op: Operation) -> str:
    """The function that an op calls; "" of another op."""
    found = op.properties.get("callee", op.attributes.get("callee"))
    return symbol_of(found) if isinstance(found, SymbolRefAttr) else ""


def _limits_of_use(op: Operation, value: SSAValue) -> Iterator[int]:
    try:
        read = read_op(op)
    except CompileError:
        return  # running the op reports it
    if not read.operation.index_limits:
        return
    call = read.call(lambda each: spec_in_text(each.type))
    for name, limit in read.operation.index_limits.items():
        found = limit(call) if read.arguments.get(name) is value else None
        if found is not None:
            yield found


def inputs_of_file(path: Path, specs: Sequence[TensorSpec]) -> list[torch.Tensor]:
    """The arrays of an .npz file, in its order, as tensors of these specs.

    Raises:
        ArgumentError: It is no such file, or holds arrays of other shapes.
    """
    import numpy
    import torch

    try:
        with numpy.load(path, allow_pickle=False) as loaded:
            arrays = [loaded[name] for name in loaded.files]
    except OSError:
        raise
    except Exception as error:  # numpy's reader raises various errors for other files
        raise ArgumentError(f"{path} is no .npz file of arrays", help="`numpy.savez(file, x, y)` writes one") from error
    shapes = [tuple(each.shape) for each in arrays]
    if shapes != [tuple(spec.shape) for spec in specs]:
        raise ArgumentError(
            f"{path} holds arrays of shapes {[list(each) for each in shapes]}, and the arguments have "
            f"{[list(spec.shape) for spec in specs]}"
        )
    return [torch.from_numpy(each.copy()).to(spec.dtype.torch) for each, spec in zip(arrays, specs, strict=True)]
