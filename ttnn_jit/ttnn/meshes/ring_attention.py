"""Attention of sequences that are split among devices: here keys and values are gathered, and each device attends."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops.attention.attention import SCALED_DOT_PRODUCT_ATTENTION
from ttnn_jit.ops.collectives.device_exchanges import ALL_GATHER
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.meshes.mesh_tensor import over_meshes
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.configs.program_configs import SDPAProgramConfig
from ttnn_jit.specs.cores.sub_devices import SubDeviceId
from ttnn_jit.specs.target import TILE_HEIGHT
from ttnn_jit.specs.tensor_spec import DataType
from ttnn_jit.ttnn.calling import eager_functions as operations
from ttnn_jit.ttnn.calling.eager_operation import function_of
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.devices.semaphores import GlobalSemaphore
from ttnn_jit.ttnn.meshes.exchange import counted_as_one_program, exchange
from ttnn_jit.ttnn.meshes.topology import Topology
from ttnn_jit.ttnn.namespace.lazy_names import NO_LINKS
from ttnn_jit.ttnn.tensors.transfers import typecast

_ATTENTION = function_of(SCALED_DOT_PRODUCT_ATTENTION)
SCORE_BYTES = 1 << 26
"""The scores that are in memory at once for the sums of their exponentials."""


@host_function(
    exchanges=True,
    name="transformer.ring_joint_scaled_dot_product_attention",
    chip_only="program_config compute_kernel_config",
    without_effect={NO_LINKS: "multi_device_global_semaphore num_links topology subdevice_id ccl_core_grid_offset"},
)
def ring_joint_scaled_dot_product_attention(  # noqa: PLR0913 - ttnn's parameters
    input_tensor_q: Tensor,
    input_tensor_k: Tensor,
    input_tensor_v: Tensor,
    joint_tensor_q: Tensor,
    joint_tensor_k: Tensor,
    joint_tensor_v: Tensor,
    *,
    persistent_output_buffer_k: Tensor | None,
    persistent_output_buffer_v: Tensor | None,
    joint_strategy: str,
    logical_n: int,
    program_config: SDPAProgramConfig | None,
    scale: float | None = None,
    compute_kernel_config: object = None,
    dim: int,
    multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None,
    num_links: int,
    cluster_axis: int,
    mesh_device: Device | None,
    topology: Topology | None,
    subdevice_id: SubDeviceId | None = None,
    ccl_core_grid_offset: object = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`joint_scaled_dot_product_attention` where the first sequence is split among the devices along an axis.

    The results are those of the device's part of the first sequence, [B, H, N / n, D], and of the second one,
    [B, H, L, D], and the logarithms of the sums of the exponentials of the scores of both, [B, H, N / n + L, 1]
    (ttnn.transformer.ring_joint_scaled_dot_product_attention).

    Args:
        input_tensor_q: The device's queries of the first sequence, [B, H, N / n, D] of n devices.
        input_tensor_k: The keys.
        input_tensor_v: The values.
        joint_tensor_q: The queries of the second sequence, [B, H, L, D], alike on the devices along the axis.
        joint_tensor_k: The keys.
        joint_tensor_v: The values.
        persistent_output_buffer_k: The tensor that receives the gathered keys.
        persistent_output_buffer_v: The tensor that receives the gathered values.
        joint_strategy: ``"rear"``: the second sequence follows the first.
        logical_n: The positions of the first sequence; those from there up to N are masked.
        program_config: The blocking on a chip; without effect.
        scale: The factor of the scores; 1 / sqrt(D) when omitted.
        compute_kernel_config: Precision on a chip.
        dim: The dimension along which the sequence is split: 2.
        multi_device_global_semaphore: Without effect, as the other options of transfers.
        num_links: Without effect.
        cluster_axis: The axis of the mesh.
        mesh_device: The tensors' mesh.
        topology: Without effect.
        subdevice_id: Without effect.
        ccl_core_grid_offset: Without effect.

    Raises:
        ArgumentError: There is no such axis or strategy, or an argument has the wrong type.
        ShapeError: The sequence is not split along dimension 2, has fewer positions than `logical_n`, or the tensors do
            not fit each other.
    """
    name = "ring_joint_scaled_dot_product_attention"
    if joint_strategy != "rear":
        raise ArgumentError(f'{name}: `joint_strategy` must be "rear", got {joint_strategy!r}')
    rank = len(input_tensor_k.shape)
    if rank != 4 or dim % rank != 2:
        raise ShapeError(f"{name}: sequences are split along dimension 2 of 4, and not along {dim} of {rank}")
    with counted_as_one_program(name, input_tensor_q, logical_n, cluster_axis):
        keys, values = (
            exchange(name, ALL_GATHER, own, 2, cluster_axis=cluster_axis, mesh_device=mesh_device, output=buffer)
            for own, buffer in (
                (input_tensor_k, persistent_output_buffer_k),
                (input_tensor_v, persistent_output_buffer_v),
            )
        )
        if not 0 < logical_n <= tuple(keys.shape)[2]:
            raise ShapeError(f"{name}: `logical_n` is {logical_n}, and there are {tuple(keys.shape)[2]} positions")
        joint = [joint_tensor_q, joint_tensor_k, joint_tensor_v]
        return _attended([input_tensor_q, keys, values], joint, logical_n, scale)


def _attended(
    own: Sequence[Tensor], joint: Sequence[Tensor], logical_n: int, scale: float | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The results for queries, and all keys and values of the first sequence."""
    query, keys, values = own
    parts = [query, *(_rows(each, 0, logical_n) for each in (keys, values))]
    query, keys, values = (operations.concat([*pair], 2) for pair in zip(parts, joint, strict=True))
    result = _ATTENTION(query, keys, values, is_causal=False, scale=scale)
    middle, end = tuple(own[0].shape)[2], tuple(query.shape)[2]
    sums = _log_sum_exp(query, keys, tuple(query.shape)[3] ** -0.5 if scale is None else scale)
    return _rows(result, 0, middle), _rows(result, middle, end), sums


@over_meshes
def _log_sum_exp(query: Tensor, keys: Tensor, scale: float) -> Tensor:
    """The logarithm of the sum of the exponentials of each query's scores, a block of queries at a time."""
    users, heads, rows, _ = tuple(query.shape)
    per_row = 4 * users * heads * tuple(keys.shape)[2]
    block = max(SCORE_BYTES // per_row // TILE_HEIGHT, 1) * TILE_HEIGHT
    found = []
    for begin in range(0, rows, block):
        part = _rows(query, begin, min(begin + block, rows))
        scores = operations.matmul(part, keys, transpose_b=True, dtype=DataType.FLOAT32)
        scaled = operations.multiply(scores, scale)
        greatest = operations.max(scaled, 3, True)
        total = operations.sum(operations.exp(operations.subtract(scaled, greatest)), 3, True)
        found.append(operations.add(operations.log(total), greatest))
    whole: Tensor = found[0] if len(found) == 1 else operations.concat(found, 2)
    return typecast(whole, query.dtype.unpacked)


def _rows(tensor: Tensor, begin: int, end: int) -> Tensor:
    users, heads, rows, width = tuple(tensor.shape)
    if (begin, end) == (0, rows):
        return tensor
    part: Tensor = operations.slice(tensor, (0, 0, begin, 0), (users, heads, end, width))
    return part
