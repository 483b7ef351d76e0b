"""The operands that reductions and products take on a chip target: those that the ttnn.jit document lists.

The rules bind arguments, and of products also what kernels made. What operations of the host program made, and shapes
that no kernel takes, are read by launches of the host program, wherever they lie.
"""

from __future__ import annotations

from ttnn_jit.diagnostics.errors import OperandDTypeError, OperandError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.ops import Composite, Contraction, Operation, Reduction
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.memory_config import BufferType, MemoryConfig
from ttnn_jit.specs.sharding import maximal_block_sharding_grid
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.target_rules import is_multiplied, is_of_whole_tiles, is_reduced
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec


@dataclass(frozen=True)
class KernelOperand:
    """A tensor that a kernel would read.

    Attributes:
        spec: What it is.
        name: The argument's; empty if a kernel made it.
        place: Which of the operation's operands it is, from 0.
    """

    spec: TensorSpec
    name: str
    place: int

    def __str__(self) -> str:
        return f"`{self.name}`" if self.name else f"its {('first', 'second')[self.place]} operand"


def check_kernel_operand(
    operation: Operation, operand: KernelOperand, target: SystemDesc, location: Location | None
) -> None:
    """Refuse an operand that no kernel of a chip target takes.

    Raises:
        OperandError: It lies where the operation takes none.
        OperandDTypeError: Its elements are none that a chip reduces.
    """
    computes = operation.kernel_of or operation if isinstance(operation, Composite) else operation
    spec = operand.spec
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
        f"{_place_of(operand.spec.memory_config)}, on target {target.name}",
        location=location,
        help=f"`ttnn.to_memory_config({tensor}, ttnn.DRAM_MEMORY_CONFIG)` brings it there, before the call or in it",
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
            help=f"`ttnn.typecast({operand.name}, ttnn.{DataType.BFLOAT16.name.lower()})` casts it",
        )
    if is_reduced(spec):
        return
    raise OperandError(
        f"`{name}` takes tensors that are sharded in L1, and {operand} is {_place_of(spec.memory_config)}, "
        f"on target {target.name}",
        location=location,
        help=f"`ttnn.to_memory_config({operand.name}, {_sharded_text(spec, target)})` brings it there, before the call "
        "or in it",
    )


def _place_of(config: MemoryConfig) -> str:
    return f"{config.memory_layout.name.lower().replace('_', ' ')} in {config.buffer_type.name}"


def _sharded_text(spec: TensorSpec, target: SystemDesc) -> str:
    """A config for `spec`, as a user writes it."""
    rows, columns = target.grid
    x, y = maximal_block_sharding_grid(spec.shape, (columns - 1, rows - 1))
    return (
        f"ttnn.create_sharded_memory_config({tuple(spec.shape)}, ttnn.CoreGrid(x={x}, y={y}), ttnn.ShardStrategy.BLOCK)"
    )
