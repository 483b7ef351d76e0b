"""Inputs of functions of texts: drawn, or from a file."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects.text_calls.index_limits import assigned_shape, index_limit
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

    A matrix that assigns experts to devices has one 1 in each row, and as many in each column.
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

    shape, limit, assigned = tuple(spec.shape), index_limit(value), assigned_shape(value)
    if assigned is not None and math.prod(assigned) == spec.volume:
        return _assignment(*assigned, generator).reshape(shape).to(spec.dtype.torch)
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


def _assignment(rows: int, columns: int, generator: torch.Generator) -> torch.Tensor:
    """A 1 in each row, in as many rows of each column, or nearly so."""
    import torch

    owners = torch.randperm(rows, generator=generator) % columns
    return torch.nn.functional.one_hot(owners, columns)


def inputs_of_file(path: Path, specs: Sequence[TensorSpec], names: Sequence[str | None] = ()) -> list[torch.Tensor]:
    """The tensors of a file as arguments of these specs; complex numbers are pairs of floats.

    Args:
        path: An .npz file, or one of a list of tensors that `torch.save` wrote.
        specs: What the arguments are.
        names: The names of the arguments. Arrays of these names are bound by name, and others in their order.

    Raises:
        ArgumentError: It is no such file, or holds tensors of other shapes.
    """
    import torch

    tensors = _in_order(tensors_of_file(path), names)
    tensors = [torch.view_as_real(each) if each.is_complex() else each for each in tensors]
    shapes = [tuple(each.shape) for each in tensors]
    if shapes != [tuple(spec.shape) for spec in specs]:
        raise ArgumentError(
            f"{path} holds arrays of shapes {[list(each) for each in shapes]}, and the arguments have "
            f"{[list(spec.shape) for spec in specs]}"
        )
    return [as_argument(each, spec, index, path) for index, (each, spec) in enumerate(zip(tensors, specs, strict=True))]


def _in_order(tensors: Mapping[str, torch.Tensor], names: Sequence[str | None]) -> list[torch.Tensor]:
    """Tensors in the order of the arguments, if each has the name of one; else in their own."""
    if None not in names and len(names) == len(tensors) and set(names) == set(tensors):
        return [tensors[name] for name in names if name is not None]
    return [*tensors.values()]


def tensors_of_file(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a file by name; those of a list by their index.

    Raises:
        ArgumentError: It is no file of arrays or tensors, or one of something else than numbers.
    """
    import numpy
    import torch

    try:
        with path.open("rb") as stream:  # numpy leaves a damaged file open that it opened itself
            if _is_of_torch(stream):
                loaded = torch.load(stream, weights_only=True)
                tensors: dict[Any, Any] = dict(enumerate(loaded if isinstance(loaded, list | tuple) else [None]))
            else:
                with numpy.load(stream, allow_pickle=False) as arrays:
                    tensors = {name: torch.from_numpy(arrays[name].copy()) for name in arrays.files}
    except OSError:
        raise
    except Exception as error:  # the readers of numpy and torch raise various errors for other files
        raise ArgumentError(f"{path} is no file of arrays of numbers or of tensors", help=_WRITTEN_BY) from error
    if not all(isinstance(each, torch.Tensor) for each in tensors.values()):
        raise ArgumentError(f"{path} does not hold a list of tensors", help=_WRITTEN_BY)
    return {str(name): each for name, each in tensors.items()}


def _is_of_torch(stream: BinaryIO) -> bool:
    """Whether `torch.save` wrote a file: an archive with a pickle, and not of arrays alone."""
    found = False
    if zipfile.is_zipfile(stream):
        with zipfile.ZipFile(stream) as archive:
            found = any(name.endswith("/data.pkl") for name in archive.namelist())
    stream.seek(0)
    return found


_WRITTEN_BY = "`numpy.savez(file, x, y)` or `torch.save([x, y], file)` writes one, in the order of the arguments"


def names_of_arguments(function: FuncOp) -> list[str | None]:
    """The names of the arguments that are tensors, as the text has them behind `%`."""
    return [each.name_hint for each in function.body.block.args if isinstance(each.type, TensorType)]


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
