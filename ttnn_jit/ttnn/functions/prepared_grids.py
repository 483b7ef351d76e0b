"""Precomputed grids of `grid_sample`, on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.foreign.torch_tensor import require_torch
from ttnn_jit.ops.convolution.resampling import MODES
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import DataType
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.torch_conversion import from_torch

if TYPE_CHECKING:
    import torch


@host_function(over_meshes=True)
def prepare_grid_sample_grid(
    grid: Tensor,
    input_shape: Sequence[int],
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
    output_dtype: DataType | None = None,
) -> Tensor:
    """The precomputed form of a grid for `grid_sample` (ttnn.prepare_grid_sample_grid).

    Args:
        grid: [batch, rows, columns, 2] on the host, x and y from -1 to 1.
        input_shape: Shape of the images: batch, height, width, channels.
        mode: "bilinear" or "nearest".
        padding_mode: "zeros": elements outside of the images are 0.
        align_corners: Whether -1 and 1 are the centers of the outermost elements; otherwise they are their outer edges.
        output_dtype: BFLOAT16, the only choice.

    Returns:
        [batch, rows, columns, 6], BFLOAT16, ROW_MAJOR, on the host: row and column of the upper left element, as the
        bits of int16, then the weights of the four elements around the point in row-major order; weights of elements
        outside the image are 0. For "nearest" [batch, rows, columns, 2]: row and column of the nearest element.

    Raises:
        ArgumentError: An unsupported mode, or a grid on a device.
        ShapeError: The last extent of the grid is not 2, or a rank is not 4.
    """
    for name, value, known in (("mode", mode, MODES), ("padding_mode", padding_mode, ("zeros",))):
        if value not in known:
            listed = " or ".join(map(repr, known))
            raise ArgumentError(f"`{name}` of prepare_grid_sample_grid is {listed} here, got {value!r}")
    if grid.device() is not None or not (output_dtype is None or output_dtype.is_upper_half):
        raise ArgumentError("prepare_grid_sample_grid makes a BFLOAT16 grid of one on the host")
    if len(grid.shape) != 4 or grid.shape[-1] != 2 or len(input_shape) != 4:
        raise ShapeError(f"a grid of shape {list(grid.shape)} does not sample images of shape {list(input_shape)}")
    require_torch("prepare_grid_sample_grid", "give the grid itself to `grid_sample`")
    points = grid.to_torch().float()
    y, x = (_coordinate(points[..., 1 - axis], input_shape[1 + axis], align_corners) for axis in range(2))
    if mode == MODES[0]:
        return from_torch(_bits(y.round(), x.round()))
    return from_torch(_precomputed(y, x, input_shape[1], input_shape[2]))


def _coordinate(numbers: torch.Tensor, extent: int, align_corners: bool) -> torch.Tensor:
    """Element coordinates of numbers from -1 to 1, clamped to two elements outside."""
    scale = (extent - 1) / 2 if align_corners else extent / 2
    coordinate = (numbers + 1) * scale - (0.0 if align_corners else 0.5)
    return coordinate.nan_to_num(-2.0).clamp(-2.0, extent + 1.0)


def _bits(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.stack([y, x], -1).to(torch.int16).view(torch.bfloat16)


def _precomputed(y: torch.Tensor, x: torch.Tensor, height: int, width: int) -> torch.Tensor:
    import torch

    top, left = y.floor(), x.floor()
    low, right = y - top, x - left

    def weight(corner: int) -> torch.Tensor:
        row, column = top + corner // 2, left + corner % 2
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        share = (low if corner // 2 else 1 - low) * (right if corner % 2 else 1 - right)
        return torch.where(inside, share, 0.0).bfloat16()

    return torch.cat([_bits(top, left), torch.stack([weight(k) for k in range(4)], -1)], -1)
