"""Collectives of `ttnn.experimental` between neighbours along an axis: halos and slices that are split again."""

from __future__ import annotations

from typing import Unpack

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.collectives.device_exchanges import NEIGHBOR_PAD, SLICE_RESHARD
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import MemoryConfig
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.meshes.exchange import exchange
from ttnn_jit.ttnn.meshes.fabric_options import WITHOUT_LINKS, FabricOptions


@host_function(exchanges=True, name="experimental.neighbor_pad_async", without_effect=WITHOUT_LINKS)
def neighbor_pad_async(
    input_tensor: Tensor,
    dim: int,
    padding_left: int,
    padding_right: int,
    padding_mode: str = "zeros",
    cluster_axis: int | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> Tensor:
    """A tensor padded with elements of its neighbours along an axis (ttnn.experimental.neighbor_pad_async).

    A device at an end of the axis has no neighbour there: its padding is zeros, or its own first or last element
    along `dim`.

    Args:
        input_tensor: A tensor of a mesh.
        dim: Dimension of the padding.
        padding_left: Elements before the tensor: the last ones of the device before.
        padding_right: Elements after the tensor: the first ones of the next device.
        padding_mode: ``"zeros"`` or ``"replicate"``.
        cluster_axis: Axis of the mesh; None for all devices.
        memory_config: Memory config of the result; that of the tensor when omitted.
        **_links: Options of the links between chips; without effect.

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension, or a padding is larger than a neighbour.
    """
    for padding in (padding_left, padding_right):
        if padding < 0:
            raise ArgumentError(f"a padding of neighbor_pad_async must be at least 0, got {padding}")
    if padding_mode not in {"zeros", "replicate"}:
        raise ArgumentError(f"`padding_mode` must be 'zeros' or 'replicate', got {padding_mode!r}")
    return exchange(
        "neighbor_pad_async", NEIGHBOR_PAD, input_tensor, dim, padding_left, padding_right, padding_mode,
        cluster_axis=cluster_axis, memory_config=memory_config,
    )  # fmt: skip


@host_function(exchanges=True, name="experimental.slice_reshard_async", without_effect=WITHOUT_LINKS)
def slice_reshard_async(
    input_tensor: Tensor,
    dim: int,
    output_dim_offset: int,
    output_dim_shape: int,
    cluster_axis: int | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> Tensor:
    """A slice of the tensors of an axis together, split over its devices (ttnn.experimental.slice_reshard_async).

    Args:
        input_tensor: A tensor of a mesh, split along `dim`.
        dim: The dimension of the slice.
        output_dim_offset: Its first element.
        output_dim_shape: Its elements, over all devices; those behind the end are zeros.
        cluster_axis: Axis of the mesh; None for all devices.
        memory_config: Memory config of the result; that of the tensor when omitted.
        **_links: Options of the links between chips; without effect.

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension, or the slice has no equal parts.
    """
    if output_dim_offset < 0 or output_dim_shape < 1:
        raise ArgumentError(
            f"slice_reshard_async: a slice of {output_dim_shape} elements from {output_dim_offset} on is none"
        )
    return exchange(
        "slice_reshard_async", SLICE_RESHARD, input_tensor, dim, output_dim_offset, output_dim_shape,
        cluster_axis=cluster_axis, memory_config=memory_config,
    )  # fmt: skip
