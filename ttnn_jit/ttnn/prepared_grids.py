"""Grids of `grid_sample` that are computed before, on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.foreign.torch_tensor import require_torch
from ttnn_jit.runtime.tensor import Tensor, check_tensor
from ttnn_jit.specs.tensor_spec import DataType
from ttnn_jit.ttnn.mesh import over_meshes
from ttnn_jit.ttnn.tensor_creation import from_torch

if TYPE_CHECKING:
    import torch


@over_meshes
def prepare_grid_sample_grid(
    grid: Tensor,
    input_shape: Sequence[int],
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
    output_dtype: DataType | None = None,
) -> Tensor:
    """What `grid_sample` needs to know of every place of a grid (ttnn.prepare_grid_sample_grid).

    Args:
        grid: On the host: batch x rows x columns x 2, x and y from -1 to 1.
        input_shape: Of the images: batch, height, width, channels.
        mode: "bilinear".
        padding_mode: "zeros", which are around the images.
        align_corners: Whether -1 and 1 are the outermost elements, and not their outer edges.
        output_dtype: BFLOAT16, the one there is.

    Returns:
        On the host, in rows: batch x rows x columns x 6. Row and column of the element above and to the left, as the
        bits of int16, and the weights of the four elements around, row by row; 0 of those that lie outside.

    Raises:
        ArgumentError: A mode that is not here, or a grid on a device.
        ShapeError: The grid is no grid of pairs, or the images have another rank.
    """
    check_tensor(grid, "`grid` of prepare_grid_sample_grid")
    for name, value, wanted in (("mode", mode, "bilinear"), ("padding_mode", padding_mode, "zeros")):
        if value != wanted:
            raise ArgumentError(f"`{name}` of prepare_grid_sample_grid is {wanted!r} here, got {value!r}")
    if grid.device() is not None or not (output_dtype is None or output_dtype.is_upper_half):
        raise ArgumentError("prepare_grid_sample_grid makes a BFLOAT16 grid of one on the host")
    if len(grid.shape) != 4 or grid.shape[-1] != 2 or len(input_shape) != 4:
        raise ShapeError(f"a grid of shape {list(grid.shape)} does not sample images of shape {list(input_shape)}")
    require_torch("prepare_grid_sample_grid", "give the grid itself to `grid_sample`")
    return from_torch(_precomputed(grid.to_torch().float(), input_shape[1], input_shape[2], align_corners))


def _precomputed(grid: torch.Tensor, height: int, width: int, align_corners: bool) -> torch.Tensor:
    import torch

    def placed(numbers: torch.Tensor, extent: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The element before each number, and how far behind it that is."""
        scale = (extent - 1) / 2 if align_corners else extent / 2
        place = (numbers + 1) * scale - (0.0 if align_corners else 0.5)
        place = place.nan_to_num(-2.0).clamp(-2.0, extent + 1.0)
        first = place.floor()
        return first, place - first

    (top, low), (left, right) = placed(grid[..., 1], height), placed(grid[..., 0], width)

    def weight(corner: int) -> torch.Tensor:
        y, z = top + corner // 2, left + corner % 2
        inside = (y >= 0) & (y < height) & (z >= 0) & (z < width)
        share = (low if corner // 2 else 1 - low) * (right if corner % 2 else 1 - right)
        return torch.where(inside, share, 0.0).bfloat16()

    corner = torch.stack([top, left], -1).to(torch.int16).view(torch.bfloat16)
    return torch.cat([corner, torch.stack([weight(k) for k in range(4)], -1)], -1)
