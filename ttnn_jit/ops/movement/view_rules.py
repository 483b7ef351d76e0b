"""Rules of views: the update of a base tensor for a write to its view, and the strides of a view in its base."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.ops.families.decomposition import MacroOperation, Operand, SpecOps, Value
from ttnn_jit.ops.families.movement import CanonicalCall, Extents
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.ops.movement.data_movement import PERMUTE, REPEAT, RESHAPE, SLICE, TRANSPOSE
from ttnn_jit.ops.movement.part_writes import SLICE_WRITE
from ttnn_jit.specs.cores.sharding import dense_strides
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

Strides = tuple[int, ...] | None
"""Strides in elements, one per dimension; None where they are unknown."""

TILE = 32


def view_chains(operation: Operation, spec: TensorSpec, statics: Sequence[object]) -> list[tuple[CanonicalCall, ...]]:
    """For each result of an operation that returns views, the chain of movements from its operand."""
    ops = _ViewChains()
    return [made.handle for made in ops.results(operation, ops.values([spec], ()), *statics)]


class _ViewChains(SpecOps):
    """The protocol that records movements: the handle of a value is the chain of movements to it."""

    def results(self, operation: Operation, operands: Sequence[Operand], *statics: Any) -> list[Value]:
        if isinstance(operation, MacroOperation):
            return operation.decomposed(self, operands, statics)
        (operand,) = (each for each in operands if isinstance(each, Value))
        (spec,) = operation.results([operand.spec], statics)
        return [Value(self, spec, (*operand.handle, operation.canonicalized([operand.spec], statics)))]


def base_update(movement: CanonicalCall, shape: Extents) -> CanonicalCall | None:
    """The operation that updates a base of `shape` after a write to its view, from the view or from base and view.

    None where several elements of the view are one element of the base.
    """
    operation, statics = movement
    if operation is SLICE:
        return SLICE_WRITE, statics
    if operation is RESHAPE:
        return RESHAPE, (shape,)
    if operation is PERMUTE:
        (dims,) = statics
        return PERMUTE, (tuple(map(dims.index, range(len(dims)))),)
    if operation is REPEAT and all(count == 1 for count in statics[0]):
        return RESHAPE, (shape,)
    return movement if operation is TRANSPOSE else None


def strides_of_view(movement: CanonicalCall, shape: Extents, strides: Strides) -> Strides:
    """The strides of the view of a tensor with `strides`; None if the result is no view, or strides are unknown."""
    operation, statics = movement
    if operation is RESHAPE:
        return reshaped_strides(shape, strides, *statics)
    if strides is None:
        return None
    if operation is SLICE:
        return tuple(stride * step for stride, step in zip(strides, statics[2], strict=True))
    if operation is REPEAT:
        (times,) = statics
        added = len(times) - len(strides)
        return tuple(0 if n != 1 else stride for n, stride in zip(times, (0,) * added + strides, strict=True))
    order = list(range(len(shape)))
    if operation is TRANSPOSE:
        first, second = statics
        order[first], order[second] = second, first
    else:
        order = list(statics[0])
    return tuple(strides[axis] for axis in order)


def reshaped_strides(shape: Extents, strides: Strides, new: Extents) -> Strides:
    """The strides of a reshape to the extents `new` without a copy; None if a copy is necessary.

    As in numpy and torch: dimensions that are contiguous with each other are merged, and the merged ones are split.
    """
    if strides is None:
        return None
    if 0 in shape:
        return dense_strides(new)
    runs = _runs(shape, strides)
    found: list[int] = []
    left, stride = runs.pop() if runs else (1, 1)
    for extent in reversed(new):
        if left == 1 and extent != 1 and runs:
            left, stride = runs.pop()
        if left % extent:
            return None
        found.append(stride)
        left, stride = left // extent, stride * extent
    return tuple(reversed(found))


def _runs(shape: Extents, strides: tuple[int, ...]) -> list[tuple[int, int]]:
    """The extents and strides after a merge of dimensions that are contiguous with each other."""
    runs: list[tuple[int, int]] = []
    for extent, stride in zip(shape, strides, strict=True):
        if extent == 1:
            continue
        if runs and runs[-1][1] == extent * stride:
            runs[-1] = runs[-1][0] * extent, stride
        else:
            runs.append((extent, stride))
    return runs


def are_dense(shape: Extents, strides: Strides) -> bool:
    """Whether the elements are contiguous in row-major order."""
    if strides is None:
        return False
    dense = dense_strides(shape)
    if strides == dense:
        return True
    pairs = zip(shape, strides, dense, strict=True)
    return 0 in shape or all(extent == 1 or stride == dense_stride for extent, stride, dense_stride in pairs)


def only_adds_ones(shape: Extents, new: Extents) -> bool:
    """Whether a reshape only adds and removes extents of 1, which is a view of every tensor."""
    return [extent for extent in shape if extent != 1] == [extent for extent in new if extent != 1]


def is_view_on_device(spec: TensorSpec, chain: Sequence[CanonicalCall]) -> bool:
    """Whether ttnn's reshape of a tensor on a device is a view: the same pages under another shape.

    The reshape of a sharded tensor is unsharded here, and so a copy.
    """
    if spec.memory_config.is_sharded() or not chain or any(operation is not RESHAPE for operation, _ in chain):
        return False
    ((_, (extents,)),) = chain[-1:]
    *_, rows, columns = (1, 1, *spec.shape)
    *_, new_rows, new_columns = (1, 1, *tuple(extents))
    whole = rows % TILE == 0 and new_rows % TILE == 0
    return columns == new_columns and (spec.layout is Layout.ROW_MAJOR or rows == new_rows or whole)
