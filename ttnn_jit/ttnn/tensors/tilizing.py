"""Conversions between ROW_MAJOR and TILE under older names of ttnn; no operation reads the padding of tiles."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.target import TILE_HEIGHT
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig
from ttnn_jit.ttnn.calling.eager_functions import slice as sliced
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.transfers import to_layout


@host_function(in_programs=True, chip_only="use_multicore use_low_perf sub_core_grids")
def tilize(
    input_tensor: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
    use_multicore: bool = True,
    use_low_perf: bool = False,
    sub_core_grids: object = None,
) -> Tensor:
    """A tensor converted to TILE layout, padded to whole tiles (ttnn.tilize).

    Args:
        input_tensor: A tensor in any layout.
        memory_config: Memory config of the result; that of the tensor when omitted.
        dtype: Element type of the result; that of the tensor when omitted.
        use_multicore: Implementation on a chip.
        use_low_perf: Implementation on a chip.
        sub_core_grids: Cores of a chip.
    """
    return to_layout(input_tensor, Layout.TILE, dtype, memory_config)


@host_function(in_programs=True, chip_only="use_multicore sub_core_grids")
def tilize_with_zero_padding(
    input_tensor: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    output_dtype: DataType | None = None,
    use_multicore: bool = True,
    sub_core_grids: object = None,
) -> Tensor:
    """A tensor converted to TILE layout, padded with zeros (ttnn.tilize_with_zero_padding)."""
    return to_layout(input_tensor, Layout.TILE, output_dtype, memory_config)


@host_function(
    in_programs=True,
    chip_only="use_multicore sub_core_grids",
    without_effect={"no operation reads padding": "pad_value"},
)
def tilize_with_val_padding(
    input_tensor: Tensor,
    output_tensor_shape: Sequence[int],
    pad_value: float,
    *,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
    use_multicore: bool = True,
    sub_core_grids: object = None,
) -> Tensor:
    """A tensor converted to TILE layout (ttnn.tilize_with_val_padding); the padding is zero, and never read.

    Args:
        input_tensor: A tensor in any layout.
        output_tensor_shape: The tensor's shape with the last two extents rounded up to whole tiles.
        pad_value: A number; ignored.
        memory_config: Memory config of the result; that of the tensor when omitted.
        dtype: Element type of the result; that of the tensor when omitted.
        use_multicore: Implementation on a chip.
        sub_core_grids: Cores of a chip.

    Raises:
        ShapeError: `output_tensor_shape` is a different shape.
        ArgumentError: `pad_value` is not a number.
    """
    rounded = pad_to_tile_shape(input_tensor.shape)
    if list(output_tensor_shape) != rounded:
        raise ShapeError(
            f"tilize_with_val_padding: {list(output_tensor_shape)} is not {rounded}, the shape in whole tiles",
            help="`ttnn.pad` makes a tensor larger",
        )
    return to_layout(input_tensor, Layout.TILE, dtype, memory_config)


@host_function(in_programs=True, chip_only="use_multicore use_pack_untilize sub_core_grids")
def untilize(
    input_tensor: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    use_multicore: bool = True,
    use_pack_untilize: bool = True,
    sub_core_grids: object = None,
) -> Tensor:
    """A tensor converted to ROW_MAJOR layout, without the padding of tiles (ttnn.untilize)."""
    return to_layout(input_tensor, Layout.ROW_MAJOR, None, memory_config)


@host_function(in_programs=True, chip_only="use_multicore use_pack_untilize sub_core_grids")
def untilize_with_unpadding(
    input_tensor: Tensor,
    output_tensor_end: Sequence[int],
    *,
    memory_config: MemoryConfig | None = None,
    use_multicore: bool = True,
    use_pack_untilize: bool = True,
    sub_core_grids: object = None,
) -> Tensor:
    """The elements up to and including the index `output_tensor_end`, ROW_MAJOR (ttnn.untilize_with_unpadding).

    Raises:
        ShapeError: There is no such element.
    """
    ends, shape = output_tensor_end, tuple(input_tensor.shape)
    if len(ends) != len(shape) or any(not 0 <= end < extent for end, extent in zip(ends, shape, strict=True)):
        raise ShapeError(f"untilize_with_unpadding: {list(ends)} is no element of a tensor of shape {list(shape)}")
    kept = tuple(end + 1 for end in ends)
    part = input_tensor if kept == shape else sliced(input_tensor, (0,) * len(kept), kept)
    return to_layout(part, Layout.ROW_MAJOR, None, memory_config)


@host_function()
def pad_to_tile_shape(
    unpadded_shape: Sequence[int], pad_c: bool = False, pad_n: bool = False, pad_h: bool = True, pad_w: bool = True
) -> list[int]:
    """A shape with the selected ones of the last four extents rounded up to 32 (ttnn.pad_to_tile_shape)."""
    shape = list(unpadded_shape)
    for dim, rounds in zip(reversed(range(len(shape))), (pad_w, pad_h, pad_c, pad_n), strict=False):
        if rounds:
            shape[dim] = -(-shape[dim] // TILE_HEIGHT) * TILE_HEIGHT
    return shape
