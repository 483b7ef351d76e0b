"""Views: what a write into a moved tensor is of the tensor that was moved, and where its elements lie in that one's."""

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
"""How many elements apart neighbours along each dimension lie; None where that is not known."""

TILE = 32


def movements(operation: Operation, spec: TensorSpec, statics: Sequence[object]) -> list[tuple[CanonicalCall, ...]]:
    """For each result of a call of an operation that gives views, the movements of its operand, one after the other."""
    ops = _Chains()
    return [made.handle for made in ops.results(operation, ops.values([spec], ()), *statics)]


class _Chains(SpecOps):
    """The handle of a value: the movements that give it."""

    def results(self, operation: Operation, operands: Sequence[Operand], *statics: Any) -> list[Value]:
        if isinstance(operation, MacroOperation):
            return operation.decomposed(self, operands, statics)
        (operand,) = (each for each in operands if isinstance(each, Value))
        (spec,) = operation.results([operand.spec], statics)
        return [Value(self, spec, (*operand.handle, operation.canonicalized([operand.spec], statics)))]


def written_back(movement: CanonicalCall, shape: Extents) -> CanonicalCall | None:
    """What makes a tensor of `shape` anew of what was written into its view: of the view, or of both.

    None where elements of the view share one of the tensor's.
    """
    operation, statics = movement
    if operation is SLICE:
        return SLICE_WRITE, statics
    if operation is RESHAPE:
        return RESHAPE, (shape,)
    if operation is PERMUTE:
        (dims,) = statics
        return PERMUTE, (tuple(map(dims.index, range(len(dims)))),)
    if operation is REPEAT and set(statics[0]) <= {1}:
        return RESHAPE, (shape,)
    return movement if operation is TRANSPOSE else None


def strides_of_view(movement: CanonicalCall, shape: Extents, strides: Strides) -> Strides:
    """The strides of the view of a tensor with those; None where it is none, or they are not known."""
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
    """The strides that give the elements in row-major order as a tensor of the extents `new`; None if none do.

    The rule of numpy's and torch's: each run of dimensions that lies in memory as one is cut anew.
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
    """Neighbouring dimensions joined where they lie in memory as one: the extent and the stride of each run."""
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
    """Whether the elements lie in row-major order without gaps."""
    if strides is None:
        return False
    dense = dense_strides(shape)
    if strides == dense:
        return True
    pairs = zip(shape, strides, dense, strict=True)
    return 0 in shape or all(extent == 1 or stride == packed for extent, stride, packed in pairs)


def only_adds_ones(shape: Extents, new: Extents) -> bool:
    """Whether a reshape adds and removes extents of 1 alone, which every tensor has as a view."""
    return [extent for extent in shape if extent != 1] == [extent for extent in new if extent != 1]


def is_view_on_device(spec: TensorSpec, chain: Sequence[CanonicalCall]) -> bool:
    """Whether ttnn's reshape gives a view of a tensor on a device: the same pages under another shape.

    Of a sharded tensor it gives one that is not, here, and so a copy.
    """
    if spec.memory_config.is_sharded() or not chain or any(operation is not RESHAPE for operation, _ in chain):
        return False
    ((_, (extents,)),) = chain[-1:]
    *_, rows, columns = (1, 1, *spec.shape)
    *_, new_rows, new_columns = (1, 1, *tuple(extents))
    whole = rows % TILE == 0 and new_rows % TILE == 0
    return columns == new_columns and (spec.layout is Layout.ROW_MAJOR or rows == new_rows or whole)
