"""Types of tensors in the layouts of metal."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ttnn_jit.module_builders.base.torch_types import type_of
from ttnn_jit.ttmlir.dialect_modules import dialect_module
from ttnn_jit.ttmlir.enums import enum_of
from ttnn_jit.ttmlir.mlir_affine import AffineConstantExpr, AffineDimExpr, AffineMap
from ttnn_jit.ttmlir.mlir_attributes import DenseElementsAttr
from ttnn_jit.ttmlir.mlir_types import IntegerType, RankedTensorType
from ttnn_jit.ttmlir.wrapping import parsed, wrapped

_TILE = 32


def get_metal_tensor_layout(  # noqa: PLR0913, PLR0917 - upstream's arguments
    ctx: Any,
    logical_shape: Sequence[int],
    tiled: bool = False,
    element_dtype: torch.dtype = torch.float32,
    memorySpace: Any = None,  # noqa: N803 - upstream's name
    grid: Sequence[int] | None = None,
    index_map: Any = None,  # noqa: ARG001 - views carry it
    memory_layout: Any = None,
    dim_alignments: Sequence[int] | None = None,
) -> Any:
    """The type of a tensor that is split over a grid of cores.

    Args:
        ctx: The context.
        logical_shape: The extents of the tensor.
        tiled: Whether elements are tiles.
        element_dtype: The element type.
        memorySpace: The memory; by default L1.
        grid: The extents of the grid; by default one core.
        index_map: Of no effect.
        memory_layout: How it lies in the memory; by default sharded.
        dim_alignments: What each extent is padded to a multiple of.
    """
    rank = len(logical_shape)
    space = enum_of("MemorySpace", "ttcore").DeviceL1 if memorySpace is None else memorySpace
    kind = enum_of("TensorMemoryLayout", "ttcore").Sharded if memory_layout is None else memory_layout
    intervals = None if dim_alignments is None else DenseElementsAttr.get(torch.tensor([[0, rank - 1]]).numpy())
    layouts = dialect_module("ttcore", "ttmlir.dialects.ttcore")
    layout = layouts.MetalLayoutAttr.get(ctx, logical_shape, space, kind, intervals, dim_alignments)
    cores = [*grid] if grid is not None else [1] * min(max(rank, 2), 2)
    shape = layout.getDeviceShape(cores, [_TILE, _TILE] if tiled else [])
    element = IntegerType.get_signed(32) if element_dtype is torch.int32 and not tiled else type_of(element_dtype)
    if tiled:
        element = tile_type(element_dtype)
    return RankedTensorType.get(shape, element, layout)


def tile_type(dtype: torch.dtype) -> Any:
    """The type of a tile."""
    spelling = str(type_of(dtype)).removeprefix("u").replace("i", "u" if not dtype.is_signed else "si", 1)
    word = str(type_of(dtype)) if dtype.is_floating_point else spelling
    return wrapped(parsed(f"!ttcore.tile<{_TILE}x{_TILE}, {word}>"))


def affine_map_from_lambda(function: Callable[..., Any]) -> AffineMap:
    """The map of a function of dimensions, which returns some of them, and zeros.

    Raises:
        TypeError: It returns something else.
    """
    names = [*inspect.signature(function).parameters]
    dims = [AffineDimExpr.get(index) for index, _ in enumerate(names)]
    results = []
    for each in function(*dims):
        is_zero = isinstance(each, int) and each == 0
        if not is_zero and not any(each is dim for dim in dims):
            raise TypeError(f"a result of an indexing map is {each!r}, and dimensions and 0 are taken")
        results.append(AffineConstantExpr.get(0) if is_zero else each)
    return AffineMap.get(len(dims), 0, results)
