"""Reductions and products on a chip target: the legal operands by the ttnn.jit document, and the layout of products.

The rules apply to arguments, and for products also to results of kernels. Launches of the host program read results of
its own operations, and shapes that no kernel takes, in any memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import OperandDTypeError, OperandError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.ops import Composite, Contraction, Operation, Reduction
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.cores.cores import CoreGrid
from ttnn_jit.specs.cores.memory_config import BufferType, MemoryConfig, ShardStrategy
from ttnn_jit.specs.cores.sharding import create_sharded_memory_config, folded_2d, maximal_block_sharding_grid
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH, SystemDesc
from ttnn_jit.specs.target_rules import is_multiplied, is_of_whole_tiles, is_reduced, is_reduced_since
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class KernelOperand:
    """A tensor that a kernel would read.

    Attributes:
        spec: Its spec.
        name: The argument's; empty if a kernel made it.
        index: Which of the operation's operands it is, from 0.
    """

    spec: TensorSpec
    name: str
    index: int

    def __str__(self) -> str:
        return f"`{self.name}`" if self.name else f"its {('first', 'second')[self.index]} operand"


def check_kernel_operand(
    operation: Operation, operand: KernelOperand, target: SystemDesc, location: Location | None
) -> None:
    """Refuse an operand that no kernel of a chip target takes.

    Raises:
        OperandError: The operation does not take operands in this memory config.
        OperandDTypeError: A chip does not reduce this element type.
    """
    computes, spec = _kernel_operation(operation), operand.spec
    if spec.memory_config.buffer_type is BufferType.SYSTEM_MEMORY or not is_of_whole_tiles(spec) or 0 in spec.shape:
        return
    if isinstance(computes, Contraction):
        _check_product(operation.name, operand, target, location)
    elif isinstance(computes, Reduction) and operand.name:
        _check_reduction(operation.name, operand, target, location)


def _check_product(name: str, operand: KernelOperand, target: SystemDesc, location: Location | None) -> None:
    if is_multiplied(operand.spec):
        return
    tensor = operand.name or "x"
    raise OperandError(
        f"`{name}` takes tensors that are block sharded in L1 or interleaved in DRAM, and {operand} is "
        f"{_memory_text(operand.spec.memory_config)}, on target {target.name}",
        location=location,
        help=f"`ttnn.to_memory_config({tensor}, ttnn.DRAM_MEMORY_CONFIG)` moves it there, before the call or in it",
    )


def _check_reduction(name: str, operand: KernelOperand, target: SystemDesc, location: Location | None) -> None:
    spec = operand.spec
    if spec.dtype.is_integer:
        return
    if spec.dtype.is_block_float:
        raise OperandDTypeError(
            f"`{name}` takes float32 and bfloat16, and {operand} is of {spec.dtype.name.lower()}, "
            f"on target {target.name}",
            location=location,
            help=f"`ttnn.typecast({operand.name}, ttnn.{spec.dtype.unpacked.name.lower()})` casts it",
        )
    if is_reduced(spec) or is_reduced_since(spec):
        return
    raise OperandError(
        f"`{name}` takes tensors that are sharded in L1 or interleaved in DRAM, and {operand} is "
        f"{_memory_text(spec.memory_config)}, on target {target.name}",
        location=location,
        help=f"`ttnn.to_memory_config({operand.name}, {_sharded_text(spec, target)})` moves it there, before the call "
        "or in it",
    )


def _memory_text(config: MemoryConfig) -> str:
    return f"{config.memory_layout.name.lower().replace('_', ' ')} in {config.buffer_type.name}"


def _sharded_text(spec: TensorSpec, target: SystemDesc) -> str:
    """The source text of a block-sharded config for `spec`."""
    rows, columns = target.grid
    x, y = maximal_block_sharding_grid(spec.shape, (columns - 1, rows - 1))
    return (
        f"ttnn.create_sharded_memory_config({tuple(spec.shape)}, ttnn.CoreGrid(x={x}, y={y}), ttnn.ShardStrategy.BLOCK)"
    )


def product_config(
    operation: Operation,
    tensors: Sequence[TensorSpec],
    attributes: Sequence[Any],
    result: TensorSpec,
    last_core: tuple[int, int],
) -> MemoryConfig:
    """The memory config of a result: block sharded in L1 for a product by a chip's kernel, else that of `result`.

    If both operands are sharded, the grid has the rows of the first one's and the columns of the second one's, as in
    tt-mlir. Otherwise, and if shards would not be whole tiles or exceed `last_core` (x, y), it is the largest grid.
    """
    computes, own = _kernel_operation(operation), result.memory_config
    if not isinstance(computes, Contraction) or 0 in result.shape:
        return own
    given = {each.name: value for each, value in zip(operation.attributes, attributes, strict=True)}
    statics = [given.get(each.name, each.default) for each in computes.attributes]
    if not computes.is_kernel_of_chips(tensors, statics):
        return own
    height, width = folded_2d(result.shape)
    columns, rows = maximal_block_sharding_grid(result.shape, last_core)
    shards = (each.memory_config.shard_spec for each in tensors)
    grids = [shard.grid.bounding_box().grid_size() for shard in shards if shard]
    if len(grids) == len(tensors):
        y, x = grids[0].y, grids[-1].x
        fits = x <= last_core[0] + 1 and y <= last_core[1] + 1
        if fits and height % (y * TILE_HEIGHT) == 0 and width % (x * TILE_WIDTH) == 0:
            columns, rows = x, y
    return create_sharded_memory_config((height, width), CoreGrid(x=columns, y=rows), ShardStrategy.BLOCK)


def _kernel_operation(operation: Operation) -> Operation:
    """The reduction or product that a composite fuses elementwise work into; any other operation itself."""
    return operation.kernel_of or operation if isinstance(operation, Composite) else operation
