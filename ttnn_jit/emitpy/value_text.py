"""Values of ttnn's parameters as Python source."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.specs.configs.hardware_config import HardwareConfig, rules_of
from ttnn_jit.specs.configs.unary_op_type import UnaryWithParam
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


class Source(str):
    """The source of an argument."""

    __slots__ = ()


_LONGEST_CALL = 100
"""A longer call has a line for each argument."""


def call_text(function: str, arguments: Sequence[str]) -> str:
    """The source of a call."""
    line = f"{function}({', '.join(arguments)})"
    if len(line) <= _LONGEST_CALL:
        return line
    return "\n".join([f"{function}(", *(f"    {each},".replace("\n", "\n    ") for each in arguments), ")"])


def value_text(value: Any) -> str:
    """The source of a number, a text, an element type, a layout, a config, or a list of these."""
    for kind, text in _TEXTS:
        if isinstance(value, kind):
            return text(value)
    return repr(value)


def _config_text(config: HardwareConfig) -> str:
    """The source of a config: the fields that differ from their defaults."""
    kind: Any = type(config)
    default = kind()
    given = {name: getattr(config, name) for name in rules_of(kind)}
    changed = (f"{name}={value_text(each)}" for name, each in given.items() if each != getattr(default, name))
    return f"ttnn.{kind.__name__}({', '.join(changed)})"


def _member_text(member: enum.Enum) -> str:
    if isinstance(member, DataType):
        return member.held_as.name.lower()
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


def _activation_text(activation: UnaryWithParam) -> str:
    return call_text("ttnn.UnaryWithParam", [f"ttnn.{activation.op_type}", *map(float_text, activation.params)])


_TEXTS: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (Source, str),
    (str, repr),
    (enum.Enum, lambda value: f"ttnn.{_member_text(value)}"),
    (MemoryConfig, memory_config_text),
    (HardwareConfig, _config_text),
    (UnaryWithParam, _activation_text),
    (float, float_text),
    (Sequence, lambda value: f"[{', '.join(map(value_text, value))}]"),
)
"""The source of a value by its type, the first that fits."""
