"""Pools of the host API, over the operations of ttnn_jit/ops/convolution/pools.py."""

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
from ttnn_jit.ttnn.calling.shared_parameters import OverOps, takes
from ttnn_jit.ttnn.functions.window_arguments import per_dimension, refusals_of, result_dtype, windows_of

_MAX_POOL2D, _AVG_POOL2D, _ADAPTIVE_AVG, _ADAPTIVE_MAX, _GLOBAL, _INDICES = map(
    function_of,
    (MAX_POOL2D, AVG_POOL2D, ADAPTIVE_AVG_POOL2D, ADAPTIVE_MAX_POOL2D, GLOBAL_AVG_POOL2D, MAX_POOL2D_INDICES),
)


_OF_A_CHIP = "dram_slice_config applied_shard_scheme reallocate_halo_output"


@dataclass(frozen=True)
class _Arguments(OverOps):
    """What every call says of a pool.

    Attributes:
        input_tensor: Batch x height x width x channels, or with all but the channels in one dimension.
        batch_size: Images.
        input_h: Height of an image.
        input_w: Width of an image.
        channels: Of an image.
        memory_config: Where the result lies.
        dram_slice_config: Checked.
        applied_shard_scheme: Checked.
        deallocate_input: Free the input's memory.
        reallocate_halo_output: Ignored.
        dtype: Of the result; the input's when omitted, of block floats what they are unpacked to.
        output_layout: Of the result.
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
        """Of an operation; block floats lie in tiles alone, so that in rows they are unpacked."""
        dtype = result_dtype(self.dtype, self.input_tensor, "a pool")
        if self.dtype is None and self.output_layout is Layout.ROW_MAJOR:
            dtype = dtype.unpacked
        wanted = (*attributes, dtype, self.output_layout)
        return operation(self.input_tensor, *wanted, memory_config=self.memory_config, **keywords)

    def free(self) -> None:
        """What the input takes, if that is wanted."""
        if self.deallocate_input:
            self.ops.free(self.input_tensor)


@dataclass(frozen=True)
class _WindowArguments(_Arguments):
    """Of a pool over windows.

    Attributes:
        kernel_size: Height and width of a window.
        stride: From one window to the next.
        padding: Around an image: height and width; or top, bottom, left and right. No element of it is a largest one.
        ceil_mode: Whether a window that begins inside may reach beyond the padding.
        config_tensor_in_dram: Ignored.
    """

    kernel_size: int | Sequence[int]
    stride: int | Sequence[int]
    padding: int | Sequence[int]
    _: KW_ONLY
    config_tensor_in_dram: bool = False

    def pool(self, name: str, dilation: int | Sequence[int], ceil_mode: bool) -> Pool:
        """What a call of the function `name` means."""
        windows = windows_of(name, 2, self.kernel_size, self.stride, self.padding, dilation)
        pool = Pool(self.batch_size, (self.input_h, self.input_w), self.channels, windows, ceil_mode)
        with refusals_of(name):
            pool.check(tuple(self.input_tensor.shape))
        return pool


@dataclass(frozen=True)
class _MaxPool2dArguments(_WindowArguments):
    """Of `max_pool2d`.

    Attributes:
        dilation: From one tap of a window to the next.
        return_indices: Give the indices of these elements too.
    """

    dilation: int | Sequence[int] = (1, 1)
    ceil_mode: bool = False
    _: KW_ONLY
    return_indices: bool = False


@host_function(in_programs=True, over_meshes=True, on_copies=True, of_a_chip=f"{_OF_A_CHIP} config_tensor_in_dram")
@takes(_MaxPool2dArguments)
def max_pool2d(given: _MaxPool2dArguments) -> Any:
    """The largest element of every window, NaN where one is (ttnn.max_pool2d).

    Returns:
        (1, 1, batch * height * width, channels); with it, if they are asked for, the indices in the image, row by row,
        as UINT16, or as UINT32 where that is too narrow.

    Raises:
        ArgumentError: An argument is of another kind.
        ShapeError: Sizes that do not fit each other, or a tensor that does not fit them.
    """
    pool = given.pool("max_pool2d", given.dilation, given.ceil_mode)
    found = given.result(_MAX_POOL2D, *attributes_of(pool))
    indices = _indices(given.input_tensor, pool) if given.return_indices else None
    given.free()
    return (found, indices) if given.return_indices else found


def _indices(x: Any, pool: Pool) -> Any:
    x = reshape(x, (pool.batch, *pool.extents, pool.channels))
    ends = zip(pool.windows.covered_extents(pool.counts), pool.extents, pool.windows.padding, strict=True)
    around = ((0, 0), *((before, max(0, reach - own - before)) for reach, own, (before, _) in ends), (0, 0))
    return _INDICES(pad(x, around, 0.0) if any(map(any, around)) else x, *attributes_of(pool))


@dataclass(frozen=True)
class _AvgPool2dArguments(_WindowArguments):
    """Of `avg_pool2d`.

    Attributes:
        padding: Zeros around an image: height and width; or top, bottom, left and right.
        count_include_pad: Whether these are elements of a window.
        divisor_override: What sums are divided by instead of by a window's elements.
        compute_kernel_config: How exactly a chip divides.
    """

    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None
    _: KW_ONLY
    compute_kernel_config: DeviceComputeKernelConfig | None = None


@host_function(in_programs=True, over_meshes=True, on_copies=True, of_a_chip=f"{_OF_A_CHIP} config_tensor_in_dram")
@takes(_AvgPool2dArguments)
def avg_pool2d(given: _AvgPool2dArguments) -> Any:
    """The mean of every window (ttnn.avg_pool2d).

    Returns:
        (1, 1, batch * height * width, channels).

    Raises:
        ArgumentError: An argument is of another kind.
        ShapeError: Sizes that do not fit each other, or a tensor that does not fit them.
    """
    pool = given.pool("avg_pool2d", 1, given.ceil_mode)
    if given.divisor_override == 0:
        raise ArgumentError("`divisor_override` of avg_pool2d is 0")
    attributes = (*attributes_of(pool), given.count_include_pad, given.divisor_override or 0)
    found = given.result(_AVG_POOL2D, *attributes, compute_kernel_config=given.compute_kernel_config)
    given.free()
    return found


@dataclass(frozen=True)
class _AdaptiveArguments(_Arguments):
    """Of a pool over a number of windows.

    Attributes:
        output_size: Height and width of the result.
    """

    output_size: int | Sequence[int]

    def adaptive_result(self, name: str, operation: Callable[..., Any]) -> Any:
        """Of a call of the function `name`."""
        counts = per_dimension(self.output_size, f"`output_size` of {name}", 2)
        found = self.result(operation, self.batch_size, self.input_h, self.input_w, self.channels, *counts)
        self.free()
        return found


@host_function(in_programs=True, over_meshes=True, on_copies=True, of_a_chip=_OF_A_CHIP)
@takes(_AdaptiveArguments)
def adaptive_avg_pool2d(given: _AdaptiveArguments) -> Any:
    """The means of `output_size` windows that cover an image, as torch cuts it (ttnn.adaptive_avg_pool2d).

    The result and what is raised are those of `avg_pool2d`.
    """
    return given.adaptive_result("adaptive_avg_pool2d", _ADAPTIVE_AVG)


@host_function(in_programs=True, over_meshes=True, on_copies=True, of_a_chip=_OF_A_CHIP)
@takes(_AdaptiveArguments)
def adaptive_max_pool2d(given: _AdaptiveArguments) -> Any:
    """The largest elements of `output_size` windows that cover an image, as torch cuts it (ttnn.adaptive_max_pool2d).

    The result and what is raised are those of `max_pool2d`.
    """
    return given.adaptive_result("adaptive_max_pool2d", _ADAPTIVE_MAX)


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
