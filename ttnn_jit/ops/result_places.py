"""Where the result of a call lies whose `memory_config` says how it is cut, and not into what."""

from __future__ import annotations

from collections.abc import Callable

from ttnn_jit.ops.elementwise import Elementwise
from ttnn_jit.ops.operation import Operation
from ttnn_jit.specs.core_sets import core_for_each, with_cores
from ttnn_jit.specs.cores import CoreRange, CoreRangeSet
from ttnn_jit.specs.memory_config import TensorMemoryLayout
from ttnn_jit.specs.tensor_spec import MemoryConfig, TensorSpec


def result_config(
    operation: Operation, first: TensorSpec, grid: tuple[int, int], config: MemoryConfig
) -> Callable[[TensorSpec], MemoryConfig]:
    """From the spec of a result by rule to where it lies: as the operand `first` does, or over its cores.

    Args:
        operation: Is called.
        first: Its first operand.
        grid: Rows and columns of cores of the device.
        config: Is asked for.
    """
    if not config.names_no_cores:
        return lambda _: config
    own = first.memory_config
    is_alike = (own.memory_layout, own.buffer_type) == (config.memory_layout, config.buffer_type)
    if operation.core_for_each and config.memory_layout is TensorMemoryLayout.HEIGHT_SHARDED:
        return lambda spec: core_for_each(spec.shape, grid, config.buffer_type)
    if isinstance(operation, Elementwise):
        return lambda _: own if is_alike else config
    cores = own.shard_spec.grid if own.shard_spec else CoreRangeSet(CoreRange((0, 0), (grid[1] - 1, grid[0] - 1)))
    return lambda spec: own if is_alike and spec.shape == first.shape else with_cores(config, spec.padded_shape, cores)
