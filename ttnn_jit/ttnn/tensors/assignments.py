"""Composite functions, some of which update a tensor in place: `plus_one`, `bcast`, `unary_chain`, `fill_rm`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops import OVERLOADS
from ttnn_jit.ops.applied_unary import of_type
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.configs.unary_op_type import BcastOpDim, BcastOpMath, UnaryOpType, UnaryWithParam
from ttnn_jit.specs.tensor_spec import Layout, MemoryConfig
from ttnn_jit.ttnn.calling import eager_functions as ttnn
from ttnn_jit.ttnn.calling.eager_ops import in_requested_memory
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.tensor_creation import full
from ttnn_jit.ttnn.tensors.transfers import in_float32


@host_function(in_programs=True, chip_only="sub_core_grids")
def plus_one(
    input_tensor: Tensor,
    *,
    sub_core_grids: object = None,
    skip_negative_entries: bool = False,
) -> Tensor:
    """Add 1 to the elements of an integer tensor in place, and return it (ttnn.plus_one).

    Args:
        input_tensor: A tensor of integers.
        sub_core_grids: Cores of a chip.
        skip_negative_entries: Whether elements below 0 are left unchanged.

    Raises:
        ArgumentError: The tensor is not of integers.
    """
    if not input_tensor.dtype.is_integer:
        raise ArgumentError(f"plus_one adds to integers, and the tensor is one of {input_tensor.dtype.name}")
    more = ttnn.ge(input_tensor, 0) if skip_negative_entries else 1
    return ttnn.add(input_tensor, more, output_tensor=input_tensor)


_ROW_AND_COLUMN = {BcastOpDim.H: (1, 0), BcastOpDim.W: (0, 1), BcastOpDim.HW: (1, 1)}
"""Dimension -> whether the height and the width of the second operand must be 1."""
_ARITHMETIC: dict[BcastOpMath, Callable[..., Tensor]] = {
    BcastOpMath.ADD: ttnn.add,
    BcastOpMath.SUB: ttnn.subtract,
    BcastOpMath.MUL: ttnn.multiply,
}


@host_function(in_programs=True)
def bcast(
    input_a: Tensor,
    input_b: Tensor,
    math_op: BcastOpMath,
    dim: BcastOpDim,
    *,
    output_tensor: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Arithmetic on a tensor and a row, a column or a scalar that is broadcast along `dim` (ttnn.bcast).

    Args:
        input_a: Any tensor.
        input_b: A tensor with extent 1 along `dim`, and the extents of `input_a` elsewhere.
        math_op: ADD, SUB or MUL.
        dim: H: along the height, W: along the width, HW: along both.
        output_tensor: The tensor that receives the result, and is returned.
        memory_config: Memory config of the result.

    Raises:
        ShapeError: `input_b` has another extent than 1 along `dim`.
        ArgumentError: An argument has the wrong type.
    """
    shape = tuple(input_b.shape)
    ones = _ROW_AND_COLUMN[dim]
    if any(one and extent != 1 for one, extent in zip(ones, (1, 1, *shape)[-2:], strict=True)):
        raise ShapeError(f"bcast: a tensor of shape {list(shape)} is not repeated along {dim.name}")
    return _ARITHMETIC[math_op](input_a, input_b, memory_config=memory_config, output_tensor=output_tensor)


@host_function(in_programs=True)
def unary_chain(
    input_tensor: Tensor,
    ops_chain: Sequence[UnaryWithParam | UnaryOpType],
    *,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    """A chain of unary operations, computed in float32 and rounded once (ttnn.unary_chain).

    Args:
        input_tensor: A tensor of floats.
        ops_chain: `UnaryWithParam` or `UnaryOpType` objects.
        memory_config: Memory config of the result.
        output_tensor: The tensor that receives the result, and is returned.

    Raises:
        ArgumentError: The chain is empty, or an element has the wrong type or is not supported.
    """
    applied = [of_type(each, OVERLOADS) for each in ops_chain]
    if not applied or None in applied:
        raise ArgumentError(f"unary_chain takes a list of `ttnn.UnaryWithParam`, got {ops_chain!r}")

    def chained(x: Tensor) -> Tensor:
        for each in filter(None, applied):
            x = getattr(ttnn, each.overloads[0].name)(x, *each.numbers)
        return x

    return in_requested_memory(in_float32(chained, input_tensor), memory_config, output_tensor)


@host_function()
def fill_rm(  # noqa: PLR0913, PLR0917 - as ttnn has it
    N: int,  # noqa: N803 - ttnn's name
    C: int,  # noqa: N803
    H: int,  # noqa: N803
    W: int,  # noqa: N803
    hOnes: int,  # noqa: N803
    wOnes: int,  # noqa: N803
    any: Tensor,  # noqa: A002
    val_hi: float = 1.0,
    val_lo: float = 0.0,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A ROW_MAJOR tensor [N, C, H, W] of `val_lo`, with `val_hi` in its upper left [hOnes, wOnes] (ttnn.fill_rm).

    Args:
        N: Batch.
        C: Channels.
        H: Height.
        W: Width.
        hOnes: Number of rows of `val_hi`.
        wOnes: Number of columns of `val_hi`.
        any: A tensor with the dtype and the device of the result.
        val_hi: The value of the upper left part.
        val_lo: The value of the rest.
        memory_config: Memory config of the result.

    Raises:
        ShapeError: `hOnes` or `wOnes` exceeds the shape.
    """
    extents, part = (N, C, H, W), (N, C, hOnes, wOnes)
    if not all(0 <= own <= whole for own, whole in zip(part, extents, strict=True)):
        raise ShapeError(f"{hOnes} rows and {wOnes} columns are no part of {list(extents)}")
    made = (any.dtype, Layout.ROW_MAJOR, any.device(), memory_config)
    whole = full(extents, val_lo, *made)
    return ttnn.slice_write(whole, full(part, val_hi, *made), (0, 0, 0, 0), part) if math.prod(part) else whole


@host_function()
def fill_ones_rm(
    N: int,  # noqa: N803 - ttnn's name
    C: int,  # noqa: N803
    H: int,  # noqa: N803
    W: int,  # noqa: N803
    hOnes: int,  # noqa: N803
    wOnes: int,  # noqa: N803
    any: Tensor,  # noqa: A002
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """`fill_rm` with ones and zeros (ttnn.fill_ones_rm)."""
    return fill_rm(N, C, H, W, hOnes, wOnes, any, 1.0, 0.0, memory_config)
