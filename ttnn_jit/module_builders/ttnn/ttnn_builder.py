"""The builder of TTNN."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from xdsl.dialects import builtin

from ttnn_jit.dialects.ttnn_attributes import DeviceType
from ttnn_jit.module_builders.base.debug_methods import DebugMethods
from ttnn_jit.module_builders.base.method_signatures import MethodSignature
from ttnn_jit.module_builders.base.torch_types import elements_of, type_of
from ttnn_jit.module_builders.base.ttnn_encodings import BufferType, Layout, TensorMemoryLayout, ttnn_tensor_type
from ttnn_jit.ttmlir.mlir_attributes import Attribute
from ttnn_jit.ttmlir.mlir_values import Value
from ttnn_jit.ttmlir.wrapping import parsed, wrapped

_STATED = """
is_finite=isfinite: in0:input
clamp_scalar: in0:input min_arg:min max_arg:max
clamp_tensor: in0:input min_tensor:min max_tensor:max
concat: ins:inputs dim=0
where: in0:first in1:second in2:third -> second
embedding: in0:input in1:weight -> weight
embedding_bw: input weight in_gradient -> weight
repeat: in0:input repeat_dims
matmul: in0:a in1:b transpose_a=False transpose_b=False
linear: in0:a in1:b bias=None transpose_a=False transpose_b=False
typecast: in0:input output_type
full: shape fill_value device=None output_type=None layout=None buffer_type=None
constant: value device=None output_type=None layout=None buffer_type=None
leaky_relu: in0:input parameter
rms_norm: input_tensor:input weight=None bias=None epsilon=1e-5
all_gather: input all_gather_dim cluster_axis
reduce_scatter: input reduce_type scatter_dim cluster_axis
sampling: input_values input_indices k p temp seed=None -> int32
moe_expert_token_remap: topk_tensor expert_mapping expert_metadata reduction_size=32 mapping_shape=None \
mapping_type=None reduced_shape=None reduced_type=None
to_device: input device
from_device: input
to_layout: input layout=None
to_tensor_spec: input layout=None buffer_type=None tensor_memory_layout=None grid_shape=None core_range_set=None
distribute_tensor: input device:mesh_device shard_dims
aggregate_tensor: input device:mesh_device shard_dims
deallocate: input force=False
dump_tensor: in0:input file_path
""".replace("\\\n", "")
"""What the tables do not say: layouts that are parts of types, numbers that attributes hold."""
_FLOATS = {builtin.f16, builtin.bf16, builtin.f32, builtin.f64}
_ROWS_ON_HOST = {"layout": Layout.RowMajor, "buffer_type": BufferType.SystemMemory}


class TTNNBuilder(DebugMethods):
    """Makes modules of TTNN; a method per operation of the dialect. Tensors are tiles in DRAM unless said otherwise."""

    DIALECT = "ttnn"
    STATED = _STATED

    def tensor_type(self, shape: Any, element: Any, **layout: Any) -> Any:
        """The type of a tensor with a layout of ttnn."""
        return ttnn_tensor_type([*shape], element, **layout)

    create_ttnn_tensor = tensor_type

    def adapted(self, signature: MethodSignature, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a method as the operation takes them."""
        given = super().adapted(signature, given)
        adapt = _ADAPTED.get(signature.operation)
        return given if adapt is None else {**given, **adapt(self, given)}

    def isfinite(self, in0: Value, **trailing: Any) -> Any:
        """Where a tensor has finite elements."""
        return self.is_finite(in0, **trailing)

    def get_device(self, loc: Any = None) -> Any:
        """The mesh of devices."""
        extents, zeros = "x".join(map(str, self._mesh_shape)), "x".join("0" for _ in self._mesh_shape)
        return self._get_device(
            loc=loc,
            result_types=[wrapped(DeviceType())],
            mesh_shape=wrapped(parsed(f"#ttnn<mesh_shape {extents}>")),
            mesh_offset=wrapped(parsed(f"#ttnn<mesh_offset {zeros}>")),
        )

    def deallocate(self, input: Value, force: bool = False, loc: Any = None) -> None:  # noqa: A002
        """Frees a tensor."""
        self._deallocate(input, force, loc=loc, result_types=[])

    def dump_tensor(self, in0: Value, file_path: str, loc: Any = None, **_: Any) -> Value:
        """Writes a tensor of a device; nothing here. The tensor itself is given."""
        self._dump_tensor(in0, file_path, loc=loc, result_types=[])
        return in0

    def _moved(self, given: Mapping[str, Any], name: str = "input", **layout: Any) -> dict[str, Any]:
        """The result type of an operation that changes the layout of a tensor."""
        kind = given.get("output_type")
        element = self.get_type(given[name]) if kind is None else kind
        return {"result_types": [self.tensor_type(self.get_shape(given[name]), element, **layout)]}


def _layouts(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of a layout that a call gives."""
    members = {"layout": Layout, "buffer_type": BufferType, "tensor_memory_layout": TensorMemoryLayout}
    found = {name: members[name](int(_number(given[name]))) for name in members if given.get(name) is not None}
    return found | {name: given[name] for name in ("grid_shape", "core_range_set") if given.get(name) is not None}


def _number(member: Any) -> Any:
    """The number of a member of an enum, or of an attribute that holds one."""
    return getattr(member, "value", member) if isinstance(member, Attribute) else member


def _to_layout(own: TTNNBuilder, given: Mapping[str, Any]) -> dict[str, Any]:
    before = str(given["input"].type.encoding)
    is_on_host = "system_memory" in before
    sharded = next((each for each in TensorMemoryLayout if f"<{each.keyword}>" in before), None)
    keywords = {"buffer_type": BufferType.SystemMemory if is_on_host else BufferType.DRAM}
    if "buffer_type<l1>" in before or "#l1" in before:
        keywords["buffer_type"] = BufferType.L1
    if sharded is not None:
        keywords["tensor_memory_layout"] = sharded
        keywords["grid_shape"] = given["input"].type.encoding.grid_shape
    return own._moved(given, **keywords, **_layouts(given))


def _full(own: TTNNBuilder, given: Mapping[str, Any]) -> dict[str, Any]:
    element = type_of(given.get("output_type") or torch.float32)
    number: Any = float if element.held in _FLOATS else int
    return {
        "shape": _shape(given["shape"]),
        "fill_value": number(given["fill_value"]),
        "result_types": [own.tensor_type(given["shape"], element, **_layouts(given))],
    }


def _shape(extents: Sequence[int]) -> Any:
    return wrapped(parsed(f"#ttnn.shape<{'x'.join(map(str, extents))}>"))


def _constant(own: TTNNBuilder, given: Mapping[str, Any]) -> dict[str, Any]:
    tensor = torch.as_tensor(given["value"])
    tensor = tensor if given.get("output_type") is None else tensor.to(given["output_type"])
    kind = own.tensor_type(tensor.shape, tensor.dtype, **_layouts(given))
    return {"value": elements_of(tensor), "result_types": [kind]}


def _distribute(own: TTNNBuilder, given: Mapping[str, Any]) -> dict[str, Any]:
    shape = own._part_of(own.get_shape(given["input"]), given["shard_dims"])
    placements = ", ".join(f"<shard, {dim} : i64>" if dim >= 0 else "<replicate>" for dim in given["shard_dims"])
    mesh = ", ".join(f"{extent} : ui32" for extent in own._mesh_shape)
    config = f"#ttnn.mesh_mapper_config<placements = [{placements}], mesh_shape_override = [{mesh}]>"
    element = given.get("output_type") or own.get_type(given["input"])
    return {
        "mapper_config": wrapped(parsed(config)),
        "result_types": [own.tensor_type(shape, element, **_ROWS_ON_HOST)],
    }


def _aggregate(own: TTNNBuilder, given: Mapping[str, Any]) -> dict[str, Any]:
    shape, dims = own.get_shape(given["input"]), [*given["shard_dims"]]
    free = (each for each in range(len(shape)) if each not in dims)
    mesh, whole = [], [*shape]
    for at, (dim, count) in enumerate(zip(given["shard_dims"], own._mesh_shape, strict=True)):
        mesh.append(count if dim >= 0 else 1)
        if dim >= 0:
            whole[dim] *= count
        else:
            dims[at] = next(free)
    parts = ", ".join(f"{dim} : i32" for dim in dims), ", ".join(f"{each} : ui32" for each in mesh)
    config = f"#ttnn.mesh_composer_config<dims = [{parts[0]}], mesh_shape_override = [{parts[1]}]>"
    element = given.get("output_type") or own.get_type(given["input"])
    return {
        "composer_config": wrapped(parsed(config)),
        "result_types": [own.tensor_type(whole, element, **_ROWS_ON_HOST)],
    }


def _reshape(own: TTNNBuilder, given: Mapping[str, Any]) -> dict[str, Any]:
    whole = torch.empty(own.get_shape(given["input"]), device="meta").reshape([*given["shape"]])
    kind = given.get("output_type")
    return {"result_types": [own.tensor_type(whole.shape, own.get_type(given["input"]) if kind is None else kind)]}


def _bounds(own: TTNNBuilder, given: Mapping[str, Any]) -> dict[str, Any]:
    number: Any = float if own.get_type(given["input"]).held in _FLOATS else int
    return {name: number(given[name]) for name in ("min", "max")}


_ADAPTED: dict[str, Callable[[TTNNBuilder, Mapping[str, Any]], dict[str, Any]]] = {
    "ttnn.moe_expert_token_remap": lambda own, given: own.types_given(given, "mapping", "reduced"),
    "ttnn.full": _full,
    "ttnn.constant": _constant,
    "ttnn.reshape": _reshape,
    "ttnn.clamp_scalar": _bounds,
    "ttnn.repeat": lambda _, given: {"repeat_dims": _shape(given["repeat_dims"])},
    "ttnn.to_device": lambda own, given: own._moved(given, layout=Layout.RowMajor, buffer_type=BufferType.DRAM),
    "ttnn.from_device": lambda own, given: own._moved(given, **_ROWS_ON_HOST),
    "ttnn.to_layout": _to_layout,
    "ttnn.to_tensor_spec": lambda own, given: own._moved(given, **_layouts(given)),
    "ttnn.typecast": lambda own, given: own._moved(given),
    "ttnn.distribute_tensor": _distribute,
    "ttnn.aggregate_tensor": _aggregate,
}
"""Operation -> the attributes that its arguments are parts of, and the types of its results."""
