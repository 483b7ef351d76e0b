"""The builder of StableHLO and Shardy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ttnn_jit.module_builders.base.method_signatures import MethodSignature
from ttnn_jit.module_builders.base.torch_types import elements_of, type_of
from ttnn_jit.module_builders.stablehlo.custom_call_methods import CustomCallMethods
from ttnn_jit.module_builders.stablehlo.region_methods import RegionMethods
from ttnn_jit.module_builders.stablehlo.sharding_methods import ShardingMethods
from ttnn_jit.ttmlir.mlir_operations import Module
from ttnn_jit.ttmlir.mlir_types import RankedTensorType
from ttnn_jit.ttmlir.mlir_values import Value
from ttnn_jit.ttmlir.wrapping import parsed, wrapped

_STATED = """
exp=exponential: in0:operand
log1p=log_plus_one: in0:operand
expm1=exponential_minus_one: in0:operand
neg=negate: in0:operand
mul=multiply: in0:lhs in1:rhs
max=maximum: in0:lhs in1:rhs
min=minimum: in0:lhs in1:rhs
pow=power: in0:lhs in1:rhs
logical_and=and: in0:lhs in1:rhs
and_=and: in0:lhs in1:rhs
or_=or: in0:lhs in1:rhs
xor: in0:lhs in1:rhs
not_=not: in0:operand
convert: in0:operand output_type
is_finite: in0:x -> bool
compare: in0:lhs in1:rhs comparison_direction compare_type=None -> bool
select: pred on_true on_false
clamp: min operand max
broadcast_in_dim: in0:operand broadcast_dimensions output_shape output_type=None
reshape: in0:operand shape output_type=None
slice: in0:operand start_indices limit_indices strides
pad: in0:operand padding_value padding
concatenate: inputs dim:dimension
constant: value
iota: output iota_dimension
dynamic_iota: output output_shape iota_dimension
get_dimension_size: in0:operand dimension=0 -> int32
dynamic_slice: operand start_indices slice_sizes
dynamic_update_slice: operand update start_indices
batch_norm_training: operand scale offset epsilon feature_index
batch_norm_inference: operand scale offset mean variance epsilon feature_index
batch_norm_grad: operand scale mean variance grad_output epsilon feature_index
dot_general: in0:lhs in1:rhs batch_dims_lhs contract_dims_lhs batch_dims_rhs contract_dims_rhs
gather: operand start_indices offset_dims collapsed_slice_dims operand_batching_dims start_indices_batching_dims \
start_index_map index_vector_dim slice_sizes indices_are_sorted=False
convolution: in0:lhs weight:rhs window_strides padding lhs_dilation rhs_dilation input_batch_dimension \
input_feature_dimension input_spatial_dimensions kernel_output_feature_dimension kernel_input_feature_dimension \
kernel_spatial_dimensions output_batch_dimension output_feature_dimension output_spatial_dimensions \
feature_group_count batch_group_count
all_gather: input:operands all_gather_dim replica_groups
all_to_all: input:operands split_dim:split_dimension concat_dim:concat_dimension split_count replica_groups
collective_permute: input:operand source_target_pairs
collective_broadcast: input:operand replica_groups
""".replace("\\\n", "")
"""What the tables do not say: names of methods that are not those of operations, numbers that attributes hold."""


class StableHLOBuilder(RegionMethods, CustomCallMethods, ShardingMethods):
    """Makes modules of StableHLO; a method per operation of the dialect."""

    DIALECT = "stablehlo"
    STATED = _STATED

    def _begin_module(self, module: Module) -> None:
        """Declares the meshes."""
        for name, axes in self._meshes.items():
            self.mesh(name, self.mesh_attr([self.mesh_axis_attr(*each) for each in axes.items()]), block=module.body)

    def adapted(self, signature: MethodSignature, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a method as the operation takes them."""
        given = super().adapted(signature, given)
        for name in ("replica_groups", "source_target_pairs"):
            if given.get(name) is not None:
                given[name] = np.asarray(given[name], np.int64)
        adapt = _ADAPTED.get(signature.operation)
        return given if adapt is None else {**given, **adapt(self, given)}

    def _like(self, given: Mapping[str, Any], shape: Sequence[int], name: str = "operand") -> dict[str, Any]:
        kind = given.get("output_type")
        return {"result_types": [self.tensor_type(shape, self.get_type(given[name]) if kind is None else kind)]}

    def _scalars(self, numbers: Sequence[Any]) -> list[Value]:
        """Numbers as values."""
        return [each if isinstance(each, Value) else self.constant(torch.tensor(each)) for each in numbers]

    def dynamic_slice(
        self, operand: Value, start_indices: Sequence[Any], slice_sizes: Sequence[int], **trailing: Any
    ) -> Any:
        """A part of a tensor; where all indices are numbers, a slice."""
        if all(isinstance(each, int) for each in start_indices):
            ends = [begin + size for begin, size in zip(start_indices, slice_sizes, strict=True)]
            return self.slice(operand, start_indices, ends, [1] * len(ends), **trailing)
        return self._dynamic_slice(operand, self._scalars(start_indices), slice_sizes, **trailing)

    def dynamic_update_slice(self, operand: Value, update: Value, start_indices: Sequence[Any], **trailing: Any) -> Any:
        """A tensor in which a part is replaced."""
        return self._dynamic_update_slice(operand, update, self._scalars(start_indices), **trailing)

    def _convolution_attributes(self, given: Mapping[str, Any]) -> dict[str, Any]:
        numbers = wrapped(parsed(f"#stablehlo.conv<{_convolution_dimensions(given)}>"))
        padding = [*given["padding"]]
        pairs = padding if padding and isinstance(padding[0], list | tuple) else [*zip(padding, padding, strict=True)]
        if len(padding) == 2 * len(given["input_spatial_dimensions"]):
            pairs = [*zip(padding[::2], padding[1::2], strict=True)]
        shape = _convolved(given, [self.get_shape(given[name]) for name in ("lhs", "rhs")], pairs)
        return {
            "dimension_numbers": numbers,
            "padding": np.asarray(pairs, np.int64),
            **self._like(given, shape, "lhs"),
        }


def _convolution_dimensions(given: Mapping[str, Any]) -> str:
    """``[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]``."""

    def order(named: Mapping[str, int], spatial: Sequence[int]) -> str:
        places = {place: name for name, place in named.items()} | {each: str(at) for at, each in enumerate(spatial)}
        return "[" + ", ".join(places[at] for at in range(len(places))) + "]"

    first = order(
        {"b": given["input_batch_dimension"], "f": given["input_feature_dimension"]}, given["input_spatial_dimensions"]
    )
    kernel = order(
        {"o": given["kernel_output_feature_dimension"], "i": given["kernel_input_feature_dimension"]},
        given["kernel_spatial_dimensions"],
    )
    last = order(
        {"b": given["output_batch_dimension"], "f": given["output_feature_dimension"]},
        given["output_spatial_dimensions"],
    )
    return f"{first}x{kernel}->{last}"


def _convolved(given: Mapping[str, Any], shapes: Sequence[Sequence[int]], pairs: Sequence[Sequence[int]]) -> list[int]:
    """The extents of a convolution's result."""
    x, weight = shapes
    shape = [0] * len(x)
    shape[given["output_batch_dimension"]] = x[given["input_batch_dimension"]] // given["batch_group_count"]
    shape[given["output_feature_dimension"]] = weight[given["kernel_output_feature_dimension"]]
    for at, dim in enumerate(given["output_spatial_dimensions"]):
        extent = (x[given["input_spatial_dimensions"][at]] - 1) * given["lhs_dilation"][at] + 1
        span = (weight[given["kernel_spatial_dimensions"][at]] - 1) * given["rhs_dilation"][at] + 1
        shape[dim] = (extent + sum(pairs[at]) - span) // given["window_strides"][at] + 1
    return shape


def _pad(own: StableHLOBuilder, given: Mapping[str, Any]) -> dict[str, Any]:
    low, high = [*given["padding"][::2]], [*given["padding"][1::2]]
    shape = [sum(each) for each in zip(own.get_shape(given["operand"]), low, high, strict=True)]
    sides = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": [0] * len(low)}
    return {**sides, **own._like(given, shape)}


def _dot(_: StableHLOBuilder, given: Mapping[str, Any]) -> dict[str, Any]:
    names = ("lhs_batching", "rhs_batching", "lhs_contracting", "rhs_contracting")
    numbers = ("batch_dims_lhs", "batch_dims_rhs", "contract_dims_lhs", "contract_dims_rhs")
    parts = (f"{name}_dimensions = {[*given[own]]}" for name, own in zip(names, numbers, strict=True))
    return {"dot_dimension_numbers": wrapped(parsed(f"#stablehlo.dot<{', '.join(parts)}>"))}


def _dot_with_shape(own: StableHLOBuilder, given: Mapping[str, Any]) -> dict[str, Any]:
    left, right = (own.get_shape(given[name]) for name in ("lhs", "rhs"))
    batch = [left[at] for at in given["batch_dims_lhs"]]
    used = {*given["batch_dims_lhs"], *given["contract_dims_lhs"]}
    others = {*given["batch_dims_rhs"], *given["contract_dims_rhs"]}
    rows = [extent for at, extent in enumerate(left) if at not in used]
    columns = [extent for at, extent in enumerate(right) if at not in others]
    return {**_dot(own, given), **own._like(given, [*batch, *rows, *columns], "lhs")}


def _gather(own: StableHLOBuilder, given: Mapping[str, Any]) -> dict[str, Any]:
    names = (
        "offset_dims",
        "collapsed_slice_dims",
        "operand_batching_dims",
        "start_indices_batching_dims",
        "start_index_map",
    )
    parts = [f"{name} = {[*given[name]]}" for name in names if given[name]]
    parts.append(f"index_vector_dim = {given['index_vector_dim']}")
    gone = {*given["collapsed_slice_dims"], *given["operand_batching_dims"]}
    sizes = [size for at, size in enumerate(given["slice_sizes"]) if at not in gone]
    places = [each for at, each in enumerate(own.get_shape(given["start_indices"])) if at != given["index_vector_dim"]]
    shape: list[int] = []
    for at in range(len(sizes) + len(places)):
        shape.append(sizes.pop(0) if at in given["offset_dims"] else places.pop(0))
    return {"dimension_numbers": wrapped(parsed(f"#stablehlo.gather<{', '.join(parts)}>")), **own._like(given, shape)}


def _gathered_shape(own: StableHLOBuilder, given: Mapping[str, Any]) -> dict[str, Any]:
    shape = own.get_shape(given["operands"])
    shape[given["all_gather_dim"]] *= given["replica_groups"].shape[1]
    return own._like(given, shape, "operands")


def _exchanged_shape(own: StableHLOBuilder, given: Mapping[str, Any]) -> dict[str, Any]:
    shape = own.get_shape(given["operands"])
    shape[given["split_dimension"]] //= given["split_count"]
    shape[given["concat_dimension"]] *= given["split_count"]
    return own._like(given, shape, "operands")


def _same(name: str) -> Callable[[StableHLOBuilder, Mapping[str, Any]], dict[str, Any]]:
    return lambda _, given: {"result_types": [getattr(given[name], "type", given[name])]}


def _statistics(_: StableHLOBuilder, given: Mapping[str, Any]) -> dict[str, Any]:
    kind = RankedTensorType(given["scale"].type)
    return {"result_types": [given["operand"].type, kind, kind]}


_ADAPTED: dict[str, Callable[[StableHLOBuilder, Mapping[str, Any]], dict[str, Any]]] = {
    "stablehlo.constant": lambda own, given: {
        "value": elements_of(given["value"]),
        "result_types": [own.tensor_type(given["value"].shape, given["value"].dtype)],
    },
    "stablehlo.iota": _same("output"),
    "stablehlo.dynamic_iota": _same("output"),
    "stablehlo.broadcast_in_dim": lambda own, given: own._like(given, given["output_shape"]),
    "stablehlo.reshape": lambda own, given: own._like(given, given["shape"]),
    "stablehlo.convert": lambda own, given: {
        "result_types": [own.tensor_type(own.get_shape(given["operand"]), type_of(given["output_type"]))]
    },
    "stablehlo.pad": _pad,
    "stablehlo.dot_general": _dot_with_shape,
    "stablehlo.gather": _gather,
    "stablehlo.get_dimension_size": lambda own, _: {"result_types": [own.tensor_type((), torch.int32)]},
    "stablehlo.convolution": StableHLOBuilder._convolution_attributes,
    "stablehlo.dynamic_slice": lambda own, given: own._like(given, given["slice_sizes"]),
    "stablehlo.dynamic_update_slice": _same("operand"),
    "stablehlo.batch_norm_training": _statistics,
    "stablehlo.batch_norm_grad": _statistics,
    "stablehlo.clamp": _same("operand"),
    "stablehlo.select": _same("on_true"),
    "stablehlo.all_gather": _gathered_shape,
    "stablehlo.all_to_all": _exchanged_shape,
}
"""Operation -> the attributes that its arguments are parts of, and the types of its results."""
