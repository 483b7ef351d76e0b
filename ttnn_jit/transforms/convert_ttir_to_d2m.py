"""convert-ttir-to-d2m: one `d2m.generic` per compute op."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ttnn_jit import ops
from ttnn_jit.dialects import d2m, operation_of, system_desc_of, ttir
from ttnn_jit.dialects.builders import linalg_yield
from ttnn_jit.dialects.creation import empty_block
from ttnn_jit.dialects.editing import append, ops_of
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.ttcore import TileType, tile_type
from ttnn_jit.dialects.ttnn import HOIST
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import Shape, TensorSpec
from ttnn_jit.transforms.function_bodies import ValueMap, function_blocks, rebuild
from ttnn_jit.transforms.kernel_ops import block_with_views, compute_op, kernel_op
from ttnn_jit.transforms.kernel_shape import KernelShape, elementwise_space, kernel_shape

NOT_HOISTED = "d2m.not_hoisted"
"""Unit attribute of a generic whose op lacked `ttnn.hoist_generic_via_d2m`: it is never fused."""


@dataclass(frozen=True)
class ConvertTTIRToD2M(ModulePass):
    """Every compute op becomes a kernel: grid, indexing maps, circular buffers and one tile op.

    Under IEEE numerics tiles are widened to f32 on the way in and rounded on the way out by ``d2m.tile_typecast``;
    under device numerics the tile op's result type is the rounding, unless `fp32_dest_acc` asks for the casts.

    Attributes:
        max_grid: Last core coordinate (x, y) of an interleaved tensor's grid; None means the target's whole grid.
        fp32_dest_acc: Tile ops compute on f32 tiles under device numerics too; casts at the stores round as a device.
    """

    name = "convert-ttir-to-d2m"

    max_grid: tuple[int, ...] | None = None
    fp32_dest_acc: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Converts every function of the module `op`."""
        target = system_desc_of(op)
        rows, columns = target.grid
        last_core = (self.max_grid[0], self.max_grid[1]) if self.max_grid else (columns - 1, rows - 1)
        in_float32 = self.fp32_dest_acc or target.numerics is Numerics.IEEE
        for block in function_blocks(op):
            conversion = _Conversion(last_core, in_float32, _shapes_not_to_fold(block))
            rebuild(block, conversion.rewrite)


@dataclass(frozen=True)
class _Conversion:
    last_core: tuple[int, int]
    in_float32: bool
    not_to_fold: frozenset[Shape]

    def rewrite(self, op: Operation, values: ValueMap) -> Iterable[Operation] | None:
        if not isinstance(op, ttir.TensorElementwiseOp) or (operation := operation_of(op)) is None:
            return None
        output = spec_of(op.results[0].type)
        shape = kernel_shape(_input_specs(op), output, self.last_core, fold=output.shape not in self.not_to_fold)
        empty = d2m.EmptyOp.make(op.results[0].type, op.location)
        generic = kernel_op(
            [values[operand] for operand in op.operands],
            empty.results[0],
            _kernel_block(op, operation, shape, in_float32=self.in_float32),
            shape.grid,
            shape.indexing_maps,
            op.location,
        )
        if HOIST not in op.attributes:
            generic.attributes[NOT_HOISTED] = UnitAttr()
        values[op.results[0]] = generic.results[0]
        return empty, generic


def _input_specs(op: Operation) -> tuple[TensorSpec, ...]:
    return tuple([spec_of(operand.type) for operand in op.operands])


def _shapes_not_to_fold(block: Block) -> frozenset[Shape]:
    """Result shapes of which one op needs its leading dimensions: the others keep theirs too, so that all can fuse."""
    shapes = set()
    for op in ops_of(block):
        if isinstance(op, ttir.TensorElementwiseOp):
            output = spec_of(op.results[0].type)
            if len(output.shape) > 2 and len(elementwise_space(_input_specs(op), output).tiles) > 2:
                shapes.add(output.shape)
    return frozenset(shapes)


def _kernel_block(op: Operation, operation: ops.Operation, shape: KernelShape, *, in_float32: bool) -> Block:
    block, views = block_with_views(shape.buffers, op.location)
    body = empty_block(shape.tiles)
    append(body, _tile_ops(op, operation, shape, body, in_float32=in_float32))
    append(block, (compute_op(views, body, shape.indexing_maps, op.location),))
    return block


def _tile_ops(
    op: Operation, operation: ops.Operation, shape: KernelShape, body: Block, *, in_float32: bool
) -> list[Operation]:
    """The ops of `body`: what it takes to read the operands, the tile op, and what it takes to yield the result."""
    *inputs, output = body.args
    compute_type = tile_type(COMPUTE_TYPE) if in_float32 else output.type
    tile_ops: list[Operation] = []
    operands: list[SSAValue] = []
    for argument, broadcast in zip(inputs, shape.broadcasts, strict=True):
        operand: SSAValue = argument
        if broadcast is not None:
            operand = _result_of(d2m.TileBcastOp.make(operand, broadcast.value, op.location), tile_ops)
        operands.append(_as_type(operand, compute_type, tile_ops, op) if in_float32 else operand)
    tile_op = d2m.TILE_OP_OF[operation].create(
        operands=operands, result_types=(compute_type,), properties=op.properties, location=op.location
    )
    result = _as_type(_result_of(tile_op, tile_ops), output.type, tile_ops, op)
    tile_ops.append(linalg_yield((result,), op.location))
    return tile_ops


def _result_of(op: Operation, written: list[Operation]) -> SSAValue:
    written.append(op)
    return op.results[0]


def _as_type(value: SSAValue, wanted: Attribute, written: list[Operation], op: Operation) -> SSAValue:
    if value.type == wanted:
        return value
    assert isinstance(wanted, TileType)
    return _result_of(d2m.TileTypecastOp.make(value, wanted, op.location), written)
