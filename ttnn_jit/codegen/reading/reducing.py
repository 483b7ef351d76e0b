"""Kernels that reduce a dimension of a tensor: of a ``d2m.generic``, or of an op outside any."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.codegen.bodies.steps import Accumulate, Cast, Constant, Load, Step, Store
from ttnn_jit.codegen.reading.module_reader import ModuleReader
from ttnn_jit.codegen.reading.reduced_operands import ReducedOperands, extents_in, require_extents, require_masked
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, Operand, kernel_over
from ttnn_jit.codegen.schedules.launch import View
from ttnn_jit.dialects.d2m import GenericOp, TileReduceOp
from ttnn_jit.dialects.declared_ops import ReductionOp
from ttnn_jit.dialects.region_loops import NOT_STRIDED, followed, refusal
from ttnn_jit.ops.language.axes import without_axes
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Const, Dim
from ttnn_jit.specs.access.strided_walk import NotStridedError
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import DataType


def reducing_kernels(op: ReductionOp, reader: ModuleReader) -> list[BoundKernel]:
    """The launch of an op that reduces one dimension, as behind `ttir-decompose-composites`.

    Raises:
        CompileError: The op reduces several dimensions, or its operands are not strided.
    """
    if len(op.axes) != 1:
        raise refusal(op, "it reduces not one dimension", "run the stage `ttir-decompose-composites`")
    source, result = reader.operand(op.operands[0]), reader.operand(op.results[0])
    if not op.keeps_dimensions:
        result = result.viewed(_without(source.view.shape, op.axes[0]))
    steps: list[Step] = [Load(0, None)]
    steps += _accumulating(op.operation.tile_name, 0, source.view.spec.dtype, 1)
    if result.view.spec.dtype is not COMPUTE_TYPE:
        steps.append(Cast(len(steps) - 1, result.view.spec.dtype, None))
    steps.append(Store(len(steps) - 1, 1))
    try:
        return [kernel_over((source,), (result,), steps, reader.numerics, axis=op.axes[0])]
    except NotStridedError:
        raise refusal(op, NOT_STRIDED) from None


def _without(shape: Sequence[int], axis: int) -> Access:
    """The access from elements of rows, with extent 1 along `axis`, to a tensor without that dimension."""
    others = (Dim(dim) for dim in range(len(shape)) if dim != axis)
    return Access(without_axes(shape, (axis,), keep=True), tuple(others))


def _accumulating(tile_name: str, loaded: int, dtype: DataType, following: int) -> list[Step]:
    if dtype is COMPUTE_TYPE:
        return [Accumulate(loaded, tile_name)]
    return [Cast(loaded, COMPUTE_TYPE, None), Accumulate(following, tile_name)]


def reducing_steps(
    op: TileReduceOp, tiles: Sequence[tuple[int, DataType]], numbers: Sequence[Constant], following: int
) -> list[Step]:
    """See `OperationFamily.steps`."""
    if len(tiles) != 1 or list(numbers) != [Constant.of(1.0)]:
        raise refusal(op, "it multiplies elements by another number than 1")
    return _accumulating(op.operation.tile_name, *tiles[0], following)


def reduced_operands(generic: GenericOp, op: TileReduceOp, dim: int, operands: Sequence[Operand]) -> ReducedOperands:
    """See `OperationFamily.operands`; the loops run over the input's dimensions in order."""
    source, result = operands
    read, written = (followed(each.data) for each in generic.indexing_maps)
    if read != tuple(range(len(read))):
        raise refusal(generic, "the indexing map of what it reduces reorders dimensions")
    if op.reduce_dim != {1: "R", 2: "C"}.get(len(read) - dim):
        raise refusal(op, f"it reduces other elements of a tile than dimension {dim} has there")
    extents = extents_in(generic, source, read)
    wanted = [1 if loop is None else extents[loop] for loop in written]
    require_extents(generic, "the result", extents_in(generic, result, written), wanted)
    if len(read) - dim <= 2:
        require_masked(generic, 0, extents[dim], op.identity)
    missing = len(read) - len(source.view.shape)
    axis, row = dim - missing, without_axes(source.view.shape, (dim - missing,), keep=True)
    if result.view.shape != row:
        own = written[len(written) - len(result.view.shape) :]
        indices = (Const(0) if loop is None or loop < missing else Dim(loop - missing) for loop in own)
        result = result.viewed(Access(row, tuple(indices)))
    return _in_order(source, result, axis)


def _in_order(source: Operand, result: Operand, axis: int) -> ReducedOperands:
    """The operands with dimensions in the order of the tensor in memory, if the input only permutes them."""
    spec, access = source.view.spec, source.view.access
    order = [] if access is None else [expr.position for expr in access.coordinates if isinstance(expr, Dim)]
    if (
        access is None
        or tuple(access.extents[dim] for dim in order) != tuple(spec.shape)
        or len(set(order)) < len(order)
    ):
        return ReducedOperands((source,), (result,), axis)
    axis = order.index(axis)
    own = result.access
    indices = (Dim(order.index(expr.position)) if isinstance(expr, Dim) else expr for expr in own.coordinates)
    moved = Access(without_axes(spec.shape, (axis,), keep=True), tuple(indices))
    return ReducedOperands((Operand(source.value, View(spec)),), (result.viewed(moved),), axis)
