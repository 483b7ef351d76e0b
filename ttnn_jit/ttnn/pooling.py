"""Pools of the host API, over the operations of ttnn_jit/ops/pools.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.host_ops import HostOps
from ttnn_jit.ops.pool_places import MAX_POOL2D_INDICES
from ttnn_jit.ops.pools import (
    ADAPTIVE_AVG_POOL2D,
    ADAPTIVE_MAX_POOL2D,
    AVG_POOL2D,
    GLOBAL_AVG_POOL2D,
    MAX_POOL2D,
    Pool,
    attributes_of,
)
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.specs.compute_config import DeviceComputeKernelConfig
from ttnn_jit.specs.conv_configs import Conv2dSliceConfig
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, TensorMemoryLayout
from ttnn_jit.ttnn.eager_functions import pad, reshape
from ttnn_jit.ttnn.eager_operation import function_of
from ttnn_jit.ttnn.host_function import host_function
from ttnn_jit.ttnn.window_arguments import per_dimension, refusals_of, result_dtype, windows_of

_MAX_POOL2D, _AVG_POOL2D, _ADAPTIVE_AVG, _ADAPTIVE_MAX, _GLOBAL, _INDICES = map(
    function_of,
    (MAX_POOL2D, AVG_POOL2D, ADAPTIVE_AVG_POOL2D, ADAPTIVE_MAX_POOL2D, GLOBAL_AVG_POOL2D, MAX_POOL2D_INDICES),
)


def _check(name: str, pool: Pool, x: Tensor) -> None:
    with refusals_of(name):
        pool.check(tuple(x.shape))


def _of_result(x: Any, dtype: DataType | None, layout: Layout) -> tuple[DataType, Layout]:
    """Block floats lie in tiles alone, so that in rows they are unpacked."""
    own = result_dtype(dtype, x, "a pool")
    return own.unpacked if dtype is None and layout is Layout.ROW_MAJOR else own, layout


def _free(ops: HostOps[Tensor], x: Any, deallocate_input: bool) -> None:
    if deallocate_input:
        ops.free(x)


@host_function(
    in_programs=True,
    over_meshes=True,
    on_copies=True,
    of_a_chip="dram_slice_config applied_shard_scheme reallocate_halo_output config_tensor_in_dram",
)
def max_pool2d(  # noqa: PLR0913, PLR0917 - the arguments are ttnn's
    _ops: HostOps[Tensor],
    input_tensor: Tensor,
    batch_size: int,
    input_h: int,
    input_w: int,
    channels: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int],
    padding: int | Sequence[int],
    dilation: int | Sequence[int] = (1, 1),
    ceil_mode: bool = False,
    *,
    memory_config: MemoryConfig | None = None,
    dram_slice_config: Conv2dSliceConfig | None = None,
    applied_shard_scheme: TensorMemoryLayout | None = None,
    deallocate_input: bool = False,
    reallocate_halo_output: bool = True,
    return_indices: bool = False,
    dtype: DataType | None = None,
    output_layout: Layout = Layout.ROW_MAJOR,
    config_tensor_in_dram: bool = False,
) -> Any:
    """The largest element of every window, NaN where one is (ttnn.max_pool2d).

    Args:
        input_tensor: Batch x height x width x channels, or with all but the channels in one dimension.
        batch_size: Images.
        input_h: Height of an image.
        input_w: Width of an image.
        channels: Of an image.
        kernel_size: Height and width of a window.
        stride: From one window to the next.
        padding: Around an image: height and width; or top, bottom, left and right. No element of it is a largest one.
        dilation: From one tap of a window to the next.
        ceil_mode: Whether a window that begins inside may reach beyond the padding.
        memory_config: Where the result lies.
        dram_slice_config: Checked.
        applied_shard_scheme: Checked.
        deallocate_input: Free the input's memory.
        reallocate_halo_output: Ignored.
        return_indices: Give the places of these elements too.
        dtype: Of the result; the input's when omitted, of block floats what they are unpacked to.
        output_layout: Of the result.
        config_tensor_in_dram: Ignored.

    Returns:
        (1, 1, batch * height * width, channels); with it, if they are asked for, the places in the image, row by row,
        as UINT16, or as UINT32 where that is too narrow.

    Raises:
        ArgumentError: An argument is of another kind.
        ShapeError: Sizes that do not fit each other, or a tensor that does not fit them.
    """
    windows = windows_of("max_pool2d", 2, kernel_size, stride, padding, dilation)
    pool = Pool(batch_size, (input_h, input_w), channels, windows, ceil_mode)
    _check("max_pool2d", pool, input_tensor)
    attributes = attributes_of(pool)
    wanted = _of_result(input_tensor, dtype, output_layout)
    found = _MAX_POOL2D(input_tensor, *attributes, *wanted, memory_config=memory_config)
    indices = _indices(input_tensor, pool) if return_indices else None
    _free(_ops, input_tensor, deallocate_input)
    return (found, indices) if return_indices else found


def _indices(x: Any, pool: Pool) -> Any:
    x = reshape(x, (pool.batch, *pool.extents, pool.channels))
    ends = zip(pool.windows.reach(pool.counts), pool.extents, pool.windows.padding, strict=True)
    around = ((0, 0), *((before, max(0, reach - own - before)) for reach, own, (before, _) in ends), (0, 0))
    return _INDICES(pad(x, around, 0.0) if any(map(any, around)) else x, *attributes_of(pool))


@host_function(
    in_programs=True,
    over_meshes=True,
    on_copies=True,
    of_a_chip="dram_slice_config applied_shard_scheme reallocate_halo_output config_tensor_in_dram",
)
def avg_pool2d(  # noqa: PLR0913, PLR0917 - the arguments are ttnn's
    _ops: HostOps[Tensor],
    input_tensor: Tensor,
    batch_size: int,
    input_h: int,
    input_w: int,
    channels: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int],
    padding: int | Sequence[int],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    dram_slice_config: Conv2dSliceConfig | None = None,
    applied_shard_scheme: TensorMemoryLayout | None = None,
    compute_kernel_config: DeviceComputeKernelConfig | None = None,
    deallocate_input: bool = False,
    reallocate_halo_output: bool = True,
    dtype: DataType | None = None,
    output_layout: Layout = Layout.ROW_MAJOR,
    config_tensor_in_dram: bool = False,
) -> Any:
    """The mean of every window (ttnn.avg_pool2d); the arguments are those of `max_pool2d`, and two more.

    `count_include_pad` says whether the zeros around an image are elements of a window; sums are divided by
    `divisor_override`, where it is given, instead of by a window's elements.

    Returns:
        (1, 1, batch * height * width, channels).

    Raises:
        ArgumentError: An argument is of another kind.
        ShapeError: Sizes that do not fit each other, or a tensor that does not fit them.
    """
    windows = windows_of("avg_pool2d", 2, kernel_size, stride, padding, 1)
    pool = Pool(batch_size, (input_h, input_w), channels, windows, ceil_mode)
    _check("avg_pool2d", pool, input_tensor)
    if divisor_override == 0:
        raise ArgumentError("`divisor_override` of avg_pool2d is 0")
    keywords = {"memory_config": memory_config, "compute_kernel_config": compute_kernel_config}
    wanted = _of_result(input_tensor, dtype, output_layout)
    found = _AVG_POOL2D(
        input_tensor, *attributes_of(pool), count_include_pad, divisor_override or 0, *wanted, **keywords
    )
    _free(_ops, input_tensor, deallocate_input)
    return found


@host_function(
    in_programs=True,
    over_meshes=True,
    on_copies=True,
    of_a_chip="dram_slice_config applied_shard_scheme reallocate_halo_output",
)
def adaptive_avg_pool2d(  # noqa: PLR0913 - the arguments are ttnn's
    _ops: HostOps[Tensor],
    input_tensor: Tensor,
    batch_size: int,
    input_h: int,
    input_w: int,
    channels: int,
    output_size: int | Sequence[int],
    *,
    memory_config: MemoryConfig | None = None,
    dram_slice_config: Conv2dSliceConfig | None = None,
    applied_shard_scheme: TensorMemoryLayout | None = None,
    deallocate_input: bool = False,
    reallocate_halo_output: bool = True,
    dtype: DataType | None = None,
    output_layout: Layout = Layout.ROW_MAJOR,
) -> Any:
    """The means of `output_size` windows that cover an image, as torch cuts it (ttnn.adaptive_avg_pool2d).

    The other arguments, the result and what is raised are those of `max_pool2d`.
    """
    counts = per_dimension(output_size, "`output_size` of adaptive_avg_pool2d", 2)
    sizes = (batch_size, input_h, input_w, channels, *counts)
    wanted = _of_result(input_tensor, dtype, output_layout)
    found = _ADAPTIVE_AVG(input_tensor, *sizes, *wanted, memory_config=memory_config)
    _free(_ops, input_tensor, deallocate_input)
    return found


@host_function(
    in_programs=True,
    over_meshes=True,
    on_copies=True,
    of_a_chip="dram_slice_config applied_shard_scheme reallocate_halo_output",
)
def adaptive_max_pool2d(  # noqa: PLR0913 - the arguments are ttnn's
    _ops: HostOps[Tensor],
    input_tensor: Tensor,
    batch_size: int,
    input_h: int,
    input_w: int,
    channels: int,
    output_size: int | Sequence[int],
    *,
    memory_config: MemoryConfig | None = None,
    dram_slice_config: Conv2dSliceConfig | None = None,
    applied_shard_scheme: TensorMemoryLayout | None = None,
    deallocate_input: bool = False,
    reallocate_halo_output: bool = True,
    dtype: DataType | None = None,
    output_layout: Layout = Layout.ROW_MAJOR,
) -> Any:
    """The largest elements of `output_size` windows that cover an image, as torch cuts it (ttnn.adaptive_max_pool2d).

    The other arguments, the result and what is raised are those of `max_pool2d`.
    """
    counts = per_dimension(output_size, "`output_size` of adaptive_max_pool2d", 2)
    sizes = (batch_size, input_h, input_w, channels, *counts)
    wanted = _of_result(input_tensor, dtype, output_layout)
    found = _ADAPTIVE_MAX(input_tensor, *sizes, *wanted, memory_config=memory_config)
    _free(_ops, input_tensor, deallocate_input)
    return found


@host_function(in_programs=True, over_meshes=True, on_copies=True)
def global_avg_pool2d(
    input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, dtype: DataType | None = None
) -> Tensor:
    """The mean of every channel of an image (ttnn.global_avg_pool2d).

    Args:
        input_tensor: Batch x height x width x channels.
        memory_config: Where the result lies.
        dtype: Of the result; the input's when omitted.

    Returns:
        Batch x 1 x 1 x channels, in the input's layout.

    Raises:
        CompileError: The tensor has another rank, or no elements.
    """
    wanted = result_dtype(dtype, input_tensor, "a pool")
    return _GLOBAL(input_tensor, wanted, memory_config=memory_config)
