"""Tensors between rows and tiles by older names of ttnn; what fills up tiles, no operation reads."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.target import TILE_HEIGHT
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig
from ttnn_jit.ttnn.calling.eager_functions import slice as sliced
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.transfers import to_layout


@host_function(in_programs=True, of_a_chip="use_multicore use_low_perf sub_core_grids")
def tilize(
    input_tensor: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
    use_multicore: bool = True,
    use_low_perf: bool = False,
    sub_core_grids: object = None,
) -> Tensor:
    """The same values in tiles (ttnn.tilize), padded to whole ones.

    Args:
        input_tensor: In rows or in tiles.
        memory_config: Where the result lies; where the tensor does, if it is omitted.
        dtype: Its element type; the tensor's, if it is omitted.
        use_multicore: How a chip does it; likewise the others.
        use_low_perf: See there.
        sub_core_grids: See there.
    """
    return to_layout(input_tensor, Layout.TILE, dtype, memory_config)


@host_function(in_programs=True, of_a_chip="use_multicore sub_core_grids")
def tilize_with_zero_padding(
    input_tensor: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    output_dtype: DataType | None = None,
    use_multicore: bool = True,
    sub_core_grids: object = None,
) -> Tensor:
    """The same values in tiles, filled up with zeros (ttnn.tilize_with_zero_padding)."""
    return to_layout(input_tensor, Layout.TILE, output_dtype, memory_config)


@host_function(
    in_programs=True,
    of_a_chip="use_multicore sub_core_grids",
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
    """The same values in tiles (ttnn.tilize_with_val_padding); no operation reads the padding, which is zero.

    Args:
        input_tensor: In rows or in tiles.
        output_tensor_shape: Its shape with the last two extents rounded up to whole tiles.
        pad_value: A number.
        memory_config: Where the result lies; where the tensor does, if it is omitted.
        dtype: Its element type; the tensor's, if it is omitted.
        use_multicore: How a chip does it.
        sub_core_grids: On which cores.

    Raises:
        ShapeError: `output_tensor_shape` is another one.
        ArgumentError: `pad_value` is no number.
    """
    rounded = pad_to_tile_shape(input_tensor.shape)
    if list(output_tensor_shape) != rounded:
        raise ShapeError(
            f"tilize_with_val_padding: {list(output_tensor_shape)} is not {rounded}, the shape in whole tiles",
            help="`ttnn.pad` makes a tensor larger",
        )
    return to_layout(input_tensor, Layout.TILE, dtype, memory_config)


@host_function(in_programs=True, of_a_chip="use_multicore use_pack_untilize sub_core_grids")
def untilize(
    input_tensor: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    use_multicore: bool = True,
    use_pack_untilize: bool = True,
    sub_core_grids: object = None,
) -> Tensor:
    """The same values in rows, without what filled up tiles (ttnn.untilize)."""
    return to_layout(input_tensor, Layout.ROW_MAJOR, None, memory_config)


@host_function(in_programs=True, of_a_chip="use_multicore use_pack_untilize sub_core_grids")
def untilize_with_unpadding(
    input_tensor: Tensor,
    output_tensor_end: Sequence[int],
    *,
    memory_config: MemoryConfig | None = None,
    use_multicore: bool = True,
    use_pack_untilize: bool = True,
    sub_core_grids: object = None,
) -> Tensor:
    """The elements up to `output_tensor_end` in every dimension, that one too, in rows (ttnn.untilize_with_unpadding).

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
    """A shape with the extents that are asked for, of the last four, rounded up to 32 (ttnn.pad_to_tile_shape)."""
    shape = list(unpadded_shape)
    for dim, rounds in zip(reversed(range(len(shape))), (pad_w, pad_h, pad_c, pad_n), strict=False):
        if rounds:
            shape[dim] = -(-shape[dim] // TILE_HEIGHT) * TILE_HEIGHT
    return shape
