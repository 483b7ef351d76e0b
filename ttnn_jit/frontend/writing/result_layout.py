"""The requested layout of a program's results, and of the values that only such results use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import Rewriter

from ttnn_jit.dialects.layout import spec_of, tensor_type
from ttnn_jit.specs.cores.memory_config import check_memory_of_device
from ttnn_jit.specs.tensor_spec import BufferType, MemoryConfig, TensorSpec, checked

ResultLayout: TypeAlias = Callable[[TensorSpec], MemoryConfig]
"""Maps the inferred spec of a result to its requested memory config; results of torch and numpy have none."""


def requested_spec(spec: TensorSpec, layout: ResultLayout) -> TensorSpec:
    """The spec that a result has under `layout`.

    Raises:
        GridError, LayoutError: The config does not hold the result.
    """
    if spec.memory_config.buffer_type is BufferType.SYSTEM_MEMORY:
        return spec
    config = layout(spec)
    check_memory_of_device(config)
    return checked(spec.with_(memory_config=config))


def lay_out_results(block: Block, results: Sequence[SSAValue], layout: ResultLayout) -> list[SSAValue]:
    """`results` under `layout`; each is the result of an op of `block`.

    A value that only such results use gets their memory config, so that their kernels have one grid and can fuse.
    """
    moved_values: dict[SSAValue, SSAValue] = {}
    moved: set[SSAValue] = set()
    for op in reversed(list(block.ops)):
        for value in [result for result in op.results if isinstance(result.type, TensorType)]:
            old = spec_of(value.type)
            new = requested_spec(old, layout) if value in results else _spec_like_users(value, old, moved)
            if new != old:
                moved_values[value] = Rewriter.replace_value_with_new_type(value, tensor_type(new))
                moved.add(moved_values[value])
    return [moved_values.get(value, value) for value in results]


def _spec_like_users(value: SSAValue, spec: TensorSpec, moved: set[SSAValue]) -> TensorSpec:
    users = [use.operation.results[0] for use in value.uses if use.operation.results]
    specs = [spec_of(user.type) for user in users if user in moved]
    configs = {other.memory_config for other in specs}
    if len(specs) != len(users) or len(configs) != 1 or any(other.shape != spec.shape for other in specs):
        return spec
    return spec.with_(memory_config=configs.pop())
