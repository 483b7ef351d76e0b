"""Values of ttnn's parameters as Python source."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.specs.cores.cores import CoreRangeSet
from ttnn_jit.specs.product_precision import ProductPrecision
from ttnn_jit.specs.tensor_spec import (
    DRAM_MEMORY_CONFIG,
    BufferType,
    DataType,
    Layout,
    MemoryConfig,
    TensorMemoryLayout,
)

_NAMED = {
    DRAM_MEMORY_CONFIG: "DRAM_MEMORY_CONFIG",
    MemoryConfig(TensorMemoryLayout.INTERLEAVED, BufferType.L1): "L1_MEMORY_CONFIG",
}


def value_text(value: Any) -> str:
    """The source of a number, a text, an element type, a layout, a memory config, or a list of these."""
    if isinstance(value, enum.Enum):
        return f"ttnn.{_member_text(value)}"
    if isinstance(value, MemoryConfig):
        return memory_config_text(value)
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(value_text, value))}]"
    return repr(value)


def _member_text(member: enum.Enum) -> str:
    if isinstance(member, DataType):
        return member.name.lower()
    return f"{member.name}_LAYOUT" if isinstance(member, Layout) else str(member)


def float_text(value: float) -> str:
    """The source of a float; ``float("inf")`` where there is no literal."""
    return repr(value) if math.isfinite(value) else f'float("{value}")'


def precision_text(text: str) -> str:
    """The compute kernel config of a product's precision, from its text in the IR."""
    precision = ProductPrecision.of(text)
    fidelity = f"math_fidelity=ttnn.{precision.fidelity}, " if precision.fidelity else ""
    return f"ttnn.WormholeComputeKernelConfig({fidelity}fp32_dest_acc_en={precision.fp32_dest_acc})"


def memory_config_text(config: MemoryConfig) -> str:
    """The source of a memory config."""
    if config in _NAMED:
        return f"ttnn.{_NAMED[config]}"
    parts = [f"ttnn.{config.memory_layout}", f"ttnn.{config.buffer_type}"]
    shard = config.shard_spec
    if shard is not None:
        parts.append(f"ttnn.ShardSpec({_cores_text(shard.grid)}, {list(shard.shape)}, ttnn.{shard.orientation})")
    return f"ttnn.MemoryConfig({', '.join(parts)})"


def _cores_text(cores: CoreRangeSet) -> str:
    ranges = (
        f"ttnn.CoreRange(ttnn.CoreCoord({each.start.x}, {each.start.y}), ttnn.CoreCoord({each.end.x}, {each.end.y}))"
        for each in cores.ranges()
    )
    return f"ttnn.CoreRangeSet([{', '.join(ranges)}])"
