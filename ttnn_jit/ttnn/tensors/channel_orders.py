"""Conversions of images between channels-first and channels-last order."""

from __future__ import annotations

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig
from ttnn_jit.ttnn.calling.eager_functions import transpose
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.transfers import to_layout, typecast


def _transposed(name: str, x: Tensor, memory_config: MemoryConfig | None, dtype: DataType | None) -> Tensor:
    if len(x.shape) != 4:
        raise ShapeError(f"{name}: the tensor has shape {list(x.shape)}, expected rank 4")
    found = transpose(x, -2, -1, memory_config=memory_config)
    if dtype not in {None, found.dtype}:
        found = typecast(found, dtype)
    return found if found.layout is Layout.ROW_MAJOR else to_layout(found, Layout.ROW_MAJOR)


@host_function(name="experimental.convert_to_chw", in_programs=True, over_meshes=True, accepts_foreign=True)
def convert_to_chw(
    input: Tensor,  # noqa: A002 - ttnn's name
    *,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
) -> Tensor:
    """Channels before positions, ROW_MAJOR (ttnn.experimental.convert_to_chw).

    Args:
        input: [1, 1, positions, channels].
        memory_config: Memory config of the result.
        dtype: Element type of the result; the input's when omitted.

    Raises:
        ShapeError: The tensor has another rank.
    """
    return _transposed("convert_to_chw", input, memory_config, dtype)


@host_function(name="experimental.convert_to_hwc", in_programs=True, over_meshes=True, accepts_foreign=True)
def convert_to_hwc(
    input: Tensor,  # noqa: A002 - ttnn's name
    *,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
) -> Tensor:
    """Positions before channels, ROW_MAJOR (ttnn.experimental.convert_to_hwc); the inverse of `convert_to_chw`."""
    return _transposed("convert_to_hwc", input, memory_config, dtype)
