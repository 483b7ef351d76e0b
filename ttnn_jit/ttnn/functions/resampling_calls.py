"""`upsample` and `grid_sample`, composed of the operations of ttnn_jit/ops/convolution/resampling.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.foreign.numpy_scalar import python_number
from ttnn_jit.ops.convolution.resampling import GRID_SAMPLE, GRID_SAMPLE_PRECOMPUTED, UPSAMPLE
from ttnn_jit.ops.convolution.rescaling import RESCALE
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.configs.compute_config import DeviceComputeKernelConfig
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.extents.extent import specialized
from ttnn_jit.specs.tensor_spec import MemoryConfig
from ttnn_jit.ttnn.calling.eager_operation import function_of
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.transfers import typecast

_UPSAMPLE, _RESCALE, _GRID_SAMPLE, _PRECOMPUTED = map(
    function_of, (UPSAMPLE, RESCALE, GRID_SAMPLE, GRID_SAMPLE_PRECOMPUTED)
)


def _factors(value: Any) -> tuple[float, ...]:
    """The factors of height and width, as ints if they are integers."""
    listed = [*value] if isinstance(value, (list, tuple)) else [value, value]
    numbers = [specialized(python_number(each)) for each in listed]
    if len(numbers) != 2 or any(type(each) not in {int, float} for each in numbers):
        raise ArgumentError(
            f"`scale_factor` of upsample must be a number, or one for height and one for width, got {value!r}"
        )
    return tuple(int(each) if float(each).is_integer() else each for each in numbers)


@host_function(in_programs=True, over_meshes=True, accepts_foreign=True)
def upsample(
    input_tensor: Tensor,
    scale_factor: float | Sequence[float],
    *,
    mode: str = "nearest",
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: DeviceComputeKernelConfig | None = None,
) -> Tensor:
    """Images scaled in height and width (ttnn.upsample).

    Args:
        input_tensor: [batch, height, width, channels].
        scale_factor: A number above 0, or one for height and one for width; extents of the result are rounded down.
        mode: "nearest", or "bilinear" as torch without `align_corners`.
        memory_config: Memory config of the result.
        compute_kernel_config: Precision on a chip; checked.

    Returns:
        [batch, height, width, channels], in the input's dtype and layout.

    Raises:
        ArgumentError: A factor is not a number.
        CompileError: The tensor has another rank, the result is empty, or the mode is unknown.
    """
    factors = _factors(scale_factor)
    are_whole = all(isinstance(factor, int) for factor in factors)
    call, named = (_UPSAMPLE, factors) if are_whole else (_RESCALE, tuple(map(repr, factors)))
    return call(input_tensor, *named, mode, memory_config=memory_config, compute_kernel_config=compute_kernel_config)


@host_function(in_programs=True, over_meshes=True, accepts_foreign=True)
def grid_sample(
    input_tensor: Tensor,
    grid: Tensor,
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
    use_precomputed_grid: bool = False,
    batch_output_channels: bool = False,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Images sampled at the points of a grid (ttnn.grid_sample).

    Args:
        input_tensor: [batch, height, width, channels].
        grid: [batch, rows, columns, 2 * n], n pairs of x and y from -1 to 1, which are n points in a column.
        mode: "bilinear" or "nearest".
        padding_mode: "zeros": elements outside of the images are 0.
        align_corners: Whether -1 and 1 are the centers of the outermost elements; otherwise they are their outer edges.
        use_precomputed_grid: Whether `prepare_grid_sample_grid` made the grid; grid and input are BFLOAT16 then.
        batch_output_channels: Whether the n points of a column become channels of the result; otherwise columns.
        memory_config: Memory config of the result.

    Returns:
        [batch, rows, columns, channels], in the input's dtype.

    Raises:
        ArgumentError: The padding mode is not supported.
        CompileError: The shapes do not fit each other.
    """
    if padding_mode != "zeros":
        raise ArgumentError(f"`padding_mode` of grid_sample is 'zeros' here, got {padding_mode!r}")
    if use_precomputed_grid:
        return _PRECOMPUTED(input_tensor, grid, batch_output_channels, mode, memory_config=memory_config)
    x, dtype = input_tensor, input_tensor.dtype
    if grid.dtype is not dtype:
        x, grid = _as_float32(x), _as_float32(grid)
    found = _GRID_SAMPLE(x, grid, align_corners, batch_output_channels, mode, memory_config=memory_config)
    return found if found.dtype is dtype else typecast(found, dtype)


def _as_float32(tensor: Tensor) -> Tensor:
    return tensor if tensor.dtype is COMPUTE_TYPE else typecast(tensor, COMPUTE_TYPE)
