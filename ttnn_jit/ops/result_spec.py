"""What an elementwise operation results in, from its operands' metadata: shape, element type and place by rule."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.errors import CompileError, ShapeError
from ttnn_jit.ops.operation import Operation
from ttnn_jit.source import Location
from ttnn_jit.tensor_spec import TensorSpec


def result_spec(
    operation: Operation, operands: Sequence[TensorSpec | float], location: Location | None = None
) -> TensorSpec:
    """Layout of the first tensor, dtype of the operand that the declaration names, the broadcast shape.

    Args:
        operation: The declaration.
        operands: A spec for every tensor, a float for every number; at least one is a tensor.
        location: Where the user wrote the call.

    Raises:
        CompileError: The shapes do not fit, numbers per channel would be spread along the columns, the first tensor is
            sharded and would be broadcast, or the result is larger than any tensor.
    """
    specs = [operand for operand in operands if isinstance(operand, TensorSpec)]
    _check_channels(operation, operands, location)
    shape = _broadcast(operation, specs, location)
    naming = [operand for operand in operands[operation.dtype_from :] if isinstance(operand, TensorSpec)]
    first = specs[0]
    if first.memory_config.is_sharded() and tuple(first.shape) != shape:
        raise CompileError(
            f"`{operation.name}` would broadcast its first tensor, which is sharded, from {list(first.shape)} to "
            f"{list(shape)}",
            location=location,
            help="the result is laid out as the first tensor: put the larger one first, or use DRAM interleaved",
        )
    try:
        return first.with_(shape=shape, dtype=(naming or specs)[0].dtype)
    except ShapeError as error:
        raise CompileError(error.message, location=location, help=error.help) from None


def _check_channels(operation: Operation, operands: Sequence[TensorSpec | float], location: Location | None) -> None:
    """Refuses numbers per channel that broadcasting would spread along the columns."""
    first = operands[0]
    for operand, spec in zip(operation.operands, operands, strict=True):
        if not operand.per_channel or not isinstance(spec, TensorSpec) or not isinstance(first, TensorSpec):
            continue
        rank = len(first.shape)
        if 2 < rank != len(spec.shape) and spec.volume > 1:
            raise CompileError(
                f"`{operand.name}` of `{operation.name}` has shape {list(spec.shape)}: it holds a number per channel, "
                f"which is dimension 1 of {list(first.shape)}",
                location=location,
                help=f"reshape it to {[1, spec.volume, *[1] * (rank - 2)]} before the call",
            )


def _broadcast(operation: Operation, specs: Sequence[TensorSpec], location: Location | None) -> tuple[int, ...]:
    first = specs[0].shape
    if all(spec.shape == first for spec in specs):
        return first
    rank = max(len(spec.shape) for spec in specs)
    shape: list[int] = []
    for axis in range(rank):
        extents = {(1,) * (rank - len(spec.shape)) + tuple(spec.shape) for spec in specs}
        sizes = {extent[axis] for extent in extents} - {1}
        if len(sizes) > 1:
            raise CompileError(
                f"`{operation.name}` got shapes that do not fit: {' and '.join(str(list(s.shape)) for s in specs)}",
                location=location,
                help="extents must be equal or 1, counted from the last dimension",
            )
        shape.append(sizes.pop() if sizes else 1)
    return tuple(shape)
