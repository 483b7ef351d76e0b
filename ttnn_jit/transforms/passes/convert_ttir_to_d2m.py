"""convert-ttir-to-d2m: one `d2m.generic` per compute op."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import UnitAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttnn_jit import ops
from ttnn_jit.dialects import d2m, operation_of, ttir
from ttnn_jit.dialects.builders import linalg_yield
from ttnn_jit.dialects.declared_ops import TypecastOp
from ttnn_jit.dialects.layout import dtype_of, is_packed, spec_of, tensor_type
from ttnn_jit.dialects.ttcore import TileType, tile_type
from ttnn_jit.dialects.ttnn import HOIST
from ttnn_jit.dialects.writing.creation import clone_with, empty_block
from ttnn_jit.dialects.writing.editing import append, erase, ops_of
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.strided_walk import NotStridedError, walk
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.extents.partial_comparisons import are_known_to_be_equal
from ttnn_jit.specs.target import Numerics, SystemDesc
from ttnn_jit.specs.tensor_spec import DataType, Layout, Shape, TensorSpec
from ttnn_jit.transforms.function_bodies import ValueMap, rebuild
from ttnn_jit.transforms.kernels.kernel_body import linalg_of
from ttnn_jit.transforms.kernels.kernel_ops import KernelShape, kernel_op
from ttnn_jit.transforms.kernels.kernel_shape import elementwise_space, kernel_shape
from ttnn_jit.transforms.kernels.pass_bases import FunctionPass
from ttnn_jit.transforms.kernels.reducing_generics import (
    chips_contract,
    chips_reduce,
    contracting_generic,
    contracts_matrices,
    reducing_generic,
)

NOT_HOISTED = "d2m.not_hoisted"
"""Unit attribute of a generic whose op had no `ttnn.hoist_generic_via_d2m`: it is never fused."""


@dataclass(frozen=True)
class ConvertTTIRToD2M(FunctionPass):
    """Every compute op becomes a kernel: grid, indexing maps, circular buffers and one tile op.

    Under IEEE numerics ``d2m.tile_typecast`` widens input tiles of floats to f32 and rounds output tiles. Under device
    numerics the tile op rounds to its result type, unless `fp32_dest_acc` is set. Integers are computed in their own
    type.

    Attributes:
        max_grid: Last core coordinate (x, y) of an interleaved tensor's grid; None means the target's whole grid.
        fp32_dest_acc: Tile ops compute on f32 tiles under device numerics too; casts before stores round as a device
            does.
    """

    name = "convert-ttir-to-d2m"

    max_grid: tuple[int, ...] | None = None
    fp32_dest_acc: bool = False

    def change(self, block: Block, target: SystemDesc) -> None:
        """Converts one function."""
        rows, columns = target.grid
        last_core = (self.max_grid[0], self.max_grid[1]) if self.max_grid else (columns - 1, rows - 1)
        in_float32 = self.fp32_dest_acc or target.numerics is Numerics.IEEE
        conversion = _Conversion(last_core, in_float32, target.fuses_movement, _shapes_not_to_fold(block))
        erase_dead_copies(rebuild(block, conversion.rewrite))


@dataclass(frozen=True)
class _Conversion:
    last_core: tuple[int, int]
    in_float32: bool
    fuses_movement: bool
    not_to_fold: Sequence[Shape]

    def may_fold(self, shape: Shape) -> bool:
        """Whether the leading dimensions of a result may fold into its rows."""
        return not any(are_known_to_be_equal(shape, each) for each in self.not_to_fold)

    def rewrite(self, op: Operation, values: ValueMap) -> Iterable[Operation] | None:
        if isinstance(op, ttir.MovementOp) and self.fuses_movement:
            return self._moved(op, values) if op.is_view else self._through_views(op, values)
        if isinstance(op, ttir.ReductionOp):
            return self._reduced(op, values)
        if isinstance(op, ttir.ContractionOp):
            return self._contracted(op, values)
        if not isinstance(op, ttir.TensorElementwiseOp) or (operation := operation_of(op)) is None:
            return None
        if isinstance(op, TypecastOp) and any(map(is_packed, (op.operands[0], op.results[0]))):
            return None
        output = spec_of(op.results[0].type)
        shape = kernel_shape(_input_specs(op), output, self.last_core, fold=self.may_fold(output.shape))
        empty = d2m.EmptyOp.make(op.results[0].type, op.location)
        body = _tile_block(op, operation, shape, in_float32=self.in_float32)
        generic = kernel_op(values.operands(op), empty.results[0], shape, body, op.location)
        if HOIST not in op.attributes:
            generic.attributes[NOT_HOISTED] = UnitAttr()
        return values.replaced(op, empty, generic)

    def _reduced(self, op: ttir.ReductionOp, values: ValueMap) -> Iterable[Operation] | None:
        """A kernel with a reduction loop; on chips only if their rules allow it."""
        if not self.fuses_movement and not chips_reduce(op):
            return None
        return values.replaced(op, *reducing_generic(op, values[op.operands[0]], self.last_core))

    def _contracted(self, op: ttir.ContractionOp, values: ValueMap) -> Iterable[Operation] | None:
        """A kernel with a reduction loop for matrix products; on chips only if their rules allow it."""
        if not contracts_matrices(op) or (not self.fuses_movement and not chips_contract(op)):
            return None
        return values.replaced(op, *contracting_generic(op, values.operands(op), self.last_core))

    def _moved(self, op: ttir.MovementOp, values: ValueMap) -> Iterable[Operation]:
        """A kernel that copies a view, composed with the view that the operand copies if loops can walk that."""
        operand, result = values[op.operands[0]], op.results[0].type
        source, access = _walkable(operand, op.parts[0].access)
        if not is_walkable(spec_of(source.type), access):
            read = spec_of(source.type)
            dense = read.with_(layout=Layout.ROW_MAJOR, memory_config=read.memory_config.unsharded)
            *made, copied = self._copy(source, tensor_type(dense), op)
            view = d2m.ViewLayoutOp.make(copied.results[0], access, result, op.location)
            made = [*made, copied]
        else:
            made = []
            view = d2m.ViewLayoutOp.make(source, access, result, op.location)
        return values.replaced(op, *made, view, *self._copy(view.result, result, op))

    def _through_views(self, op: ttir.MovementOp, values: ValueMap) -> Iterable[Operation]:
        """The op with views as operands in place of the copies of views."""
        operands = ((viewed(operand), operand) for operand in values.operands(op))
        return values.replaced(op, clone_with(op, [view.result if view else operand for view, operand in operands]))

    def _copy(self, source: SSAValue, result: Attribute, op: Operation) -> tuple[Operation, d2m.GenericOp]:
        """A kernel that copies its input."""
        read, written = spec_of(source.type), spec_of(result)
        shape = kernel_shape((read,), written, self.last_core, fold=self.may_fold(written.shape))
        empty = d2m.EmptyOp.make(result, op.location)
        body = empty_block(shape.tiles)
        append(body, (linalg_yield((body.args[0],), op.location),))
        return empty, kernel_op([source], empty.results[0], shape, body, op.location)


def _walkable(operand: SSAValue, access: Access) -> tuple[SSAValue, Access]:
    """The source of the view that `operand` copies, and the composed access; the arguments if loops cannot walk it."""
    copied = viewed(operand)
    if copied is None:
        return operand, access
    through = access.compose(copied.access)
    return (copied.input, through) if is_walkable(spec_of(copied.input.type), through) else (operand, access)


def viewed(value: SSAValue) -> d2m.ViewLayoutOp | None:
    """The view of which `value` is a copy by a kernel; None if the kernel computes, or reads no view."""
    kernel = value.owner
    if not isinstance(kernel, d2m.GenericOp) or not _only_copies(kernel):
        return None
    view = kernel.inputs[0].owner
    return view if isinstance(view, d2m.ViewLayoutOp) else None


def _only_copies(kernel: d2m.GenericOp) -> bool:
    return isinstance(linalg_of(kernel).body.block.first_op, YieldOp)


def is_walkable(source: TensorSpec, access: Access) -> bool:
    """Whether strided loops can walk the elements of `source` that `access` selects."""
    if math.prod(access.extents) == 0:
        return True
    try:
        walk(access.extents, [access.address(source.shape, source.element_strides)])
    except NotStridedError:
        return False
    return True


def erase_dead_copies(block: Block) -> None:
    """Erases unused copies, and then unused views and empty tensors."""
    for op in reversed(ops_of(block)):
        if not op.results or op.results[0].first_use is not None:
            continue
        if isinstance(op, (d2m.ViewLayoutOp, d2m.EmptyOp)) or (isinstance(op, d2m.GenericOp) and _only_copies(op)):
            erase(op)


def _input_specs(op: Operation) -> tuple[TensorSpec, ...]:
    return tuple([spec_of(operand.type) for operand in op.operands])


def _shapes_not_to_fold(block: Block) -> Sequence[Shape]:
    """Result shapes that some op cannot fold: other ops do not fold them either, so that all can be fused."""
    shapes: list[Shape] = []
    for op in ops_of(block):
        if isinstance(op, ttir.TensorElementwiseOp):
            output = spec_of(op.results[0].type)
            if len(output.shape) > 2 and len(elementwise_space(_input_specs(op), output).tiles) > 2:
                shapes.append(output.shape)
    return shapes


def _tile_block(op: Operation, operation: ops.Operation, shape: KernelShape, *, in_float32: bool) -> Block:
    body = empty_block(shape.tiles)
    append(body, _tile_ops(op, operation, shape, body, in_float32=in_float32))
    return body


def _tile_ops(
    op: Operation, operation: ops.Operation, shape: KernelShape, body: Block, *, in_float32: bool
) -> list[Operation]:
    """The ops of `body`: casts and broadcasts of the operands, the tile op, and the cast of the result."""
    *inputs, output = body.args
    compute_type = _compute_type(dtype_of(inputs[0].type), dtype_of(output.type), in_float32=in_float32)
    tile_ops: list[Operation] = []
    operands: list[SSAValue] = []
    for argument, broadcast in zip(inputs, shape.broadcasts, strict=True):
        operand: SSAValue = argument
        if broadcast is not None:
            operand = _result_of(d2m.TileBcastOp.make(operand, broadcast.value, op.location), tile_ops)
        if in_float32 and operand.type is not compute_type and not _is_exact(dtype_of(operand.type)):
            operand = _as_type(operand, compute_type, tile_ops, op)
        operands.append(operand)
    if isinstance(operation, ops.Typecast):
        (value,) = operands
        computed = _as_type(value, output.type, tile_ops, op, called=True)
    else:
        tile_op = d2m.TILE_OP_OF[operation].create(
            operands=operands, result_types=(compute_type,), properties=op.properties, location=op.location
        )
        computed = _result_of(tile_op, tile_ops)
    result = _as_type(computed, output.type, tile_ops, op)
    tile_ops.append(linalg_yield((result,), op.location))
    return tile_ops


def _compute_type(read: DataType, result: DataType, *, in_float32: bool) -> TileType:
    """The result type of a tile op, before the cast to `result`."""
    if _is_exact(read):
        return tile_type(read)
    return tile_type(COMPUTE_TYPE if in_float32 or result.is_integer else result)


def _is_exact(dtype: DataType) -> bool:
    """Whether operations compute in `dtype` itself, and not in float32."""
    return dtype.is_integer or dtype.compute.is_wide


def _result_of(op: Operation, written: list[Operation]) -> SSAValue:
    written.append(op)
    return op.results[0]


def _as_type(
    value: SSAValue, wanted: Attribute, written: list[Operation], op: Operation, *, called: bool = False
) -> SSAValue:
    if value.type == wanted:
        return value
    assert isinstance(wanted, TileType)
    return _result_of(d2m.TileTypecastOp.make(value, wanted, op.location, called=called), written)
