"""Inputs of functions of texts: drawn, or from a file."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects.text_calls.index_limits import index_limit
from ttnn_jit.dialects.text_calls.signs import Signs
from ttnn_jit.dialects.text_calls.tensor_types import is_tensor
from ttnn_jit.dialects.text_calls.text_attributes import attributes_of
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.transforms.texts.passes.tt_populate_argument_types import ARGUMENT_TYPE, argument_kind

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
    """Normally distributed floats; integers of all magnitudes, or below the limit of the op that reads them.

    Parameters of several dimensions are scaled, as those of a network are, so that results do not grow layer by layer.
    What must not be negative is drawn as magnitudes: variances, and other operands of roots, logarithms and powers.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)
    arguments = [each for each in function.body.block.args if is_tensor(each.type)]
    signs = Signs()
    return [_drawn(function, value, spec, generator, signs) for value, spec in zip(arguments, specs, strict=True)]


def _scale(function: FuncOp, value: BlockArgument, shape: Sequence[int]) -> float:
    """The factor of a parameter: its sums of products then have about the size of what they multiply.

    Kernels of images have their outputs first; of a matrix the larger dimension is taken for the outputs.
    """
    if len(shape) < 2 or 0 in shape or _kind(function, value) != "parameter":
        return 1.0
    outputs = shape[0] if len(shape) > 3 else max(shape)
    return math.sqrt(outputs / math.prod(shape))


def _kind(function: FuncOp, value: BlockArgument) -> str:
    """What an argument is; of a text of StableHLO as tt-xla leaves it, the mark on it says so."""
    marks = (attributes_of(use.operation).get("mhlo.frontend_attributes") for use in value.uses)
    marked = (str(each.get(ARGUMENT_TYPE, "")) for each in marks if isinstance(each, dict))
    return argument_kind(function, value.index) or next(filter(None, marked), "")


def _drawn(
    function: FuncOp, value: BlockArgument, spec: TensorSpec, generator: torch.Generator, signs: Signs
) -> torch.Tensor:
    import torch

    shape, limit = tuple(spec.shape), index_limit(value)
    if spec.dtype.is_integer:
        values = spec.dtype.values
        begin = values[0] if limit is None else 0
        beyond = min(values[-1] + 1, torch.iinfo(torch.int64).max)
        beyond = beyond if limit is None else min(beyond, max(1, limit))
        return torch.randint(begin, beyond, shape, generator=generator).to(spec.dtype.torch)
    if limit is not None:
        return torch.randint(0, max(1, limit), shape, generator=generator).to(spec.dtype.torch)
    drawn = torch.randn(shape, generator=generator).mul_(_scale(function, value, shape))
    return (drawn.abs_() if signs.is_not_negative(value) else drawn).to(spec.dtype.torch)


def inputs_of_file(path: Path, specs: Sequence[TensorSpec]) -> list[torch.Tensor]:
    """The arrays of an .npz file, in its order, as tensors of these specs; complex numbers as pairs of floats.

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
    arrays = [numpy.stack([each.real, each.imag], -1) if numpy.iscomplexobj(each) else each for each in arrays]
    shapes = [tuple(each.shape) for each in arrays]
    if shapes != [tuple(spec.shape) for spec in specs]:
        raise ArgumentError(
            f"{path} holds arrays of shapes {[list(each) for each in shapes]}, and the arguments have "
            f"{[list(spec.shape) for spec in specs]}"
        )
    tensors = [torch.from_numpy(each.copy()) for each in arrays]
    return [as_argument(each, spec, index, path) for index, (each, spec) in enumerate(zip(tensors, specs, strict=True))]


def as_argument(tensor: torch.Tensor, spec: TensorSpec, index: int, path: Path) -> torch.Tensor:
    """A tensor of a file as an argument of this spec: floats are rounded, integers keep their numbers.

    Raises:
        ArgumentError: An integer is none of the argument's type, or a float is given for an integer.
    """
    wanted = spec.dtype
    if not wanted.is_integer or tensor.dtype is wanted.torch or tensor.numel() == 0:
        return tensor.to(wanted.torch)
    if tensor.is_floating_point() or tensor.is_complex():
        kind = str(tensor.dtype).removeprefix("torch.")
        raise ArgumentError(f"{path} holds {kind} for the argument {index}, which is of {wanted.mlir}")
    low, high, values = int(tensor.min()), int(tensor.max()), wanted.values
    if low < values[0] or high > values[-1]:
        outside = low if low < values[0] else high
        raise ArgumentError(f"{path} holds {outside} for the argument {index}, which is of {wanted.mlir}")
    return tensor.to(wanted.torch)
