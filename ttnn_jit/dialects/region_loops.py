"""Reads bounds, indices and sizes of the loops and views in a generic's region."""

from __future__ import annotations

import struct

from xdsl.dialects import memref
from xdsl.dialects.affine import ForOp
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, DenseArrayBase, MemRefType
from xdsl.dialects.func import CallOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.declared_ops import CollectiveOp, RoutineOp, TypecastOp
from ttnn_jit.dialects.layout import is_packed
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.symbolic import numbers_of
from ttnn_jit.process.memoized import memoized

NOT_STRIDED = "no loops with strides meet the elements that it reads"
"""The message for an access that is no affine function of loop indices."""


def refusal(op: Operation, message: str, hint: str | None = None) -> CompileError:
    """The error of an op that no kernel can execute, at its location."""
    return CompileError(f"`{op.name}` cannot be executed: {message}", location=location_of(op), help=hint)


def affine_bounds(op: ForOp) -> tuple[int, int, int]:
    """Lower bound, upper bound and step of a loop with constant bounds."""
    return _constant(op, op.lowerBoundMap), _constant(op, op.upperBoundMap), op.step.value.data


def subview_window(op: memref.SubviewOp) -> tuple[list[int | SSAValue], list[int]]:
    """The offsets, as numbers or values, and the sizes of a view with unit strides."""
    if op.sizes or op.strides or any(stride != 1 for stride in _numbers(op.static_strides)):
        raise refusal(op, "only views with constant sizes and unit strides are known")
    dynamic = iter(op.offsets)
    offsets = [next(dynamic) if offset == DYNAMIC_INDEX else offset for offset in _numbers(op.static_offsets)]
    return offsets, list(_numbers(op.static_sizes))


def _numbers(array: DenseArrayBase) -> tuple[int, ...]:
    """The elements of an ``array<i64>``; cached, for a program has few distinct ones."""
    data = array.data.data
    return _words(data) if type(data) is bytes else numbers_of(array)


@memoized(maxsize=1024)
def _words(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 8}q", data)


def memref_shape(type_: Attribute) -> tuple[int, ...]:
    """The extents of a memref's type."""
    assert isinstance(type_, MemRefType)
    return tuple(type_.get_shape())


def mapped_dims(indexing_map: AffineMap) -> tuple[int | None, ...]:
    """Per dimension of an operand, the dimension of the iteration space that indexes it; None for a constant."""
    return tuple(each.position if isinstance(each, AffineDimExpr) else None for each in indexing_map.results)


def _constant(op: ForOp, bound: AffineMapAttr) -> int:
    result = bound.data.results[0]
    if len(bound.data.results) != 1 or not isinstance(result, AffineConstantExpr):
        raise refusal(op, "its bounds are not constant")
    return result.value


def refuse_packed(op: Operation) -> None:
    """Refuses an op on block floats, unless it is a cast, an exchange or an update of rows: only these have kernels.

    Raises:
        CompileError: No kernel executes it.
    """
    if isinstance(op, TypecastOp | CollectiveOp | CallOp | ReturnOp):
        return
    values = op.operands[1:] if isinstance(op, RoutineOp) and op.packs_rows else (*op.operands, *op.results)
    if any(map(is_packed, values)):
        raise refusal(op, "the elements of block floats are packed", "run the stage `ttir-decompose-composites`")
