"""Types of tensors in the layouts of ttnn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ttnn_jit.module_builders.base.metal_layouts import tile_type
from ttnn_jit.module_builders.base.torch_types import type_of
from ttnn_jit.ttmlir.dialect_modules import dialect_module
from ttnn_jit.ttmlir.enums import enum_of
from ttnn_jit.ttmlir.mlir_contexts import Context
from ttnn_jit.ttmlir.mlir_types import RankedTensorType
from ttnn_jit.ttmlir.wrapping import parsed, wrapped

Layout = enum_of("Layout", "ttnn")
BufferType = enum_of("BufferType", "ttnn")
TensorMemoryLayout = enum_of("TensorMemoryLayout", "ttnn")


def ttnn_encoding(
    shape: Sequence[int],
    element_type: Any,
    layout: Any = Layout.Tile,
    buffer_type: Any = BufferType.DRAM,
    tensor_memory_layout: Any = TensorMemoryLayout.Interleaved,
    grid_shape: Sequence[int] | None = None,
    core_range_set: Any = None,
) -> Any:
    """The layout of a tensor of ttnn.

    Args:
        shape: The extents of the tensor.
        element_type: A dtype of torch, or a type.
        layout: Tiles or rows.
        buffer_type: The memory.
        tensor_memory_layout: Interleaved or sharded; not said of memory of the host.
        grid_shape: The extents of the grid of cores.
        core_range_set: The cores; by default a grid at the origin, for a sharded tensor.
    """
    element = type_of(element_type)
    if layout == Layout.Tile:
        element = tile_type(element_type) if isinstance(element_type, torch.dtype) else _tile_of(element)
    if buffer_type == BufferType.SystemMemory:
        tensor_memory_layout = None
    grid = [*(grid_shape or (1, 1))]
    sharded = tensor_memory_layout is not None and tensor_memory_layout != TensorMemoryLayout.Interleaved
    if sharded and core_range_set is None:
        core_range_set = wrapped(
            parsed(f"#ttnn.core_range_set<[#ttnn.core_range<(0,0), ({grid[1] - 1},{grid[0] - 1})>]>")
        )
    kind = dialect_module("ttnn", "ttmlir.dialects.ttnn").TTNNLayoutAttr
    return kind.get(Context(), shape, element, buffer_type, grid, core_range_set, tensor_memory_layout)


def ttnn_tensor_type(shape: Sequence[int], element_type: Any, **keywords: Any) -> Any:
    """The type of a tensor with the layout of `ttnn_encoding`."""
    extents = [int(each) for each in shape]
    return RankedTensorType.get(extents, type_of(element_type), ttnn_encoding(extents, element_type, **keywords))


def _tile_of(element: Any) -> Any:
    from ttnn_jit.module_builders.base.torch_types import dtype_of

    return tile_type(dtype_of(element))
