"""Collectives that ttnn fuses with the operation before or after them: here both run, one after the other.

The results are those of the parts. Buffers for packets, semaphores and offsets of cores have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.collectives.device_exchanges import ALL_GATHER, ALL_REDUCE, GATHER_FROM_OTHERS, REDUCE_SCATTER
from ttnn_jit.ops.families.collective import REDUCE_SUM
from ttnn_jit.ops.movement.heads import NLP_CONCAT_HEADS_DECODE, NLP_CREATE_QKV_HEADS_DECODE
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.cores.sub_devices import SubDeviceId
from ttnn_jit.specs.tensor_spec import DataType, MemoryConfig
from ttnn_jit.ttnn.calling import eager_functions as operations
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.devices.semaphores import GlobalSemaphore
from ttnn_jit.ttnn.meshes.exchange import counted_as_one_program, exchange
from ttnn_jit.ttnn.meshes.fabric_options import WITHOUT_LINKS, FabricOptions
from ttnn_jit.ttnn.meshes.topology import Topology
from ttnn_jit.ttnn.namespace.lazy_names import NO_LINKS
from ttnn_jit.ttnn.tensors.transfers import typecast


class ProductOptions(TypedDict, total=False):
    """Options of a matrix product, as `ttnn.linear` takes them."""

    transpose_a: bool | None
    transpose_b: bool | None
    dtype: DataType | None
    program_config: object
    activation: str | None
    compute_kernel_config: object
    core_grid: object


class _FusedOptions(FabricOptions, ProductOptions, total=False):
    global_cb: object


class _BufferedOptions(ProductOptions, total=False):
    global_cb: object


class _LlamaOptions(_BufferedOptions, total=False):
    num_links: int | None
    subdevice_id: SubDeviceId | None


_LINKS = WITHOUT_LINKS[NO_LINKS]


def _product(x: Tensor, weight: Tensor, options: Mapping[str, Any], **own: Any) -> Tensor:
    """The product with the options of `ProductOptions` that are given."""
    given = {name: options[name] for name in ProductOptions.__annotations__ if options.get(name) is not None}
    result: Tensor = operations.linear(x, weight, **given, **own)
    return result


@host_function(
    exchanges=True,
    name="experimental.all_gather_matmul_async",
    without_effect={NO_LINKS: f"multi_device_global_semaphore all_gather_core_grid_offset global_cb {_LINKS}"},
)
def all_gather_matmul_async(  # noqa: PLR0913 - ttnn's parameters
    input_tensor: Tensor,
    weight_tensor: Tensor,
    persistent_output_buffer: Tensor | None = None,
    dim: int = 3,
    multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None = None,
    all_gather_core_grid_offset: object = None,
    *,
    bias: Tensor | None = None,
    memory_config_ag: MemoryConfig | None = None,
    memory_config_mm: MemoryConfig | None = None,
    **options: Unpack[_FusedOptions],
) -> list[Tensor]:
    """`all_gather` over all devices, and the product of its result with a weight; a list of both results.

    ``bias`` and the options of products are those of `ttnn.linear` (ttnn.experimental.all_gather_matmul_async).

    Args:
        input_tensor: A tensor of a mesh.
        weight_tensor: The right factor.
        persistent_output_buffer: The tensor that receives the gathered tensor.
        dim: Dimension of the gather.
        multi_device_global_semaphore: Semaphores; without effect.
        all_gather_core_grid_offset: Cores of a chip; without effect.
        bias: A row that is added to the product.
        memory_config_ag: Memory config of the gathered tensor.
        memory_config_mm: Memory config of the product.
        **options: Options of the product, and of links.

    Raises:
        ArgumentError: An argument has the wrong type.
        ShapeError: There is no such dimension, or the buffer does not fit.
        CompileError: The factors do not fit each other.
    """
    name = "all_gather_matmul_async"
    with counted_as_one_program(name, input_tensor, weight_tensor.spec, dim):
        gathered = exchange(
            name,
            ALL_GATHER,
            input_tensor,
            dim,
            memory_config=memory_config_ag,
            output=persistent_output_buffer,
        )
        return [gathered, _product(gathered, weight_tensor, options, bias=bias, memory_config=memory_config_mm)]


_SCATTER_LINKS = (
    "persistent_intermediate_buffer multi_device_global_semaphore reduce_scatter_core_grid_offset "
    f"intermediate_memory_config_rs global_cb {_LINKS}"
)


@host_function(
    exchanges=True, name="experimental.matmul_reduce_scatter_async", without_effect={NO_LINKS: _SCATTER_LINKS}
)
def matmul_reduce_scatter_async(  # noqa: PLR0913 - ttnn's parameters
    input_tensor: Tensor,
    weight_tensor: Tensor,
    persistent_intermediate_buffer: Tensor | None = None,
    persistent_output_buffer: Tensor | None = None,
    dim: int = 3,
    multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None = None,
    reduce_scatter_core_grid_offset: object = None,
    *,
    bias: Tensor | None = None,
    memory_config_rs: MemoryConfig | None = None,
    intermediate_memory_config_rs: MemoryConfig | None = None,
    memory_config_mm: MemoryConfig | None = None,
    **options: Unpack[_FusedOptions],
) -> list[Tensor]:
    """A product on each device, and its `reduce_scatter` over all devices; a list of both results.

    The arguments are those of `all_gather_matmul_async` (ttnn.experimental.matmul_reduce_scatter_async);
    ``persistent_output_buffer`` receives the scattered sum.

    Raises:
        ArgumentError: An argument has the wrong type.
        ShapeError: There is no such dimension, it has no equal parts, or the buffer does not fit.
        CompileError: The factors do not fit each other.
    """
    name = "matmul_reduce_scatter_async"
    with counted_as_one_program(name, input_tensor, weight_tensor.spec, dim):
        product = _product(input_tensor, weight_tensor, options, bias=bias, memory_config=memory_config_mm)
        return [
            product,
            exchange(
                name,
                REDUCE_SCATTER,
                product,
                dim,
                REDUCE_SUM,
                memory_config=memory_config_rs,
                output=persistent_output_buffer,
            ),
        ]


@host_function(
    exchanges=True,
    name="experimental.llama_all_gather_matmul_async",
    without_effect={
        NO_LINKS: "intermediate_tensor multi_device_global_semaphore topology global_cb num_links subdevice_id"
    },
)
def llama_all_gather_matmul_async(  # noqa: PLR0913 - ttnn's parameters
    input_tensor0: Tensor,
    input_tensor1: Tensor,
    intermediate_tensor: Tensor | None,
    dim: int,
    cluster_axis: int | None,
    mesh_device: Device | None,
    topology: Topology | None,
    multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None = None,
    *,
    ag_memory_config: MemoryConfig | None = None,
    mm_memory_config: MemoryConfig | None = None,
    **options: Unpack[_LlamaOptions],
) -> Tensor:
    """`all_gather` along an axis, and the product of its result with a weight.

    The arguments are those of `all_gather_matmul_async` (ttnn.experimental.llama_all_gather_matmul_async).

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension.
        CompileError: The factors do not fit each other.
    """
    name = "llama_all_gather_matmul_async"
    with counted_as_one_program(name, input_tensor0, input_tensor1.spec, dim):
        gathered = exchange(
            name,
            ALL_GATHER,
            input_tensor0,
            dim,
            cluster_axis=cluster_axis,
            mesh_device=mesh_device,
            memory_config=ag_memory_config,
        )
        return _product(gathered, input_tensor1, options, memory_config=mm_memory_config)


_PACKETS = "intermediate_packet_buffer cross_device_semaphore subdevice_id num_links topology use_noc1_only"


@host_function(exchanges=True, name="experimental.llama_reduce_scatter", without_effect={NO_LINKS: _PACKETS})
def llama_reduce_scatter(  # noqa: PLR0913 - ttnn's parameters
    input_tensor: Tensor,
    intermediate_packet_buffer: Tensor | None,
    dim: int,
    cross_device_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None,
    subdevice_id: SubDeviceId | None,
    cluster_axis: int,
    mesh_device: Device | None,
    *,
    num_links: int = 1,
    memory_config: MemoryConfig | None = None,
    topology: Topology | None = None,
    use_noc1_only: bool = False,
) -> Tensor:
    """`reduce_scatter` along an axis (ttnn.experimental.llama_reduce_scatter); packet buffers have no effect.

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension, or it has no equal parts.
    """
    return exchange(
        "llama_reduce_scatter",
        REDUCE_SCATTER,
        input_tensor,
        dim,
        REDUCE_SUM,
        cluster_axis=cluster_axis,
        mesh_device=mesh_device,
        memory_config=memory_config,
    )


@host_function(
    exchanges=True,
    name="experimental.llama_rs_matmul",
    without_effect={NO_LINKS: f"{_PACKETS} global_cb output_tile"},
)
def llama_rs_matmul(  # noqa: PLR0913, PLR0917 - ttnn's parameters
    input_tensor: Tensor,
    weight_tensor: Tensor,
    intermediate_packet_buffer: Tensor | None,
    dim: int,
    cross_device_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None,
    cluster_axis: int,
    mesh_device: Device | None,
    num_links: int,
    subdevice_id: SubDeviceId | None,
    *,
    second_weight_tensor: Tensor | None = None,
    rs_tensor: Tensor | None = None,
    topology: Topology | None = None,
    memory_config_rs: MemoryConfig | None = None,
    memory_config_mm: MemoryConfig | None = None,
    output_tile: object = None,
    use_noc1_only: bool = False,
    **options: Unpack[_BufferedOptions],
) -> list[Tensor]:
    """Products on each device and a `reduce_scatter` along an axis (ttnn.experimental.llama_rs_matmul).

    With `rs_tensor` the list has the product, and the scattered sum of that tensor. With `second_weight_tensor` it has
    both products, and the scattered sum of the first. The other arguments are those of `all_gather_matmul_async`.

    Raises:
        ArgumentError: Not exactly one of the two is given, there is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension, or it has no equal parts.
        CompileError: The factors do not fit each other.
    """
    name = "llama_rs_matmul"
    if (rs_tensor is None) == (second_weight_tensor is None):
        raise ArgumentError(f"{name} takes one of `rs_tensor` and `second_weight_tensor`")
    with counted_as_one_program(name, input_tensor, weight_tensor.spec, dim):
        weights = [weight_tensor, *([] if second_weight_tensor is None else [second_weight_tensor])]
        products = [_product(input_tensor, each, options, memory_config=memory_config_mm) for each in weights]
        scattered = exchange(
            name,
            REDUCE_SCATTER,
            products[0] if rs_tensor is None else rs_tensor,
            dim,
            REDUCE_SUM,
            cluster_axis=cluster_axis,
            mesh_device=mesh_device,
            memory_config=memory_config_rs,
        )
        return [*products, scattered]


@host_function(
    exchanges=True,
    name="experimental.llama_rs_create_heads",
    without_effect={NO_LINKS: f"{_PACKETS} memory_config use_optimal_ccl_for_llama"},
)
def llama_rs_create_heads(  # noqa: PLR0913 - ttnn's parameters
    input_tensor: Tensor,
    intermediate_packet_buffer: Tensor | None,
    dim: int,
    cross_device_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None,
    subdevice_id: SubDeviceId | None,
    cluster_axis: int,
    mesh_device: Device | None,
    topology: Topology | None = None,
    *,
    num_links: int = 1,
    num_heads: int,
    num_kv_heads: int,
    memory_config: MemoryConfig | None = None,
    qkv_memory_config: MemoryConfig | None = None,
    use_noc1_only: bool = False,
    use_optimal_ccl_for_llama: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """`llama_reduce_scatter`, and heads of the result by `nlp_create_qkv_heads_decode`.

    (ttnn.experimental.llama_rs_create_heads)

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension, or it has no equal parts.
    """
    name = "llama_rs_create_heads"
    with counted_as_one_program(name, input_tensor, dim, num_heads, num_kv_heads):
        scattered = exchange(
            name, REDUCE_SCATTER, input_tensor, dim, REDUCE_SUM, cluster_axis=cluster_axis, mesh_device=mesh_device
        )
        return _heads(scattered, num_heads, num_kv_heads, qkv_memory_config)


def _heads(
    tensor: Tensor, num_heads: int, num_kv_heads: int | None, memory_config: MemoryConfig | None
) -> tuple[Tensor, Tensor, Tensor]:
    create: Any = getattr(operations, NLP_CREATE_QKV_HEADS_DECODE.name)
    options = {} if memory_config is None else {"memory_config": memory_config}
    query, key, value = create(tensor, num_heads=num_heads, num_kv_heads=num_kv_heads, **options)
    return query, key, value


@host_function(
    exchanges=True,
    name="experimental.ring_attention_all_gather_async",
    without_effect={NO_LINKS: "multi_device_global_semaphore num_links topology subdevice_id"},
)
def ring_attention_all_gather_async(  # noqa: PLR0913 - ttnn's parameters
    input_tensor: Sequence[Tensor],
    persistent_output_buffer: Sequence[Tensor] | None,
    dim: int,
    *,
    multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None = None,
    num_links: int | None = None,
    cluster_axis: int | None = None,
    mesh_device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    topology: Topology | None = None,
    subdevice_id: SubDeviceId | None = None,
) -> list[Tensor]:
    """`all_gather` of several tensors along an axis (ttnn.experimental.ring_attention_all_gather_async).

    `persistent_output_buffer` has a tensor for each result, or is None. In a buffer the part of the device itself stays
    as it is, as in ttnn.

    Raises:
        ArgumentError: There is no such axis, the numbers of tensors and buffers differ, or an argument has the wrong
            type.
        ShapeError: There is no such dimension, or a buffer does not fit.
    """
    name = "ring_attention_all_gather_async"
    buffers = [None] * len(input_tensor) if persistent_output_buffer is None else [*persistent_output_buffer]
    if len(buffers) != len(input_tensor) or not buffers:
        raise ArgumentError(f"{name}: {len(input_tensor)} tensors and {len(buffers)} buffers are given")
    options = {"cluster_axis": cluster_axis, "mesh_device": mesh_device, "memory_config": memory_config}
    with counted_as_one_program(name, input_tensor[0], *(each.spec for each in input_tensor), dim):
        return [
            exchange(name, ALL_GATHER, tensor, dim, **options)
            if buffer is None
            else exchange(name, GATHER_FROM_OTHERS, tensor, dim, others=[buffer], output=buffer, **options)
            for tensor, buffer in zip(input_tensor, buffers, strict=True)
        ]


@host_function(
    exchanges=True,
    name="experimental.all_reduce_create_qkv_heads",
    without_effect={
        NO_LINKS: "buffer_tensor multi_device_global_semaphore topology num_links subdevice_id use_noc1_only"
    },
)
def all_reduce_create_qkv_heads(  # noqa: PLR0913 - ttnn's parameters
    input_tensor: Tensor,
    buffer_tensor: Tensor | None,
    batch_offset: Tensor | None,
    cluster_axis: int,
    mesh_device: Device | None,
    multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None,
    num_heads: int,
    *,
    memory_config: MemoryConfig | None = None,
    topology: Topology | None = None,
    num_links: int | None = None,
    subdevice_id: SubDeviceId | None = None,
    num_kv_heads: int | None = None,
    slice_size: int | None = None,
    final_memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
    use_noc1_only: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`all_reduce` along an axis, and heads of the sum: the sum, queries, keys and values.

    (ttnn.experimental.all_reduce_create_qkv_heads)

    Raises:
        ArgumentError: `batch_offset` or `slice_size` is given, which is not supported; there is no such axis, or an
            argument has the wrong type.
    """
    name = "all_reduce_create_qkv_heads"
    if batch_offset is not None or slice_size is not None:
        raise ArgumentError(
            f"{name}: `batch_offset` and `slice_size` are not supported",
            help="write `ttnn.all_reduce`, `ttnn.slice` and `nlp_create_qkv_heads_decode`",
        )
    with counted_as_one_program(name, input_tensor, num_heads, num_kv_heads):
        summed = exchange(
            name,
            ALL_REDUCE,
            input_tensor,
            REDUCE_SUM,
            cluster_axis=cluster_axis,
            mesh_device=mesh_device,
            memory_config=memory_config,
        )
        summed = summed if dtype is None else typecast(summed, dtype)
        return summed, *_heads(summed, num_heads, num_kv_heads, final_memory_config)


@host_function(
    exchanges=True,
    name="experimental.all_gather_concat",
    without_effect={
        NO_LINKS: "buffer_tensor multi_device_global_semaphore use_noc1_only num_links topology subdevice_id"
    },
)
def all_gather_concat(  # noqa: PLR0913 - ttnn's parameters
    input_tensor: Tensor,
    buffer_tensor: Tensor | None,
    dim: int,
    cluster_axis: int,
    mesh_device: Device | None,
    multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None,
    num_heads: int,
    memory_config: MemoryConfig | None = None,
    *,
    use_noc1_only: bool = False,
    num_links: int = 1,
    topology: Topology | None = None,
    subdevice_id: SubDeviceId | None = None,
) -> Tensor:
    """`all_gather` along an axis, and the concatenation of heads by `nlp_concat_heads_decode`.

    (ttnn.experimental.all_gather_concat)

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension.
    """
    name = "all_gather_concat"
    with counted_as_one_program(name, input_tensor, dim, num_heads):
        gathered = exchange(name, ALL_GATHER, input_tensor, dim, cluster_axis=cluster_axis, mesh_device=mesh_device)
        concatenate: Any = getattr(operations, NLP_CONCAT_HEADS_DECODE.name)
        options = {} if memory_config is None else {"memory_config": memory_config}
        result: Tensor = concatenate(gathered, num_heads=num_heads, **options)
        return result
