"""Pools of the host API, composed of the operations of ttnn_jit/ops/convolution/pools.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.convolution.pool_indices import MAX_POOL2D_INDICES
from ttnn_jit.ops.convolution.pools import (
    ADAPTIVE_AVG_POOL2D,
    ADAPTIVE_MAX_POOL2D,
    AVG_POOL2D,
    GLOBAL_AVG_POOL2D,
    MAX_POOL2D,
    Pool,
    attributes_of,
)
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.configs.compute_config import DeviceComputeKernelConfig
from ttnn_jit.specs.configs.conv_configs import Conv2dSliceConfig
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, TensorMemoryLayout
from ttnn_jit.ttnn.calling.eager_functions import pad, reshape
from ttnn_jit.ttnn.calling.eager_operation import function_of
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.calling.shared_parameters import ArgumentsWithOps, takes
from ttnn_jit.ttnn.functions.window_arguments import per_dimension, prefix_errors, result_dtype, windows_of

_MAX_POOL2D, _AVG_POOL2D, _ADAPTIVE_AVG, _ADAPTIVE_MAX, _GLOBAL, _INDICES = map(
    function_of,
    (MAX_POOL2D, AVG_POOL2D, ADAPTIVE_AVG_POOL2D, ADAPTIVE_MAX_POOL2D, GLOBAL_AVG_POOL2D, MAX_POOL2D_INDICES),
)


_CHIP_ONLY = "dram_slice_config applied_shard_scheme reallocate_halo_output"
_OF_WINDOWS = f"{_CHIP_ONLY} config_tensor_in_dram in_place_halo"


@dataclass(frozen=True)
class _Arguments(ArgumentsWithOps):
    """Arguments of every pool.

    Attributes:
        input_tensor: [batch, height, width, channels], or with all dimensions but the channels merged.
        batch_size: Number of images.
        input_h: Height of an image.
        input_w: Width of an image.
        channels: Channels of an image.
        memory_config: Memory config of the result.
        dram_slice_config: Slices in DRAM; checked.
        applied_shard_scheme: Sharding on a chip; checked.
        deallocate_input: Free the memory of the input.
        reallocate_halo_output: Ignored.
        dtype: Element type of the result; by default the input's, and BFLOAT16 for block floats in rows.
        output_layout: Layout of the result.
    """

    input_tensor: Tensor
    batch_size: int
    input_h: int
    input_w: int
    channels: int
    _: KW_ONLY
    memory_config: MemoryConfig | None = None
    dram_slice_config: Conv2dSliceConfig | None = None
    applied_shard_scheme: TensorMemoryLayout | None = None
    deallocate_input: bool = False
    reallocate_halo_output: bool = True
    dtype: DataType | None = None
    output_layout: Layout = Layout.ROW_MAJOR

    def result(self, operation: Callable[..., Any], *attributes: Any, **keywords: Any) -> Any:
        """The result of an operation; block floats have only tiles, so that they are unpacked in rows."""
        dtype = result_dtype(self.dtype, self.input_tensor, "a pool")
        if self.dtype is None and self.output_layout is Layout.ROW_MAJOR:
            dtype = dtype.unpacked
        wanted = (*attributes, dtype, self.output_layout)
        return operation(self.input_tensor, *wanted, memory_config=self.memory_config, **keywords)

    def free(self) -> None:
        """Free the input, if `deallocate_input` is set."""
        if self.deallocate_input:
            self.ops.free(self.input_tensor)


@dataclass(frozen=True)
class _WindowArguments(_Arguments):
    """Arguments of pools over windows.

    Attributes:
        kernel_size: Height and width of a window.
        stride: Distance between windows along height and width.
        padding: Padding, which is never the maximum: height and width; or top, bottom, left and right.
        ceil_mode: Whether a window that begins inside may exceed the padding.
        config_tensor_in_dram: Ignored.
        in_place_halo: Of earlier versions of ttnn; ignored.
    """

    kernel_size: int | Sequence[int]
    stride: int | Sequence[int]
    padding: int | Sequence[int]
    _: KW_ONLY
    config_tensor_in_dram: bool = False
    in_place_halo: bool = False

    def pool(self, name: str, dilation: int | Sequence[int], ceil_mode: bool) -> Pool:
        """The checked sizes of a call of the function `name`."""
        windows = windows_of(name, 2, self.kernel_size, self.stride, self.padding, dilation)
        pool = Pool(self.batch_size, (self.input_h, self.input_w), self.channels, windows, ceil_mode)
        with prefix_errors(name):
            pool.check(tuple(self.input_tensor.shape))
        return pool


@dataclass(frozen=True)
class _MaxPool2dArguments(_WindowArguments):
    """Arguments of `max_pool2d`.

    Attributes:
        dilation: Distance between the taps of a window.
        return_indices: Return the indices of the maxima too.
    """

    dilation: int | Sequence[int] = (1, 1)
    ceil_mode: bool = False
    _: KW_ONLY
    return_indices: bool = False


@host_function(in_programs=True, over_meshes=True, accepts_foreign=True, chip_only=_OF_WINDOWS)
@takes(_MaxPool2dArguments)
def max_pool2d(arguments: _MaxPool2dArguments) -> Any:
    """The maximum of every window; NaN if the window contains one (ttnn.max_pool2d).

    Returns:
        (1, 1, batch * height * width, channels). With `return_indices` a tuple with the row-major indices in the
        image, UINT16, or UINT32 for large images.

    Raises:
        ArgumentError: An argument has the wrong type.
        ShapeError: The sizes are inconsistent, or do not fit the tensor.
    """
    pool = arguments.pool("max_pool2d", arguments.dilation, arguments.ceil_mode)
    found = arguments.result(_MAX_POOL2D, *attributes_of(pool))
    indices = _indices(arguments.input_tensor, pool) if arguments.return_indices else None
    arguments.free()
    return (found, indices) if arguments.return_indices else found


def _indices(x: Any, pool: Pool) -> Any:
    x = reshape(x, (pool.batch, *pool.extents, pool.channels))
    ends = zip(pool.windows.covered_extents(pool.counts), pool.extents, pool.windows.padding, strict=True)
    around = ((0, 0), *((before, max(0, reach - own - before)) for reach, own, (before, _) in ends), (0, 0))
    return _INDICES(pad(x, around, 0.0) if any(map(any, around)) else x, *attributes_of(pool))


@dataclass(frozen=True)
class _AvgPool2dArguments(_WindowArguments):
    """Arguments of `avg_pool2d`.

    Attributes:
        padding: Padding of zeros: height and width; or top, bottom, left and right.
        count_include_pad: Whether the number of elements of a window includes the padding.
        divisor_override: Divisor of sums instead of the number of elements.
        compute_kernel_config: Precision on a chip.
    """

    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None
    _: KW_ONLY
    compute_kernel_config: DeviceComputeKernelConfig | None = None


@host_function(in_programs=True, over_meshes=True, accepts_foreign=True, chip_only=_OF_WINDOWS)
@takes(_AvgPool2dArguments)
def avg_pool2d(arguments: _AvgPool2dArguments) -> Any:
    """The mean of every window (ttnn.avg_pool2d).

    Returns:
        (1, 1, batch * height * width, channels).

    Raises:
        ArgumentError: An argument has the wrong type.
        ShapeError: The sizes are inconsistent, or do not fit the tensor.
    """
    pool = arguments.pool("avg_pool2d", 1, arguments.ceil_mode)
    if arguments.divisor_override == 0:
        raise ArgumentError("`divisor_override` of avg_pool2d is 0")
    attributes = (*attributes_of(pool), arguments.count_include_pad, arguments.divisor_override or 0)
    found = arguments.result(_AVG_POOL2D, *attributes, compute_kernel_config=arguments.compute_kernel_config)
    arguments.free()
    return found


@dataclass(frozen=True)
class _AdaptiveArguments(_Arguments):
    """Arguments of pools over a given number of windows.

    Attributes:
        output_size: Height and width of the result.
    """

    output_size: int | Sequence[int]

    def adaptive_result(self, name: str, operation: Callable[..., Any]) -> Any:
        """The result of a call of the function `name`."""
        counts = per_dimension(self.output_size, f"`output_size` of {name}", 2)
        found = self.result(operation, self.batch_size, self.input_h, self.input_w, self.channels, *counts)
        self.free()
        return found


@host_function(in_programs=True, over_meshes=True, accepts_foreign=True, chip_only=_CHIP_ONLY)
@takes(_AdaptiveArguments)
def adaptive_avg_pool2d(arguments: _AdaptiveArguments) -> Any:
    """The means of `output_size` windows that cover an image, by torch's rule (ttnn.adaptive_avg_pool2d).

    The shape of the result and the errors are those of `avg_pool2d`.
    """
    return arguments.adaptive_result("adaptive_avg_pool2d", _ADAPTIVE_AVG)


@host_function(in_programs=True, over_meshes=True, accepts_foreign=True, chip_only=_CHIP_ONLY)
@takes(_AdaptiveArguments)
def adaptive_max_pool2d(arguments: _AdaptiveArguments) -> Any:
    """The maxima of `output_size` windows that cover an image, by torch's rule (ttnn.adaptive_max_pool2d).

    The shape of the result and the errors are those of `max_pool2d`.
    """
    return arguments.adaptive_result("adaptive_max_pool2d", _ADAPTIVE_MAX)


@host_function(in_programs=True, over_meshes=True, accepts_foreign=True)
def global_avg_pool2d(
    input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, dtype: DataType | None = None
) -> Tensor:
    """The mean of every channel of an image (ttnn.global_avg_pool2d).

    Args:
        input_tensor: [batch, height, width, channels].
        memory_config: Memory config of the result.
        dtype: Element type of the result; the input's when omitted.

    Returns:
        [batch, 1, 1, channels], in the input's layout.

    Raises:
        CompileError: The tensor has another rank, or no elements.
    """
    wanted = result_dtype(dtype, input_tensor, "a pool")
    return _GLOBAL(input_tensor, wanted, memory_config=memory_config)
